/**
 * A connection over the older HTTP+SSE transport: one event stream brings every message, and its first event names the
 * address that messages are posted to.
 * Owns: the stream and the address. Leaves alone: redirects and credentials (http-client.ts).
 * Always true: nothing is posted to another origin than the configured one; when the stream ends, the connection ends.
 */
import { asError, messageOf } from '../../log.ts';
import { HEADERS } from '../../protocol/index.ts';
import { limited } from '../signals.ts';
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
  type HttpTarget,
  JSON_TYPE,
  responseIn,
} from './http-client.ts';
import { MAX_MESSAGE, REPLY_MS } from './limits.ts';

export function openSseConnection(
  target: HttpTarget,
  events: ConnectionEvents,
  common: () => HeaderFields,
): Connection {
  const client = createHttpClient(target, common);
  const life = new AbortController();
  const { signal } = life;
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

  async function post(url: URL, { text, repeatable, headers }: OutgoingMessage, until: AbortSignal): Promise<void> {
    const all = { ...version, ...headers, 'content-type': JSON_TYPE };
    await discardBody(await client.send({ method: 'POST', url, headers: all, body: text, repeatable, signal: until }));
  }

  function send(message: OutgoingMessage): void {
    if (!address) return void early.push(message);
    const { id } = message;
    post(address, message, signal).catch((error: unknown) => {
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
      const limit = limited(signal, REPLY_MS);
      try {
        await post(address, { text, repeatable: true }, limit.signal);
      } finally {
        limit.release();
      }
    },
    setVersion(text) {
      version = { [HEADERS.version]: text };
    },
    answered() {},
    cancel() {},
    listen() {}, // Notifications arrive on the one stream.
    async close() {
      life.abort();
      client.close();
    },
  };
}
