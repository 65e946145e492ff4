/**
 * Skills that a user expects and does not get: of a directory that they named, or any at all.
 * Leaves alone: the well-known directories, which need not exist; files that cannot be read (walk.ts, skill-file.ts).
 */
import { statSync } from 'node:fs';
import { isBelow } from '../files/stats.ts';
import type { Contribution, Problem, Snapshot } from '../model.ts';
import { expandHome, findRoots, type RootOptions } from './roots.ts';

/** The directories that were named and give no skill, each with what to do. One with another Problem in it is left out. */
export function findEmpty(
  options: RootOptions,
  { skills, problems }: Required<Pick<Contribution, 'skills' | 'problems'>>,
): readonly Problem[] {
  const { skillDirs, root } = options;
  const named = new Map(skillDirs.map((directory) => [expandHome(options, directory), '--skill-dir']));
  if (root !== undefined) named.set(expandHome(options, root), '--root');
  return [...named].flatMap(([where, option]) => {
    if (skills.some((skill) => skill.root === where)) return [];
    return problems.some((problem) => isBelow(problem.where, where)) ? [] : [{ where, what: faultOf(where, option) }];
  });
}

/** For a server that has nothing to serve, and no other Problem that explains it: where skills were looked for. */
export function explainNone(
  { names, tools, problems }: Snapshot,
  options: RootOptions & { readonly skipPlugins: boolean },
): readonly Problem[] {
  if (names.listed.length > 0 || tools.length > 0 || problems.some(({ mild }) => !mild)) return [];
  const places = findRoots(options).map(({ directory }) => directory);
  if (!options.skipPlugins) places.push('the installed plugins');
  const looked = `looked in ${places.join(', ')}; a skill is a directory there with a SKILL.md`;
  const nowhere = 'no directory is searched; name one with --skill-dir';
  return [{ where: 'no skills', what: places.length > 0 ? looked : nowhere }];
}

// --- internal ---

function faultOf(directory: string, option: string): string {
  try {
    if (!statSync(directory).isDirectory()) return `is a file; ${option} takes the directory that has the skills`;
  } catch {
    return `does not exist; correct ${option}, or create the directory`;
  }
  return 'has no skills; a skill is a directory in it with a SKILL.md';
}
