/**
 * `createSkillwire`: a server, the transports that it can be reached by, and the sources besides the skills of this machine.
 * Leaves alone: streams and environment, which the caller passes in, and everything behind a request (server.ts).
 */
import { DEFAULT_ADDRESS, type SkillwireOptions, settingsFrom } from './config.ts';
import { createHops, HOPS_HEADER, HOPS_VARIABLE } from './hops.ts';
import type { HubSource, HubSourceOptions } from './hub/source.ts';
import { stackOf } from './log.ts';
import type { Contribution, Source } from './model.ts';
import { LazyAbortController } from './protocol/index.ts';
import { createServer, type Server } from './server.ts';
import { SHUTDOWN } from './shutdown.ts';
import type { Listening, ListenOptions } from './transports/http/listener.ts';
import { type Pipes, type StdioOptions, serveStdio } from './transports/stdio.ts';

export interface Skillwire extends Pick<Server, 'handle' | 'registry' | 'status' | 'examine'> {
  /** Serves one client until its input ends or `stop` fires, then closes. */
  serveStdio(pipes: Pipes, stop?: StdioOptions['stop']): Promise<void>;
  /** Serves many clients over streamable HTTP until the result's `close` is called. */
  serveHttp(where?: ServeHttpOptions): Promise<Listening>;
  /** The same over the older HTTP+SSE only. */
  serveSse(where?: ServeHttpOptions): Promise<Listening>;
  /** Closes every listener after its last response; resolves when the upstream servers have ended. */
  close(): Promise<void>;
}

/** Where it listens, and who may use it. Port 0 chooses a free one. */
export type ServeHttpOptions = Partial<Pick<ListenOptions, ListenName>>;
type ListenName = 'host' | 'port' | 'allowHosts' | 'allowOrigins' | 'token' | 'noAuth' | 'server' | 'onAccess';

export function createSkillwire(options: SkillwireOptions = {}): Skillwire {
  const settings = settingsFrom(options);
  const hops = createHops(settings.env[HOPS_VARIABLE]);
  const hub = settings.hub ? [openHub({ ...settings, hops })] : [];
  const server = createServer(settings, [...hub, ...checkedSources(settings.sources)]);
  const { handle, registry, status, health, examine, stop, end } = server;
  const listenOptions = (where: ServeHttpOptions): ListenOptions => ({
    ...DEFAULT_ADDRESS,
    ...where,
    token: where.token,
    health,
    isLoop: (headers) => !hops.accept(headers[HOPS_HEADER]),
    onFault: (error) => settings.log.error(`HTTP: ${stackOf(error)}`),
    lastResponsesMs: SHUTDOWN.lastResponsesMs,
    onLast: () => stop(true),
  });
  const closers = new Set<Listening['close']>();
  const thenEnd = (listening: Listening): Listening => {
    const close = async () => {
      await listening.close();
      closers.delete(close);
      await end();
    };
    closers.add(close);
    return { ...listening, close };
  };
  return {
    handle,
    registry,
    status,
    examine,
    async close() {
      stop(true);
      await Promise.all([...closers].map((close) => close()));
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
    async serveStdio(pipes, stopSignal = new LazyAbortController()) {
      const onLast = () => stop(stopSignal.aborted);
      await serveStdio(handle, pipes, { stop: stopSignal, onLast, lastFlushMs: SHUTDOWN.lastFlushMs });
      await end();
    },
  };
}

// --- internal ---

/** Every method of a source, and whether it needs it. The compiler finds one that is missing here. */
const SOURCE_METHODS: Readonly<Record<Exclude<keyof Source, 'name'>, 'needed' | 'optional'>> = {
  load: 'needed',
  watched: 'optional',
  isFullyWatched: 'optional',
  isUnsettled: 'optional',
  arrived: 'optional',
  explain: 'optional',
  onChange: 'optional',
  followLog: 'optional',
  status: 'optional',
  close: 'optional',
};

/** The embedder's sources, with a check of what they contribute. Methods run on the source itself: it may be of a class. */
function checkedSources(sources: readonly Source[]): readonly Source[] {
  if (!Array.isArray(sources)) throw new Error('sources must be a list');
  return sources.map((source: Source, at) => {
    const fail = (field: string, what: string) => new Error(`sources[${at}].${field} must be ${what}`);
    if (typeof source?.name !== 'string') throw fail('name', 'text');
    const methods = Object.entries(SOURCE_METHODS).flatMap(([name, need]) => {
      const method: unknown = Reflect.get(source, name);
      if (method === undefined && need === 'optional') return [];
      if (typeof method !== 'function') throw fail(name, 'a function');
      return [[name, method.bind(source)]];
    });
    let checked: Contribution | undefined;
    const load = async () => {
      const given = await source.load();
      // Loaded when needed: most servers have no such source.
      if (given === undefined || given !== checked)
        checked = (await import('./catalog/source-check.ts')).checkContribution(given);
      return given;
    };
    return { ...Object.fromEntries(methods), name: source.name, load };
  });
}

/** Its code is loaded only where the hub is on; and then at once, because the servers take longer to start than this one. */
function openHub(options: HubSourceOptions): Source {
  let opened: HubSource | undefined;
  const opening = import('./hub/source.ts').then(async ({ createHubSource }) => {
    opened = createHubSource(options);
    // The first refresh starts them too, and reports why they cannot be.
    await opened.start().catch(() => {});
    return opened;
  });
  // The first refresh reports that the code could not be loaded.
  const whenOpen = (use: (hub: HubSource) => unknown) => opening.then(use).catch(() => {});
  return {
    name: 'hub',
    load: async () => (await opening).load(),
    arrived: async () => (await opening).arrived?.(),
    onChange: (changed) => void whenOpen((hub) => hub.onChange(changed)),
    followLog: (...asked) => void whenOpen((hub) => hub.followLog(...asked)),
    status: () => opened?.status() ?? [],
    watched: () => opened?.watched?.() ?? [],
    explain: (name) => opened?.explain?.(name),
    close: async () => (await opening.catch(() => undefined))?.close(),
  };
}
