/**
 * One MCP server, put together from sources, registry, methods and eras.
 * Owns: the wiring, when it starts and ends. Leaves alone: how messages come and go (transports/), which sources there
 * are besides the skills of this machine (index.ts adds the hub).
 */
import { createFirstLists, type FirstLists } from './catalog/first-lists.ts';
import { createRegistry, type Refreshed, type Registry } from './catalog/registry.ts';
import { startTriggers } from './catalog/triggers.ts';
import { type Settings, TOOL_NAMES } from './config.ts';
import { type Log, stackOf } from './log.ts';
import { cancelled, discoveryMethods, handshakeMethods } from './methods/lifecycle.ts';
import type { EncodedList } from './methods/pagination.ts';
import { createPromptTable, type PromptTable, promptMethods } from './methods/prompts.ts';
import { createResourceUpdates, resourceState, subscribeMethods } from './methods/resource-updates.ts';
import { resourceMethods, resourcesDiffer } from './methods/resources.ts';
import { createSkillsExtension } from './methods/skills-extension.ts';
import { createSubscriptions, encodeUpdate, type ListTopic } from './methods/subscriptions.ts';
import { createToolTable, type ToolTable, toolMethods } from './methods/tools.ts';
import type { Problem, Snapshot, Source, UpstreamStatus } from './model.ts';
import { createDispatcher, type Handle, legacyEra, modernEra, type Peer, SKILLS_EXTENSION } from './protocol/index.ts';
import { createSkillSource } from './skills/source.ts';
import { loadText } from './tools/skill.ts';
import { createOwnTools, instructionsFor } from './tools/table.ts';
import { VERSION } from './version.ts';

export interface Server {
  readonly handle: Handle;
  readonly registry: Registry;
  /** States and counts, no contents. An operator also gets the reasons, which may quote an upstream server. */
  health(isOperator: boolean): Health;
  /** Reads every file of every skill and returns all problems that are known then. */
  examine(): Promise<readonly Problem[]>;
  /** The upstream servers, as far as they are known. */
  status(): readonly UpstreamStatus[];
  /**
   * No further request will come: stops refreshing and ends open subscriptions with their result. Requests in flight go
   * on; those that still wait for an upstream server after `graceMs` get an error.
   */
  stop(graceMs: number): void;
  /** After the last response: closes the sources; resolves when nothing that they started is left. */
  end(): Promise<void>;
}

export interface Health {
  readonly state: 'starting' | 'ready';
  readonly version: string;
  readonly generation: number;
  readonly skills: number;
  readonly tools: number;
  readonly problems: number;
  readonly upstreams: readonly Pick<UpstreamStatus, 'name' | 'state' | 'reason' | 'nextAttempt' | 'tools'>[];
}

/** `added`: the sources besides the skills of this machine. */
export function createServer(settings: Settings, added: readonly Source[]): Server {
  const { log } = settings;
  const report = (what: string) => (error: unknown) => log.error(`${what} failed: ${stackOf(error)}`);
  const refresh = (reason: string) => void registry.refresh(reason).catch(report(`refresh (${reason})`));
  const sources: readonly Source[] = [createSkillSource(settings, log.info), ...added];
  const lists = createFirstLists(sources, () => registry);
  const registry: Registry = createRegistry(sources, { ...settings, isComplete: lists.isComplete });
  const { handle, table, skills, subscriptions } = createMethods(settings, registry, lists, report);
  const problemsOf = (snapshot: Snapshot) => [...snapshot.problems, ...skills.problems(snapshot)];
  const status = () => sources.flatMap((source) => source.status?.() ?? []);
  const endSources = async () => void (await Promise.all(sources.map((source) => source.close?.())));
  let graceTimer: NodeJS.Timeout | undefined;

  registry.onRefresh(createRefreshReport(log));
  const stopTriggers = startTriggers(registry, sources, settings, log);
  for (const source of sources) source.onChange?.(refresh);
  log.info('scanning skill directories');
  refresh('start');
  // At once, not with the first request for a list: servers that come later must be announced.
  lists.complete().catch(report('the first lists'));
  return {
    handle,
    registry,
    health: (isOperator) =>
      healthOf(registry.current(), table.size, problemsOf, isOperator ? status() : status().map(withoutReason)),
    async examine() {
      const snapshot = await registry.refresh('examine');
      await skills.examine(snapshot, new AbortController().signal);
      return problemsOf(snapshot);
    },
    status,
    stop(graceMs) {
      stopTriggers();
      subscriptions.close();
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
function createMethods(settings: Settings, registry: Registry, lists: FirstLists, report: Report) {
  const { log } = settings;
  const own = createOwnTools(settings.tools === 'auto' ? TOOL_NAMES : settings.tools, lists, settings.cwd, log);
  const table = createToolTable(own, { ...settings, omitForExtension: settings.tools === 'auto' });
  const skills = createSkillsExtension(lists, log);
  const prompts = settings.prompts ? createPromptTable(settings) : undefined;
  const updates = createResourceUpdates(registry, lists, resourceState, report('a notification of changes'));
  const subscriptions = createSubscriptions(
    registry,
    lists,
    topicsOf(table, prompts),
    updates,
    report('a notification of changes'),
  );
  const introduction = {
    server: { name: 'skillwire', version: VERSION },
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      ...(prompts ? { prompts: { listChanged: true } } : {}),
      extensions: { [SKILLS_EXTENSION]: { directoryRead: true } },
    },
    instructions: (peer: Peer) => instructionsFor(table.ownFor(peer)),
  };
  const shared = [
    ...toolMethods(registry, lists, table),
    ...resourceMethods(lists),
    ...skills.methods,
    ...(prompts ? promptMethods(lists, prompts, loadText) : []),
  ];
  const eras = [
    modernEra(
      { methods: [...discoveryMethods(introduction), ...shared, ...subscriptions.methods], notifications: [cancelled] },
      introduction.server,
    ),
    legacyEra({
      methods: [...handshakeMethods(introduction), ...shared, ...subscribeMethods(updates, encodeUpdate)],
      notifications: [cancelled, ...subscriptions.notifications],
    }),
  ];
  const handle = createDispatcher(eras, (method, error) => report(method)(error));
  return { handle, table, skills, subscriptions };
}

function topicsOf(tools: ToolTable, prompts: PromptTable | undefined): readonly ListTopic[] {
  const topicOf = (name: string, differs: ListTopic['differs']): ListTopic => {
    return { key: `${name}ListChanged`, method: `notifications/${name}/list_changed`, differs };
  };
  const listDiffers =
    <T>(list: (snapshot: Snapshot, peer: Peer) => EncodedList<T>): ListTopic['differs'] =>
    (before, after, peer) =>
      !list(before, peer).equals(list(after, peer));
  return [
    topicOf('tools', listDiffers(tools.list)),
    topicOf('resources', resourcesDiffer),
    ...(prompts ? [topicOf('prompts', listDiffers(prompts.list))] : []),
  ];
}

const withoutReason = ({ reason: _reason, ...status }: UpstreamStatus): UpstreamStatus => status;

function healthOf(
  snapshot: Snapshot | undefined,
  toolsOf: (snapshot: Snapshot) => number,
  problemsOf: (snapshot: Snapshot) => readonly Problem[],
  upstreams: readonly UpstreamStatus[],
): Health {
  return {
    state: snapshot ? 'ready' : 'starting',
    version: VERSION,
    generation: snapshot?.generation ?? 0,
    skills: snapshot?.names.listed.length ?? 0,
    tools: snapshot ? toolsOf(snapshot) : 0,
    problems: snapshot ? problemsOf(snapshot).length : 0,
    upstreams: upstreams.map(({ name, state, reason, nextAttempt, tools }) => ({
      name,
      state,
      ...(reason === undefined ? {} : { reason }),
      ...(nextAttempt === undefined ? {} : { nextAttempt }),
      tools,
    })),
  };
}

/** Logs one line per refresh, and every Problem when it first appears. */
function createRefreshReport(log: Log): (refreshed: Refreshed) => void {
  let reported = new Set<string>();
  const report = (problems: readonly Problem[]) => {
    const now = new Map(problems.map((problem) => [`${problem.where}: ${problem.what}`, problem]));
    for (const [text, { mild }] of now) if (!reported.has(text)) log[mild ? 'debug' : 'warn'](text);
    reported = new Set(now.keys());
  };
  return ({ reason, before, after, change, milliseconds }) => {
    const found = `${after.names.listed.length} skills in ${milliseconds} ms`;
    if (before === after) return log.info(`refresh (${reason}): no change; ${found}`);
    report(after.problems);
    if (!before) return log.info(`ready: ${found}`);
    const { added, changed, removed } = change;
    log.info(`refresh (${reason}): ${added} added, ${changed} changed, ${removed} removed; ${found}`);
  };
}
