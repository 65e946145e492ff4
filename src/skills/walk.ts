/**
 * The directories below one root, and which of them hold a SKILL.md.
 * Owns: the walk and its bounds, which links are followed. Leaves alone: what is in the files (scan.ts).
 * Always true:
 * - a real directory is visited once, so links that lead in circles end; equal trees are walked in equal order;
 * - links come last, so a directory that lies below the root itself goes by its own path and not by that of a link;
 * - a link to the root or to a directory around it is not followed: the walk would see everything but its root's skills;
 * - a directory whose identity is unchanged is not listed again;
 * - every step is short: whoever drives the walk decides when to rest.
 */
import { type BigIntStats, type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import {
  fileIdentity,
  identityOf,
  isBelow,
  isFresh,
  isMissing,
  isSkipped,
  isTransient,
  passesSkipped,
  versionOf,
} from '../files/read.ts';
import { messageOf } from '../log.ts';
import type { Problem, Skill, Watched } from '../model.ts';
import { MAX_DEPTH, type Root } from './roots.ts';

export const MAX_DIRECTORIES = 50_000;

export const SKILL_FILE = 'SKILL.md';

/** What is known of the text in a SKILL.md: the skill, or why it is none, or both when there is a remark on it. */
export interface Entry {
  readonly version: string;
  readonly skill: Skill | undefined;
  readonly problem: Problem | undefined;
}

/** Something called SKILL.md. */
export interface SkillFile {
  readonly path: string;
  readonly directory: string;
  /** The directory without any link. */
  readonly real: string;
  /** See `Skill.place`. */
  readonly place: string;
  /** What the directory says it is. */
  readonly kind: 'file' | 'link' | 'other';
  /** Undefined until it has been read. */
  entry: Entry | undefined;
}

/** A directory as the last walk found it: the memory that makes the next walk cheap. */
export interface Directory {
  readonly path: string;
  readonly link: boolean;
  /** Levels below the root. */
  readonly depth: number;
  /** Undefined until it has been visited. */
  listing: Listing | undefined;
}

interface Listing {
  readonly version: string;
  readonly place: string;
  readonly identity: string;
  /** Its path without any link. */
  readonly real: string;
  readonly children: ReadonlyMap<string, Directory>;
  readonly skill: SkillFile | undefined;
}

export interface Walk {
  readonly directories: readonly Watched[];
  readonly skills: readonly SkillFile[];
  readonly problems: readonly Problem[];
}

/** The root of a walk, nothing known of it yet. It may be a link itself. */
export function startOf(root: Root): Directory {
  return { path: root.directory, link: true, depth: 0, listing: undefined };
}

/** Walks from `start`, which remembers what is found for the next time. */
export function* walkRoot(root: Root, start: Directory): Generator<void, Walk> {
  const directories: Watched[] = [];
  const skills: SkillFile[] = [];
  const problems: Problem[] = [];
  const places = new Set<string>();
  const visit = createVisitor(root, problems);
  let tooDeep: string | undefined;
  // The last one is the next to visit; the links wait until there is none, and then go in their order.
  const ahead: Ahead[] = [{ directory: start, real: undefined }];
  const links: Ahead[] = [];
  let followed = 0;

  for (let next = ahead.pop(); next; next = ahead.pop() ?? links[followed++]) {
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
        if (!child.link) ahead.push({ directory: child, real: join(real, name) });
      }
      for (const child of children.values()) if (child.link) links.push({ directory: child, real: undefined });
    } else if (directory.depth === MAX_DEPTH) tooDeep ??= directory.path;
  }
  if (tooDeep !== undefined) {
    problems.push({
      where: tooDeep,
      what: `is ${MAX_DEPTH} levels down; what lies deeper is left out, here and elsewhere`,
    });
  }
  return { directories, skills: links.length > 0 ? inOrder(skills) : skills, problems };
}

/** A version that equals no real one: whatever has it is looked at again. */
export const DOUBTFUL = 'doubtful';

// --- internal ---

/** A directory that is still to be visited. */
interface Ahead {
  readonly directory: Directory;
  /** Its path without any link; undefined for one that is, or may be, a link. */
  readonly real: string | undefined;
}

/** Visits one directory after the other; what is wrong with one goes to `problems`. */
function createVisitor({ directory: top, within }: Root, problems: Problem[]) {
  // The real paths of the root and of the directory it was named in, as soon as the root has been visited.
  let base: readonly string[] = [];

  /** Why a link is not followed; empty when there is nothing to say about it. */
  function objection(path: string, real: string): string | undefined {
    if (within !== undefined && !isBelow(real, realpathSync.native(within))) {
      return `is a link that leaves ${within}; --follow-symlinks would follow it`;
    }
    if (path === top) return undefined;
    if (base.some((one) => isBelow(one, real))) return 'is a link in a circle: its root lies there; it is not followed';
    return base[0] !== undefined && passesSkipped(real, base[0]) ? '' : undefined;
  }

  return ({ directory, real: known }: Ahead): Listing | undefined => {
    const { path, listing: before } = directory;
    try {
      const real = known ?? realpathSync.native(path);
      // Not through a link that has taken the directory's place meanwhile.
      const stats = lstatSync(real, { bigint: true });
      if (!stats.isDirectory()) return undefined;
      const against = known === undefined ? objection(path, real) : undefined;
      if (against) problems.push({ where: path, what: against });
      if (against !== undefined) return undefined;
      if (path === top) base = [real, realpathSync.native(dirname(path))];
      const version = versionOf(stats);
      if (before?.version === version && before.real === real) return before;
      return list(directory, real, stats, isFresh(stats) ? DOUBTFUL : version);
    } catch (error) {
      if (isMissing(error)) return undefined;
      problems.push({ where: path, what: `cannot be read: ${messageOf(error)}` });
      return isTransient(error) ? before : undefined;
    }
  };
}

const join = (directory: string, name: string) => (directory.endsWith(sep) ? directory : directory + sep) + name;

/** As a walk without links would have met them. */
function inOrder(skills: readonly SkillFile[]): readonly SkillFile[] {
  const keyed = skills.map((skill) => ({ skill, key: skill.directory.replaceAll(sep, '\0') }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ skill }) => skill);
}

// Most directories have none, and thousands of empty maps are worth sharing one.
const NO_CHILDREN = new Map<string, Directory>();

/** What is in it now; for what was in it before, with what is known of that. */
function list({ path, depth, listing: before }: Directory, real: string, stats: BigIntStats, version: string): Listing {
  const place = fileIdentity(stats);
  const entries = readdirSync(real, { withFileTypes: true });
  const isChild = (entry: Dirent) =>
    (entry.isDirectory() || entry.isSymbolicLink()) && !isSkipped(entry.name) && entry.name !== SKILL_FILE;
  const inside = entries.filter(isChild);
  const children = inside.length === 0 ? NO_CHILDREN : new Map<string, Directory>();
  for (const entry of inside.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const link = entry.isSymbolicLink();
    const known = before?.children.get(entry.name);
    const fresh = { path: join(path, entry.name), link, depth: depth + 1, listing: undefined };
    children.set(entry.name, known?.link === link ? known : fresh);
  }
  const file = entries.find((entry) => entry.name === SKILL_FILE);
  const entry = before?.place === place && before.real === real ? before.skill?.entry : undefined;
  const skill = file && { path: join(path, SKILL_FILE), directory: path, real, place, kind: kindOf(file), entry };
  return { version, place, identity: identityOf(stats), real, children, skill };
}

function kindOf(entry: Dirent): SkillFile['kind'] {
  if (entry.isFile()) return 'file';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
