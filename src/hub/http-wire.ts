/**
 * Streamable HTTP as a wire: one POST per message, answered by a body or by a stream of its own.
 * Owns: the session id, streams and their resumption. Leaves alone: what headers the revisions want (dialects.ts).
 * Always true: a request is answered, or reported undelivered; a broken stream is resumed when the server gave it a mark.
 */

import type { IncomingMessage } from 'node:http';
import { asError } from '../log.ts';
import { type Id, idKey } from '../protocol/index.ts';
import { createHttpClient, type HttpReply, type HttpRequest, readBody } from './http.ts';
import { createSseParser } from './sse.ts';
import { pause } from './time.ts';
import {
  type HeaderFields,
  HttpError,
  MAX_MESSAGE,
  MessageTooLong,
  type Parcel,
  SessionGone,
  UpstreamError,
  type Wire,
  type WireEvents,
} from './wire.ts';

export interface HttpTarget {
  readonly url: URL;
  readonly headers: HeaderFields;
}

export function openHttpWire(
  { url, headers: credentials }: HttpTarget,
  events: WireEvents,
  common: () => HeaderFields,
): Wire {
  const client = createHttpClient(url, credentials, common);
  const life = new AbortController();
  const streams = new Map<string, AbortController>();
  let session: HttpRequest['bound'];
  let lastHeaders: HeaderFields = {};

  function close(error: Error): void {
    if (life.signal.aborted) return;
    life.abort();
    events.closed(error);
  }

  function fail(id: Id | undefined, error: Error): void {
    if (life.signal.aborted) return;
    const gone = session !== undefined && error instanceof HttpError && isForgotten(error);
    const reported = gone ? new SessionGone('the server has forgotten our session') : error;
    if (id !== undefined) events.undelivered(id, reported);
    else events.debug(`a notice was not taken: ${error.message}`);
    if (gone) close(reported);
  }

  async function post({ text, id, repeatable, headers }: Parcel, signal: AbortSignal): Promise<void> {
    lastHeaders = headers;
    const { response, origin } = await client.send({
      method: 'POST',
      url,
      headers: { ...headers, 'content-type': 'application/json', accept: `${JSON_TYPE}, ${SSE_TYPE}` },
      bound: session,
      body: text,
      repeatable,
      signal,
    });
    const named = response.headers[SESSION];
    if (typeof named === 'string') session = { origin, headers: { [SESSION]: named } };
    const type = response.headers['content-type'] ?? '';
    if (id !== undefined && type.startsWith(SSE_TYPE)) return follow(id, response, headers, signal);
    const body = await readBody(response, MAX_MESSAGE);
    if (id === undefined) return;
    if (!type.startsWith(JSON_TYPE)) throw new UpstreamError(`the answer is ${type || 'of no type'}, not JSON`);
    events.text(body);
    // Without a word of it: nobody knows what it is, and the beginning of a secret would not be found and blotted out.
    if (streams.has(idKey(id)) && !signal.aborted)
      throw new UpstreamError(`what came back is no answer to the request (${type}, ${body.length} characters)`);
  }

  /** Reads the stream of one request to its end; a stream that breaks behind a mark is taken up again there. */
  async function follow(id: Id, first: IncomingMessage, headers: HeaderFields, signal: AbortSignal): Promise<void> {
    let { mark, wait } = await readStream(first, UNKNOWN, events);
    while (mark !== undefined && streams.has(idKey(id)) && !signal.aborted) {
      await pause(wait, signal);
      const { response } = await openStream(headers, mark, signal);
      ({ mark, wait } = await readStream(response, { mark, wait }, events));
    }
    // Whoever has its answer by now does not hear this.
    if (!signal.aborted) throw new UpstreamError('the stream ended without an answer');
  }

  function openStream(headers: HeaderFields, mark: string | undefined, signal: AbortSignal): Promise<HttpReply> {
    const behind = mark === undefined ? {} : { 'last-event-id': mark };
    const all = { ...headers, accept: SSE_TYPE, ...behind };
    return client.send({ method: 'GET', url, headers: all, bound: session, repeatable: true, signal });
  }

  /** What the server says unasked. Not every server has it, and those that have may close it whenever they like. */
  async function listen(headers: HeaderFields): Promise<void> {
    let place = UNKNOWN;
    let failures = 0;
    let isGap = false;
    while (!life.signal.aborted) {
      try {
        const { response } = await openStream(headers, place.mark, life.signal);
        if (isGap) events.missed();
        failures = 0;
        place = await readStream(response, place, events);
        isGap = place.mark === undefined;
      } catch (error) {
        events.debug(`no standing stream: ${asError(error).message}`);
        if (error instanceof MessageTooLong) place = UNKNOWN;
        // A server that has no such stream says so; any other failure may pass.
        if (error instanceof HttpError && NO_STREAM.includes(error.status)) return;
        failures += 1;
        isGap = true;
      }
      const wait = Math.max(place.wait, LEAST_STANDING_WAIT_MS) * 2 ** Math.min(failures, MOST_DOUBLINGS);
      await pause(Math.min(wait, MOST_WAIT_MS), life.signal);
    }
  }

  return {
    ownStreams: true,
    send(parcel) {
      const { id } = parcel;
      const control = new AbortController();
      const signal = AbortSignal.any([life.signal, control.signal]);
      if (id !== undefined) streams.set(idKey(id), control);
      void post(parcel, signal)
        .catch((error) => {
          if (!control.signal.aborted) fail(id, asError(error));
        })
        .finally(() => {
          if (id !== undefined) streams.delete(idKey(id));
        });
    },
    done(id) {
      const control = streams.get(idKey(id));
      if (!control) return;
      streams.delete(idKey(id));
      // A server ends the stream behind its answer, and the connection can be used again. One that does not is left.
      setTimeout(() => control.abort(), LINGER_MS).unref();
    },
    drop: (id) => streams.get(idKey(id))?.abort(),
    listen: (headers) => void listen(headers),
    async close() {
      if (life.signal.aborted) return;
      life.abort();
      if (session !== undefined) await endSession();
      client.close();
    },
  };

  /** A courtesy that must not hold us up: the server would forget the session by itself. */
  async function endSession(): Promise<void> {
    const signal = AbortSignal.timeout(FAREWELL_MS);
    const request = { method: 'DELETE', url, headers: lastHeaders, bound: session, repeatable: true, signal } as const;
    await client.send(request).then(
      ({ response }) => response.destroy(),
      (error) => events.debug(`the session was not ended: ${asError(error).message}`),
    );
  }
}

// --- internal ---

const SESSION = 'mcp-session-id';
const JSON_TYPE = 'application/json';
const SSE_TYPE = 'text/event-stream';
const FAREWELL_MS = 1000;
const LINGER_MS = 2000;
// What a server may ask us to wait, at most, at least and, on the stream that only brings news, at least.
const MOST_WAIT_MS = 60_000;
const LEAST_WAIT_MS = 100;
const LEAST_STANDING_WAIT_MS = 1000;
const MOST_DOUBLINGS = 6;
const NO_STREAM: readonly number[] = [404, 405];

interface Place {
  readonly mark: string | undefined;
  readonly wait: number;
}

const UNKNOWN: Place = { mark: undefined, wait: 1000 };

/**
 * Reads to the end, whether that is orderly or not, and says where to continue. A stream with a message that is too long
 * is left there and then, with MessageTooLong: there is no continuing, as the same message would come again.
 */
async function readStream(response: IncomingMessage, from: Place, events: WireEvents): Promise<Place> {
  let { mark, wait } = from;
  const parser = createSseParser(
    {
      event({ data }) {
        if (data.trim() !== '') events.text(data);
      },
      id(id) {
        mark = id === '' ? undefined : id;
      },
      retry(milliseconds) {
        wait = Math.min(Math.max(milliseconds, LEAST_WAIT_MS), MOST_WAIT_MS);
      },
    },
    MAX_MESSAGE,
  );
  try {
    for await (const chunk of response) parser.push(chunk);
  } catch (error) {
    // Otherwise a broken stream is an ended one: what it had brought so far counts, and `mark` says where to go on.
    if (error instanceof MessageTooLong) throw error;
  }
  return { mark, wait };
}

/** 404 by the book; many servers say 400, to nobody in particular because they have not read on. */
function isForgotten({ status, isAnswer }: HttpError): boolean {
  return status === 404 || (status === 400 && !isAnswer);
}
