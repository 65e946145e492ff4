/**
 * One upstream server that is kept connected: its state, what it lists, and the requests to it.
 * Owns: when it is tried again, health checks, waiting for it. Leaves alone: one connection (client.ts), one list
 * (listing.ts), what is made of them for the catalogue (items.ts, skills.ts).
 * Its states: connecting, ready, disconnected, and connecting again; after an attempt that failed, failed, and connecting
 * again. One that is connected, and whose tools can no longer be listed, is failed too, until they can.
 * Always true:
 * - it never gives up: every failure has a next attempt, with a growing backoff that starts anew after a minute of being ready;
 * - what was listed stays listed while the server is away; a server that was never ready lists nothing;
 * - a request waits for the attempt that is under way, and for nothing else; it reaches the server once at most;
 * - no state, Problem or error message that leaves here holds a secret of the configuration; results pass through whole.
 */
import * as limits from '../limits.ts';
import { type Log, messageOf } from '../log.ts';
import type { Problem, UpstreamState, UpstreamStatus } from '../model.ts';
import { type Params, RpcError } from '../protocol/index.ts';
import { createFilter, type Filter } from '../skills/filter.ts';
import { counted, shorten } from '../text.ts';
import { openClient, type UpstreamClient } from './client.ts';
import { type CallOptions, type ClientContext, pause, UpstreamError } from './connection.ts';
import type { ActiveTarget, UpstreamConfig } from './entries.ts';
import { EMPTY_LISTING, keepListed, type Listing, type ListName, type ListOwner, merge } from './listing.ts';
import { createRedact } from './redact.ts';

/** What all upstream servers of a hub share. */
export interface HubContext extends Pick<ClientContext, 'env' | 'identity' | 'hops'> {
  readonly log: Log;
  /** Milliseconds between two pings of a server that runs no call. */
  readonly healthInterval: number;
  /** What the server of that name lists has changed. */
  changed(name: string): void;
}

type State = Pick<UpstreamStatus, 'state' | 'reason' | 'nextAttempt'>;

export class Upstream {
  readonly config: UpstreamConfig;
  readonly #context: HubContext;
  readonly #redact: (text: string) => string;
  readonly #filter: Filter;
  readonly #faults = new Map<ListName, readonly string[]>();
  #listing = EMPTY_LISTING;
  #wasReady = false;
  #now: State = { state: 'connecting' };
  /** Undefined while it is away. */
  #client: UpstreamClient | undefined;
  /** The attempt to connect that is under way, or the last one: a client, or why there is none. */
  #attempt: Promise<UpstreamClient | string> = Promise.resolve('');
  #callsInFlight = 0;
  /** Settles when it is ready, its first attempt has failed, or it is closed. */
  readonly settled: Promise<void>;
  #settle = () => {};
  readonly #life = new AbortController();
  readonly #running: Promise<void>;

  /** `previous`: settles when the server that had this name before has ended. */
  constructor(config: UpstreamConfig, context: HubContext, previous: Promise<void> = Promise.resolve()) {
    const { target, secrets, filter } = config;
    this.config = config;
    this.#context = context;
    this.#redact = createRedact(secrets);
    this.#filter = createFilter(filter);
    this.settled = new Promise((done) => {
      this.#settle = done;
    });
    this.#running = target.kind === 'none' ? previous : this.#stayConnected(target, previous);
    if (target.kind !== 'none') return;
    this.#now = { state: target.state, reason: target.reason };
    this.#settle();
  }

  /** What is served of it; the same object while nothing has changed. */
  get listing(): Listing {
    return this.#wasReady ? this.#listing : EMPTY_LISTING;
  }

  /** Whether the filter of its entry lets an item of that name through. */
  keeps(name: string): boolean {
    return this.#filter.keeps({ name, group: this.config.name, isUpstream: true });
  }

  /** It may list something some day, and has not yet. */
  get isAwaited(): boolean {
    return !this.#wasReady && this.config.target.kind !== 'none';
  }

  get problems(): readonly Problem[] {
    const where = `server ${this.config.name}`;
    const faults = [...this.#faults.values()].flat().map((fault) => this.#quote(fault));
    return faults.map((what) => ({ where, what }));
  }

  status(): UpstreamStatus {
    const { name, from, target } = this.config;
    const counts = Object.entries(this.listing).map(([list, items]) => [list, items.length]);
    const { version: protocol, server } = this.#client?.agreement ?? {};
    const known = { name, from, transport: target.kind, ...this.#now, protocol, server };
    return { ...known, ...(Object.fromEntries(counts) as Record<ListName, number>) };
  }

  /** Rejects with the server's RpcError, or with an UpstreamError whose message is for people and models. */
  async request(method: string, params: Params, options: CallOptions): Promise<Params> {
    if (!this.#client) await Promise.race([this.#attempt, pause(limits.CALL_WAIT_MS, options.cancellation)]);
    if (!this.#client) throw new UpstreamError(`the server is ${this.#describe()}`);
    this.#callsInFlight += 1;
    try {
      return await this.#client.request(method, params, options);
    } catch (error) {
      if (!(error instanceof RpcError)) throw new UpstreamError(this.#quote(messageOf(error)));
      throw new RpcError(error.code, this.#redact(error.message), error.data);
    } finally {
      this.#callsInFlight -= 1;
    }
  }

  /** Requests in flight fail. Settles when nothing is left. */
  async close(): Promise<void> {
    this.#now = { state: 'disconnected', reason: 'it was stopped' };
    this.#life.abort();
    this.#settle();
    await this.#running;
  }

  async #stayConnected(target: ActiveTarget, previous: Promise<void>): Promise<void> {
    const { env, identity, hops, log } = this.#context;
    const { signal } = this.#life;
    const note = (line: string) => log.debug(`[${this.config.name}] ${this.#redact(line)}`);
    const context = { env, identity, hops, cancellation: signal, log: note };
    /** Settles when the connection before is closed: two processes of one server could disturb each other. */
    let closed = previous;
    for (let retries = 0; !signal.aborted; retries++) {
      this.#attempt = closed.then(() => openClient(target, context)).catch(messageOf);
      this.#enter({ state: 'connecting', reason: this.#now.reason });
      const client = await this.#attempt;
      const isOpen = typeof client !== 'string';
      const { readyFor, reason } = isOpen ? await this.#serveUntilEnd(client) : { readyFor: undefined, reason: client };
      if (isOpen) closed = client.close();
      if (signal.aborted) break;
      // Only one that was ready is tried again at once.
      if (readyFor === undefined) retries = Math.max(retries, 1);
      else if (readyFor >= limits.MAX_BACKOFF_MS) retries = 0;
      const wait = backoff(retries, Math.random());
      this.#fail(readyFor === undefined ? 'failed' : 'disconnected', reason, wait);
      // At once means without a pause: a call that comes now must find the next attempt to wait for.
      if (wait > 0) await pause(wait, signal);
    }
    await closed;
  }

  /** One connection from its handshake to its end. Never rejects. `readyFor`: milliseconds; undefined if it never was. */
  async #serveUntilEnd(client: UpstreamClient) {
    this.#client = client;
    const failure = await keepListed(client, this.#lists).then(() => undefined, messageOf);
    const isReady = failure === undefined && !client.end.aborted;
    const since = performance.now();
    if (isReady) {
      this.#wasReady = true;
      this.#enter({ state: 'ready' });
      this.#context.changed(this.config.name);
    }
    const trouble = isReady ? await this.#untilUnhealthy(client) : failure;
    this.#client = undefined;
    // The end of a connection says more than the request that failed by it.
    const reason = client.end.aborted ? messageOf(client.end.reason) : (trouble ?? '');
    return { readyFor: isReady ? performance.now() - since : undefined, reason };
  }

  /** Settles when the connection has ended, or the server does not answer a ping, with the reason. */
  async #untilUnhealthy(client: UpstreamClient): Promise<string> {
    const { healthInterval } = this.#context;
    while (!client.end.aborted) {
      await pause(healthInterval, client.end);
      // Many servers answer nothing else during a call, which has its own timeout.
      if (this.#callsInFlight > 0) continue;
      const failure = await client.ping(Math.min(limits.REPLY_MS, healthInterval)).then(() => undefined, messageOf);
      if (failure !== undefined && this.#callsInFlight === 0) return `health check failed: ${failure}`;
    }
    return '';
  }

  readonly #lists: ListOwner = {
    keeps: (name) => this.keeps(name),
    publish: (name, outcome) => {
      const { state } = this.#now;
      const isTools = name === 'tools';
      if (outcome.kind === 'failed') {
        if (!isTools) this.#faults.set(name, [outcome.why]);
        // Before it is ready, the attempt as a whole fails.
        else if (state !== 'connecting') this.#fail('failed', outcome.why, limits.RELIST_MS);
        return;
      }
      const before = this.#listing;
      const items = merge<unknown>(before[name], outcome.items);
      this.#faults.set(name, outcome.faults);
      if (items !== before[name]) this.#listing = { ...before, [name]: items };
      if (isTools && state === 'failed') this.#enter({ state: 'ready' });
      if (this.#wasReady && this.#listing !== before) this.#context.changed(this.config.name);
    },
  };

  #fail(state: UpstreamState, reason: string, wait: number): void {
    this.#enter({ state, reason: this.#quote(reason), nextAttempt: new Date(Date.now() + wait).toISOString() });
  }

  #enter(next: State): void {
    const { state, reason } = next;
    // While a server fails in the same way again and again, only the first time is logged for people.
    const isNews = state === 'ready' || (state !== 'connecting' && reason !== this.#now.reason);
    this.#now = next;
    const level = state === 'ready' ? 'info' : 'warn';
    this.#context.log[isNews ? level : 'debug'](`server ${this.config.name}: ${this.#describe()}`);
    if (state !== 'connecting') this.#settle();
  }

  /** For people: "failed: exited with code 1; next attempt in 4 s". */
  #describe(): string {
    const { state, reason, nextAttempt } = this.#now;
    if (state === 'ready') return `ready, with ${counted(this.listing.tools.length, 'tool')}`;
    const seconds = Math.max(0, Math.ceil((Date.parse(nextAttempt ?? '') - Date.now()) / 1000));
    const next = nextAttempt === undefined ? '' : `; next attempt in ${seconds} s`;
    return `${state}${reason === undefined ? '' : `: ${reason}`}${next}`;
  }

  /** Secrets are removed before the text is shortened: half a secret would not be recognised. */
  #quote(text: string): string {
    return shorten(this.#redact(text), limits.MAX_REASON);
  }
}

/** Milliseconds before a retry. With a random part, so that servers that failed together are not all tried together. */
export function backoff(retries: number, random: number): number {
  if (retries === 0) return 0;
  const longest = Math.min(limits.BACKOFF_MS * 2 ** (retries - 1), limits.MAX_BACKOFF_MS);
  return Math.round(longest * (0.5 + random / 2));
}
