/**
 * The skills of this machine as a source for the catalog.
 * Owns: combining roots, plugins and the scan. Leaves alone: which skills are served (catalog/snapshot.ts).
 */
import { dirname } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import { sameItems } from '../compare.ts';
import { watchEntry } from '../files/stats.ts';
import type { Problem, Source, Watched } from '../model.ts';
import { createPluginFinder, type PluginOptions } from './plugins.ts';
import { findRoots, type Root, type RootOptions } from './roots.ts';
import { createScanner, type Scan } from './scan.ts';

export interface SkillSourceOptions extends RootOptions, PluginOptions {
  readonly skipPlugins: boolean;
}

export function createSkillSource(
  options: SkillSourceOptions,
  progress: (text: string) => void,
  clock: Clock = systemClock,
): Source {
  const scan = createScanner(clock);
  const findPlugins = options.skipPlugins ? () => NO_PLUGINS : createPluginFinder(options);
  let last: Pick<Scan, 'skills' | 'problems'> = { skills: [], problems: [] };
  let watched: readonly Watched[] = [];
  let isUnsettled = false;

  return {
    name: 'skills',
    async load() {
      const plugins = findPlugins();
      const roots = [...findRoots(options), ...plugins.roots];
      const found = await scan(roots, reportProgress(progress, clock));
      isUnsettled = found.unsettled;
      const nowWatched = [...watchedFor(roots, found.directories), ...plugins.watched];
      if (!sameItems(watched, nowWatched, sameWatched)) watched = nowWatched;
      const next = { skills: found.skills, problems: [...plugins.problems, ...found.problems] };
      if (!sameItems(last.skills, next.skills) || !sameItems(last.problems, next.problems, sameProblem)) last = next;
      return last;
    },
    watched: () => watched,
    isUnsettled: () => isUnsettled,
  };
}

// --- internal ---

const NO_PLUGINS = { roots: [], problems: [], watched: [] };

// A scan of up to a second needs no progress report.
const PROGRESS_MS = 1000;

function reportProgress(progress: (text: string) => void, clock: Clock): (found: number) => void {
  let last = clock.now();
  return (found) => {
    if (clock.now() - last < PROGRESS_MS) return;
    last = clock.now();
    progress(`scanning: ${found} skills so far`);
  };
}

/** Every directory of the scan, and those in which a root, or the directory around it, may appear or disappear. */
function watchedFor(roots: readonly Root[], directories: readonly Watched[]): Watched[] {
  const above = roots.flatMap(({ directory }) => [directory, dirname(directory)]);
  return [...directories, ...above.map(watchEntry)];
}

function sameWatched(a: Watched, b: Watched): boolean {
  return a.directory === b.directory && a.only === b.only && a.identity === b.identity;
}

function sameProblem(a: Problem, b: Problem): boolean {
  return a.where === b.where && a.what === b.what;
}
