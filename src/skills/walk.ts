/**
 * The directories below one root, and which of them hold a SKILL.md.
 * Owns: the walk and its bounds, which links are followed. Leaves alone: what is in the files (scan.ts).
 * Always true:
 * - a real directory is visited once, so links that lead in circles end; equal trees are walked in equal order;
 * - a directory whose identity is unchanged is not listed again;
 * - every step is short: whoever drives the walk decides when to rest.
 */
import { type Dirent, readdirSync } from 'node:fs';
import { sep } from 'node:path';
import { messageOf } from '../log.ts';
import type { Problem, Skill } from '../model.ts';
import { isFresh, isInside, isMissing, isPassing, look, placeOf, SKIPPED, versionOf } from './files.ts';
import { MAX_DEPTH, type Root } from './roots.ts';

export const MAX_DIRECTORIES = 50_000;

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
  readonly children: ReadonlyMap<string, Directory>;
  readonly skill: SkillFile | undefined;
}

export interface Walk {
  readonly directories: readonly string[];
  readonly skills: readonly SkillFile[];
  readonly problems: readonly Problem[];
}

/** The root of a walk, nothing known of it yet. It may be a link itself. */
export function startOf(root: Root): Directory {
  return { path: root.directory, link: true, depth: 0, listing: undefined };
}

/** Walks from `start`, which remembers what is found for the next time. */
export function* walkRoot(root: Root, start: Directory): Generator<void, Walk> {
  const directories: string[] = [];
  const skills: SkillFile[] = [];
  const problems: Problem[] = [];
  const places = new Set<string>();
  let tooDeep: string | undefined;
  // The last one is the next to visit.
  const ahead = [start];

  for (let next = ahead.pop(); next; next = ahead.pop()) {
    yield;
    if (directories.length === MAX_DIRECTORIES) {
      problems.push({ where: root.directory, what: `has over ${MAX_DIRECTORIES} directories; the rest is left out` });
      break;
    }
    next.listing = visit(next, root, problems);
    if (!next.listing || places.has(next.listing.place)) continue;
    const { place, skill, children } = next.listing;
    places.add(place);
    directories.push(next.path);
    if (skill) skills.push(skill);
    if (children.size === 0) continue;
    if (next.depth < root.depth) for (const child of [...children.values()].reverse()) ahead.push(child);
    else if (next.depth === MAX_DEPTH) tooDeep ??= next.path;
  }
  if (tooDeep !== undefined) {
    problems.push({
      where: tooDeep,
      what: `is ${MAX_DEPTH} levels down; what lies deeper is left out, here and elsewhere`,
    });
  }
  return { directories, skills, problems };
}

/** A version that equals no real one: whatever has it is looked at again. */
export const DOUBTFUL = 'doubtful';

// --- internal ---

function visit(directory: Directory, { within }: Root, problems: Problem[]): Listing | undefined {
  const { path, link, listing: before } = directory;
  try {
    const stats = look(path);
    if (!stats.isDirectory()) return undefined;
    if (link && within !== undefined && !isInside(path, within)) {
      problems.push({ where: path, what: `is a link that leaves ${within}; --follow-symlinks would follow it` });
      return undefined;
    }
    const version = versionOf(stats);
    if (before?.version === version) return before;
    return list(directory, placeOf(stats), isFresh(stats) ? DOUBTFUL : version);
  } catch (error) {
    if (isMissing(error)) return undefined;
    problems.push({ where: path, what: `cannot be read: ${messageOf(error)}` });
    return isPassing(error) ? before : undefined;
  }
}

const SKILL_FILE = 'SKILL.md';

// Most directories have none, and thousands of empty maps are worth sharing one.
const NO_CHILDREN = new Map<string, Directory>();

/** What is in it now; for what was in it before, with what is known of that. */
function list({ path, depth, listing: before }: Directory, place: string, version: string): Listing {
  const entries = readdirSync(path, { withFileTypes: true });
  const isChild = (entry: Dirent) =>
    (entry.isDirectory() || entry.isSymbolicLink()) && !SKIPPED.has(entry.name) && entry.name !== SKILL_FILE;
  const inside = entries.filter(isChild);
  const children = inside.length === 0 ? NO_CHILDREN : new Map<string, Directory>();
  for (const entry of inside.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const link = entry.isSymbolicLink();
    const known = before?.children.get(entry.name);
    const fresh = { path: path + sep + entry.name, link, depth: depth + 1, listing: undefined };
    children.set(entry.name, known?.link === link ? known : fresh);
  }
  const file = entries.find((entry) => entry.name === SKILL_FILE);
  const entry = before?.place === place ? before.skill?.entry : undefined;
  const skill = file && { path: path + sep + SKILL_FILE, directory: path, place, kind: kindOf(file), entry };
  return { version, place, children, skill };
}

function kindOf(entry: Dirent): SkillFile['kind'] {
  if (entry.isFile()) return 'file';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
