/**
 * One upstream server that is kept connected: when it is tried again, its current listing, and the requests to it.
 * Leaves alone: one session (session.ts), the public names of its tools and resources (tools.ts, resources.ts).
 * Always true:
 * - it never gives up: every failure has a next attempt, with a growing backoff that ends when it was ready for a minute;
 * - a server that is away for a short time stays listed; one that responds without its lists is unlisted at once;
 * - a request waits for the server no longer than the limits say, and reaches it at most once.
 */
import { asError, messageOf } from '../../log.ts';
import type { UpstreamStatus } from '../../model.ts';
import { type Cancellation, type Params, RpcError } from '../../protocol/index.ts';
import { counted, shorten } from '../../text.ts';
import { afterAnswers, monotonicMs, pause, whenAborted } from '../../wait.ts';
import type { UpstreamConfig } from '../config/entries.ts';
import { createRedact } from '../config/redact.ts';
import { type HubContext, NotSent, ServerExit, SessionGone, UpstreamError } from '../connection/connection.ts';
import type { Capabilities } from '../connection/handshake.ts';
import { type McpClient, type McpRequestOptions, openMcpClient, type Spoken } from '../connection/mcp-client.ts';
import { CALL_WAIT_MS, KEEP_LISTED_MS, MAX_LOGGED, MAX_REASON, MIN_BACKOFF_MS, STABLE_MS } from './limits.ts';
import type { Listed, Listing } from './listing.ts';
import type { Quote } from './lists.ts';
import { createMessages } from './messages.ts';
import { doubled, UpstreamSession } from './session.ts';
import { createState } from './state.ts';
import { createUpdates, type ResourceUpdates } from './updates.ts';

export const EMPTY_LISTING: Listing = {
  tools: [],
  resources: [],
  templates: [],
  prompts: [],
  skills: [],
  problems: [],
};

type UpstreamRequestOptions = McpRequestOptions & { readonly timeout: number };

export class Upstream {
  readonly config: UpstreamConfig;
  readonly state: ReturnType<typeof createState>;
  readonly #context: HubContext;
  readonly #quote: Quote;
  readonly message: ReturnType<typeof createMessages>;
  readonly updates: ResourceUpdates;
  readonly #life = new AbortController();
  readonly #running: Promise<void>;
  /** Settles when no session is being closed. */
  #ending: Promise<void> = Promise.resolve();
  /** The session that is or was ready, until the next attempt. */
  #session: UpstreamSession | undefined;
  #spoken: Spoken | undefined;
  #listing: Listing = EMPTY_LISTING;
  #isListed = true;
  #unlisting: NodeJS.Timeout | undefined;

  /** `isFree`: settles when the process that had this name before has ended: two at a time could disturb each other. */
  constructor(config: UpstreamConfig, context: Omit<HubContext, 'debug'>, isFree?: Promise<void>) {
    const { name, target, secrets } = config;
    this.config = config;
    this.message = createMessages(name);
    const redact = createRedact(secrets);
    // Secrets are removed before the text is shortened: half a secret would not be recognized.
    this.#quote = (text, length) => shorten(redact(text, MAX_LOGGED), length);
    const debug = (text: string) => context.log.debug(`[${name}] ${redact(text, MAX_LOGGED)}`);
    this.#context = { ...context, debug };
    this.updates = createUpdates(debug);
    this.state = createState(config, context.log);
    const fault = (error: unknown) => context.log.error(`server ${name}: ${this.#reasonOf(error)}`);
    this.#running = target.kind === 'none' ? Promise.resolve() : this.#stayConnected(isFree).catch(fault);
    // While the server starts: later a text would wait for them.
    setImmediate(secrets);
  }

  status(): UpstreamStatus {
    const { name, from, target } = this.config;
    const { tools, resources, templates, prompts, skills } = this.listing();
    const mcp = this.#session?.mcp;
    return {
      name,
      from,
      transport: target.kind,
      ...this.state.facts(),
      tools: tools.length,
      resources: resources.length,
      templates: templates.length,
      prompts: prompts.length,
      skills: skills.length,
      ...(mcp ? { protocol: mcp.version, server: mcp.server } : {}),
    };
  }

  /** What is served of it. The same object as long as nothing has changed. */
  listing(): Listing {
    return this.#isListed ? this.#listing : EMPTY_LISTING;
  }

  /** The same, also while the server is away: its URIs are not given to others. */
  reservedListing(): Listing {
    return this.#listing;
  }

  /** Undefined while it is not connected. */
  capabilities(): Capabilities | undefined {
    return this.#session?.mcp.capabilities;
  }

  /** Rejects with the server's RpcError, or with an UpstreamError whose message is for people and models. */
  async request(method: string, params: Params, options: UpstreamRequestOptions): Promise<Params> {
    for (let mayRetry = true; ; mayRetry = false) {
      const session = this.#usableSession() ?? (await this.#awaitSession(options.signal));
      try {
        return await session.call(method, params, options);
      } catch (error) {
        // A second message shows whether the session is really gone.
        if (error instanceof SessionGone) await session.check();
        if (error instanceof NotSent) session.fail(error);
        // Both errors say that the server has not run this request, so it may be sent again.
        const isUnsent =
          error instanceof NotSent || (error instanceof SessionGone && session.over.reason instanceof SessionGone);
        if (isUnsent && mayRetry) continue;
        if (error instanceof SessionGone)
          throw error.refusal.body.rpc ?? new UpstreamError(this.#reasonOf(error.refusal));
        if (error instanceof RpcError) throw error;
        // Neither a response nor one of our limits: the connection itself failed.
        if (!(error instanceof UpstreamError)) void session.check();
        throw new UpstreamError(this.#reasonOf(error));
      }
    }
  }

  /** The level of log messages that clients want has changed. */
  followLog(): void {
    const { level } = this.#context.followedLog;
    if (level !== undefined) void this.#session?.mcp.admitLogs(level);
  }

  /** The lists may have changed: requests them again, soon. */
  relist(): void {
    this.#session?.relist();
  }

  /** Settles when it is ready or its first attempt has failed. */
  settled(): Promise<void> {
    const { facts, until } = this.state;
    const isConnecting = () => facts().state === 'connecting' && facts().reason === undefined;
    return until(() => !isConnecting() || this.#life.signal.aborted, this.config.connectTimeout);
  }

  /** Requests in flight fail with `reason`. */
  async close(reason: string): Promise<void> {
    this.#life.abort(new UpstreamError(reason));
    this.state.wake();
    clearTimeout(this.#unlisting);
    await this.#running;
    await this.#ending;
  }

  async #stayConnected(isFree: Promise<void> | undefined): Promise<void> {
    const { signal } = this.#life;
    if (isFree) await isFree;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const known = this.#spoken;
      this.state.enter('connecting', this.state.facts().reason);
      const error = await this.#runSession().catch(asError);
      const session = this.#session;
      this.#session = undefined;
      if (signal.aborted) return;
      const isForgotten = session !== undefined && error instanceof SessionGone;
      const isStable = session !== undefined && monotonicMs() - session.readySince >= STABLE_MS;
      if (isStable || (isForgotten && session.wasUsed)) attempt = 0;
      // The server responds but has forgotten our session: connect again at once, unless sessions are of no use.
      const wait = isForgotten && attempt === 0 ? 0 : backoff(attempt, Math.random());
      this.#unlisting ??= setTimeout(() => this.#publish(undefined), KEEP_LISTED_MS);
      // Some old processes exit, close their output or stop answering at a request before `initialize`: the next attempt
      // begins with that. An exit is not a failure yet the first time.
      const isUnknown = known === undefined && this.#spoken === undefined;
      const isProcess = this.config.target.kind === 'stdio' && error instanceof UpstreamError;
      const isProbeExit = isUnknown && error instanceof ServerExit;
      if (isUnknown && isProcess) this.#spoken = 'legacy';
      if (isProbeExit && this.state.facts().reason === undefined) this.state.enter('connecting', undefined, wait);
      else this.state.enter(session ? 'disconnected' : 'failed', this.#reasonOf(error), wait);
      await pause(wait, signal);
    }
  }

  /** One session from its beginning to its end. Gives what ended it; rejects when there was no connection. */
  async #runSession(): Promise<Error> {
    const known = this.#spoken;
    // The server may have been replaced by another one, so what is known counts for one attempt.
    this.#spoken = undefined;
    const opening = openMcpClient(this.config, this.#context, known, this.#life.signal);
    // While the server starts, the code for its lists is loaded. A failure of that is one to list.
    afterAnswers()
      .then(() => import('./listing.ts'))
      .catch(() => {});
    const mcp = await opening;
    this.#spoken = mcp.spoken;
    const session = new UpstreamSession(mcp, this.#context, {
      list: (isFirst) => this.#list(mcp, isFirst),
      hear: (method, params) => this.#hear(method, params),
      lost: this.updates.tellAll,
    });
    await session.start();
    if (!session.over.aborted) {
      this.#session = session;
      this.updates.resume(session);
      this.followLog();
      this.state.enter('ready');
      this.#context.debug(`protocol ${mcp.version}, ${counted(this.#listing.tools.length, 'tool')}`);
    }
    const error = await whenAborted(session.over);
    const [earlier, closed] = [this.#ending, session.close()];
    this.#ending = closed.catch((fault) => this.#context.debug(messageOf(fault))).then(() => earlier);
    // Two processes of one server at the same time could disturb each other. Over HTTP the last calls may go on.
    if (!mcp.rpc.connection.streamPerRequest) await this.#ending;
    return error;
  }

  #hear(method: string, params: Params): void {
    const { level, send } = this.#context.followedLog;
    const message = method === 'notifications/message' && this.message(params, level);
    if (message) send(message);
    if (method === 'notifications/resources/updated') this.updates.hear(params.uri);
  }

  async #list(mcp: McpClient, isFirst: boolean): Promise<Listed> {
    const { ended } = mcp.rpc;
    try {
      const last = this.#listing;
      const { listEverything, mergeListings } = await import('./listing.ts');
      const listed = await listEverything({ mcp, config: this.config, quote: this.#quote, last, isFirst });
      // A list that failed because the session ended is not published.
      ended.throwIfAborted();
      this.#publish(mergeListings(this.#listing, listed.listing));
      const published = this.#listing;
      // Unless the session ended or the lists were requested again meanwhile.
      void listed.later?.then(({ listing }) => {
        if (!ended.aborted && published === this.#listing) this.#publish(mergeListings(published, listing));
      });
      return listed;
    } catch (error) {
      if (ended.aborted || error instanceof SessionGone) throw error;
      this.#publish(undefined);
      throw new UpstreamError(`listing failed: ${messageOf(error)}`);
    }
  }

  #usableSession(): UpstreamSession | undefined {
    return this.#session?.over.aborted === false ? this.#session : undefined;
  }

  /** The session of an attempt that is due soon. */
  async #awaitSession(signal: Cancellation | undefined): Promise<UpstreamSession> {
    const isOver = (left: number) =>
      this.#usableSession() !== undefined || this.#life.signal.aborted || this.state.dueIn() > left;
    await this.state.until(isOver, this.config.target.kind === 'none' ? 0 : CALL_WAIT_MS, signal);
    const session = this.#usableSession();
    if (!session) throw new UpstreamError(`the server is not connected (${this.state.text()})`);
    return session;
  }

  /** Serves the listing from now on; without one, nothing until the next. */
  #publish(next: Listing | undefined): void {
    const before = this.listing();
    clearTimeout(this.#unlisting);
    this.#unlisting = undefined;
    this.#isListed = next !== undefined;
    if (next) this.#listing = next;
    if (this.listing() !== before) this.#context.changed(this.config.name);
  }

  #reasonOf(error: unknown): string {
    return this.#quote(messageOf(error), MAX_REASON);
  }
}

/** Before an attempt to connect. With a random part, so that servers that failed together are not all tried together. */
export function backoff(attempt: number, random: number): number {
  return Math.round(doubled(2 * MIN_BACKOFF_MS, attempt) * (0.5 + random / 2));
}
