/**
 * One upstream server, kept alive.
 * Owns: its states, when it is tried again, what it offers at the moment, its calls.
 * Leaves alone: how it is reached (session.ts), its health (vigil.ts), what its tools are called outside (fleet.ts).
 * Always true:
 * - it never gives up: every failure has a next attempt, later each time, until a minute has gone well;
 * - what it offers survives a short absence, so that no list flickers; a failed list offers nothing at once;
 * - nobody waits for a server for longer than the limits say.
 */
import { asError, type Log, messageOf } from '../../log.ts';
import type { UpstreamStatus } from '../../model.ts';
import { isObject, type Params, RpcError } from '../../protocol/index.ts';
import { cut, shorten } from '../../text.ts';
import { pause } from '../../wait.ts';
import type { UpstreamConfig } from '../config/entries.ts';
import { createRedact } from '../config/redact.ts';
import { HttpError, NotSent, SessionGone, UpstreamError } from '../connection/connection.ts';
import type { McpRequestOptions } from '../connection/dialects.ts';
import {
  type KnownServer,
  openUpstreamSession,
  ProbeExit,
  type Session,
  type SessionContext,
} from '../connection/open.ts';
import { firstAborted } from '../signals.ts';
import { type HealthCheck, startHealthCheck } from './health.ts';
import { EMPTY_LISTING, type ListedTool, type Listing, listEverything, mergeOffers, type Stock } from './listing.ts';
import { createRelist, type Relist } from './relist.ts';
import { type UpstreamSkill, understandEntry } from './skills.ts';
import { createStateTracker } from './state.ts';

export interface CallRequest {
  readonly params: Params;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((params: Params) => void) | undefined;
}

export interface Upstream {
  readonly config: UpstreamConfig;
  status(): UpstreamStatus;
  /** The same object as long as nothing has changed. */
  listing(): Listing;
  call(tool: ListedTool, request: CallRequest): Promise<Params>;
  /** `resources/read`, by the server's own URI; `more` is what the client said besides it. */
  read(uri: string, signal?: AbortSignal | undefined, more?: Params): Promise<Params>;
  /** Asks what the skill is now; the same object when nothing has changed. What it is then is also offered. */
  renew(skill: UpstreamSkill, signal?: AbortSignal | undefined): Promise<UpstreamSkill>;
  /** For people: "failed: exited with code 1; next attempt in 4 s". */
  stateText(): string;
  /** Settles when it is ready or its first attempt has failed. */
  settled(): Promise<void>;
  /** Calls in flight fail with `reason`. */
  close(reason: string): Promise<void>;
}

export interface UpstreamContext extends Pick<SessionContext, 'client' | 'stdio' | 'hops'> {
  readonly log: Log;
  /** Milliseconds between two looks at a server that says nothing by itself. */
  readonly healthInterval: number;
  /** What it offers has changed. */
  changed(name: string): void;
}

export function createUpstream(config: UpstreamConfig, host: UpstreamContext): Upstream {
  const { name, target } = config;
  const redact = createRedact(config.secrets);
  const life = new AbortController();
  const debug = (text: string) => host.log.debug(`[${name}] ${redact(cut(text, LONGEST_TEXT))}`);
  const state =
    target.kind === 'none'
      ? createStateTracker(name, target.state, target.reason, host.log)
      : createStateTracker(name, 'connecting', undefined, host.log);
  let known = UNKNOWN;
  let listing: Listing = EMPTY_LISTING;
  let grace: NodeJS.Timeout | undefined;
  let open: OpenSession | undefined;
  const leaving = new Set<Promise<void>>();

  function publish(next: Listing): void {
    clearTimeout(grace);
    grace = undefined;
    const merged = mergeOffers(listing, next);
    if (merged === listing) return;
    listing = merged;
    host.changed(name);
  }

  async function relist({ mcp, rpc }: Session, isFirst: boolean): Promise<Stock> {
    try {
      const stock = await listEverything(mcp, config, { last: listing, isFirst }, redact, life.signal);
      publish(stock.listing);
      const shown = listing;
      // Unless it has been listed again meanwhile.
      stock.later?.then((later) => shown === listing && publish(later)).catch((error) => debug(messageOf(error)));
      return stock;
    } catch (error) {
      if (rpc.ended.aborted || error instanceof SessionGone) throw error;
      throw new ListError(`its list cannot be had: ${messageOf(error)}`, { cause: error });
    }
  }

  /** From the first word to the last: how long it was ready, and why it no longer is. */
  async function runOnce(): Promise<Run> {
    const last = known;
    // It may have been replaced by one that speaks differently: what was known counts until opening fails.
    known = UNKNOWN;
    const session = await openUpstreamSession(config, last, { ...host, redact, debug }, life.signal);
    const end = new AbortController();
    const calls = createCount();
    let error: Error | undefined;
    known = session.known;
    try {
      const fail = (error: unknown) => end.abort(asError(error));
      const lists = createRelist({
        list: (isFirst) => relist(session, isFirst),
        isTransient: isTooMany,
        fail,
        until: end.signal,
      });
      // Before the first listing: a change that is announced while it goes on may not be in it.
      const health = startHealthCheck(session, {
        interval: host.healthInterval,
        until: end.signal,
        isBusy: () => calls.size() > 0,
        relist: lists.again,
        fail,
        debug,
      });
      await lists.begin();
      end.signal.throwIfAborted();
      health.watch();
      const began = performance.now();
      const abandon = (error: Error) => {
        if (open?.session === session) open = undefined;
        end.abort(error);
      };
      open = { session, health, lists, calls, abandon };
      state.enter('ready');
      debug(`protocol ${session.mcp.version}, ${listing.tools.length} tools`);
      error = await firstAborted([session.rpc.ended, end.signal, life.signal]);
      return { lasted: performance.now() - began, error };
    } finally {
      open = undefined;
      end.abort();
      await leave(session, calls, error);
    }
  }

  /** Over HTTP a call has its own connection, and is let finish: the server may well be at work on it. */
  async function leave({ rpc, onListChanged }: Session, calls: Count, error: Error | undefined): Promise<void> {
    onListChanged(() => {});
    const reason = error && new UpstreamError(messageOf(error));
    const mayFinish = rpc.connection.streamPerRequest && calls.size() > 0;
    if (!mayFinish || rpc.ended.aborted || life.signal.aborted) return rpc.close(reason);
    const gone = Promise.race([calls.whenNone(), firstAborted([life.signal])])
      .then(() => rpc.close(life.signal.aborted ? asError(life.signal.reason) : reason))
      .catch((fault: unknown) => debug(messageOf(fault)))
      .finally(() => leaving.delete(gone));
    leaving.add(gone);
  }

  async function live(): Promise<void> {
    for (let attempt = 0; !life.signal.aborted; attempt += 1) {
      state.enter('connecting', state.facts().reason);
      const run = await runOnce().catch((error: Error): Run => ({ lasted: undefined, error }));
      if (life.signal.aborted) return;
      const { lasted, error } = run;
      // It is there, and only wants to be greeted again.
      const isOnlyForgotten = lasted !== undefined && error instanceof SessionGone;
      if (isOnlyForgotten || (lasted !== undefined && lasted >= STABLE_MS)) attempt = 0;
      const wait = isOnlyForgotten ? 0 : backoff(attempt, Math.random());
      // It is there and cannot say what it has: nothing. It is away: what it had, for a little while.
      if (error instanceof ListError) publish(EMPTY_LISTING);
      else if (listing !== EMPTY_LISTING) grace ??= setTimeout(() => publish(EMPTY_LISTING), GRACE_MS);
      if (error instanceof ProbeExit) known = { ...UNKNOWN, dialect: 'legacy' };
      // The first of them is no failure yet: what it was asked may be all that is wrong.
      const isUndecided = error instanceof ProbeExit && state.facts().reason === undefined;
      if (isUndecided) state.enter('connecting', undefined, wait);
      else state.enter(lasted === undefined ? 'failed' : 'disconnected', reasonOf(error), wait);
      await pause(wait, life.signal);
    }
  }

  /** For people. In this order: half a secret is no longer found. */
  const reasonOf = (error: unknown) => shorten(redact(cut(messageOf(error), LONGEST_TEXT)), LONGEST_REASON);

  const usable = () => (open && !open.session.rpc.ended.aborted ? open : undefined);

  /** Waits as long as an attempt is due: one that comes later than anybody waits helps nobody. */
  async function untilUsable(stop: readonly AbortSignal[]): Promise<OpenSession | undefined> {
    const deadline = performance.now() + (target.kind === 'none' ? 0 : CALL_PATIENCE_MS);
    const left = () => Math.max(0, deadline - performance.now());
    const look = () => usable() ?? (state.isDueWithin(left()) ? undefined : TOO_LATE);
    const found = await state.until(look, left(), stop);
    return found === TOO_LATE ? undefined : found;
  }

  /** Asks once there is somebody to ask: waits a little for a server that is on its way. */
  async function ask(method: string, params: Params, options: McpRequestOptions): Promise<Params> {
    const stop = options.signal ? [life.signal, options.signal] : [life.signal];
    for (let retry = true; ; retry = false) {
      const now = await untilUsable(stop);
      if (!now) throw new UpstreamError(`the server is not connected (${state.text()})`);
      const { session, health, calls, abandon } = now;
      const over = calls.begin();
      try {
        return await session.mcp.request(method, params, { timeout: config.timeout, ...options });
      } catch (error) {
        // Both are said of this very request, so nobody has it: it is sent once more, to whoever is there then.
        const isUnsent = error instanceof NotSent || (error instanceof SessionGone && !(await health.knowsUs()));
        if (isUnsent) abandon(error);
        if (isUnsent && retry) continue;
        if (error instanceof SessionGone) throw error.refusal.rpc ?? new UpstreamError(reasonOf(error.refusal));
        if (error instanceof RpcError) throw error;
        // Neither an answer nor a limit of ours: the way itself failed.
        if (!(error instanceof UpstreamError)) health.check();
        throw new UpstreamError(reasonOf(error));
      } finally {
        over();
      }
    }
  }

  const running =
    target.kind === 'none'
      ? Promise.resolve()
      : live().catch((error: unknown) => host.log.error(`server ${name}: ${reasonOf(error)}`));
  const isSettled = () => state.facts().state !== 'connecting' || state.facts().reason !== undefined;

  return {
    config,
    status: () => ({
      name,
      from: config.from,
      transport: target.kind,
      ...state.facts(),
      tools: listing.tools.length,
      resources: listing.resources.length,
      templates: listing.templates.length,
      skills: listing.skills.length,
      ...(open ? { protocol: open.session.mcp.version, server: open.session.mcp.server } : {}),
    }),
    listing: () => listing,
    call: ({ name: own, paramHeaders }, { params, signal, onProgress }) =>
      ask('tools/call', { ...params, name: own }, { signal, onProgress, paramHeaders }),
    async renew(skill, signal) {
      const answer = await ask('skills/get', { uri: `${skill.base}/SKILL.md` }, { signal }).catch((error) => {
        // It may be gone from the list, too.
        open?.lists.again();
        throw error;
      });
      const fresh = understandEntry(isObject(answer.skill) ? answer.skill : {});
      if (fresh.base !== skill.base) throw new UpstreamError('the answer to skills/get is about another skill');
      const isIt = ({ base }: UpstreamSkill) => base === skill.base;
      if (listing.skills.some(isIt))
        publish({ ...listing, skills: listing.skills.map((one) => (isIt(one) ? fresh : one)) });
      return listing.skills.find(isIt) ?? fresh;
    },
    read: (uri, signal, more) => ask('resources/read', { ...more, uri }, { signal }),
    stateText: state.text,
    async settled() {
      await state.until(() => isSettled() || undefined, config.connectTimeout, [life.signal]);
    },
    async close(reason) {
      life.abort(new UpstreamError(reason));
      clearTimeout(grace);
      await running;
      await Promise.all(leaving);
    },
  };
}

/** From 0.5 s to a minute, doubling, each time somewhere within the step: servers that fell together rise apart. */
export function backoff(attempt: number, random: number): number {
  const whole = Math.min(2 * SHORTEST_WAIT_MS * 2 ** Math.min(attempt, 20), LONGEST_WAIT_MS);
  return Math.round(whole * (0.5 + random / 2));
}

// --- internal ---

const UNKNOWN: KnownServer = { dialect: undefined, usesSse: false };
const SHORTEST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 60_000;
const STABLE_MS = 60_000;
// Longer than a restart takes, shorter than anyone believes in a server that is gone.
const GRACE_MS = 10_000;
const CALL_PATIENCE_MS = 5000;
const TOO_LATE = Symbol('too late');
const TOO_MANY_REQUESTS = 429;

// What a server says goes into logs and states. A megabyte there helps nobody.
const LONGEST_REASON = 1000;
const LONGEST_TEXT = 64 * 1024;

interface OpenSession {
  readonly session: Session;
  readonly health: HealthCheck;
  readonly lists: Relist;
  /** Those in flight. */
  readonly calls: Count;
  /** It is over, before anybody else has noticed. */
  abandon(error: Error): void;
}

/** A server that asks us to come later is not one that has no lists. */
function isTooMany(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof HttpError && cause.status === TOO_MANY_REQUESTS;
}

/** How many calls are in flight. */
interface Count {
  size(): number;
  /** Gives the function that ends it. */
  begin(): () => void;
  whenNone(): Promise<void>;
}

function createCount(): Count {
  const waiters = new Set<() => void>();
  let size = 0;
  return {
    size: () => size,
    begin() {
      size += 1;
      return () => {
        size -= 1;
        if (size === 0) for (const wake of waiters) wake();
      };
    },
    whenNone: () => new Promise((done) => (size === 0 ? done() : waiters.add(done))),
  };
}

interface Run {
  /** Undefined: it never became ready. */
  readonly lasted: number | undefined;
  readonly error: Error;
}

/** The server is there, but does not say what it offers. */
class ListError extends UpstreamError {
  override readonly name = 'ListError';
}
