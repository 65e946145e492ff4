/**
 * Everything that is served besides the handshake and the tools, put together from sources, registry and methods.
 * Leaves alone: when it is loaded, started and ended (loading.ts).
 */
import type { Registry } from './catalog/registry.ts';
import { createTriggers } from './catalog/triggers.ts';
import type { Settings } from './config.ts';
import type { FirstList } from './first-list.ts';
import { completeMethod } from './methods/completion.ts';
import type { Feature } from './methods/lists.ts';
import { createPrompts } from './methods/prompts.ts';
import { createResources } from './methods/resources.ts';
import { createSkillsExtension } from './methods/skills-extension.ts';
import { createSubscribers } from './methods/subscribers.ts';
import { legacySubscriptions, listenMethod } from './methods/subscriptions.ts';
import type { Views } from './methods/views.ts';
import type { Problem, Snapshot, Source } from './model.ts';
import type { Method } from './protocol/index.ts';
import { explainNone } from './skills/absent.ts';

/** Reports errors of one part of the program. */
export type ReportFault = (what: string) => (error: unknown) => void;

export type Service = ReturnType<typeof createService>;

export function createService(
  settings: Settings,
  views: Views,
  { tools, showTo }: FirstList,
  sources: readonly Source[],
  registry: Registry,
  report: ReportFault,
) {
  const { log } = settings;
  const skills = createSkillsExtension(registry, log);
  const prompts = settings.prompts ? createPrompts(registry, showTo, views) : undefined;
  const features: readonly Feature[] = [tools, createResources(registry), ...(prompts ? [prompts] : [])];
  const subscribers = createSubscribers(registry, report('a notification of changes'));
  const legacy = legacySubscriptions(registry, subscribers, features);
  const methods: readonly Method[] = [
    ...features.flatMap((feature) => feature.methods),
    ...skills.methods,
    completeMethod(registry, prompts?.find),
    listenMethod(registry, subscribers, features),
    ...legacy.methods,
  ];
  const triggers = createTriggers(registry, sources, settings, log);
  const problemsIn = (snapshot: Snapshot): readonly Problem[] => [...snapshot.problems, ...skills.problems(snapshot)];
  return {
    /** Of both eras; loading.ts has a table of the methods of each. */
    methods,
    initialized: legacy.initialized,
    problemsIn,
    /** For a refresh before this was loaded: notifies those who subscribed before it. */
    notify: subscribers.onRefreshed,
    /** Reads every file of every skill and returns all problems that are known then. */
    async examine() {
      const snapshot = await registry.refresh('examine');
      await skills.examine(snapshot, new AbortController().signal);
      return problemsIn(snapshot);
    },
    explainEmpty(snapshot: Snapshot): void {
      for (const { where, what } of explainNone(snapshot, settings)) log.warn(`${where}: ${what}`);
    },
    /** For a source that has changed. */
    refresh: triggers.refresh,
    /** From now on changes on disk are noticed. */
    begin: triggers.begin,
    stop(): void {
      triggers.stop();
      subscribers.close();
    },
  };
}
