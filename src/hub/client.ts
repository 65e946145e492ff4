/**
 * An MCP client of one upstream server: JSON-RPC over one connection, in the dialect of the server.
 * Owns: ids, timeouts, progress, cancellation, opening a session again, our responses to the server. Leaves alone: bytes
 * (stdio.ts, http.ts, sse.ts), what a dialect is (dialects.ts), when to try again and what to request (upstream.ts).
 * Always true:
 * - every request settles once, and reaches the server once at most: it is sent again only when the server has said that
 *   it does not know the session, and never because the client or its connection has ended;
 * - a client that could not be opened, or has ended, leaves no process, socket or timer behind.
 */
import { BACKOFF_MS, MAX_BACKOFF_MS, MAX_REPLIES, REPLY_MS, SETUP_MS } from '../limits.ts';
import { messageOf } from '../log.ts';
import * as protocol from '../protocol/index.ts';
import { type Id, isObject, type Message, type Params, RpcError } from '../protocol/index.ts';
import {
  type CallOptions,
  type ClientContext,
  type Connection,
  type ConnectionOwner,
  HttpError,
  pause,
  SessionLost,
  UpstreamError,
} from './connection.ts';
import { type Agreement, type Ask, agree, type Dialect } from './dialects.ts';
import type { ActiveTarget } from './entries.ts';
import { openHttp } from './http.ts';
import { openSse } from './sse.ts';
import { openStdio } from './stdio.ts';

/** Rejects with an Error that is for people, and may hold secrets; then no process, socket or timer is left. */
export async function openClient(target: ActiveTarget, context: ClientContext): Promise<UpstreamClient> {
  context.cancellation?.throwIfAborted();
  const isLegacy = target.kind === 'sse' || exitingTargets.has(target);
  const client = new UpstreamClient((owner) => connect(target, owner, context), context);
  try {
    await client.shakeHands(isLegacy);
    return client;
  } catch (error) {
    const isExit = target.kind === 'stdio' && client.end.aborted;
    await client.close();
    if (context.cancellation?.aborted) throw error;
    // Some servers exit at a request that they do not know. It is remembered, so that the next attempt is one start.
    if (isExit) exitingTargets.add(target);
    else exitingTargets.delete(target);
    if (isExit && !isLegacy) return openClient(target, context);
    // The statuses by which an older server shows that it has no streamable HTTP.
    const isOlder = error instanceof HttpError && [400, 404, 405].includes(error.status);
    if (target.kind !== 'http' || !target.fallback || !isOlder) throw error;
    // The address was meant for streamable HTTP, so its error is the useful one.
    return openClient({ ...target, kind: 'sse' }, context).catch(() => Promise.reject(error));
  }
}

export class UpstreamClient {
  readonly #end = new AbortController();
  /** Fires when it is lost or closed. The reason is an Error; its message is for people, and may hold secrets. */
  readonly end: AbortSignal = this.#end.signal;
  /** Settles when nothing of it is left. */
  readonly #closed: Promise<void>;
  readonly #context: ClientContext;
  readonly #connection: Connection;
  readonly #pending = new Map<unknown, Pending>();
  #agreement: Agreement | undefined;
  #onNotification: OnNotification = () => {};
  /** While another session is opened. */
  #renewal: Promise<boolean> | undefined;
  #lastId = 0;
  #replies = 0;

  /** For `openClient` alone, and so is `shakeHands`. */
  constructor(open: (owner: ConnectionOwner) => Connection, context: ClientContext) {
    const { end: signal } = this;
    this.#context = context;
    this.#connection = open({
      text: (text) => this.#receive(text),
      isPending: (id) => this.#pending.has(id),
      dropped: (error) => this.#failDropped(error),
      closed: (error) => this.#lose(error),
      headers: () => (this.#agreement ? { [protocol.HEADERS.version]: this.#agreement.version } : {}),
      log: context.log,
    });
    this.#closed = new Promise((done) => {
      signal.addEventListener('abort', () => done(this.#connection.close()));
    });
    context.cancellation?.addEventListener('abort', () => this.#lose(), { signal });
  }

  get agreement(): Agreement {
    if (!this.#agreement) throw new Error('there is no agreement before the handshake');
    return this.#agreement;
  }

  async shakeHands(isLegacy: boolean): Promise<void> {
    const ask: Ask = (dialect, method, params, cancellation) =>
      this.#ask(dialect, method, params, { timeout: SETUP_MS, cancellation });
    this.#agreement = await agree(ask, this.#context.identity, isLegacy);
    const { confirmation } = this.#agreement.dialect;
    // Over HTTP the next request has a connection of its own, and servers refuse one that comes before this.
    if (confirmation !== undefined) await this.#notify(confirmation);
  }

  /** Rejects with the server's RpcError, or with another Error that is for people, and may hold secrets. */
  async request(method: string, params: Params, options: CallOptions): Promise<Params> {
    for (let isAgain = false; ; isAgain = true) {
      const { agreement } = this;
      try {
        return agreement.dialect.unseal(await this.#ask(agreement.dialect, method, params, options));
      } catch (error) {
        if (!(error instanceof SessionLost)) throw error;
        const isRenewed = agreement !== this.#agreement && !this.#renewal;
        const isNew = isRenewed || (await this.#renew());
        // An error that names the request, by a number as all of ours have, is its answer: the server may have run it.
        if (isAgain || !isNew || typeof error.cause.id === 'number') throw error.cause.rpc ?? error.cause;
      }
    }
  }

  /** Rejects when the server does not answer. An error is an answer, and so is that there are too many requests. */
  async ping(timeout: number): Promise<void> {
    await this.request(this.agreement.dialect.pingMethod, {}, { timeout }).catch((error: unknown) => {
      if (!(error instanceof RpcError || (error instanceof HttpError && error.status === 429))) throw error;
    });
  }

  /** Takes the server's notifications from now on, and keeps a stream for them open where they need one. */
  listen(onNotification: OnNotification): void {
    this.#onNotification = onNotification;
    const { dialect, announced } = this.agreement;
    const { listenMethod } = dialect;
    const open = listenMethod ? () => this.#subscribe(listenMethod) : this.#connection.listen;
    if (open && announced.length > 0) void this.#keepListening(open);
  }

  /** Never rejects. The wait before another stream grows to the minute after which lists are requested anyway. */
  async #keepListening(open: NonNullable<Connection['listen']>): Promise<void> {
    for (let wait = BACKOFF_MS; !this.end.aborted; wait = Math.min(2 * wait, MAX_BACKOFF_MS)) {
      const goesOn = await open(() => this.#reportLists()).catch((error: unknown) => {
        if (!this.end.aborted) this.#context.log(`no notifications: ${messageOf(error)}`);
        return true;
      });
      if (!goesOn) return;
      await pause(wait, this.end);
    }
  }

  async close(): Promise<void> {
    this.#lose();
    await this.#closed;
  }

  /** A request in that dialect, and its result as the server sends it. */
  #ask(dialect: Dialect, method: string, params: Params, options: CallOptions): Promise<Params> {
    const { timeout, cancellation, onProgress } = options;
    return new Promise((resolve, reject) => {
      this.end.throwIfAborted();
      if (cancellation?.aborted) throw new UpstreamError('cancelled');
      const id = ++this.#lastId;
      const sealed = dialect.seal(params);
      const body = onProgress ? { ...sealed, _meta: { ...protocol.metaOf(sealed), progressToken: id } } : sealed;
      const text = protocol.encodeRequest(id, method, body);
      const headers = dialect.headers(method, params, options.headers);
      const onAbort = () => this.#cancel(id, 'cancelled');
      const onTimeout = () => this.#cancel(id, `no answer to ${method} within ${timeout} ms`);
      const timer = Number.isFinite(timeout) ? setTimeout(onTimeout, timeout) : undefined;
      cancellation?.addEventListener('abort', onAbort);
      this.#pending.set(id, { options, resolve, reject, timer, onAbort });
      const sent = this.#connection.send({ text, id, method, headers });
      sent.catch((error) => this.#take(id)?.reject(error));
    });
  }

  /** Never rejects. */
  async #notify(method: string, params?: Params): Promise<void> {
    const refused = (error: unknown) => this.#context.log(`${method} was not accepted: ${messageOf(error)}`);
    await this.#connection.send({ text: protocol.encodeNotification(method, params), method }).catch(refused);
  }

  /** The request, which no longer waits and which the caller must settle. */
  #take(id: unknown): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    clearTimeout(pending?.timer);
    pending?.options.cancellation?.removeEventListener('abort', pending.onAbort);
    return pending;
  }

  #cancel(id: Id, reason: string): void {
    this.#take(id)?.reject(new UpstreamError(reason));
    this.#connection.drop?.(id);
    // A handshake is not cancelled, and closing the response is enough where that cancels.
    if (!this.#agreement || (this.#connection.drop && this.#agreement.dialect.cancelsByClosing)) return;
    void this.#notify('notifications/cancelled', { requestId: id, reason });
  }

  /** Requests in flight fail, and no other is accepted. */
  #lose(reason: Error = new UpstreamError('the connection was closed')): void {
    this.#end.abort(reason);
    for (const id of [...this.#pending.keys()]) this.#take(id)?.reject(this.end.reason);
  }

  /**
   * A message was dropped that may have been the response to any request in flight. A single one fails now; of several,
   * nobody knows which, and the right one runs into its timeout.
   */
  #failDropped(error: Error): void {
    const [id, ...others] = [...this.#pending].flatMap(([one, { timer }]) => (timer ? [one] : []));
    if (others.length === 0) this.#take(id)?.reject(error);
    this.#context.log(error.message);
  }

  /** Opens another session, once for all that ask for it. False when the server knows the one that we have. */
  #renew(): Promise<boolean> {
    const open = async () => {
      // The refusal may concern this message alone. When a ping is refused too, the session is gone.
      const { dialect } = this.agreement;
      const ping = this.#ask(dialect, dialect.pingMethod, {}, { timeout: REPLY_MS });
      if (!((await ping.catch((error: unknown) => error)) instanceof SessionLost)) return false;
      await this.shakeHands(true).catch((error: unknown) => {
        throw new UpstreamError(`the server has forgotten our session, and opens no other: ${messageOf(error)}`);
      });
      return true;
    };
    this.#renewal ??= open().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  /** Asks for notifications by a request that lasts as long as they come; settles as `Connection.listen` does. */
  #subscribe(method: string): Promise<boolean> {
    const notifications = Object.fromEntries(this.agreement.announced.map((list) => [`${list}ListChanged`, true]));
    const isRefused = (error: unknown) => (error instanceof RpcError ? false : Promise.reject(error));
    return this.request(method, { notifications }, { timeout: Number.POSITIVE_INFINITY }).then(() => true, isRefused);
  }

  /** A stream for notifications is open: every list whose changes it announces may have changed before that. */
  #reportLists(): void {
    for (const list of this.agreement.announced) this.#onNotification(`notifications/${list}/list_changed`, {});
  }

  #receive(text: string): void {
    try {
      const decoded = protocol.decode(text);
      for (const message of Array.isArray(decoded) ? decoded : [decoded]) if (!this.end.aborted) this.#handle(message);
    } catch (error) {
      // A fault in one message must not end the process.
      this.#context.log(`a message could not be handled: ${messageOf(error)}`);
    }
  }

  #handle(message: Message): void {
    if (message.kind === 'invalid') this.#settleInvalid(message.id, message.error);
    else if (message.kind === 'response') this.#settle(message);
    else if (message.kind === 'request') void this.#reply(message.id, message.method);
    else if (message.method === 'notifications/progress') this.#progress(message.params);
    else if (message.method === 'notifications/subscriptions/acknowledged') this.#reportLists();
    else if (message.method === 'notifications/cancelled')
      this.#take(message.params.requestId)?.reject(new UpstreamError('the server cancelled the request'));
    else this.#onNotification(message.method, message.params);
  }

  #settle({ id, outcome }: Message & { kind: 'response' }): void {
    const pending = this.#take(id);
    // The server could not read a request of ours, and does not know which.
    if (id === null && 'error' in outcome && outcome.error.code === protocol.CODE.parse)
      this.#failDropped(new UpstreamError(outcome.error.message));
    else if (!pending) this.#context.log('a response to no request was dropped');
    else if ('error' in outcome)
      pending.reject(new RpcError(outcome.error.code, outcome.error.message, outcome.error.data));
    else if (isObject(outcome.result)) pending.resolve(outcome.result);
    else pending.reject(new UpstreamError('the answer is not an object'));
  }

  /** What cannot be parsed is not quoted: it may hold part of a secret. Over HTTP, its own exchange shows the loss. */
  #settleInvalid(id: Id | null, { code }: RpcError): void {
    const isLost = id === null && code === protocol.CODE.parse && !this.#connection.drop;
    if (isLost) this.#failDropped(new UpstreamError('a message that is not JSON was dropped'));
    else this.#take(id)?.reject(new UpstreamError('the answer is not JSON-RPC'));
  }

  /** Progress that was not asked for does not prolong a request. */
  #progress(params: Params): void {
    const { options, timer } = this.#pending.get(params.progressToken) ?? {};
    if (!options?.onProgress) return;
    timer?.refresh();
    options.onProgress(params);
  }

  /** Only a ping gets a result: a server can ask nothing else of us. */
  async #reply(id: Id, method: string): Promise<void> {
    if (this.#replies === MAX_REPLIES) return;
    this.#replies += 1;
    const reply =
      method === 'ping' ? protocol.encodeReply(id, {}) : protocol.errorReply(id, protocol.methodNotFound(method));
    await this.#connection.send({ text: String(reply) }).catch(() => {}); // The server does not want it.
    this.#replies -= 1;
  }
}

// --- internal ---

interface Pending {
  readonly options: CallOptions;
  readonly timer: NodeJS.Timeout | undefined;
  resolve(result: Params): void;
  reject(error: Error): void;
  onAbort(): void;
}

type OnNotification = (method: string, params: Params) => void;

/** Processes that have ended during a handshake: they are sent `initialize` at once. */
const exitingTargets = new WeakSet<ActiveTarget>();

function connect(target: ActiveTarget, owner: ConnectionOwner, { env, hops }: ClientContext): Connection {
  if (target.kind === 'stdio') return openStdio(target, owner, env, hops);
  return target.kind === 'sse' ? openSse(target, owner) : openHttp(target, owner);
}
