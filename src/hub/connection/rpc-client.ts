/**
 * JSON-RPC over one connection to an upstream server.
 * Owns: ids, timeouts, progress, cancellation, responses to the server's own requests.
 * Leaves alone: bytes (stdio.ts, http.ts, sse.ts), protocol versions (dialects.ts).
 * Always true:
 * - every request settles exactly once: by its response, its timeout, its cancellation, or the end of the connection;
 * - a response with an unknown id is dropped;
 * - of the server's own requests only `ping` gets a result.
 */
import { messageOf } from '../../log.ts';
import {
  decode,
  encodeError,
  encodeNotification,
  encodeRequest,
  encodeResult,
  type Id,
  idKey,
  isObject,
  type Message,
  methodNotFound,
  type Params,
  type Request,
  type Response,
  RpcError,
} from '../../protocol/index.ts';
import { type Connection, type ConnectionEvents, type HeaderFields, UpstreamError } from './connection.ts';
import { MAX_RESPONSE_VALUES, MAX_STRANGE_LINES, MAX_STRANGE_LOGGED, MAX_UNSOLICITED } from './limits.ts';
import { createReplies } from './replies.ts';

export interface RequestOptions {
  /** Milliseconds without a response or progress after which the request fails; undefined: no limit. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Asks the server to report progress. */
  readonly onProgress?: ((params: Params) => void) | undefined;
}

export interface RpcRequestOptions extends RequestOptions {
  readonly headers?: HeaderFields;
  /** See OutgoingMessage. */
  readonly startsSession?: boolean;
  /** Tells the server by a notification when the request is cancelled. Not for a handshake, nor where closing the stream does. */
  readonly notifyOnCancel?: boolean;
}

export interface RpcEvents {
  notification(method: string): void;
  /** Notifications may have been missed. */
  missed(): void;
  debug(text: string): void;
}

export class RpcClient {
  readonly connection: Connection;
  readonly #events: RpcEvents;
  readonly #pending = new Map<string, Pending>();
  readonly #end = new AbortController();
  readonly #reply: (text: string) => boolean;
  #lastReceived = performance.now();
  #lastId = 0;
  /** Lines in a row that are not JSON-RPC. */
  #strangeLines = 0;
  #hasSpoken = false;

  constructor(open: (events: ConnectionEvents) => Connection, events: RpcEvents) {
    this.#events = events;
    this.connection = open({
      text: (text) => this.#receive(text),
      undelivered: (id, error) => this.#pending.get(idKey(id))?.fail(error),
      lost: (error) => this.#failAll(error),
      missed: () => events.missed(),
      closed: (error) => this.#finish(error),
      debug: (text) => events.debug(text),
    });
    this.#reply = createReplies(this.connection, this.ended, events.debug);
  }

  /** Fires when the connection has ended; the reason is an Error. */
  get ended(): AbortSignal {
    return this.#end.signal;
  }

  /** When the last JSON-RPC message arrived, on the clock of `performance.now()`. */
  get lastReceived(): number {
    return this.#lastReceived;
  }

  request(method: string, params: Params, options: RpcRequestOptions = {}): Promise<Params> {
    const { signal, timeout, onProgress, headers, startsSession = false } = options;
    if (this.ended.aborted) return Promise.reject(this.ended.reason);
    if (signal?.aborted) return Promise.reject(new UpstreamError('cancelled'));
    this.#lastId += 1;
    const id = this.#lastId;
    const body = onProgress ? { ...params, _meta: { ...metaOf(params), progressToken: id } } : params;
    return new Promise((resolve, reject) => {
      // First: params that cannot be encoded throw here, before anything is registered.
      const text = encodeRequest(id, method, body);
      let timer: NodeJS.Timeout | undefined;
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#pending.delete(idKey(id));
      };
      const fail = (error: Error) => {
        settle();
        reject(error);
      };
      const cancel = (reason: string, message: string) => {
        this.#cancel(id, reason, options);
        fail(new UpstreamError(message));
      };
      const onAbort = () => cancel('the client cancelled', 'cancelled');
      const onTimeout = () => cancel('timed out', `no answer to ${method} within ${timeout} ms`);
      const restartTimer = () => {
        clearTimeout(timer);
        if (timeout !== undefined) timer = setTimeout(onTimeout, timeout);
      };
      const succeed = (result: Params) => {
        settle();
        resolve(result);
      };
      // Progress that was not asked for does not prolong a request.
      const progress =
        onProgress &&
        ((report: Params) => {
          restartTimer();
          onProgress(report);
        });
      this.#pending.set(idKey(id), { method, fail, succeed, progress });
      signal?.addEventListener('abort', onAbort);
      restartTimer();
      this.connection.send({ text, id, startsSession, repeatable: REPEATABLE.has(method), headers });
    });
  }

  notify(method: string, params?: Params): void {
    if (!this.ended.aborted) this.connection.send({ text: encodeNotification(method, params), repeatable: true });
  }

  /** Requests that are still pending fail with `reason`. */
  close(reason: Error = new UpstreamError('the connection was closed')): Promise<void> {
    this.#finish(reason);
    return this.connection.close();
  }

  #cancel(requestId: Id, reason: string, { notifyOnCancel = false }: RpcRequestOptions): void {
    if (notifyOnCancel) this.notify(CANCELLED, { requestId, reason });
    this.connection.cancel(requestId);
  }

  #failAll(error: Error): void {
    for (const one of [...this.#pending.values()]) one.fail(error);
  }

  #finish(error: Error): void {
    this.#end.abort(error);
    this.#failAll(error);
  }

  #receive(text: string): void {
    // Checked before decoding: many servers print logs on stdout, and a failed JSON.parse is slow.
    if (!MESSAGE_START.test(text) || (text.length > MAX_UNSOLICITED && !this.#awaitsResult())) {
      this.#countStrangeLine();
      return;
    }
    for (const message of [decode(text, MAX_RESPONSE_VALUES)].flat()) {
      if (this.ended.aborted) return;
      try {
        this.#handle(message);
      } catch (error) {
        // A fault in one message must not end the process.
        this.#events.debug(`a message could not be handled: ${messageOf(error)}`);
      }
    }
  }

  /** Whether a long response may arrive. A subscription is always pending, and its response is short. */
  #awaitsResult(): boolean {
    return [...this.#pending.values()].some(({ method }) => method !== LISTEN);
  }

  #handle(message: Message): void {
    if (message.kind !== 'invalid') {
      this.#lastReceived = performance.now();
      this.#strangeLines = 0;
      this.#hasSpoken = true;
    }
    switch (message.kind) {
      case 'response':
        this.#handleResponse(message);
        break;
      case 'request':
        this.#handleRequest(message);
        break;
      case 'invalid':
        if (message.id !== null)
          this.#pending
            .get(idKey(message.id))
            ?.fail(new UpstreamError(`the response is not valid JSON-RPC (${message.error.message})`));
        this.#countStrangeLine();
        break;
      case 'notification':
        if (message.method === PROGRESS) this.#handleProgress(message.params);
        else if (message.method === CANCELLED) this.#handleCancelled(message.params);
        else this.#events.notification(message.method);
    }
  }

  #handleResponse({ id, outcome }: Response): void {
    const pending = id === null ? undefined : this.#pending.get(idKey(id));
    if (!pending || id === null) {
      this.#events.debug('a response with an unknown id was dropped');
      return;
    }
    this.connection.answered(id);
    if ('error' in outcome) pending.fail(new RpcError(outcome.error.code, outcome.error.message, outcome.error.data));
    else if (isObject(outcome.result)) pending.succeed(outcome.result);
    else pending.fail(new UpstreamError(`the answer to ${pending.method} is not an object`));
  }

  #handleProgress(params: Params): void {
    const { progressToken: token } = params;
    const pending = typeof token === 'number' ? this.#pending.get(idKey(token)) : undefined;
    try {
      pending?.progress?.(params);
    } catch (error) {
      pending?.fail(new UpstreamError(`progress could not be passed on: ${messageOf(error)}`));
    }
  }

  /** A server ends a subscription by cancelling our request for it. */
  #handleCancelled({ requestId: id }: Params): void {
    if (typeof id !== 'number') return;
    this.connection.answered(id);
    this.#pending.get(idKey(id))?.fail(new UpstreamError('the server cancelled the request'));
  }

  #handleRequest({ id, method }: Request): void {
    const text = method === 'ping' ? encodeResult(id, '{}') : encodeError(id, methodNotFound(method));
    if (!this.#reply(text))
      this.#finish(new UpstreamError('the server sends more requests than it accepts responses to'));
  }

  /** The line is not quoted: it may hold part of a secret, which redaction would not find. */
  #countStrangeLine(): void {
    this.#strangeLines += 1;
    if (this.#strangeLines <= MAX_STRANGE_LOGGED) this.#events.debug('sent a line that is not JSON-RPC');
    // Later the health check decides: a tool may print a long log, and other lines do not count as a sign of life.
    if (!this.#hasSpoken && this.#strangeLines > MAX_STRANGE_LINES)
      this.#finish(new UpstreamError(`the server printed ${MAX_STRANGE_LINES} lines that are not JSON-RPC`));
  }
}

export function metaOf({ _meta }: Params): Params {
  return isObject(_meta) ? _meta : {};
}

// --- internal ---

const PROGRESS = 'notifications/progress';
const CANCELLED = 'notifications/cancelled';
const LISTEN = 'subscriptions/listen';
const MESSAGE_START = /^\s*[[{]/;
/** Requests that change nothing on the server. */
const REPEATABLE: ReadonlySet<string> = new Set([
  'ping',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/read',
  'skills/list',
]);

interface Pending {
  readonly method: string;
  succeed(result: Params): void;
  fail(error: Error): void;
  readonly progress: ((params: Params) => void) | undefined;
}
