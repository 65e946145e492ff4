/**
 * A connection over streamable HTTP: one POST per message, answered by a JSON body or an event stream.
 * Owns: the session id, response streams, the stream for notifications. Leaves alone: sockets (http-client.ts).
 * Always true: a stream that breaks is resumed when the server gave event ids; an error of one message (session forgotten,
 * connection refused) is reported for that message alone.
 */
import type { IncomingMessage } from 'node:http';
import { messageOf } from '../../log.ts';
import { CODE, HEADERS, type Id } from '../../protocol/index.ts';
import { pause } from '../../wait.ts';
import {
  type Connection,
  type ConnectionEvents,
  type HeaderFields,
  HttpError,
  MessageTooLong,
  type OutgoingMessage,
  SessionGone,
  UpstreamError,
} from './connection.ts';
import { type Position, readEvents, START } from './event-stream.ts';
import {
  createHttpClient,
  discardBody,
  EVENT_STREAM_TYPE,
  type HttpTarget,
  JSON_TYPE,
  mediaType,
  readBody,
} from './http-client.ts';
import { DELETE_MS, MAX_MESSAGE, REPLY_MS } from './limits.ts';

export class HttpConnection implements Connection {
  readonly streamPerRequest = true;
  readonly #client: ReturnType<typeof createHttpClient>;
  readonly #events: ConnectionEvents;
  readonly #end = new AbortController();
  #session: HeaderFields = {};
  /** Where the stream for notifications goes on. */
  #position = START;

  constructor(target: HttpTarget, events: ConnectionEvents, always: () => HeaderFields) {
    this.#client = createHttpClient(target, always);
    this.#events = events;
  }

  async send(message: OutgoingMessage, over = () => AbortSignal.timeout(REPLY_MS)): Promise<void> {
    const { id, method } = message;
    const signal = over();
    const headers = { ...this.#session, accept: `${JSON_TYPE}, ${EVENT_STREAM_TYPE}` };
    const response = await this.#client.send({ verb: 'POST', headers, message, signal }).catch((error: unknown) => {
      const isGone = HEADERS.session in headers && error instanceof HttpError && isUnknownSession(error, id);
      throw isGone ? new SessionGone(error) : error;
    });
    if (id === undefined) return discardBody(response);
    const sessionId = response.headers[HEADERS.session];
    if (method === 'initialize' && typeof sessionId === 'string') this.#session = { [HEADERS.session]: sessionId };
    const type = mediaType(response);
    if (type === EVENT_STREAM_TYPE) return this.#receiveEvents(response, signal, id);
    const body = await readBody(response, MAX_MESSAGE);
    if (type !== JSON_TYPE) throw new UpstreamError(`the answer is ${type || 'of no type'}, not JSON`);
    this.#events.text(body, id);
    // The body is not quoted: it may hold part of a secret, which redaction would not find.
    if (!signal.aborted)
      throw new UpstreamError(`the body does not respond to the request (${type}, ${body.length} characters)`);
  }

  async listen(opened: () => void): Promise<boolean> {
    try {
      const receive = (text: string) => this.#events.text(text);
      this.#position = await this.#resume(this.#position, this.#end.signal, receive, opened);
    } catch (error) {
      if (error instanceof MessageTooLong) this.#position = START;
      if (error instanceof HttpError && hasNoStream(error)) return false;
      throw error;
    }
    if (this.#position.eventId === undefined) throw new UpstreamError('the server closed the stream');
    return true;
  }

  async close(): Promise<void> {
    this.#end.abort();
    const headers = this.#session;
    this.#session = {};
    if (HEADERS.session in headers)
      await this.#client.send({ verb: 'DELETE', headers, signal: AbortSignal.timeout(DELETE_MS) }).then(
        (response) => response.destroy(),
        (error: unknown) => this.#events.debug(`the session was not ended: ${messageOf(error)}`),
      );
    this.#client.close();
  }

  /** Reads the stream of one request to its end, and resumes it after the last event id when it breaks. */
  async #receiveEvents(first: IncomingMessage, signal: AbortSignal, id: Id): Promise<void> {
    const receive = (text: string) => this.#events.text(text, id);
    let position = await readEvents(first, START, receive);
    while (position.eventId !== undefined && !signal.aborted)
      position = await this.#resume(position, signal, receive).catch((error: unknown) => {
        // Not the error itself: the server has the request, and this one says something about the stream alone.
        throw new Error(`the stream of the answer broke and could not be resumed: ${messageOf(error)}`);
      });
    if (!signal.aborted) throw new UpstreamError('the stream ended without an answer');
  }

  /** Opens a stream after the wait that the server asked for, and reads it as `readEvents` does. */
  async #resume(
    from: Position,
    signal: AbortSignal,
    receive: (text: string) => void,
    opened = () => {},
  ): Promise<Position> {
    const { eventId, retry } = from;
    if (eventId !== undefined) await pause(retry, signal);
    const mark = eventId === undefined ? {} : { 'last-event-id': eventId };
    const response = await this.#client.openStream({ ...this.#session, ...mark }, signal);
    opened();
    return readEvents(response, from, receive);
  }
}

// --- internal ---

/**
 * The specification says 404; many servers send 400 without an id because they have not read the message. An error with
 * our request's id, or one that calls its method unknown, shows that the message was read.
 */
function isUnknownSession({ status, body }: HttpError, id: Id | undefined): boolean {
  if (body.id === id || body.rpc?.code === CODE.method) return false;
  return status === 404 || (status === 400 && body.id === null);
}

/** The specification says 405. Other servers have nothing there, or something else. */
const hasNoStream = ({ status }: HttpError) => status < 400 || status === 404 || status === 405;
