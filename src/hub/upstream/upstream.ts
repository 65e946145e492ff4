/**
 * One upstream server that is kept connected.
 * Owns: when it is tried again, its current listing, and the requests to it. Leaves alone: one session (session.ts), the
 * public names of its tools and resources (tools.ts, resources.ts).
 * Always true:
 * - it never gives up: every failure has a next attempt, with a growing backoff that ends when it was ready for a minute;
 * - a server that is away for a short time stays listed; one that responds without its lists has an empty listing at once;
 * - a request waits for the server no longer than the limits say, and reaches it at most once.
 */
import { type Log, messageOf } from '../../log.ts';
import type { UpstreamStatus } from '../../model.ts';
import { isObject, type Params, RpcError } from '../../protocol/index.ts';
import { shorten } from '../../text.ts';
import { pause, whenAborted } from '../../wait.ts';
import type { UpstreamConfig } from '../config/entries.ts';
import { createRedact } from '../config/redact.ts';
import { NotSent, SessionGone, UpstreamError } from '../connection/connection.ts';
import type { McpRequestOptions } from '../connection/dialects.ts';
import { type KnownServer, openUpstreamSession, ProbeExit, type SessionContext } from '../connection/open.ts';
import {
  CALL_WAIT_MS,
  KEEP_LISTED_MS,
  MAX_BACKOFF_MS,
  MAX_LOGGED,
  MAX_REASON,
  MIN_BACKOFF_MS,
  STABLE_MS,
} from './limits.ts';
import { EMPTY_LISTING, type Listing, mergeListings } from './listing.ts';
import { ListError, type LiveSession, startSession } from './session.ts';
import { parseSkillEntry, type UpstreamSkill } from './skill-entries.ts';
import { createStateTracker } from './state.ts';

export interface Upstream {
  readonly config: UpstreamConfig;
  status(): UpstreamStatus;
  /** The same object as long as nothing has changed. */
  listing(): Listing;
  /** The listing, or the last one before it was emptied because the server is away: it reserves the server's URIs. */
  reservedListing(): Listing;
  /** Rejects with the server's RpcError, or with an UpstreamError whose message is for people and models. */
  request(method: string, params: Params, options: McpRequestOptions): Promise<Params>;
  /** The skill as it is now, which is also published; the same object when nothing has changed. */
  renewSkill(skill: UpstreamSkill, signal: AbortSignal): Promise<UpstreamSkill>;
  /** For people: "failed: exited with code 1; next attempt in 4 s". */
  stateText(): string;
  /** Settles when it is ready or its first attempt has failed. */
  settled(): Promise<void>;
  /** Requests in flight fail with `reason`. */
  close(reason: string): Promise<void>;
}

export interface UpstreamContext extends Omit<SessionContext, 'redact' | 'debug'> {
  readonly log: Log;
  /** Milliseconds without a message after which a server is pinged. */
  readonly healthInterval: number;
  /** The listing of the server of that name has changed. */
  changed(name: string): void;
}

export function createUpstream(config: UpstreamConfig, context: UpstreamContext): Upstream {
  const { name, target } = config;
  const { log, healthInterval, changed } = context;
  const redact = createRedact(config.secrets);
  const closing = new AbortController();
  const life = closing.signal;
  const debug = (text: string) => log.debug(`[${name}] ${redact(text, MAX_LOGGED)}`);
  // Secrets are removed before the text is shortened: half a secret would not be recognized.
  const reasonOf = (error: unknown) => shorten(redact(messageOf(error), MAX_LOGGED), MAX_REASON);
  const state =
    target.kind === 'none'
      ? createStateTracker(name, target.state, target.reason, log)
      : createStateTracker(name, 'connecting', undefined, log);
  let known = UNKNOWN;
  let listing: Listing = EMPTY_LISTING;
  let reserved: Listing = EMPTY_LISTING;
  let unlisting: NodeJS.Timeout | undefined;
  let current: LiveSession | undefined;
  /** Sessions that are being closed. */
  const ending = new Set<Promise<void>>();

  function publish(next: Listing): void {
    clearTimeout(unlisting);
    unlisting = undefined;
    const merged = mergeListings(listing, next);
    if (next !== EMPTY_LISTING) reserved = merged;
    if (merged === listing) return;
    listing = merged;
    changed(name);
  }

  async function runSession(): Promise<SessionEnd> {
    const before = known;
    // The server may have been replaced by another one, so what is known counts for one attempt.
    known = UNKNOWN;
    const opened = await openUpstreamSession(config, before, { ...context, redact, debug }, life);
    known = opened.known;
    const parts = { config, healthInterval, redact, life, publish, debug, listing: () => listing };
    const session = await startSession(opened, parts);
    const began = performance.now();
    current = session;
    state.enter('ready');
    debug(`protocol ${session.mcp.version}, ${listing.tools.length} tools`);
    const error = await whenAborted(session.over);
    const readyFor = performance.now() - began;
    current = undefined;
    const mustWait = !session.canFinish();
    const closed = session
      .close(error)
      .catch((fault: unknown) => debug(messageOf(fault)))
      .finally(() => ending.delete(closed));
    ending.add(closed);
    if (mustWait) await closed;
    return { readyFor, wasUsed: session.wasUsed(), error };
  }

  async function stayConnected(): Promise<void> {
    let forgotten = 0;
    for (let attempt = 0; !life.aborted; attempt += 1) {
      state.enter('connecting', state.facts().reason);
      const { readyFor, wasUsed, error } = await runSession().catch((error: Error): SessionEnd => ({ error }));
      if (life.aborted) return;
      // The server responds but has forgotten our session: connect again at once, unless sessions are of no use.
      const isForgotten = readyFor !== undefined && error instanceof SessionGone;
      if ((readyFor ?? 0) >= STABLE_MS || (isForgotten && wasUsed)) [attempt, forgotten] = [0, 0];
      const wait = isForgotten && forgotten === 0 ? 0 : backoff(attempt, Math.random());
      if (isForgotten) forgotten += 1;
      if (error instanceof ListError) publish(EMPTY_LISTING);
      else if (listing !== EMPTY_LISTING) unlisting ??= setTimeout(() => publish(EMPTY_LISTING), KEEP_LISTED_MS);
      if (error instanceof ProbeExit) known = { ...UNKNOWN, dialect: 'legacy' };
      // The first time this is not a failure yet: perhaps the server only dislikes our first request.
      const isUndecided = error instanceof ProbeExit && state.facts().reason === undefined;
      if (isUndecided) state.enter('connecting', undefined, wait);
      else state.enter(readyFor === undefined ? 'failed' : 'disconnected', reasonOf(error), wait);
      await pause(wait, life);
    }
  }

  /** The session, now or when an attempt that is due soon succeeds. */
  async function usableSession(signals: readonly AbortSignal[]): Promise<LiveSession | undefined> {
    const deadline = performance.now() + (target.kind === 'none' ? 0 : CALL_WAIT_MS);
    const left = () => Math.max(0, deadline - performance.now());
    const look = () => {
      if (current && !current.over.aborted) return current;
      return state.isDueWithin(left()) ? undefined : TOO_LATE;
    };
    const found = await state.until(look, left(), signals);
    return found === TOO_LATE ? undefined : found;
  }

  async function request(method: string, params: Params, options: McpRequestOptions): Promise<Params> {
    const signals = options.signal ? [life, options.signal] : [life];
    for (let mayRetry = true; ; mayRetry = false) {
      const session = await usableSession(signals);
      if (!session) throw new UpstreamError(`the server is not connected (${state.text()})`);
      try {
        return await session.request(method, params, { timeout: config.timeout, ...options });
      } catch (error) {
        // Both errors say that the server has not run this request, so it may be sent again.
        const isUnsent =
          error instanceof NotSent || (error instanceof SessionGone && !(await session.health.knowsSession()));
        if (isUnsent) session.fail(error);
        if (isUnsent && mayRetry) continue;
        if (error instanceof SessionGone) throw error.refusal.rpc ?? new UpstreamError(reasonOf(error.refusal));
        if (error instanceof RpcError) throw error;
        // Neither a response nor one of our limits: the connection itself failed.
        if (!(error instanceof UpstreamError)) session.health.check();
        throw new UpstreamError(reasonOf(error));
      }
    }
  }

  async function renewSkill(skill: UpstreamSkill, signal: AbortSignal): Promise<UpstreamSkill> {
    const result = await request('skills/get', { uri: `${skill.base}/SKILL.md` }, { signal }).catch((error) => {
      // The skill may be gone from the list too.
      current?.relist();
      throw error;
    });
    const fresh = parseSkillEntry(isObject(result.skill) ? result.skill : {});
    if (fresh.base !== skill.base) throw new UpstreamError('the result of skills/get is about another skill');
    const at = listing.skills.findIndex(({ base }) => base === skill.base);
    const known = listing.skills[at];
    if (!known) return fresh;
    if (JSON.stringify(known) === JSON.stringify(fresh)) return known;
    // Not by `publish`, which compares the whole listing: a search may renew thousands of skills.
    listing = { ...listing, skills: listing.skills.with(at, fresh) };
    reserved = listing;
    changed(name);
    return fresh;
  }

  const running =
    target.kind === 'none'
      ? Promise.resolve()
      : stayConnected().catch((error: unknown) => log.error(`server ${name}: ${reasonOf(error)}`));
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
      ...(current ? { protocol: current.mcp.version, server: current.mcp.server } : {}),
    }),
    listing: () => listing,
    reservedListing: () => reserved,
    request,
    renewSkill,
    stateText: state.text,
    async settled() {
      await state.until(() => isSettled() || undefined, config.connectTimeout, [life]);
    },
    async close(reason) {
      closing.abort(new UpstreamError(reason));
      clearTimeout(unlisting);
      await running;
      await Promise.all(ending);
    },
  };
}

/** Doubles up to its maximum, with a random part, so that servers that failed together are not all tried together. */
export function backoff(attempt: number, random: number): number {
  const whole = Math.min(2 * MIN_BACKOFF_MS * 2 ** Math.min(attempt, 20), MAX_BACKOFF_MS);
  return Math.round(whole * (0.5 + random / 2));
}

// --- internal ---

const UNKNOWN: KnownServer = { dialect: undefined, usesSse: false };
const TOO_LATE = Symbol('too late');

interface SessionEnd {
  /** Milliseconds that the server was ready; undefined when it never was. */
  readonly readyFor?: number;
  readonly wasUsed?: boolean;
  readonly error: Error;
}
