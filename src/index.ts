/** `skillwire`: the server as a library. Streams, clock and environment are the caller's. */
import { DEFAULT_ADDRESS, type ListenAddress, type SkillwireOptions, settingsFrom } from './config.ts';
import { LINEAGE_HEADER } from './lineage.ts';
import { stackOf } from './log.ts';
import type { Problem, UpstreamStatus } from './model.ts';
import type { Handle } from './protocol/index.ts';
import { createServer, type Server } from './server.ts';
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
  UpstreamTool,
} from './model.ts';
export { createSession, type Exchange, type Handle, type Session } from './protocol/index.ts';
export type { Listening } from './transports/http/listener.ts';
export type { AccessLogEntry } from './transports/http/router.ts';
export { VERSION } from './version.ts';

export interface Skillwire {
  /** One message in, its answer into the exchange: for transports of your own. */
  readonly handle: Handle;
  readonly registry: Server['registry'];
  /** Serves one client until its input ends or `stop` fires, then closes. */
  serveStdio(pipes: Pipes, stop?: StdioOptions['stop']): Promise<void>;
  /** Serves many clients over streamable HTTP; closing what it gives ends that, then closes. */
  serveHttp(where?: ServeHttpOptions): Promise<Listening>;
  /** The same over the older HTTP+SSE alone. */
  serveSse(where?: ServeHttpOptions): Promise<Listening>;
  /** What has become of the upstream servers. */
  status(): readonly UpstreamStatus[];
  /** Looks at every file of every skill and gives all that is wrong with any. */
  examine(): Promise<readonly Problem[]>;
  /** Ends every listener, answering what was asked, and settles when the upstream servers have ended. */
  close(): Promise<void>;
}

export interface ServeHttpOptions extends ListenAddress, Pick<ListenOptions, 'server' | 'onAccess'> {}

export function createSkillwire(options: SkillwireOptions = {}): Skillwire {
  const settings = settingsFrom(options);
  const { handle, registry, status, health, examine, isCircle, close, end } = createServer(settings);
  const listenOptions = (where: ServeHttpOptions): ListenOptions => ({
    ...DEFAULT_ADDRESS,
    ...where,
    token: where.token,
    health: (isOperator) => ({ ...health(isOperator) }),
    isCircle: (headers) => isCircle(String(headers[LINEAGE_HEADER] ?? '')),
    onFault: (error) => settings.log.error(`HTTP: ${stackOf(error)}`),
    onLast: close,
  });
  // How it ends is told to whoever waits for `end` after it.
  const endEarly = () => void end().catch(() => {});
  const listeners = new Set<Listening>();
  const thenEnd = (inner: Listening): Listening => {
    const listening = {
      ...inner,
      async close() {
        const lastCalls = setTimeout(endEarly, STOPPED_CALLS_MS);
        await inner.close();
        listeners.delete(listening);
        clearTimeout(lastCalls);
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
      close();
      await Promise.all([...listeners].map((listening) => listening.close()));
      await end();
    },
    // Loaded when asked for: most run on stdio and should not wait for an HTTP server to load.
    async serveHttp(where = {}) {
      const { serveHttp } = await import('./transports/http/streamable.ts');
      return thenEnd(await serveHttp(handle, listenOptions(where)));
    },
    async serveSse(where = {}) {
      const { serveSse } = await import('./transports/http/sse.ts');
      return thenEnd(await serveSse(handle, listenOptions(where)));
    },
    async serveStdio(pipes, stop = new AbortController().signal) {
      let lastCalls: NodeJS.Timeout | undefined;
      const onLast = () => {
        close();
        // Ending the servers behind us answers every call that still waits for one.
        lastCalls = setTimeout(endEarly, stop.aborted ? STOPPED_CALLS_MS : LAST_CALLS_MS);
      };
      await serveStdio(handle, pipes, { stop, onLast });
      clearTimeout(lastCalls);
      await end();
    },
  };
}

// --- internal ---

// A client that has closed its end may still read the answer to what it asked, or be gone; there is no telling which.
// A server that is slow must not keep us alive for nobody.
const LAST_CALLS_MS = 10_000;
// Whoever stops us waits; what still waits for another server is then answered with an error, before we are made to end.
const STOPPED_CALLS_MS = 1500;
