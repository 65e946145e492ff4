/**
 * The skills of this machine as a source for the catalog.
 * Owns: combining roots, plugins and the scan. Leaves alone: which skills are served (catalog/snapshot.ts).
 */
import { dirname } from 'node:path';
import { sameItems } from '../compare.ts';
import { sameWatched, watchEntry } from '../files/stats.ts';
import type { Contribution, Problem, Source, Watched } from '../model.ts';
import { findEmpty } from './absent.ts';
import { createPluginFinder, type PluginOptions } from './plugins.ts';
import { findRoots, type RootOptions } from './roots.ts';
import { createScanner } from './scan.ts';

export interface SkillSourceOptions extends RootOptions, PluginOptions {
  readonly skipPlugins: boolean;
}

export function createSkillSource(options: SkillSourceOptions): Source {
  const scan = createScanner();
  const findPlugins = options.skipPlugins ? () => NO_PLUGINS : createPluginFinder(options);
  let last: Required<Pick<Contribution, 'skills' | 'problems'>> = { skills: [], problems: [] };
  let watched: readonly Watched[] = [];
  let isUnsettled = false;
  /** The roots of the last load, when their directories are all that it depended on. */
  let watchedRoots: string | undefined;

  return {
    name: 'skills',
    async load() {
      const plugins = findPlugins();
      const own = findRoots(options);
      const roots = [...own, ...plugins.roots];
      const found = await scan(roots);
      isUnsettled = found.unsettled;
      // Of a plugin, the manifest and the files below its skills are not watched.
      const isWatched = !found.hasLinks && plugins.roots.length === 0;
      watchedRoots = isWatched ? JSON.stringify(own) : undefined;
      // A root, or the directory around it, may appear or disappear.
      const above = roots.flatMap(({ directory }) => [directory, dirname(directory)]).map(watchEntry);
      const nowWatched = [...found.directories, ...above, ...plugins.watched];
      if (!sameItems(watched, nowWatched, sameWatched)) watched = nowWatched;
      const problems = [...plugins.problems, ...found.problems, ...findEmpty(options, found)];
      if (!sameItems(last.skills, found.skills) || !sameItems(last.problems, problems, sameProblem))
        last = { skills: found.skills, problems };
      return last;
    },
    watched: () => watched,
    // A directory of another provider may be new.
    isFullyWatched: () => watchedRoots !== undefined && watchedRoots === JSON.stringify(findRoots(options)),
    isUnsettled: () => isUnsettled,
  };
}

// --- internal ---

const NO_PLUGINS = { roots: [], problems: [], watched: [] };

const sameProblem = (a: Problem, b: Problem) => a.where === b.where && a.what === b.what;
