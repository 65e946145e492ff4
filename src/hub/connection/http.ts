/**
 * A connection over streamable HTTP: one POST per message, answered by a JSON body or an event stream.
 * Owns: the session id, response streams, the stream for notifications. Leaves alone: sockets (http-client.ts).
 * Always true:
 * - a request is answered or reported as undelivered; a stream that breaks is resumed when the server gave event ids;
 * - an error of one message (session forgotten, connection refused) is reported for that message alone.
 */
import type { IncomingMessage } from 'node:http';
import { asError, messageOf } from '../../log.ts';
import { HEADERS, type Id } from '../../protocol/index.ts';
import { pause } from '../../wait.ts';
import {
  type Connection,
  type ConnectionEvents,
  type HeaderFields,
  HttpError,
  Interrupted,
  MessageTooLong,
  type OutgoingMessage,
  SessionGone,
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
  mediaType,
  NotEventStream,
  readBody,
  responseIn,
} from './http-client.ts';
import {
  DEFAULT_RETRY_MS,
  DELETE_MS,
  LASTING_MS,
  MAX_EVENT_ID,
  MAX_MESSAGE,
  MAX_REOPEN_DOUBLINGS,
  MAX_RETRY_MS,
  MIN_REOPEN_MS,
  MIN_RETRY_MS,
} from './limits.ts';
import { createOpenRequests } from './open-requests.ts';

export function openHttpConnection(target: HttpTarget, events: ConnectionEvents, context: HttpContext): Connection {
  const client = createHttpClient(target, context);
  const life = new AbortController();
  const requests = createOpenRequests(life.signal);
  let session: HeaderFields = {};
  let version: HeaderFields = {};

  /** Rejects with SessionGone when the server seems to have forgotten our session. */
  async function post(message: OutgoingMessage, signal: AbortSignal): Promise<IncomingMessage> {
    const { text, id, startsSession = false, repeatable } = message;
    const own = startsSession ? {} : session;
    const types = { 'content-type': JSON_TYPE, accept: `${JSON_TYPE}, ${EVENT_STREAM_TYPE}` };
    const headers = { ...version, ...message.headers, ...own, ...types };
    try {
      return await client.send({ method: 'POST', headers, body: text, repeatable, signal });
    } catch (error) {
      const isForgotten = HEADERS.session in own && error instanceof HttpError && isUnknownSession(error, id);
      throw isForgotten ? new SessionGone(error) : error;
    }
  }

  /** Posts a message that has no response: a notification, or our response to a request of the server. */
  const postOneWay = (message: OutgoingMessage) =>
    requests.run(undefined, async (signal) => discardBody(await post(message, signal)));

  const request = (message: OutgoingMessage, id: Id) =>
    requests.run(id, async (signal) => {
      try {
        await receive(await post(message, signal), message, id, signal);
      } catch (error) {
        const response = responseIn(error, id);
        if (response !== undefined) events.text(response);
        else if (!signal.aborted) events.undelivered(id, asError(error));
      }
    });

  async function receive(
    response: IncomingMessage,
    message: OutgoingMessage,
    id: Id,
    signal: AbortSignal,
  ): Promise<void> {
    const sessionId = response.headers[HEADERS.session];
    if (message.startsSession && typeof sessionId === 'string') session = { [HEADERS.session]: sessionId };
    const type = mediaType(response);
    if (type === EVENT_STREAM_TYPE) return receiveEvents(response, id, signal);
    const body = await readBody(response, MAX_MESSAGE);
    if (type !== JSON_TYPE) throw new UpstreamError(`the answer is ${type || 'of no type'}, not JSON`);
    events.text(body);
    // The body is not quoted: it may hold part of a secret, which redaction would not find.
    if (requests.has(id) && !signal.aborted)
      throw new UpstreamError(`the body does not respond to the request (${type}, ${body.length} characters)`);
  }

  /** Reads the stream of one request to its end, and resumes it after the last event id when it breaks. */
  async function receiveEvents(first: IncomingMessage, id: Id, signal: AbortSignal): Promise<void> {
    let position = await readEvents(first, START, events);
    while (position.eventId !== undefined && requests.has(id) && !signal.aborted) {
      await pause(position.retry, signal);
      const response = await openStream(position, signal).catch((error: unknown) => {
        // The server has the request: this error says something about the stream alone.
        throw new Interrupted(`the stream of the answer broke and could not be resumed: ${messageOf(error)}`);
      });
      position = await readEvents(response, position, events);
    }
    // Has no effect when the response has arrived.
    if (!signal.aborted) throw new UpstreamError('the stream ended without an answer');
  }

  async function openStream({ eventId }: Position, signal: AbortSignal): Promise<IncomingMessage> {
    const resume = eventId === undefined ? {} : { 'last-event-id': eventId };
    const headers = { ...version, ...session, accept: EVENT_STREAM_TYPE, ...resume };
    return expectEventStream(await client.send({ method: 'GET', headers, repeatable: true, signal }));
  }

  async function endSession(): Promise<void> {
    const signal = AbortSignal.timeout(DELETE_MS);
    const headers = { ...version, ...session };
    await client.send({ method: 'DELETE', headers, repeatable: true, signal }).then(
      (response) => response.destroy(),
      (error: unknown) => events.debug(`the session was not ended: ${messageOf(error)}`),
    );
  }

  return {
    streamPerRequest: true,
    send(message) {
      const { id } = message;
      const sent = id === undefined ? postOneWay(message) : request(message, id);
      sent.catch((error: unknown) => events.debug(`a notification was not accepted: ${messageOf(error)}`));
    },
    reply: (text) => postOneWay({ text, repeatable: true }),
    setVersion(text) {
      version = { [HEADERS.version]: text };
    },
    answered: requests.answered,
    cancel: requests.cancel,
    listen() {
      const open = (position: Position) => openStream(position, life.signal);
      keepListening(open, events, life.signal).catch((error: unknown) => events.debug(messageOf(error)));
    },
    async close() {
      if (!life.signal.aborted) {
        life.abort();
        if (HEADERS.session in session) await endSession();
      }
      client.close();
    },
  };
}

// --- internal ---

const METHOD_NOT_FOUND = -32601;

/** Where to resume a stream, and how many milliseconds to wait before. */
interface Position {
  readonly eventId: string | undefined;
  readonly retry: number;
}

const START: Position = { eventId: undefined, retry: DEFAULT_RETRY_MS };

/** The stream for notifications. Not every server has one, and a server may close it at any time. */
async function keepListening(
  open: (position: Position) => Promise<IncomingMessage>,
  events: ConnectionEvents,
  signal: AbortSignal,
): Promise<void> {
  let position = START;
  let failures = 0;
  let isGap = false;
  let hasWorked = false;
  while (!signal.aborted) {
    const began = performance.now();
    try {
      const response = await open(position);
      if (isGap) events.missed();
      hasWorked = true;
      position = await readEvents(response, position, events);
      isGap = position.eventId === undefined;
      // A stream that ends at once counts as a failure, except with event ids: then the server wants to be polled.
      failures = isGap && performance.now() - began < LASTING_MS ? failures + 1 : 0;
    } catch (error) {
      events.debug(`no stream for notifications: ${messageOf(error)}`);
      if (error instanceof MessageTooLong) position = START;
      const hasNone = error instanceof HttpError && [404, 405].includes(error.status);
      if (hasNone || error instanceof NotEventStream) {
        // It had one before, so the server may have forgotten our session: listing again shows it.
        if (hasWorked) events.missed();
        return;
      }
      failures += 1;
      isGap = true;
    }
    const wait = Math.max(position.retry, MIN_REOPEN_MS) * 2 ** Math.min(failures, MAX_REOPEN_DOUBLINGS);
    await pause(Math.min(wait, MAX_RETRY_MS), signal);
  }
}

/**
 * Reads until the stream ends or breaks, and returns where to resume. Throws MessageTooLong for an event over the limit:
 * resuming would bring the same event again.
 */
async function readEvents(response: IncomingMessage, from: Position, events: ConnectionEvents): Promise<Position> {
  let { eventId, retry } = from;
  const parser = createEventStreamParser(
    {
      event({ data }) {
        if (data.trim() !== '') events.text(data);
      },
      id(id) {
        eventId = eventIdHeader(id);
      },
      retry(milliseconds) {
        retry = Math.min(Math.max(milliseconds, MIN_RETRY_MS), MAX_RETRY_MS);
      },
    },
    MAX_MESSAGE,
  );
  try {
    for await (const chunk of response) parser.push(chunk);
  } catch (error) {
    // A stream that broke is treated as one that ended: the position says how to go on.
    if (error instanceof MessageTooLong) throw error;
  }
  return { eventId, retry };
}

/** UTF-8 bytes as header text. Undefined for an id that is too long or holds control characters. */
function eventIdHeader(id: string): string | undefined {
  const bytes = id.length <= MAX_EVENT_ID ? Buffer.from(id, 'utf8').toString('latin1') : '';
  return /^[\x20-\x7e\x80-\xff]{1,4096}$/.test(bytes) ? bytes : undefined;
}

/**
 * The specification says 404; many servers send 400 without an id because they have not read the message. An error with
 * our request's id, or one that calls its method unknown, shows that the message was read.
 */
function isUnknownSession(error: HttpError, id: Id | undefined): boolean {
  if (responseIn(error, id) !== undefined || error.rpc?.code === METHOD_NOT_FOUND) return false;
  return error.status === 404 || (error.status === 400 && error.answered.length === 0);
}
