/**
 * A connection over the older HTTP+SSE transport: one event stream brings every message, and its first event names the
 * address that messages are posted to.
 * Owns: the stream and the address. Leaves alone: redirects and credentials (http-client.ts).
 * Always true: nothing is posted to another origin than the configured one; when the stream ends, the connection ends.
 */
import { asError, messageOf } from '../../log.ts';
import { HEADERS } from '../../protocol/index.ts';
import {
  type Connection,
  type ConnectionEvents,
  type HeaderFields,
  type OutgoingMessage,
  UpstreamError,
} from './connection.ts';
import { createEventStreamParser } from './event-stream.ts';
import {
  createHttpClient,
  discardBody,
  EVENT_STREAM_TYPE,
  expectEventStream,
  type HttpContext,
  type HttpTarget,
  JSON_TYPE,
  responseIn,
} from './http-client.ts';
import { MAX_MESSAGE } from './limits.ts';
import { createOpenRequests } from './open-requests.ts';

export function openSseConnection(target: HttpTarget, events: ConnectionEvents, context: HttpContext): Connection {
  const client = createHttpClient(target, context);
  const life = new AbortController();
  const { signal } = life;
  const requests = createOpenRequests(signal);
  let version: HeaderFields = {};
  /** Messages that are sent before the address is known. */
  let early: OutgoingMessage[] = [];
  let address: URL | undefined;

  function end(error: Error): void {
    if (signal.aborted) return;
    life.abort();
    events.closed(error);
  }

  function setAddress(text: string): void {
    const { url } = target;
    const named = URL.canParse(text, url.href) ? new URL(text, url) : undefined;
    if (named?.origin !== url.origin) end(new UpstreamError('the server names an address of another origin'));
    else {
      address = named;
      for (const message of early) send(message);
      early = [];
    }
  }

  async function read(): Promise<void> {
    const headers = { accept: EVENT_STREAM_TYPE };
    const response = expectEventStream(await client.send({ method: 'GET', headers, repeatable: true, signal }));
    const parser = createEventStreamParser(
      {
        event: ({ type, data }) => (type === 'endpoint' ? setAddress(data) : events.text(data)),
        id() {}, // These streams cannot be resumed.
        retry() {},
      },
      MAX_MESSAGE,
    );
    for await (const chunk of response) parser.push(chunk);
    throw new UpstreamError('the server closed the stream');
  }

  /** The server's response comes by the stream; the one to this POST says only that the message has arrived. */
  const post = (url: URL, { text, id, repeatable, headers }: OutgoingMessage) =>
    requests.run(id, async (until) => {
      const all = { ...version, ...headers, 'content-type': JSON_TYPE };
      const sent = client.send({ method: 'POST', url, headers: all, body: text, repeatable, signal: until });
      await sent.then(discardBody).catch((error: unknown) => {
        if (!until.aborted || id === undefined) throw error; // An aborted request has been answered or cancelled.
      });
    });

  function send(message: OutgoingMessage): void {
    if (!address) return void early.push(message);
    const { id } = message;
    post(address, message).catch((error: unknown) => {
      const response = responseIn(error, id);
      if (response !== undefined) events.text(response);
      else if (id !== undefined) events.undelivered(id, asError(error));
      else events.debug(`a notification was not accepted: ${messageOf(error)}`);
    });
  }

  read().catch((error: unknown) => end(asError(error)));

  return {
    streamPerRequest: false,
    send,
    async reply(text) {
      if (!address) throw new UpstreamError('the server has not named its address yet');
      await post(address, { text, repeatable: true });
    },
    setVersion(text) {
      version = { [HEADERS.version]: text };
    },
    answered: requests.answered,
    cancel: requests.cancel,
    listen() {}, // Notifications arrive on the one stream.
    async close() {
      life.abort();
      client.close();
    },
  };
}
