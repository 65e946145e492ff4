/**
 * Everything that is served after the handshake, put together from sources, registry and methods.
 * Leaves alone: when it is loaded, started and ended (server.ts).
 */
import type { Registry } from './catalog/registry.ts';
import { createRefreshReport } from './catalog/report.ts';
import { createTriggers } from './catalog/triggers.ts';
import type { Settings } from './config.ts';
import { completeMethod } from './methods/completion.ts';
import type { Feature } from './methods/lists.ts';
import { setLevelMethod } from './methods/logging.ts';
import { createShowTo } from './methods/own-skills.ts';
import { createPrompts } from './methods/prompts.ts';
import { createResources } from './methods/resources.ts';
import { createSkillsExtension } from './methods/skills-extension.ts';
import { createSubscribers } from './methods/subscribers.ts';
import { legacySubscriptions, listenMethod } from './methods/subscriptions.ts';
import { createTools } from './methods/tools.ts';
import type { Views } from './methods/views.ts';
import type { Problem, Snapshot, Source } from './model.ts';
import type { Method, NotificationHandler } from './protocol/index.ts';
import { explainNone } from './skills/absent.ts';
import { createOwnTools } from './tools/table.ts';

/** Reports errors of one part of the program. */
export type ReportFault = (what: string) => (error: unknown) => void;

/** The methods besides the handshake. */
export interface Methods {
  readonly modern: readonly Method[];
  readonly legacy: readonly Method[];
  readonly legacyNotifications: readonly NotificationHandler[];
}

export type Service = ReturnType<typeof createService>;

export function createService(
  settings: Settings,
  views: Views,
  sources: readonly Source[],
  registry: Registry,
  report: ReportFault,
) {
  const { cwd, log } = settings;
  const own = createOwnTools(settings.tools, registry, cwd, log);
  const showTo = createShowTo(settings);
  const tools = createTools(registry, own, showTo, views);
  const skills = createSkillsExtension(registry, log);
  const prompts = settings.prompts ? createPrompts(registry, showTo, views) : undefined;
  const features: readonly Feature[] = [tools, createResources(registry), ...(prompts ? [prompts] : [])];
  const subscribers = createSubscribers(registry, report('a notification of changes'));
  const legacy = legacySubscriptions(registry, subscribers, features);
  const complete = completeMethod(registry, prompts?.find);
  const shared = [...features.flatMap(({ methods }) => methods), complete, ...skills.methods];
  const methods: Methods = {
    modern: [...shared, listenMethod(registry, subscribers, features)],
    legacy: [...shared, ...legacy.methods, setLevelMethod(sources)],
    legacyNotifications: legacy.notifications,
  };
  registry.onRefresh(createRefreshReport(log));
  const triggers = createTriggers(registry, sources, settings, log);
  const problemsIn = (snapshot: Snapshot): readonly Problem[] => [...snapshot.problems, ...skills.problems(snapshot)];
  return {
    methods,
    toolsIn: tools.size,
    problemsIn,
    /** Reads every file of every skill and returns all problems that are known then. */
    async examine() {
      const snapshot = await registry.refresh('examine');
      await skills.examine(snapshot, new AbortController().signal);
      return problemsIn(snapshot);
    },
    explainEmpty(snapshot: Snapshot): void {
      for (const { where, what } of explainNone(snapshot, settings)) log.warn(`${where}: ${what}`);
    },
    /** From now on changes on disk are noticed. */
    begin: triggers.begin,
    stop(): void {
      triggers.stop();
      subscribers.close();
    },
  };
}
