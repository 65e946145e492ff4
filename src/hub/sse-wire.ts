/**
 * The older HTTP with SSE as a wire: one stream that brings everything, and an address to post to that it names first.
 * Owns: the stream and the address. Leaves alone: redirects and credentials (http.ts).
 * Always true: nothing is posted to another origin than the stream came from; when the stream ends, so does the wire.
 */
import type { Id } from '../protocol/index.ts';
import { createHttpClient } from './http.ts';
import type { HttpTarget } from './http-wire.ts';
import { createSseParser, type SseEvent } from './sse.ts';
import { type HeaderFields, MAX_MESSAGE, type Parcel, UpstreamError, type Wire, type WireEvents } from './wire.ts';

export function openSseWire(
  { url, headers: credentials }: HttpTarget,
  events: WireEvents,
  common: () => HeaderFields,
): Wire {
  const client = createHttpClient(url, credentials, common);
  const life = new AbortController();
  const { signal } = life;
  let early: Parcel[] = [];
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
      for (const parcel of early) post(named, parcel);
      early = [];
    } else close(new UpstreamError('the server names an address of another origin'));
  }

  async function read(): Promise<void> {
    const headers = { accept: SSE_TYPE };
    const { response } = await client.send({ method: 'GET', url, headers, repeatable: true, signal });
    const type = response.headers['content-type'] ?? 'of no type';
    if (!type.startsWith(SSE_TYPE)) {
      response.destroy();
      throw new UpstreamError(`the answer is ${type}, not a stream of events`);
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

  function post(to: URL, { text, id, repeatable, headers }: Parcel): void {
    client
      .send({
        method: 'POST',
        url: to,
        headers: { ...headers, 'content-type': 'application/json' },
        body: text,
        repeatable,
        signal,
      })
      .then(({ response }) => response.resume())
      .catch((error) => failed(id, error instanceof Error ? error : new Error(String(error))));
  }

  function failed(id: Id | undefined, error: Error): void {
    if (id === undefined) events.debug(`a notice was not taken: ${error.message}`);
    else events.undelivered(id, error);
  }

  void read().catch((error) => close(error instanceof Error ? error : new Error(String(error))));

  return {
    ownStreams: false,
    send(parcel) {
      if (address) post(address, parcel);
      else early.push(parcel);
    },
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
