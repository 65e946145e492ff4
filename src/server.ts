/**
 * One MCP server: its sources, its registry and its methods put together, its health and its end.
 * Leaves alone: how messages come and go (transports/), the methods and when their code is loaded (loading.ts), which
 * sources there are besides the skills of this machine (skillwire.ts).
 */
import { createRegistry, type Registry } from './catalog/registry.ts';
import type { Settings } from './config.ts';
import { createLoading } from './loading.ts';
import { stackOf } from './log.ts';
import type { Problem, Source, UpstreamStatus } from './model.ts';
import type { Handle } from './protocol/index.ts';
import type { ReportFault } from './service.ts';
import { SHUTDOWN } from './shutdown.ts';
import { VERSION } from './version.ts';

export interface Server {
  /** Takes one message and writes the response to the exchange. */
  readonly handle: Handle;
  readonly registry: Registry;
  /** States and counts, no contents. An operator also gets the reasons, which may quote an upstream server. */
  health(isOperator: boolean): { readonly state: 'starting' | 'ready'; readonly [fact: string]: unknown };
  /** Reads every file of every skill and returns all problems that are known then. */
  examine(): Promise<readonly Problem[]>;
  /** The upstream servers, as far as they are known. */
  status(): readonly UpstreamStatus[];
  /**
   * No further request will come: stops refreshing and ends open subscriptions with their result. Requests in flight go
   * on; those that still wait for an upstream server get an error after a while, which is shorter after a signal.
   */
  stop(isSignalled: boolean): void;
  /** After the last response: closes the sources; resolves when nothing that they started is left. */
  end(): Promise<void>;
}

/** `added`: the sources besides the skills of this machine. */
export function createServer(settings: Settings, added: readonly Source[]): Server {
  const report: ReportFault = (what) => (error) => settings.log.error(`${what} failed: ${stackOf(error)}`);
  const sources: readonly Source[] = [lateSkills(settings), ...added];
  const registry = createRegistry(sources, settings);
  const { handle, tools, service, loadAll } = createLoading(settings, sources, registry, report);
  const status = () => sources.flatMap((source) => source.status?.() ?? []);
  const endSources = async () => void (await Promise.all(sources.map((source) => source.close?.())));
  let graceTimer: NodeJS.Timeout | undefined;
  return {
    handle,
    registry,
    health(isOperator) {
      const snapshot = registry.current();
      const problems = snapshot && (service()?.problemsIn(snapshot) ?? snapshot.problems);
      return {
        state: snapshot ? 'ready' : 'starting',
        version: VERSION,
        generation: snapshot?.generation ?? 0,
        skills: snapshot?.names.listed.length ?? 0,
        tools: (snapshot && tools()?.size(snapshot)) ?? 0,
        problems: problems?.length ?? 0,
        upstreams: status().map(({ name, state, reason: why, nextAttempt, tools }) => {
          const reason = isOperator ? why : undefined;
          return { name, state, reason, nextAttempt, tools };
        }),
      };
    },
    examine: async () => (await loadAll()).examine(),
    status,
    stop(isSignalled) {
      const graceMs = isSignalled ? SHUTDOWN.stoppedCallsMs : SHUTDOWN.lastCallsMs;
      const loaded = service();
      if (loaded) loaded.stop();
      // Requests in flight may need what is still being loaded; a failure of that is reported there.
      else
        loadAll().then(
          (late) => late.stop(),
          () => {},
        );
      // Closing an upstream server answers every call that still waits for it. `end` reports a failure of that.
      graceTimer ??= setTimeout(() => void endSources().catch(() => {}), graceMs);
    },
    end() {
      clearTimeout(graceTimer);
      return endSources();
    },
  };
}

// --- internal ---

/** The code that finds skills is loaded with the first scan. */
function lateSkills(settings: Settings): Source {
  let opened: Source | undefined;
  return {
    name: 'skills',
    async load() {
      const { createSkillSource } = await import('./skills/source.ts');
      opened ??= createSkillSource(settings);
      return opened.load();
    },
    watched: () => opened?.watched?.() ?? [],
    isFullyWatched: () => opened?.isFullyWatched?.() ?? false,
    isUnsettled: () => opened?.isUnsettled?.() ?? false,
  };
}
