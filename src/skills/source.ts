/**
 * The skills of this machine as a source for the catalog.
 * Owns: combining roots, plugins and the scan. Leaves alone: which skills are served (catalog/snapshot.ts).
 */
import type { Settings } from '../config.ts';
import type { Problem, Skill, Source, WatchedDirectory } from '../model.ts';
import { createPluginFinder } from './plugins.ts';
import { findRoots } from './roots.ts';
import { createScanner } from './scan.ts';

export function createSkillSource(settings: Settings): Source {
  const scan = createScanner();
  const findPlugins = settings.skipPlugins ? () => [] : createPluginFinder(settings);
  let last: { readonly skills: readonly Skill[]; readonly problems: readonly Problem[] } = { skills: [], problems: [] };
  let watched: readonly WatchedDirectory[] = [];

  return {
    name: 'skills',
    async load() {
      const faults: Problem[] = [];
      const { skills, directories, problems: found } = await scan([...findRoots(settings), ...findPlugins(faults)]);
      const problems = [...faults, ...found];
      if (!areSame(watched, directories, (a, b) => a.path === b.path && a.identity === b.identity))
        watched = directories;
      const areSameProblems = areSame(last.problems, problems, (a, b) => a.where === b.where && a.what === b.what);
      if (!areSameProblems || !areSame(last.skills, skills, (a, b) => a === b)) last = { skills, problems };
      return last;
    },
    watched: () => watched,
  };
}

// --- internal ---

function areSame<T>(a: readonly T[], b: readonly T[], isSame: (one: T, other: T) => boolean): boolean {
  return a.length === b.length && a.every((one, at) => isSame(one, b[at] as T));
}
