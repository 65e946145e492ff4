/**
 * `createSkillwire`: a server with its transports and, if asked, the hub.
 * Leaves alone: streams and environment, which the caller passes in, and everything behind a request (server.ts).
 */
import { type Settings, type SkillwireOptions, settingsFrom } from './config.ts';
import { LAST_MS } from './limits.ts';
import { stackOf } from './log.ts';
import type { Source } from './model.ts';
import type { Exchange, Session } from './protocol/index.ts';
import { createServer, type Server } from './server.ts';
import type { HttpOptions, Listening } from './transports/http/server.ts';
import { type StdioOptions, serveStdio } from './transports/stdio.ts';

export interface Skillwire extends Pick<Server, 'registry' | 'status'> {
  /** Takes one message; settles when it is answered. Never rejects. */
  handle(session: Session, text: string, exchange: Exchange): Promise<void>;
  /** Serves one client until its input ends or `stop` fires, then closes. */
  serveStdio(pipes: Pick<StdioOptions, 'input' | 'output'>, stop?: AbortSignal): Promise<void>;
  /** Serves many clients over HTTP. The `close` of the result is that of all. */
  serveHttp(where?: ServeHttpOptions): Promise<Pick<Listening, 'url' | 'close'>>;
  /** Closes the transports after their last response; resolves when the upstream servers have ended. */
  close(): Promise<void>;
}

/** Where it listens, and who may use it. Port 0 chooses a free one. */
export type ServeHttpOptions = Partial<Omit<HttpOptions, 'isReady' | 'onFault' | 'lastMs' | 'onLast'>>;

export const DEFAULT_ADDRESS = { host: '127.0.0.1', port: 3333 } as const;

export function createSkillwire(options: SkillwireOptions = {}): Skillwire {
  const settings = settingsFrom(options);
  const server = createServer(settings, [...(settings.hub ? [openHub(settings)] : []), ...settings.sources]);
  const { dispatcher, registry, status } = server;
  const listening = new Set<Promise<Listening>>();
  const close = async () => {
    server.stop();
    // One that could not listen has told its caller.
    await Promise.allSettled([...listening].map(async (one) => (await one).close()));
    await server.close();
  };
  return {
    registry,
    status,
    handle: (session, text, exchange) => dispatcher.answer(dispatcher.read(text), session, exchange),
    async serveStdio(pipes, stop = new AbortController().signal) {
      await serveStdio(dispatcher, { ...pipes, stop, lastMs: LAST_MS, onLast: server.stop });
      await server.close();
    },
    async serveHttp(where = {}) {
      const standard = {
        ...DEFAULT_ADDRESS,
        allowHosts: [],
        allowOrigins: [],
        noAuth: false,
        announce: 'http',
      } as const;
      const options: HttpOptions = {
        ...standard,
        ...where,
        isReady: () => registry.current() !== undefined,
        onFault: (error) => settings.log.error(`HTTP: ${stackOf(error)}`),
        lastMs: LAST_MS,
        onLast: server.stop,
      };
      const one = import('./transports/http/server.ts').then(({ serveHttp }) => serveHttp(dispatcher, options));
      listening.add(one);
      return { url: (await one).url, close };
    },
    close,
  };
}

// --- internal ---

/** The hub's code is loaded only where it is asked for, and then at once: its servers take longer to start than we do. */
function openHub(settings: Settings): Source {
  let opened: Source | undefined;
  const opening = import('./hub/index.ts').then(({ createHubSource }) => {
    opened = createHubSource(settings);
    return opened;
  });
  return {
    name: 'hub',
    // Reports a failure of loading, as of any source.
    load: async () => (await opening).load(),
    onChange: (changed) => void opening.then((hub) => hub.onChange?.(changed)).catch(() => {}),
    status: () => opened?.status?.() ?? [],
    close: async () => (await opening.catch(() => undefined))?.close?.(),
  };
}
