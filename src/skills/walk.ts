/**
 * The directories below one root, and which of them contain a SKILL.md.
 * Owns: the walk, its limits, and which symbolic links it follows. Leaves alone: the files' contents (skill-file.ts).
 * Always true: an unchanged directory is not listed again; a real directory is visited once, under its own path if that is
 * below the root, because links are followed last; no link leads the walk out of its root by going up; skills come in the
 * order of their depth, then of their paths, so that one inside another does not take the name of one beside it.
 */
import { readdirSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import type { Pacer } from '../files/pace.ts';
import {
  isBelow,
  isMissing,
  isRecent,
  isSkipped,
  isTransient,
  keyOf,
  type Look,
  lstatOf,
  passesSkipped,
  realPathOf,
  sameFile,
  sameVersion,
  type Version,
  versionOf,
} from '../files/stats.ts';
import { messageOf } from '../log.ts';
import type { Identity, Problem, Watched } from '../model.ts';
import { MAX_DEPTH, MAX_DIRECTORIES } from './limits.ts';
import { type Root, SKILL_FILE } from './roots.ts';
import { SkillFile } from './skill-file.ts';

/** A directory below a root. What the last walk found in it makes the next walk cheap. */
export interface Directory {
  readonly path: string;
  /** Undefined when it is, or may be, a link. */
  readonly real: string | undefined;
  readonly depth: number;
  /** Undefined for a root, and where a link was followed. */
  readonly parent: Directory | undefined;
  listing: Listing | undefined;
}

interface Listing extends Watched {
  readonly identity: Identity;
  /** Undefined when it had changed just before (see `isRecent`): it is listed again at the next walk. */
  readonly version: Version | undefined;
  readonly real: string;
  /** By name. */
  readonly children: readonly Directory[];
  readonly skill: SkillFile | undefined;
  /** A file whose name is that of a SKILL.md but for case. */
  readonly misspelt: string | undefined;
}

/** The root of a first walk. It may be a link itself. */
export function startOf(root: Root): Directory {
  return { path: root.directory, real: undefined, depth: 0, parent: undefined, listing: undefined };
}

/** Walks from `start`, and keeps in it what the next walk needs. */
export async function walkRoot(root: Root, start: Directory, pace: Pacer) {
  const directories: Listing[] = [];
  const skills: SkillFile[] = [];
  const problems: Problem[] = [];
  let visited: Set<string> | undefined;
  const visit = createVisitor(root, problems);
  let tooDeep: string | undefined;
  const queue: Directory[] = [];
  const links: Directory[] = [];
  let [taken, followed] = [0, 0];

  for (let next: Directory | undefined = start; next; next = queue[taken] ? queue[taken++] : links[followed++]) {
    const rest = pace();
    if (rest) await rest;
    if (directories.length === MAX_DIRECTORIES) {
      problems.push({ where: root.directory, what: `has over ${MAX_DIRECTORIES} directories; the rest is left out` });
      break;
    }
    next.listing = visit(next);
    if (!next.listing) continue;
    const { identity, skill, children, misspelt } = next.listing;
    // Only links lead to a directory twice.
    if (followed > 0) {
      visited ??= new Set(directories.map((one) => keyOf(one.identity)));
      const key = keyOf(identity);
      if (visited.has(key)) continue;
      visited.add(key);
    }
    directories.push(next.listing);
    if (skill) skills.push(skill);
    else if (misspelt !== undefined && !isInSkill(next))
      problems.push({ where: join(next.path, misspelt), what: `is not read; rename it to ${SKILL_FILE}` });
    if (children.length === 0) continue;
    if (next.depth < root.depth) {
      for (const child of children) (child.real === undefined ? links : queue).push(child);
    } else if (next.depth === MAX_DEPTH) tooDeep ??= next.path;
  }
  if (tooDeep !== undefined) {
    problems.push({ where: tooDeep, what: `is ${MAX_DEPTH} levels down; deeper directories are left out everywhere` });
  }
  return { directories, skills: links.length > 0 ? inOrder(skills) : skills, problems };
}

// --- internal ---

/** Any file of a skill may have any name. */
function isInSkill({ parent }: Directory): boolean {
  return parent !== undefined && (parent.listing?.skill !== undefined || isInSkill(parent));
}

function createVisitor(root: Root, problems: Problem[]): (directory: Directory) => Listing | undefined {
  const { directory: top, within } = root;
  // The real paths of the root and of its parent, known once the root has been visited.
  let base: readonly string[] = [];

  /** Whether a link is followed. One that leads to what is skipped is not reported. */
  function isFollowed(path: string, real: string): boolean {
    const refuse = (what: string) => {
      problems.push({ where: path, what });
      return false;
    };
    if (within !== undefined && !isBelow(real, realPathOf(within)))
      return refuse(`is a link that leaves ${within}; --follow-symlinks would follow it`);
    if (base.some((one) => isBelow(one, real)))
      return refuse('is a link to its root or to a directory above it (a circle); it is not followed');
    return base[0] === undefined || !passesSkipped(real, base[0]);
  }

  return (directory) => {
    const { path, listing: before } = directory;
    try {
      const real = directory.real ?? realPathOf(path);
      // lstat: a link may have taken the directory's place since.
      const stats = lstatOf(real);
      if (!stats.isDirectory()) return undefined;
      if (directory.real === undefined && !isFollowed(path, real)) return undefined;
      if (path === top) base = [real, parentOf(path)];
      if (before?.version && sameVersion(before.version, stats) && before.real === real) return before;
      return listDirectory(root, directory, real, stats);
    } catch (error) {
      // Node replaces bytes that are not UTF-8 in a name, and nothing has the resulting name.
      const isUnreadable = path.includes('\ufffd');
      if (isMissing(error) && isUnreadable)
        problems.push({ where: path, what: 'has a name that is not UTF-8; rename it' });
      if (isMissing(error)) return undefined;
      problems.push({ where: path, what: `cannot be read: ${messageOf(error)}` });
      return isTransient(error) ? before : undefined;
    }
  };
}

/** The real path of the parent, or its path when it may not be resolved, as under Node's permission model. */
function parentOf(path: string): string {
  try {
    return realPathOf(dirname(path));
  } catch {
    return dirname(path); // A path without access cannot be walked into either.
  }
}

const join = (directory: string, name: string) => (directory.endsWith(sep) ? directory : directory + sep) + name;

/** The order in which a walk finds them when links are directories. */
function inOrder(skills: readonly SkillFile[]): readonly SkillFile[] {
  const keyed = skills.map((skill) => {
    const names = skill.directory.split(sep);
    return { skill, depth: names.length, key: names.join('\0') };
  });
  return keyed.sort((a, b) => a.depth - b.depth || (a.key < b.key ? -1 : 1)).map(({ skill }) => skill);
}

// Most directories have no children: thousands of them share one empty list.
const NO_CHILDREN: readonly Directory[] = [];

/** Lists a directory, and keeps what the last walk found out about its entries. */
function listDirectory(root: Root, directory: Directory, real: string, stats: Look): Listing {
  const { path, depth, listing: before } = directory;
  const identity = versionOf(stats);
  // Judged before listing: a change in between must not be missed.
  const version = isRecent(stats) ? undefined : identity;
  const known = before && new Map(before.children.map((child) => [child.path, child]));
  const children: Directory[] = [];
  let skill: SkillFile | undefined;
  let misspelt: string | undefined;
  for (const entry of readdirSync(real, { withFileTypes: true })) {
    if (entry.name === SKILL_FILE) {
      const isSame = before?.real === real && sameFile(before.identity, identity);
      skill = isSame ? before.skill : undefined;
      skill ??= new SkillFile(root, { directory: path, parent: directory.parent, real, identity });
      skill.isPlain = entry.isFile();
    } else if ((entry.isDirectory() || entry.isSymbolicLink()) && !isSkipped(entry.name)) {
      const inside = join(path, entry.name);
      // One string for both where they are equal, which they nearly always are.
      const plain = real === path ? inside : join(real, entry.name);
      const target = entry.isDirectory() ? plain : undefined;
      const last = known?.get(inside);
      const parent = target === undefined ? undefined : directory;
      const isKept = last && last.real === target;
      children.push(isKept ? last : { path: inside, real: target, depth: depth + 1, parent, listing: undefined });
    } else if (entry.name.length === SKILL_FILE.length && /^skill\.md$/i.test(entry.name)) misspelt = entry.name;
  }
  children.sort((a, b) => (a.path < b.path ? -1 : 1));
  const inside = children.length > 0 ? children : NO_CHILDREN;
  return { directory: path, identity, version, real, children: inside, skill, misspelt };
}
