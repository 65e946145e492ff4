/**
 * One session with an upstream server: when its lists are requested, when it is pinged, asking for notifications again when
 * they stop, its calls in flight. Leaves alone: what a listing is (listing.ts), the next session (upstream.ts).
 * Always true: listings never overlap, and a change that is announced during one causes exactly one more; a server that
 * keeps announcing changes is listed less and less often, and its last state is always seen.
 */
import { asError, messageOf } from '../../log.ts';
import type { Params } from '../../protocol/index.ts';
import { MAX_TIMER_MS, monotonicMs, pause, whenAborted } from '../../wait.ts';
import { type HubContext, SessionGone, UpstreamError } from '../connection/connection.ts';
import type { McpClient, McpRequestOptions } from '../connection/mcp-client.ts';
import {
  FIRST_STREAM_MS,
  LASTING_MS,
  MAX_BACKOFF_MS,
  MAX_RELIST_MS,
  MIN_RELIST_MS,
  MIN_REOPEN_MS,
  PING_MS,
} from './limits.ts';
import type { Listed } from './listing.ts';

export interface SessionOwner {
  /** Rejects when the server cannot list its tools. */
  list(isFirst: boolean): Promise<Listed>;
  /** Takes the notifications that are not about lists. */
  hear(method: string, params: Params): void;
  /** Notifications may have been lost. */
  lost(): void;
}

export class UpstreamSession {
  readonly mcp: McpClient;
  /** Whether a call was answered. */
  wasUsed = false;
  readySince = monotonicMs();
  readonly #context: HubContext;
  readonly #owner: SessionOwner;
  readonly #over = new AbortController();
  /** Fires when it takes no more calls. */
  readonly over: AbortSignal = this.#over.signal;
  readonly #calls = new Set<Promise<Params>>();
  /** Fires when the lists have changed, or may have, since they were last requested. */
  #changed = new AbortController();

  constructor(mcp: McpClient, context: HubContext, owner: SessionOwner) {
    this.mcp = mcp;
    this.#context = context;
    this.#owner = owner;
    mcp.rpc.onNotification = (method, params) =>
      LIST_CHANGED.test(method) ? this.relist() : owner.hear(method, params);
    void whenAborted(mcp.rpc.ended).then((reason) => this.fail(reason));
  }

  /** Settles when everything is listed, or the session is over. */
  async start(): Promise<void> {
    const run = (loop: Promise<void>) => loop.catch((error) => this.fail(asError(error)));
    // Before the first listing: a change that is announced during it may be missing from it.
    let [isOpen, isListing] = [false, false];
    const firstStream = new Promise<void>((done) => {
      const listen = (opened: () => void) =>
        this.mcp.listen(() => {
          if (isListing && !isOpen) this.#resynchronize();
          isOpen = true;
          opened();
          done();
        });
      void run(this.keepNotified(listen, this.over)).then(done);
    });
    // Elsewhere requests are read in their order.
    if (this.mcp.rpc.connection.streamPerRequest) await Promise.race([firstStream, pause(FIRST_STREAM_MS, this.over)]);
    isListing = true;
    const listed = this.#owner.list(true).then((first) => {
      this.readySince = monotonicMs();
      void run(this.#keepListed(first));
      void run(this.#keepChecked());
    });
    await run(listed);
  }

  async call(method: string, params: Params, options: McpRequestOptions): Promise<Params> {
    const sent = this.mcp.request(method, params, options);
    this.#calls.add(sent);
    try {
      const result = await sent;
      this.wasUsed = true;
      return result;
    } finally {
      this.#calls.delete(sent);
    }
  }

  /** Requests the lists again, soon. */
  relist(): void {
    this.#changed.abort();
  }

  /** Pings the server, and ends the session when it does not respond or has forgotten it. */
  async check(): Promise<void> {
    const began = monotonicMs();
    try {
      await this.mcp.ping(Math.min(PING_MS, this.#context.healthInterval));
    } catch (error) {
      const why = `health check failed: ${messageOf(error)}`;
      // Many servers answer nothing else during a call, which has its own timeout. One that sent anything is alive.
      const isAlive = this.#calls.size > 0 || this.mcp.rpc.lastReceived >= began;
      if (error instanceof SessionGone) this.fail(error);
      else if (!isAlive) this.fail(new UpstreamError(why));
      else this.#context.debug(`${why}; but a call is in flight, or it sent something`);
    }
  }

  /** Ends it before its connection does. */
  fail(error: Error): void {
    this.#over.abort(error);
    this.#changed.abort();
  }

  /** For a session that is over. Calls in flight go on where each has a connection of its own. */
  async close(): Promise<void> {
    const { rpc } = this.mcp;
    if (rpc.connection.streamPerRequest) await Promise.allSettled(this.#calls);
    await rpc.close(this.over.reason);
  }

  async #keepChecked(): Promise<void> {
    const { healthInterval } = this.#context;
    while (!this.over.aborted) {
      await pause(healthInterval, this.over);
      const isQuiet = monotonicMs() - this.mcp.rpc.lastReceived >= healthInterval;
      if (isQuiet && !this.over.aborted) await this.check();
    }
  }

  /** Asks for notifications, and again when they stop, until the signal fires, the session is over, or there are none. */
  async keepNotified(listen: (opened: () => void) => Promise<boolean>, signal: AbortSignal): Promise<void> {
    const until = AbortSignal.any([this.over, signal]);
    let [isGap, failures] = [false, 0];
    for (let streams = 0; !until.aborted; streams += 1) {
      const began = monotonicMs();
      try {
        const goesOn = await listen(() => isGap && this.#resynchronize());
        // It had a stream before, so the server may have forgotten our session: listing again shows it.
        if (!goesOn && streams > 0) this.relist();
        if (!goesOn) return;
        [isGap, failures] = [false, 0];
      } catch (error) {
        if (until.aborted) return;
        this.#context.debug(`no more notifications: ${messageOf(error)}`);
        isGap = true;
        failures = monotonicMs() - began < LASTING_MS ? failures + 1 : 0;
        await this.check();
      }
      await pause(doubled(MIN_REOPEN_MS, failures), until);
    }
  }

  #resynchronize(): void {
    this.relist();
    this.#owner.lost();
  }

  async #keepListed(first: Listed): Promise<void> {
    // In a row: changes that were announced during the pause after a listing, and listings with a list that failed.
    let [changes, failures] = [0, 0];
    for (let listed = first; ; listed = await this.#owner.list(false)) {
      await pause(Math.min(doubled(MIN_RELIST_MS, changes), MAX_RELIST_MS), this.over);
      changes = this.#changed.signal.aborted ? changes + 1 : 0;
      // A list that is late may still fail.
      const { ttlMs } =
        (await Promise.race([listed.later, whenAborted(this.#changed.signal).then(() => listed)])) ?? listed;
      failures = ttlMs === 0 ? failures + 1 : 0;
      const wait = failures > 0 ? doubled(MIN_RELIST_MS, failures) : ttlMs;
      // A listing every three weeks does no harm.
      await pause(Math.min(wait, MAX_TIMER_MS), this.#changed.signal);
      if (this.over.aborted) return;
      this.#changed = new AbortController();
    }
  }
}

/** How long to wait before the next try of something that failed so many times in a row. */
export function doubled(first: number, times: number): number {
  return Math.min(first * 2 ** Math.min(times, 30), MAX_BACKOFF_MS);
}

// --- internal ---

const LIST_CHANGED = /^notifications\/(?:tools|resources|prompts)\/list_changed$/;
