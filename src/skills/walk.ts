/**
 * The directories below one root, and which of them contain a SKILL.md.
 * Owns: the walk, its limits, and which symbolic links it follows. Leaves alone: the files' contents (scan.ts).
 * Always true:
 * - a real directory is visited once, so circles of links end; equal trees are walked in equal order;
 * - links are followed last, so a directory below the root is found under its own path, not under that of a link;
 * - a link to the root or to a directory above it is not followed: the walk would leave the root;
 * - an unchanged directory is not listed again;
 * - every step is short; the caller decides when to take a break.
 */
import { type BigIntStats, type Dirent, readdirSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import {
  identityOf,
  isBelow,
  isMissing,
  isRecent,
  isSkipped,
  isTransient,
  lastingIdentityOf,
  lstatOf,
  passesSkipped,
  realPathOf,
  versionOf,
} from '../files/stats.ts';
import { messageOf } from '../log.ts';
import type { Problem, Skill, Watched } from '../model.ts';
import { MAX_DEPTH, MAX_DIRECTORIES } from './limits.ts';
import type { Root } from './roots.ts';

export const SKILL_FILE = 'SKILL.md';

/** What a scan made of a SKILL.md: a skill, a Problem, or both. */
export interface Entry {
  readonly state: EntryState;
  readonly skill: Skill | undefined;
  readonly problem: Problem | undefined;
}

/** When a scan reads the file again. */
export type EntryState =
  /** When its stamp (see `stampOf` in scan.ts) differs from this one. */
  | { readonly kind: 'settled'; readonly stamp: string }
  /** At the next scan: its version may hide a change, or the system had a transient error. */
  | { readonly kind: 'doubtful' }
  /** Soon: it was changing. */
  | { readonly kind: 'moving' };

/** An entry of a directory with the name SKILL.md. */
export interface SkillFile {
  readonly path: string;
  readonly directory: string;
  /** The real path of the directory. */
  readonly real: string;
  /** See `Skill.place`. */
  readonly place: string;
  readonly kind: 'file' | 'link' | 'other';
  /** Undefined until it has been read. */
  entry: Entry | undefined;
}

/** A directory as the last walk found it, which makes the next walk cheap. */
export interface Directory {
  readonly path: string;
  readonly link: boolean;
  /** Levels below the root. */
  readonly depth: number;
  /** Undefined until it has been visited. */
  listing: Listing | undefined;
}

interface Listing {
  /** Undefined: the directory is listed again at the next walk. */
  readonly version: string | undefined;
  readonly place: string;
  readonly identity: string;
  readonly real: string;
  readonly children: ReadonlyMap<string, Directory>;
  readonly skill: SkillFile | undefined;
}

export interface Walk {
  readonly directories: readonly Watched[];
  readonly skills: readonly SkillFile[];
  readonly problems: readonly Problem[];
}

/** The root of a first walk. It may be a link itself. */
export function startOf(root: Root): Directory {
  return { path: root.directory, link: true, depth: 0, listing: undefined };
}

/** Walks from `start`, and keeps in it what the next walk needs. */
export function* walkRoot(root: Root, start: Directory): Generator<void, Walk> {
  const directories: Watched[] = [];
  const skills: SkillFile[] = [];
  const problems: Problem[] = [];
  const places = new Set<string>();
  const visit = createVisitor(root, problems);
  let tooDeep: string | undefined;
  // A stack; links wait in a queue until the stack is empty.
  const stack: Pending[] = [{ directory: start, real: undefined }];
  const links: Pending[] = [];
  let followed = 0;

  for (let next = stack.pop(); next; next = stack.pop() ?? links[followed++]) {
    yield;
    if (directories.length === MAX_DIRECTORIES) {
      problems.push({ where: root.directory, what: `has over ${MAX_DIRECTORIES} directories; the rest is left out` });
      break;
    }
    const { directory } = next;
    directory.listing = visit(next);
    if (!directory.listing || places.has(directory.listing.place)) continue;
    const { place, identity, real, skill, children } = directory.listing;
    places.add(place);
    directories.push({ directory: directory.path, identity });
    if (skill) skills.push(skill);
    if (children.size === 0) continue;
    if (directory.depth < root.depth) {
      for (const [name, child] of [...children].reverse()) {
        if (!child.link) stack.push({ directory: child, real: join(real, name) });
      }
      for (const child of children.values()) if (child.link) links.push({ directory: child, real: undefined });
    } else if (directory.depth === MAX_DEPTH) tooDeep ??= directory.path;
  }
  if (tooDeep !== undefined) {
    problems.push({ where: tooDeep, what: `is ${MAX_DEPTH} levels down; deeper directories are left out everywhere` });
  }
  return { directories, skills: links.length > 0 ? byPath(skills) : skills, problems };
}

// --- internal ---

/** A directory that is still to be visited. */
interface Pending {
  readonly directory: Directory;
  /** Undefined when the directory is, or may be, a link. */
  readonly real: string | undefined;
}

function createVisitor({ directory: top, within }: Root, problems: Problem[]) {
  // The real paths of the root and of its parent, known once the root has been visited.
  let base: readonly string[] = [];

  /** Whether a link is followed; a reason is reported, a skipped one is not. */
  function judgeLink(path: string, real: string): 'follow' | 'skip' | { readonly reason: string } {
    if (within !== undefined && !isBelow(real, realPathOf(within))) {
      return { reason: `is a link that leaves ${within}; --follow-symlinks would follow it` };
    }
    if (path === top) return 'follow';
    if (base.some((one) => isBelow(one, real))) {
      return { reason: 'is a link to its root or to a directory above it (a circle); it is not followed' };
    }
    return base[0] !== undefined && passesSkipped(real, base[0]) ? 'skip' : 'follow';
  }

  return ({ directory, real: known }: Pending): Listing | undefined => {
    const { path, listing: before } = directory;
    try {
      const real = known ?? realPathOf(path);
      // lstat: a link may have taken the directory's place since.
      const stats = lstatOf(real);
      if (!stats.isDirectory()) return undefined;
      const verdict = known === undefined ? judgeLink(path, real) : 'follow';
      if (typeof verdict === 'object') problems.push({ where: path, what: verdict.reason });
      if (verdict !== 'follow') return undefined;
      if (path === top) base = [real, parentOf(path)];
      if (before?.version === versionOf(stats) && before.real === real) return before;
      return listDirectory(directory, real, stats);
    } catch (error) {
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
function byPath(skills: readonly SkillFile[]): readonly SkillFile[] {
  const keyed = skills.map((skill) => ({ skill, key: skill.directory.replaceAll(sep, '\0') }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ skill }) => skill);
}

// Most directories have no children: thousands of them share one empty map.
const NO_CHILDREN = new Map<string, Directory>();

/** Lists a directory, and keeps what the last walk found out about its entries. */
function listDirectory({ path, depth, listing: before }: Directory, real: string, stats: BigIntStats): Listing {
  const place = identityOf(stats);
  // Judged before listing: a change in between must not be missed.
  const version = isRecent(stats) ? undefined : versionOf(stats);
  const entries = readdirSync(real, { withFileTypes: true });
  const isChild = (entry: Dirent) =>
    (entry.isDirectory() || entry.isSymbolicLink()) && !isSkipped(entry.name) && entry.name !== SKILL_FILE;
  const inside = entries.filter(isChild).sort((a, b) => (a.name < b.name ? -1 : 1));
  const children = inside.length === 0 ? NO_CHILDREN : new Map<string, Directory>();
  for (const entry of inside) {
    const link = entry.isSymbolicLink();
    const known = before?.children.get(entry.name);
    const fresh = { path: join(path, entry.name), link, depth: depth + 1, listing: undefined };
    children.set(entry.name, known?.link === link ? known : fresh);
  }
  const file = entries.find((entry) => entry.name === SKILL_FILE);
  const entry = before?.place === place && before.real === real ? before.skill?.entry : undefined;
  const skill = file && { path: join(path, SKILL_FILE), directory: path, real, place, kind: kindOf(file), entry };
  return { version, place, identity: lastingIdentityOf(stats), real, children, skill };
}

function kindOf(entry: Dirent): SkillFile['kind'] {
  if (entry.isFile()) return 'file';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
