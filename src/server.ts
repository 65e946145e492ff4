/**
 * One MCP server, put together from sources, registry, methods and eras.
 * Owns: the wiring, when it starts and ends. Leaves alone: how messages come and go (transports/), which sources there
 * are besides the skills of this machine (index.ts adds the hub).
 */
import { createRegistry, type Registry } from './catalog/registry.ts';
import { createRefreshReport } from './catalog/report.ts';
import { startTriggers } from './catalog/triggers.ts';
import type { Settings } from './config.ts';
import { stackOf } from './log.ts';
import { completeMethod } from './methods/completion.ts';
import { cancelled, createClientReport, discoverMethod, handshakeMethods } from './methods/lifecycle.ts';
import type { Feature } from './methods/lists.ts';
import { setLevelMethod } from './methods/logging.ts';
import { createShowTo } from './methods/own-skills.ts';
import { createPrompts } from './methods/prompts.ts';
import { createResources } from './methods/resources.ts';
import { createSkillsExtension } from './methods/skills-extension.ts';
import { createSubscribers } from './methods/subscribers.ts';
import { legacySubscriptions, listenMethod } from './methods/subscriptions.ts';
import { createTools } from './methods/tools.ts';
import type { Problem, Snapshot, Source, UpstreamStatus } from './model.ts';
import { createDispatcher, type Handle, legacyEra, modernEra, type Peer, SKILLS_EXTENSION } from './protocol/index.ts';
import { SHUTDOWN } from './shutdown.ts';
import { explainNone } from './skills/absent.ts';
import { createSkillSource } from './skills/source.ts';
import { createOwnTools, instructionsFor } from './tools/table.ts';
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
  const { log } = settings;
  const report: Report = (what) => (error) => log.error(`${what} failed: ${stackOf(error)}`);
  const sources: readonly Source[] = [createSkillSource(settings), ...added];
  const registry = createRegistry(sources, settings);
  const { handle, tools, skills, subscribers } = createMethods(settings, sources, registry, report);
  const problemsOf = (snapshot: Snapshot) => [...snapshot.problems, ...skills.problems(snapshot)];
  const status = () => sources.flatMap((source) => source.status?.() ?? []);
  const endSources = async () => void (await Promise.all(sources.map((source) => source.close?.())));
  const explainEmpty = (snapshot: Snapshot) => {
    for (const { where, what } of explainNone(snapshot, settings)) log.warn(`${where}: ${what}`);
  };
  let graceTimer: NodeJS.Timeout | undefined;

  registry.onRefresh(createRefreshReport(log));
  const stopTriggers = startTriggers(registry, sources, settings, log);
  const scan = () => {
    log.info('scanning skill directories');
    registry.refresh('start').catch(report('refresh (start)'));
    registry.complete().then(explainEmpty).catch(report('the first lists'));
  };
  // The answer to a handshake does not need the skills. In the first turn of the event loop messages that have arrived are
  // read, and at its end they are answered: the scan begins in the second.
  setImmediate(() => setImmediate(scan));
  return {
    handle,
    registry,
    health(isOperator) {
      const snapshot = registry.current();
      return {
        state: snapshot ? 'ready' : 'starting',
        version: VERSION,
        generation: snapshot?.generation ?? 0,
        skills: snapshot?.names.listed.length ?? 0,
        tools: snapshot ? tools.size(snapshot) : 0,
        problems: snapshot ? problemsOf(snapshot).length : 0,
        upstreams: status().map(({ name, state, reason: why, nextAttempt, tools }) => {
          const reason = isOperator ? why : undefined;
          return { name, state, reason, nextAttempt, tools };
        }),
      };
    },
    async examine() {
      const snapshot = await registry.refresh('examine');
      await skills.examine(snapshot, new AbortController().signal);
      return problemsOf(snapshot);
    },
    status,
    stop(isSignalled) {
      const graceMs = isSignalled ? SHUTDOWN.stoppedCallsMs : SHUTDOWN.lastCallsMs;
      stopTriggers();
      subscribers.close();
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

/** Reports errors of one part of the program. */
type Report = (what: string) => (error: unknown) => void;

/** The methods of both eras, and what else needs them. */
function createMethods(settings: Settings, sources: readonly Source[], registry: Registry, report: Report) {
  const { cwd, log } = settings;
  const own = createOwnTools(settings.tools, registry, cwd, log);
  const showTo = createShowTo(settings);
  const tools = createTools(registry, own, showTo, { ...settings, omitForExtension: settings.tools === 'auto' });
  const skills = createSkillsExtension(registry, log);
  const prompts = settings.prompts ? createPrompts(registry, showTo, settings) : undefined;
  const features: readonly Feature[] = [tools, createResources(registry), ...(prompts ? [prompts] : [])];
  const subscribers = createSubscribers(registry, report('a notification of changes'));
  const legacy = legacySubscriptions(registry, subscribers, features);
  const { onHandshake, onRequest } = createClientReport(log);
  const introduction = {
    server: { name: 'skillwire', version: VERSION },
    capabilities: {
      ...Object.fromEntries(features.map(({ name }) => [name, { listChanged: true }])),
      resources: { subscribe: true, listChanged: true },
      completions: {},
      logging: {},
      extensions: { [SKILLS_EXTENSION]: { directoryRead: true } },
    },
    instructions: (peer: Peer) => instructionsFor(tools.ownFor(peer)),
    onPeer: onHandshake,
  };
  const complete = completeMethod(registry, prompts?.find);
  const shared = [...features.flatMap(({ methods }) => methods), complete, ...skills.methods];
  const modernMethods = [discoverMethod(introduction), ...shared, listenMethod(registry, subscribers, features)];
  const legacyMethods = [...handshakeMethods(introduction), ...shared, ...legacy.methods, setLevelMethod(sources)];
  const eras = [
    modernEra({ methods: modernMethods, notifications: [cancelled] }, introduction.server, onRequest),
    legacyEra({ methods: legacyMethods, notifications: [cancelled, ...legacy.notifications] }),
  ];
  const handle = createDispatcher(eras, (method, error) => report(method)(error));
  return { handle, tools, skills, subscribers };
}
