/**
 * The skills of this machine as a source for the catalog.
 * Owns: combining roots, plugins and the scan. Leaves alone: which skills are served (catalog/snapshot.ts).
 */
import { isDeepStrictEqual } from 'node:util';
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
      watched = directories;
      const areSame = skills.length === last.skills.length && skills.every((one, at) => one === last.skills[at]);
      if (!areSame || !isDeepStrictEqual(problems, last.problems)) last = { skills, problems };
      return last;
    },
    watched: () => watched,
  };
}
