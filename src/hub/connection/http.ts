/**
 * Streamable HTTP as a wire: one POST per message, answered by a body or by a stream of its own.
 * Owns: the session id, streams and their resumption. Leaves alone: what headers the revisions want (dialects.ts).
 * Always true:
 * - a request is answered, or reported undelivered; a broken stream is resumed when the server gave it a mark;
 * - what one message meets (a session that is gone, nobody there) is told to the sender of that message alone.
 */

import type { IncomingMessage } from 'node:http';
import { asError, messageOf } from '../../log.ts';
import { HEADERS, type Id, idKey } from '../../protocol/index.ts';
import { pause } from '../../wait.ts';
import { type Limited, limited } from '../signals.ts';
import {
  type Connection,
  type ConnectionEvents,
  FLOODED,
  type HeaderFields,
  HttpError,
  Interrupted,
  MAX_MESSAGE,
  MessageTooLong,
  type OutgoingMessage,
  SessionGone,
  UpstreamError,
} from './connection.ts';
import { createSseParser } from './event-stream.ts';
import { answerIn, createHttpClient, mediaType, readBody, takeReceipt } from './http-client.ts';
import { createReplies, REPLY_MS } from './replies.ts';

export interface HttpTarget {
  readonly url: URL;
  readonly headers: HeaderFields;
}

export function openHttpConnection(
  { url, headers: credentials }: HttpTarget,
  events: ConnectionEvents,
  common: () => HeaderFields,
): Connection {
  const client = createHttpClient(url, credentials, common);
  const life = new AbortController();
  const streams = new Map<string, Limited>();
  const replies = createReplies({ post: tell, until: life.signal, flooded, debug: events.debug });
  let session: HeaderFields = {};
  let lastHeaders: HeaderFields = {};

  function flooded(): void {
    life.abort();
    events.closed(new UpstreamError(FLOODED));
  }

  /** Rejects with SessionGone when the server seems not to know our session. */
  async function post(
    { text, id, opens, repeatable, headers }: OutgoingMessage,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const own = opens ? {} : session;
    const accept = `${JSON_TYPE}, ${SSE_TYPE}`;
    const all = { ...headers, ...own, 'content-type': JSON_TYPE, accept };
    lastHeaders = headers;
    try {
      return await client.send({ method: 'POST', url, headers: all, body: text, repeatable, signal });
    } catch (error) {
      const isUnknown = HEADERS.session in own && error instanceof HttpError && isForgotten(error, id);
      throw isUnknown ? new SessionGone(error) : error;
    }
  }

  /** For what has no answer. */
  async function tell(message: OutgoingMessage, signal: AbortSignal): Promise<void> {
    await takeReceipt(await post(message, signal));
  }

  async function ask(message: OutgoingMessage, id: Id, signal: AbortSignal): Promise<void> {
    const response = await post(message, signal).catch((error: unknown) => {
      const answer = answerIn(error, id);
      if (answer === undefined) throw error;
      events.text(answer);
    });
    if (!response) return;
    const named = response.headers[HEADERS.session];
    if (message.opens && typeof named === 'string') session = { [HEADERS.session]: named };
    const type = mediaType(response);
    if (type === SSE_TYPE) return follow(id, response, message.headers, signal);
    const body = await readBody(response, MAX_MESSAGE);
    if (type !== JSON_TYPE) throw new UpstreamError(`the answer is ${type || 'of no type'}, not JSON`);
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
      const response = await openStream(headers, mark, signal).catch((error: unknown) => {
        // The request has arrived long ago: whatever this says is said of the stream alone.
        throw new Interrupted(`the stream of the answer broke and could not be taken up again: ${messageOf(error)}`);
      });
      ({ mark, wait } = await readStream(response, { mark, wait }, events));
    }
    // Whoever has its answer by now does not hear this.
    if (!signal.aborted) throw new UpstreamError('the stream ended without an answer');
  }

  async function openStream(
    headers: HeaderFields,
    mark: string | undefined,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const behind = mark === undefined ? {} : { 'last-event-id': mark };
    const all = { ...headers, ...session, accept: SSE_TYPE, ...behind };
    const response = await client.send({ method: 'GET', url, headers: all, repeatable: true, signal });
    if (mediaType(response) === SSE_TYPE) return response;
    response.destroy();
    throw new NoStream(`the answer is ${mediaType(response) || 'of no type'}, not a stream of events`);
  }

  /** What the server says unasked. Not every server has it, and those that have may close it whenever they like. */
  async function listen(headers: HeaderFields): Promise<void> {
    let place = UNKNOWN;
    let failures = 0;
    let isGap = false;
    let hasWorked = false;
    while (!life.signal.aborted) {
      const began = performance.now();
      try {
        const response = await openStream(headers, place.mark, life.signal);
        if (isGap) events.missed();
        hasWorked = true;
        place = await readStream(response, place, events);
        isGap = place.mark === undefined;
        // A stream that ends at once is none, though the server says otherwise. One with a mark polls, at its own pace.
        failures = isGap && performance.now() - began < LASTING_MS ? failures + 1 : 0;
      } catch (error) {
        events.debug(`no standing stream: ${messageOf(error)}`);
        if (error instanceof MessageTooLong) place = UNKNOWN;
        if (isFinal(error)) {
          // It had one, so this may be about our session: a look at the lists shows it.
          if (hasWorked) events.missed();
          return;
        }
        failures += 1;
        isGap = true;
      }
      const wait = Math.max(place.wait, LEAST_STANDING_WAIT_MS) * 2 ** Math.min(failures, MOST_DOUBLINGS);
      await pause(Math.min(wait, MOST_WAIT_MS), life.signal);
    }
  }

  async function deliver(message: OutgoingMessage, id: Id): Promise<void> {
    const limit = limited(life.signal);
    streams.set(idKey(id), limit);
    try {
      await ask(message, id, limit.signal);
    } catch (error) {
      if (!limit.signal.aborted) events.undelivered(id, asError(error));
    } finally {
      streams.delete(idKey(id));
      limit.release();
    }
  }

  async function announce(message: OutgoingMessage): Promise<void> {
    const limit = limited(life.signal, REPLY_MS);
    try {
      await tell(message, limit.signal);
    } catch (error) {
      events.debug(`a notice was not taken: ${messageOf(error)}`);
    } finally {
      limit.release();
    }
  }

  return {
    ownStreams: true,
    send(message) {
      const { id, isReply = false } = message;
      if (isReply) return replies.send(message);
      const going = id === undefined ? announce(message) : deliver(message, id);
      going.catch((error: unknown) => events.debug(messageOf(error)));
    },
    done(id) {
      const stream = streams.get(idKey(id));
      if (!stream) return;
      streams.delete(idKey(id));
      // A server ends the stream behind its answer, and the connection can be used again. One that does not is left.
      setTimeout(stream.abort, LINGER_MS).unref();
    },
    drop: (id) => streams.get(idKey(id))?.abort(),
    listen: (headers) => void listen(headers).catch((error: unknown) => events.debug(messageOf(error))),
    async close() {
      if (!life.signal.aborted) {
        life.abort();
        if (HEADERS.session in session) await endSession();
      }
      client.close();
    },
  };

  /** A courtesy that must not hold us up: the server would forget the session by itself. */
  async function endSession(): Promise<void> {
    const signal = AbortSignal.timeout(FAREWELL_MS);
    const headers = { ...lastHeaders, ...session };
    await client.send({ method: 'DELETE', url, headers, repeatable: true, signal }).then(
      (response) => response.destroy(),
      (error: unknown) => events.debug(`the session was not ended: ${messageOf(error)}`),
    );
  }
}

// --- internal ---

const JSON_TYPE = 'application/json';
const SSE_TYPE = 'text/event-stream';
const METHOD_NOT_FOUND = -32601;
const FAREWELL_MS = 1000;
const LINGER_MS = 2000;
// What a server may ask us to wait, at most, at least and, on the stream that only brings news, at least.
const MOST_WAIT_MS = 60_000;
const LEAST_WAIT_MS = 100;
const LEAST_STANDING_WAIT_MS = 1000;
const MOST_DOUBLINGS = 6;
// Shorter than any proxy lets a quiet connection be.
const LASTING_MS = 10_000;
// A mark is a number or two UUIDs. It goes into a header, where servers take 8 to 16 KiB of all together.
const LONGEST_MARK = 1024;

interface Place {
  readonly mark: string | undefined;
  readonly wait: number;
}

const UNKNOWN: Place = { mark: undefined, wait: 1000 };

/** The server answered, but with something else than a stream. */
class NoStream extends UpstreamError {
  override readonly name = 'NoStream';
}

/** A server that has no such stream says so; any other failure may pass. */
function isFinal(error: unknown): boolean {
  return error instanceof NoStream || (error instanceof HttpError && [404, 405].includes(error.status));
}

/**
 * Reads to the end, whether that is orderly or not, and says where to continue. A stream with a message that is too long
 * is left there and then, with MessageTooLong: there is no continuing, as the same message would come again.
 */
async function readStream(response: IncomingMessage, from: Place, events: ConnectionEvents): Promise<Place> {
  let { mark, wait } = from;
  const parser = createSseParser(
    {
      event({ data }) {
        if (data.trim() !== '') events.text(data);
      },
      id(id) {
        mark = headerMark(id);
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

/** As a header takes it: the bytes of its UTF-8. One that is too long or holds control characters is none. */
function headerMark(id: string): string | undefined {
  const bytes = id.length <= LONGEST_MARK ? Buffer.from(id, 'utf8').toString('latin1') : '';
  return /^[\x20-\x7e\x80-\xff]{1,4096}$/.test(bytes) ? bytes : undefined;
}

/**
 * 404 by the book; many servers say 400, to nobody in particular because they have not read on. Whoever answers our
 * request, or names its method unknown, has read it.
 */
function isForgotten(error: HttpError, id: Id | undefined): boolean {
  if (answerIn(error, id) !== undefined || error.rpc?.code === METHOD_NOT_FOUND) return false;
  return error.status === 404 || (error.status === 400 && error.answered.length === 0);
}
