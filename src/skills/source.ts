/**
 * The skills of this machine as a source for the catalogue.
 * Owns: putting roots, plugins and the scan together. Leaves alone: which of the skills are shown (catalog/snapshot.ts).
 */
import { dirname } from 'node:path';
import { sameItems } from '../compare.ts';
import { watchEntry } from '../files/stats.ts';
import type { Contribution, Problem, Source, Watched } from '../model.ts';
import { createPluginFinder, type PluginOptions } from './plugins.ts';
import { findRoots, type Root, type RootOptions } from './roots.ts';
import { createScanner } from './scan.ts';

export interface SkillSourceOptions extends RootOptions, PluginOptions {
  readonly skipPlugins: boolean;
}

export function createSkillSource(options: SkillSourceOptions, progress: (text: string) => void): Source {
  const scan = createScanner();
  const findPlugins = options.skipPlugins ? () => NO_PLUGINS : createPluginFinder(options);
  let last: Contribution = {};
  let watched: readonly Watched[] = [];
  let isUnsettled = false;

  return {
    name: 'skills',
    async load() {
      const plugins = findPlugins();
      const roots = [...findRoots(options), ...plugins.roots];
      const { skills, problems, directories, unsettled } = await scan(roots, sayNowAndThen(progress));
      isUnsettled = unsettled;
      const watchable = [...watchedFor(roots, directories), ...plugins.watched];
      if (!sameItems(watched, watchable, sameWatched)) watched = watchable;
      const next = { skills, problems: [...plugins.problems, ...problems] };
      if (!isSame(last, next)) last = next;
      return last;
    },
    watched: () => watched,
    isUnsettled: () => isUnsettled,
  };
}

// --- internal ---

const NO_PLUGINS = { roots: [], problems: [], watched: [] };

// The first second needs no progress; after that a person wonders.
const PROGRESS_MS = 1000;

function sayNowAndThen(progress: (text: string) => void): (met: number) => void {
  let last = Date.now();
  return (met) => {
    if (Date.now() - last < PROGRESS_MS) return;
    last = Date.now();
    progress(`scanning: ${met} skills so far`);
  };
}

/** Every directory walked, and those in which a root, or the directory around it, may appear or vanish. */
function watchedFor(roots: readonly Root[], directories: readonly Watched[]): Watched[] {
  const above = roots.flatMap(({ directory }) => [directory, dirname(directory)]);
  return [...directories, ...above.map(watchEntry)];
}

function isSame(a: Contribution, b: Contribution): boolean {
  return sameItems(a.skills ?? [], b.skills ?? []) && sameItems(a.problems ?? [], b.problems ?? [], sameProblem);
}

function sameWatched(a: Watched, b: Watched): boolean {
  return a.directory === b.directory && a.only === b.only && a.identity === b.identity;
}

function sameProblem(a: Problem, b: Problem): boolean {
  return a.where === b.where && a.what === b.what;
}
