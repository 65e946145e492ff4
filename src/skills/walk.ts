/**
 * The directories below one root, and which of them contain a SKILL.md.
 * Owns: the walk, its limits, and which symbolic links it follows. Leaves alone: what is in a SKILL.md (scan.ts).
 * Always true: an unchanged directory is not listed again; a real directory is visited once; no link leads the walk out of
 * its root by going up; directories come in the order of their depth, then of their paths, so that a skill inside another
 * does not take the name of one beside it.
 */
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { dirname, sep } from 'node:path';
import { createPacer } from '../files/pace.ts';
import { FileError, withFileErrors } from '../files/read.ts';
import * as stat from '../files/stat.ts';
import { MAX_DEPTH, MAX_DIRECTORIES, RECENT_MS } from '../limits.ts';
import type { Problem, WatchedDirectory } from '../model.ts';
import { compare } from '../text.ts';
import { type Root, SKILL_FILE } from './roots.ts';

/** A directory as it was listed. The next walk takes it over while the directory is the same. */
export interface Visit extends Step, WatchedDirectory {
  readonly real: string;
  /** Undefined when it had changed just before: it is listed again at the next walk. */
  readonly version: stat.Version | undefined;
  /** `plain`: its SKILL.md is a regular file. `other`: a link, or something else of that name. */
  readonly skill: 'plain' | 'other' | undefined;
  /** By name. */
  readonly children: readonly Step[];
}

/** `real`: undefined for a symbolic link. */
interface Step {
  readonly path: string;
  readonly real: string | undefined;
  readonly depth: number;
}

/** `known`: what the last walk gave for a path. */
export async function walkRoot(root: Root, known: (path: string) => Visit | undefined, problems: Problem[]) {
  const pace = createPacer();
  const visits: Visit[] = [];
  const places = new Set<string>();
  const visit = createVisitor(root, problems);
  const queue: Step[] = [{ path: root.directory, real: undefined, depth: 0 }];
  let isTooDeep = false;
  // The queue grows while it is walked.
  for (const step of queue) {
    await pace();
    if (visits.length === MAX_DIRECTORIES) {
      const what = `has over ${MAX_DIRECTORIES} directories; the rest is left out`;
      problems.push({ where: root.directory, what, hint: DEEPER });
      break;
    }
    const found = visit(step, known(step.path));
    if (!found || places.has(found.identity)) continue;
    places.add(found.identity);
    visits.push(found);
    if (step.depth < root.depth) for (const child of found.children) queue.push(child);
    else if (step.depth === MAX_DEPTH && found.children.length > 0 && !isTooDeep) {
      isTooDeep = true;
      const what = `is ${MAX_DEPTH} levels down; deeper directories are left out everywhere`;
      problems.push({ where: step.path, what, hint: DEEPER });
    }
  }
  return visits;
}

// --- internal ---

const DEEPER = 'Name a directory further down with --skill-dir.';
const REPLACE = 'Replace the link by a directory, or use --follow-symlinks.';

/** Gives undefined for what is not walked into, and reports it where a person would miss it. */
function createVisitor(root: Root, problems: Problem[]) {
  const within = root.within && stat.realPathOrSame(root.within);
  // The real paths of the root and of its parent, known once the root has been visited.
  let base: readonly string[] = [];

  function visit(step: Step, before: Visit | undefined): Visit | undefined {
    const isLink = step.real === undefined;
    const real = step.real ?? stat.realPathOf(step.path);
    // lstat: a link may have taken the directory's place since.
    const stats = lstatSync(real);
    if (!stats.isDirectory()) throw new FileError('missing', 'it is not a directory');
    if (isLink && within && !stat.isBelow(real, within)) {
      problems.push({ where: step.path, what: `is a link that leaves ${within}`, hint: REPLACE });
      return undefined;
    }
    // A link to its root, or to a directory above that, is a circle.
    if (isLink && base.some((one) => stat.isBelow(one, real))) return undefined;
    if (step.depth === 0) base = [real, stat.realPathOrSame(dirname(step.path))];
    const isSame = before?.version && before.real === real && stat.sameVersion(before.version, stats);
    return isSame ? before : listDirectory(step, real, stats);
  }

  return (step: Step, before: Visit | undefined): Visit | undefined => {
    try {
      return withFileErrors(() => visit(step, before));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      const where = step.path;
      const hint = `Correct ${root.option}, or create the directory.`;
      if (error.kind !== 'missing') problems.push({ where, what: `cannot be read: ${error.message}` });
      else if (step.depth === 0 && root.option !== undefined)
        problems.push({ where, what: stat.lookAt(where) ? 'is not a directory' : 'does not exist', hint });
      // Its entry was decoded with a replacement character, so the path leads nowhere.
      else if (where.includes('\ufffd')) problems.push({ where, what: 'has a name that is not UTF-8' });
      return error.kind === 'changing' ? before : undefined;
    }
  };
}

function listDirectory({ path, depth }: Step, real: string, stats: Stats): Visit {
  // Judged before listing: a change in between must not be missed.
  const version = stat.changedWithin(stats, RECENT_MS) ? undefined : stat.versionOf(stats);
  const children: Step[] = [];
  let skill: Visit['skill'];
  for (const entry of readdirSync(real, { withFileTypes: true })) {
    const { name } = entry;
    if (name === SKILL_FILE) skill = entry.isFile() ? 'plain' : 'other';
    else if ((entry.isDirectory() || entry.isSymbolicLink()) && !stat.isSkipped(name)) {
      const inside = below(path, name);
      // One string for both where they are equal, which they nearly always are.
      const plain = real === path ? inside : below(real, name);
      children.push({ path: inside, real: entry.isDirectory() ? plain : undefined, depth: depth + 1 });
    }
  }
  children.sort((a, b) => compare(a.path, b.path));
  return { path, real, depth, identity: stat.identityOf(stats), version, skill, children };
}

/** As `path.join`, which would take a quarter of a walk. */
const below = (directory: string, name: string) => (directory.endsWith(sep) ? directory : directory + sep) + name;
