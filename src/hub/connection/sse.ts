/**
 * The older HTTP with SSE as a wire: one stream that brings everything, and an address to post to that it names first.
 * Owns: the stream and the address. Leaves alone: redirects and credentials (http.ts).
 * Always true: nothing is posted to another origin than the stream came from; when the stream ends, so does the wire.
 */
import { asError, messageOf } from '../../log.ts';
import {
  type Connection,
  type ConnectionEvents,
  FLOODED,
  type HeaderFields,
  MAX_MESSAGE,
  type OutgoingMessage,
  UpstreamError,
} from './connection.ts';
import { createSseParser, type SseEvent } from './event-stream.ts';
import type { HttpTarget } from './http.ts';
import { answerIn, createHttpClient, mediaType, takeReceipt } from './http-client.ts';
import { createReplies } from './replies.ts';

export function openSseConnection(
  { url, headers: credentials }: HttpTarget,
  events: ConnectionEvents,
  common: () => HeaderFields,
): Connection {
  const client = createHttpClient(url, credentials, common);
  const life = new AbortController();
  const { signal } = life;
  const flooded = () => close(new UpstreamError(FLOODED));
  const replies = createReplies({ post, until: signal, flooded, debug: events.debug });
  let early: OutgoingMessage[] = [];
  let address: URL | undefined;

  function close(error: Error): void {
    if (signal.aborted) return;
    life.abort();
    events.closed(error);
  }

  function take({ type, data }: SseEvent): void {
    if (type === 'endpoint') setAddress(data);
    else events.text(data);
  }

  function setAddress(text: string): void {
    const named = URL.canParse(text, url.href) ? new URL(text, url) : undefined;
    if (named?.origin === url.origin) {
      address = named;
      for (const message of early) send(message);
      early = [];
    } else close(new UpstreamError('the server names an address of another origin'));
  }

  async function read(): Promise<void> {
    const headers = { accept: SSE_TYPE };
    const response = await client.send({ method: 'GET', url, headers, repeatable: true, signal });
    if (mediaType(response) !== SSE_TYPE) {
      response.destroy();
      throw new UpstreamError(`the answer is ${mediaType(response) || 'of no type'}, not a stream of events`);
    }
    const parser = createSseParser(
      {
        event: take,
        id: () => {}, // This revision cannot take up a stream again.
        retry: () => {},
      },
      MAX_MESSAGE,
    );
    // A message that is too long ends the stream, which is the only way not to read the rest of it.
    for await (const chunk of response) parser.push(chunk);
    throw new UpstreamError('the server closed the stream');
  }

  async function post({ text, repeatable, headers }: OutgoingMessage, until: AbortSignal): Promise<void> {
    const all = { ...headers, 'content-type': 'application/json' };
    const to = address ?? url;
    const response = await client.send({
      method: 'POST',
      url: to,
      headers: all,
      body: text,
      repeatable,
      signal: until,
    });
    // The answer comes by the stream.
    await takeReceipt(response);
  }

  function failed({ id }: OutgoingMessage, error: unknown): void {
    const answer = answerIn(error, id);
    if (answer !== undefined) events.text(answer);
    else if (id !== undefined) events.undelivered(id, asError(error));
    else events.debug(`a notice was not taken: ${messageOf(error)}`);
  }

  function send(message: OutgoingMessage): void {
    // A server that asks before it has said where to answer gets none.
    if (message.isReply) address && replies.send(message);
    else if (address) post(message, signal).catch((error: unknown) => failed(message, error));
    else early.push(message);
  }

  read().catch((error: unknown) => close(asError(error)));

  return {
    ownStreams: false,
    send,
    done: () => {},
    drop: () => {},
    listen: () => {}, // The one stream brings everything.
    async close() {
      life.abort();
      client.close();
    },
  };
}

// --- internal ---

const SSE_TYPE = 'text/event-stream';
