/**
 * JSON-RPC over one connection to an upstream server: ids, timeouts, progress, log messages, cancellation. Leaves alone:
 * bytes (stdio.ts, http.ts, sse.ts), protocol versions (dialects.ts), responses to the server's own requests (replies.ts).
 * Always true: every request settles exactly once.
 */
import { messageOf } from '../../log.ts';
import {
  decode,
  encodeNotification,
  encodeRequest,
  type Id,
  isObject,
  META,
  type Message,
  metaOf,
  type Params,
  type Response,
  RpcError,
} from '../../protocol/index.ts';
import { monotonicMs } from '../../wait.ts';
import {
  ANSWERED,
  type Connection,
  type ConnectionEvents,
  type HeaderFields,
  HttpError,
  type OutgoingMessage,
  UpstreamError,
} from './connection.ts';
import { MAX_RESPONSE_VALUES, MAX_STRANGE_LINES, MAX_STRANGE_LOGGED, MAX_UNSOLICITED } from './limits.ts';
import { deadlineOf, type Pending, PendingRequests, type RequestOptions } from './pending.ts';
import { createReplies } from './replies.ts';

/** How a request is sent, which does not depend on who asks. */
export interface Sending {
  readonly headers?: HeaderFields | undefined;
  /** Tells the server by a notification when the request is cancelled. Not for a handshake, nor where closing the stream does. */
  readonly notifyOnCancel: boolean;
}

export class RpcClient {
  readonly connection: Connection;
  /** Called with every notification of the server, except those about a request of ours. */
  onNotification: (method: string, params: Params) => void = () => {};
  /** When the last JSON-RPC message arrived, on the clock of `monotonicMs`; 0 before the first. */
  lastReceived = 0;
  readonly #debug: (text: string) => void;
  readonly #pending = new PendingRequests((id) => this.#timeOut(id));
  /** Those of them that take log messages. */
  readonly #logged = new Set<Pending>();
  readonly #end = new AbortController();
  /** Fires when the connection has ended; the reason is an Error. */
  readonly ended: AbortSignal = this.#end.signal;
  readonly #reply: ReturnType<typeof createReplies>;
  #lastId = 0;
  #strangeLines = 0;
  #hasSpoken = false;

  constructor(open: (events: ConnectionEvents) => Connection, debug: (text: string) => void) {
    this.#debug = debug;
    this.#reply = createReplies((text) => this.#send({ text }, 'a response'), this.end.bind(this));
    this.connection = open({
      text: (text, request) => this.#receive(text, request),
      lost: (error, id) => (id === null ? this.#failAll(error) : this.#take(id)?.reject(error)),
      closed: (error) => this.end(error),
      debug,
    });
  }

  request(method: string, params: Params, options: RequestOptions = {}, sending = PLAINLY): Promise<Params> {
    return new Promise((resolve, reject) => {
      const { signal, onProgress } = options;
      this.ended.throwIfAborted();
      if (signal?.aborted) throw new UpstreamError('cancelled');
      this.#lastId += 1;
      const id = this.#lastId;
      const body = onProgress ? { ...params, _meta: { ...metaOf(params), progressToken: id } } : params;
      const text = encodeRequest(id, method, body);
      const { headers, notifyOnCancel } = sending;
      const onAbort = () => this.#cancel(id, 'the client cancelled', 'cancelled');
      const deadline = deadlineOf(options);
      const pending: Pending = { method, options, notifyOnCancel, resolve, reject, onAbort, deadline, over: undefined };
      signal?.addEventListener('abort', onAbort);
      this.#pending.add(id, pending);
      if (options.onMessage) this.#logged.add(pending);
      const over = () => {
        pending.over ??= new AbortController();
        return pending.over.signal;
      };
      this.connection.send({ text, id, method, headers }, over).catch((error) => {
        if (error instanceof HttpError && error.body.id === id) this.#receive(error.body.text);
        else this.#take(id)?.reject(error);
      });
    });
  }

  /** Settles when the server has accepted or refused it. */
  notify(method: string, params?: Params): Promise<void> {
    return this.#send({ text: encodeNotification(method, params), method }, 'a notification');
  }

  /** Pending requests fail with `reason`, and no other is accepted. */
  end(reason: Error): void {
    this.#end.abort(reason);
    this.#failAll(reason);
  }

  close(reason: Error = new UpstreamError('the connection was closed')): Promise<void> {
    this.end(reason);
    return this.connection.close();
  }

  /** For messages without a response. */
  async #send(message: OutgoingMessage, what: string): Promise<void> {
    if (this.ended.aborted) return;
    await this.connection.send(message).catch((error) => {
      this.#debug(`${what} was not accepted: ${messageOf(error)}`);
    });
  }

  /** The pending request, which the caller must settle. */
  #take(id: unknown, reason = 'cancelled'): Pending | undefined {
    const pending = this.#pending.take(id);
    if (pending?.options.onMessage) this.#logged.delete(pending);
    pending?.options.signal?.removeEventListener('abort', pending.onAbort);
    pending?.over?.abort(reason);
    return pending;
  }

  #failAll(error: Error): void {
    for (const id of this.#pending.stop()) this.#take(id)?.reject(error);
  }

  #cancel(id: unknown, reason: string, message: string): void {
    const pending = this.#take(id);
    if (pending?.notifyOnCancel) void this.notify(CANCELLED, { requestId: id, reason });
    pending?.reject(new UpstreamError(message));
  }

  #timeOut(id: unknown): void {
    const { method, options } = this.#pending.get(id) ?? {};
    this.#cancel(id, 'timed out', `no answer to ${method} within ${options?.timeout} ms`);
  }

  #receive(text: string, request?: Id): void {
    // A long response may arrive, except to a subscription, which is always pending.
    const mayBeLong = () => this.#pending.some(({ method }) => method !== LISTEN);
    // Servers send empty events to give a stream an id.
    if (text.trim() === '') return;
    // Checked before decoding: many servers print logs on stdout, and a failed JSON.parse is slow.
    if (!MESSAGE_START.test(text) || (text.length > MAX_UNSOLICITED && !mayBeLong()))
      return void this.#countStrangeLine();
    const decoded = decode(text, MAX_RESPONSE_VALUES);
    // A line of a log may be JSON and have an id, which is not that of a request.
    const isLog = !Array.isArray(decoded) && decoded.kind === 'invalid' && !RESPONSE_MEMBER.test(text);
    if (isLog) return void this.#countStrangeLine();
    if (Array.isArray(decoded)) for (const message of decoded) this.#tryToHandle(message, request);
    else this.#tryToHandle(decoded, request);
  }

  #tryToHandle(message: Message, request: Id | undefined): void {
    if (this.ended.aborted) return;
    try {
      this.#handle(message, request);
    } catch (error) {
      // A fault in one message must not end the process.
      this.#debug(`a message could not be handled: ${messageOf(error)}`);
    }
  }

  #handle(message: Message, request: Id | undefined): void {
    if (message.kind === 'invalid') {
      const why = `the response is not valid JSON-RPC (${message.error.message})`;
      this.#take(message.id)?.reject(new UpstreamError(why));
      return void this.#countStrangeLine();
    }
    this.lastReceived = monotonicMs();
    this.#hasSpoken = true;
    if (message.kind === 'response') return void this.#handleResponse(message);
    const { method, params } = message;
    if (message.kind === 'request') void this.#reply(message);
    else if (method === PROGRESS) this.#handleProgress(params);
    else if (method === MESSAGE) this.#handleLogMessage(params, request);
    else if (method === ACKNOWLEDGED)
      this.#pending.get(metaOf(params)[META.subscription])?.options.onAcknowledged?.(params.notifications);
    // A server ends a subscription by cancelling our request for it.
    else if (method === CANCELLED)
      this.#take(params.requestId, ANSWERED)?.reject(new UpstreamError('the server cancelled the request'));
    else this.onNotification(method, params);
  }

  #handleResponse({ id, outcome }: Response): void {
    const pending = this.#take(id, ANSWERED);
    if (!pending) this.#debug('a response with an unknown id was dropped');
    else if ('error' in outcome)
      pending.reject(new RpcError(outcome.error.code, outcome.error.message, outcome.error.data));
    else if (isObject(outcome.result)) pending.resolve(outcome.result);
    else pending.reject(new UpstreamError(`the answer to ${pending.method} is not an object`));
  }

  /** Progress that was not asked for does not prolong a request. */
  #handleProgress(params: Params): void {
    const pending = this.#pending.get(params.progressToken);
    if (!pending?.options.onProgress) return;
    pending.deadline = deadlineOf(pending.options);
    try {
      pending.options.onProgress(params);
    } catch (error) {
      const why = `progress could not be passed on: ${messageOf(error)}`;
      this.#take(params.progressToken)?.reject(new UpstreamError(why));
    }
  }

  /** A message belongs to the request whose stream has brought it or, without such streams, to the only one that takes any. */
  #handleLogMessage(params: Params, request: Id | undefined): void {
    const [only] = this.#logged.size === 1 ? this.#logged : [];
    if (request === undefined && !only) this.onNotification(MESSAGE, params);
    else (request === undefined ? only : this.#pending.get(request))?.options.onMessage?.(params);
  }

  /** The line is not quoted: it may hold part of a secret, which redaction would not find. */
  #countStrangeLine(): void {
    this.#strangeLines += 1;
    if (this.#strangeLines <= MAX_STRANGE_LOGGED) this.#debug('sent a line that is not JSON-RPC');
    // Later the health check decides: a tool may print a long log, and other lines do not count as a sign of life.
    if (!this.#hasSpoken && this.#strangeLines > MAX_STRANGE_LINES)
      this.end(new UpstreamError(`the server printed ${MAX_STRANGE_LINES} lines that are not JSON-RPC`));
  }
}

// --- internal ---

const PROGRESS = 'notifications/progress';
const MESSAGE = 'notifications/message';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const CANCELLED = 'notifications/cancelled';
const LISTEN = 'subscriptions/listen';
const MESSAGE_START = /^\s*[[{]/;
const RESPONSE_MEMBER = /"(?:jsonrpc|result)"/;
const PLAINLY: Sending = { notifyOnCancel: false };
