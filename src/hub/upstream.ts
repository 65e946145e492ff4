/**
 * One upstream server, kept alive.
 * Owns: its states, when it is tried again, its health, what it offers at the moment, its calls.
 * Leaves alone: how it is reached (wires), how it speaks (dialects.ts), what its tools are called outside (fleet.ts).
 * Always true:
 * - it never gives up: every failure has a next attempt, later each time, until a minute has gone well;
 * - what it offers survives a short absence, so that no list flickers; a failed `tools/list` offers nothing at once;
 * - no method here waits for a server for longer than the limits in its plan.
 */
import { type Log, messageOf } from '../log.ts';
import type { Problem } from '../model.ts';
import { type Params, RpcError } from '../protocol/index.ts';
import { createFilter } from '../skills/filter.ts';
import type { Plan, Way } from './config.ts';
import { type Conversation, type DialectName, greet, type Identity } from './dialects.ts';
import { openHttpWire } from './http-wire.ts';
import { listTools, type UpstreamTool } from './inventory.ts';
import { type Asking, type Link, openLink } from './link.ts';
import { paramHeaders } from './param-headers.ts';
import { createRedact } from './redact.ts';
import { openSseWire } from './sse-wire.ts';
import { openStdioWire, type StdioHost } from './stdio-wire.ts';
import { HttpError, ServerExit, SessionGone, UpstreamError, type Wire, type WireEvents } from './wire.ts';

export type State = 'connecting' | 'ready' | 'failed' | 'disconnected' | 'untrusted' | 'disabled';

export interface UpstreamStatus {
  readonly name: string;
  readonly from: string;
  readonly transport: Way['kind'];
  readonly state: State;
  /** Why it is not ready. */
  readonly reason?: string;
  /** When it is tried again, as an ISO date. */
  readonly nextAttempt?: string;
  readonly tools: number;
  readonly protocol?: string;
  readonly server?: Identity;
}

export interface Offer {
  readonly tools: readonly UpstreamTool[];
  readonly problems: readonly Problem[];
}

export interface CallRequest {
  readonly params: Params;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((params: Params) => void) | undefined;
}

export interface Upstream {
  readonly plan: Plan;
  status(): UpstreamStatus;
  /** The same object as long as nothing has changed. */
  offer(): Offer;
  call(tool: UpstreamTool, request: CallRequest): Promise<Params>;
  /** Settles when it is ready or its first attempt has failed. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface UpstreamHost {
  readonly client: Identity;
  readonly log: Log;
  /** Milliseconds between two looks at a server that says nothing by itself. */
  readonly healthInterval: number;
  readonly stdio: Omit<StdioHost, 'stderr'>;
  /** What it offers has changed. */
  changed(name: string): void;
}

export function createUpstream(plan: Plan, host: UpstreamHost): Upstream {
  const { name, way } = plan;
  const redact = createRedact(plan.secrets);
  const life = new AbortController();
  const waiters = new Set<() => void>();
  let state: State = way.kind === 'none' ? way.state : 'connecting';
  let reason = way.kind === 'none' ? way.reason : undefined;
  let nextAttempt: number | undefined;
  let offer: Offer = NOTHING;
  let session: Session | undefined;
  let known: DialectName | undefined = way.kind === 'sse' ? 'legacy' : undefined;
  let sseInstead = false;
  let grace: NodeJS.Timeout | undefined;
  let ending: Promise<void> = Promise.resolve();

  const debug = (text: string) => host.log.debug(`[${name}] ${redact(text)}`);

  function enter(next: State, why?: string, wait?: number): void {
    const repeated = next === state && why === reason;
    nextAttempt = wait === undefined ? undefined : Date.now() + wait;
    [state, reason] = [next, why];
    const retry = wait === undefined ? '' : `; next attempt in ${(wait / 1000).toFixed(1)} s`;
    const line = `server ${name}: ${next}${why === undefined ? '' : `: ${why}`}${retry}`;
    host.log[repeated || next === 'connecting' ? 'debug' : next === 'ready' ? 'info' : 'warn'](line);
    for (const wake of [...waiters]) wake();
  }

  function present(next: Offer): void {
    clearTimeout(grace);
    grace = undefined;
    if (JSON.stringify(next) === JSON.stringify(offer)) return;
    offer = next;
    host.changed(name);
  }

  function openWire(events: WireEvents): Wire {
    switch (way.kind) {
      case 'stdio':
        return openStdioWire(way, events, { ...host.stdio, stderr: debug });
      case 'http':
        return sseInstead ? openSseWire(way, events) : openHttpWire(way, events);
      case 'sse':
        return openSseWire(way, events);
      case 'none':
        throw new Error('a server without a way has no wire');
    }
  }

  /** Connected, greeted, and not yet asked for anything. */
  async function connect(assumed: DialectName | undefined): Promise<Session> {
    const notices = new Map<string, () => void>();
    const link = openLink(openWire, { notice: (method) => notices.get(method)?.(), debug });
    try {
      const greeting = await greet(link, {
        client: host.client,
        timeout: plan.connectTimeout,
        probe: PROBE_MS,
        known: assumed,
        signal: life.signal,
      });
      known = greeting.dialect;
      return { link, notices, conversation: greeting.conversation, end: new AbortController() };
    } catch (error) {
      ending = link.close();
      await ending;
      // Some old servers end when they are asked something before the handshake; a fresh one gets the handshake first.
      if (way.kind === 'stdio' && assumed === undefined && error instanceof ServerExit) return connect('legacy');
      if (way.kind === 'http' && !sseInstead && isNoEndpoint(error)) return connectBySse(error);
      throw error;
    }
  }

  async function connectBySse(first: unknown): Promise<Session> {
    sseInstead = true;
    try {
      return await connect('legacy');
    } catch {
      sseInstead = false;
      throw first; // The address was meant for streamable HTTP; that it is no SSE either is no news.
    }
  }

  async function takeStock({ conversation }: Session): Promise<void> {
    const { items, faults } = await listTools(conversation, { timeout: plan.connectTimeout, signal: life.signal });
    const { kept, problems } = createFilter(plan.filter)(items, (tool) => ({ name: tool.name, group: name }), []);
    const said = faults.map((fault) => ({ where: `server ${name}`, what: redact(fault) }));
    const idle = problems.map(({ where, what }) => ({ where: `server ${name}: ${where}`, what }));
    present({ tools: kept, problems: [...said, ...idle] });
  }

  /** From the first word to the last. Gives how long it was ready, and why it no longer is. */
  async function runOnce(): Promise<Run> {
    let began: number | undefined;
    try {
      const mine = await connect(known);
      session = mine;
      const { link, conversation, end } = mine;
      const over = new Promise<Error>((done) => {
        for (const signal of [link.ended, end.signal, life.signal]) onAbort(signal, () => done(asError(signal.reason)));
      });
      try {
        await takeStock(mine).catch((error) => {
          if (!end.signal.aborted && !link.ended.aborted) present(NOTHING);
          throw new UpstreamError(`tools/list failed: ${messageOf(error)}`);
        });
        began = performance.now();
        follow(mine);
        enter('ready');
        const { tools } = offer;
        host.log.debug(`server ${name}: ${tools.length} tools, protocol ${conversation.version}`);
        const error = await over;
        return { lasted: performance.now() - began, error, wasReady: true };
      } finally {
        session = undefined;
        end.abort();
        ending = link.close();
        await ending;
      }
    } catch (error) {
      return { lasted: 0, error: asError(error), wasReady: began !== undefined };
    }
  }

  /** Keeps an eye on a server that is ready: its changes, its pulse. */
  function follow(mine: Session): void {
    const { conversation, link, end, notices } = mine;
    let busy = false;
    let again = false;
    const restock = async () => {
      again = busy;
      if (busy) return;
      busy = true;
      try {
        await takeStock(mine);
      } catch (error) {
        present(NOTHING);
        end.abort(new UpstreamError(`tools/list failed: ${messageOf(error)}`));
      }
      busy = false;
      if (again && !end.signal.aborted) void restock();
    };
    notices.set('notifications/tools/list_changed', () => void restock());

    const subscribe = () => {
      conversation.subscribe((error) => {
        if (end.signal.aborted || link.ended.aborted || error instanceof RpcError) return;
        debug(`the subscription ended: ${messageOf(error)}`);
        void check();
        later(RESUBSCRIBE_MS, end.signal, () => {
          subscribe();
          void restock();
        });
      });
    };
    const check = async () => {
      try {
        await conversation.pulse(Math.min(PULSE_MS, host.healthInterval));
      } catch (error) {
        end.abort(new UpstreamError(`no sign of life: ${messageOf(error)}`));
      }
    };
    const watch = () => {
      later(host.healthInterval, end.signal, () => {
        const quiet = performance.now() - link.lastHeard() >= host.healthInterval;
        void (quiet ? check() : Promise.resolve()).then(watch);
      });
    };
    mine.check = check;
    subscribe();
    watch();
  }

  async function live(): Promise<void> {
    let attempt = 0;
    while (!life.signal.aborted) {
      enter('connecting', reason);
      const { lasted, error, wasReady } = await runOnce();
      if (life.signal.aborted) return;
      if (lasted >= STABLE_MS) attempt = 0;
      const wait = backoff(attempt, Math.random());
      attempt += 1;
      if (offer !== NOTHING) grace ??= setTimeout(() => present(NOTHING), GRACE_MS);
      enter(wasReady ? 'disconnected' : 'failed', redact(messageOf(error)), wait);
      await new Promise<void>((done) => {
        later(wait, life.signal, done);
        onAbort(life.signal, done);
      });
    }
  }

  /** The session once there is one; waits a little for a server that is on its way. */
  function ready(signal: AbortSignal | undefined): Promise<Session> {
    if (session && state === 'ready') return Promise.resolve(session);
    return new Promise((resolve, reject) => {
      const stop = (settle: () => void) => {
        clearTimeout(timer);
        waiters.delete(look);
        settle();
      };
      const look = () => {
        const now = session;
        if (now && state === 'ready') stop(() => resolve(now));
      };
      const timer = setTimeout(() => stop(() => reject(new UpstreamError(absence()))), CALL_PATIENCE_MS);
      waiters.add(look);
      if (signal) onAbort(signal, () => stop(() => reject(new UpstreamError('cancelled'))));
    });
  }

  function absence(): string {
    const when =
      nextAttempt === undefined
        ? ''
        : `; next attempt in ${Math.max(0, Math.ceil((nextAttempt - Date.now()) / 1000))} s`;
    return `the server is not connected (${state}${reason === undefined ? '' : `: ${reason}`}${when})`;
  }

  async function ask(
    method: string,
    params: Params,
    asking: Asking,
    header: (of: Session) => Asking['headers'],
  ): Promise<Params> {
    for (let retry = true; ; retry = false) {
      const mine = await ready(asking.signal);
      try {
        const headers = header(mine);
        return await mine.conversation.ask(method, params, {
          timeout: plan.timeout,
          ...asking,
          ...(headers ? { headers } : {}),
        });
      } catch (error) {
        if (error instanceof SessionGone && retry) continue;
        if (error instanceof RpcError) throw error;
        if (!(error instanceof UpstreamError)) void mine.check?.();
        throw new UpstreamError(redact(messageOf(error)));
      }
    }
  }

  const running = way.kind === 'none' ? Promise.resolve() : live();
  const isSettled = () => state !== 'connecting' || reason !== undefined;

  return {
    plan,
    status: () => ({
      name,
      from: plan.from,
      transport: way.kind,
      state,
      ...(reason === undefined || state === 'ready' ? {} : { reason }),
      ...(nextAttempt === undefined ? {} : { nextAttempt: new Date(nextAttempt).toISOString() }),
      tools: offer.tools.length,
      ...(session ? { protocol: session.conversation.version, server: session.conversation.server } : {}),
    }),
    offer: () => offer,
    call: (tool, { params, signal, onProgress }) =>
      ask(
        'tools/call',
        { ...params, name: tool.name },
        { ...(signal ? { signal } : {}), ...(onProgress ? { onProgress } : {}) },
        ({ conversation }) =>
          conversation.paramHeaders ? paramHeaders(tool.paramHeaders, argumentsOf(params)) : undefined,
      ),
    settled: () =>
      new Promise((done) => {
        const look = () => {
          if (!isSettled()) return;
          waiters.delete(look);
          done();
        };
        waiters.add(look);
        look();
      }),
    async close() {
      clearTimeout(grace);
      life.abort(new UpstreamError('the hub was closed'));
      for (const wake of [...waiters]) wake();
      await running;
      await ending;
    },
  };
}

/** 0.5 s, doubling up to a minute, each time somewhere in its upper half: servers that fell together rise apart. */
export function backoff(attempt: number, random: number): number {
  const whole = Math.min(SHORTEST_WAIT_MS * 2 ** Math.min(attempt, 20), LONGEST_WAIT_MS);
  return Math.round(whole * (0.5 + random / 2));
}

// --- internal ---

const SHORTEST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 60_000;
const STABLE_MS = 60_000;
// Longer than a restart takes, shorter than anyone believes in a server that is gone.
const GRACE_MS = 10_000;
const CALL_PATIENCE_MS = 5000;
const PROBE_MS = 3000;
const PULSE_MS = 10_000;
const RESUBSCRIBE_MS = 1000;

const NOTHING: Offer = { tools: [], problems: [] };

interface Session {
  readonly link: Link;
  readonly conversation: Conversation;
  /** By the names of the notices we follow. */
  readonly notices: Map<string, () => void>;
  /** Ends the session for a reason of ours. */
  readonly end: AbortController;
  /** Looks now whether it is alive. */
  check?: () => Promise<void>;
}

interface Run {
  readonly lasted: number;
  readonly error: Error;
  readonly wasReady: boolean;
}

function later(milliseconds: number, until: AbortSignal, act: () => void): void {
  if (until.aborted) return;
  const timer = setTimeout(() => {
    until.removeEventListener('abort', stop);
    act();
  }, milliseconds);
  const stop = () => clearTimeout(timer);
  until.addEventListener('abort', stop, { once: true });
}

function onAbort(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}

function argumentsOf(params: Params): Params {
  const { arguments: args } = params;
  return typeof args === 'object' && args !== null ? (args as Params) : {};
}

/** The statuses by which an older server shows that it has no such endpoint. */
function isNoEndpoint(error: unknown): boolean {
  return error instanceof HttpError && [400, 404, 405].includes(error.status);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
