/**
 * `skillwire`: the server as a library.
 * Owns: which transports and which further sources a server has. Leaves alone: streams and environment, which the caller
 * passes in, and everything behind a request (server.ts).
 */
import { DEFAULT_ADDRESS, type ListenAddress, type SkillwireOptions, settingsFrom } from './config.ts';
import { createHops, HOPS_HEADER, HOPS_VARIABLE } from './hops.ts';
import type { HubSource, HubSourceOptions } from './hub/source.ts';
import { stackOf } from './log.ts';
import type { Problem, Source, UpstreamStatus } from './model.ts';
import type { Handle } from './protocol/index.ts';
import { createServer, type Server } from './server.ts';
import { SHUTDOWN } from './shutdown.ts';
import type { Listening, ListenOptions } from './transports/http/listener.ts';
import { type Pipes, type StdioOptions, serveStdio } from './transports/stdio.ts';

export type { Refreshed, Registry } from './catalog/registry.ts';
export type { ListenAddress, SkillwireOptions } from './config.ts';
export { createLog, type Level, type Log } from './log.ts';
export type {
  Contribution,
  ListedSkill,
  Problem,
  Resolution,
  Resource,
  Skill,
  Snapshot,
  Source,
  Template,
  Tool,
  ToolCall,
  UpstreamState,
  UpstreamStatus,
} from './model.ts';
export { createSession, type Exchange, type Handle, type Session } from './protocol/index.ts';
export type { Listening } from './transports/http/listener.ts';
export type { AccessLogEntry } from './transports/http/router.ts';
export { VERSION } from './version.ts';

export interface Skillwire {
  /** Takes one message and writes the response to the exchange: for transports of your own. */
  readonly handle: Handle;
  readonly registry: Server['registry'];
  /** Serves one client until its input ends or `stop` fires, then closes. */
  serveStdio(pipes: Pipes, stop?: StdioOptions['stop']): Promise<void>;
  /** Serves many clients over streamable HTTP until the result's `close` is called. */
  serveHttp(where?: ServeHttpOptions): Promise<Listening>;
  /** The same over the older HTTP+SSE only. */
  serveSse(where?: ServeHttpOptions): Promise<Listening>;
  /** The states of the upstream servers. */
  status(): readonly UpstreamStatus[];
  /** Reads every file of every skill and returns all problems that are known then. */
  examine(): Promise<readonly Problem[]>;
  /** Closes every listener after its last response; resolves when the upstream servers have ended. */
  close(): Promise<void>;
}

export interface ServeHttpOptions extends ListenAddress, Pick<ListenOptions, 'server' | 'onAccess'> {}

export function createSkillwire(options: SkillwireOptions = {}): Skillwire {
  const settings = settingsFrom(options);
  const hops = createHops(settings.env[HOPS_VARIABLE]);
  const hub = settings.hub ? [lazyHub({ ...settings, hops })] : [];
  const { handle, registry, status, health, examine, stop, end } = createServer(settings, [
    ...hub,
    ...settings.sources,
  ]);
  const listenOptions = (where: ServeHttpOptions): ListenOptions => ({
    ...DEFAULT_ADDRESS,
    ...where,
    token: where.token,
    health: (isOperator) => ({ ...health(isOperator) }),
    isLoop: (headers) => !hops.accept(headers[HOPS_HEADER]),
    onFault: (error) => settings.log.error(`HTTP: ${stackOf(error)}`),
    lastResponsesMs: SHUTDOWN.lastResponsesMs,
    onLast: () => stop(SHUTDOWN.stoppedCallsMs),
  });
  const listeners = new Set<Listening>();
  const thenEnd = (inner: Listening): Listening => {
    const listening = {
      ...inner,
      async close() {
        await inner.close();
        listeners.delete(listening);
        await end();
      },
    };
    listeners.add(listening);
    return listening;
  };
  return {
    handle,
    registry,
    status,
    examine,
    async close() {
      stop(SHUTDOWN.stoppedCallsMs);
      await Promise.all([...listeners].map((listening) => listening.close()));
      await end();
    },
    // Loaded when called: most programs use stdio and should not wait for an HTTP server to load.
    async serveHttp(where = {}) {
      const { serveHttp } = await import('./transports/http/streamable.ts');
      return thenEnd(await serveHttp(handle, listenOptions(where)));
    },
    async serveSse(where = {}) {
      const { serveSse } = await import('./transports/http/sse.ts');
      return thenEnd(await serveSse(handle, listenOptions(where)));
    },
    async serveStdio(pipes, stopSignal = new AbortController().signal) {
      const onLast = () => stop(stopSignal.aborted ? SHUTDOWN.stoppedCallsMs : SHUTDOWN.lastCallsMs);
      await serveStdio(handle, pipes, { stop: stopSignal, onLast, lastFlushMs: SHUTDOWN.lastFlushMs });
      await end();
    },
  };
}

// --- internal ---

/** The hub's code is loaded with the first refresh, and only where the hub is on. */
function lazyHub(options: HubSourceOptions): Source {
  let opened: HubSource | undefined;
  let opening: Promise<HubSource> | undefined;
  let onChanged: (reason: string) => void = () => {};
  const open = async () => {
    const { createHubSource } = await import('./hub/source.ts');
    opened = createHubSource(options, onChanged);
    return opened;
  };
  return {
    name: 'hub',
    onChange(changed) {
      onChanged = changed;
    },
    async load() {
      opening ??= open();
      return (await opening).load();
    },
    status: () => opened?.status() ?? [],
    watched: () => opened?.watched?.() ?? [],
    arrived: async () => (await opening)?.arrived?.(),
    explain: (name) => opened?.explain?.(name),
    close: async () => (await opening)?.close(),
  };
}
