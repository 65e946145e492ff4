/**
 * The resource URIs of skills: `skill://{provider}/{name}`, with a plugin or a location in between when needed.
 * Owns: the spelling of URIs, and which skill gets which. Leaves alone: the content behind a URI (contents.ts).
 * Always true:
 * - no two skills have one URI, and a skill's URI is below another's only when its directory is;
 * - a URI ends with the skill's own name, encoded where necessary; the path in a URI cannot leave the skill by its text.
 */
import { sep } from 'node:path';
import { compare } from '../compare.ts';
import type { ListedSkill, Problem, Skill, SkillUris } from '../model.ts';
import { UNLAWFUL, VALID_NAME } from './front-matter.ts';
import { LONGEST_ADDRESSED, LONGEST_URI, MOST_SEGMENTS } from './limits.ts';
import { directoryHash } from './names.ts';

export interface UriAssignment {
  readonly uris: SkillUris;
  readonly problems: readonly Problem[];
}

/** `listed`: in order of precedence, so that the first of several skills gets the shortest URI. A step is one skill. */
export function* assignUris(listed: readonly ListedSkill[]): Generator<void, UriAssignment> {
  const problems: Problem[] = [];
  const take = createAllocator();
  const byDirectory = new Map(listed.map(({ skill }) => [skill.directory, skill]));
  const assigned = new Map<Skill, string | undefined>();
  const counts = new Map<string, number>();

  function assign(skill: Skill): string | undefined {
    if (assigned.has(skill)) return assigned.get(skill);
    assigned.set(skill, undefined);
    const root = isAddressable(skill) ? choose(skill) : undefined;
    assigned.set(skill, root);
    if (root === undefined || !VALID_NAME.test(skill.name)) {
      problems.push({ where: skill.file, what: whyNot(skill), mild: true });
    }
    return root;
  }

  function choose(skill: Skill): string | undefined {
    const outer = enclosing(skill, byDirectory, assign);
    return outer ? innerUri(skill, outer) : take(candidates(skill, counts));
  }

  const roots: (readonly [string, ListedSkill])[] = [];
  for (const one of listed) {
    yield;
    const root = assign(one.skill);
    if (root !== undefined) roots.push([root, one]);
  }
  return {
    uris: {
      roots: new Map(roots.sort((one, other) => compare(one[0], other[0]))),
      rootOf: (skill) => assigned.get(skill),
    },
    problems,
  };
}

/** `skill://claude/pdf` and `references/a b.md` to `skill://claude/pdf/references/a%20b.md`. */
export function uriOf(root: string, path: string): string {
  return path === '' ? root : `${root}/${path.split('/').map(encodeSegment).join('/')}`;
}

export interface SkillPath {
  readonly root: string;
  readonly listed: ListedSkill;
  /** Relative to the skill; '' is its directory. */
  readonly path: string;
}

/** The skill of a URI, and the path in it; undefined when no skill has it, or the path is not a plain path. */
export function skillPathAt({ roots }: SkillUris, uri: string): SkillPath | undefined {
  if (!uri.startsWith(SCHEME) || uri.length > LONGEST_URI) return undefined;
  const parts = uri.slice(SCHEME.length).split('/', MOST_SEGMENTS + 1);
  if (parts.length > MOST_SEGMENTS) return undefined;
  const segments: string[] = [];
  for (const part of parts) {
    const segment = decodeSegment(part);
    if (segment === undefined) return undefined;
    segments.push(segment);
  }
  const whole = SCHEME + segments.map(encodeSegment).join('/');
  // From the longest prefix: a file belongs to the innermost skill.
  for (let [end, length] = [whole.length, segments.length]; length > 0; length--) {
    const root = whole.slice(0, end);
    const listed = roots.get(root);
    if (listed) {
      // A skill's name may contain any character, even a slash; the path after it is looked up on disk.
      const path = segments.slice(length);
      return path.every(isPlainSegment) ? { root, listed, path: path.join('/') } : undefined;
    }
    end = whole.lastIndexOf('/', end - 1);
  }
  return undefined;
}

/** Every URI above this one, nearest first. */
export function parentsOf(root: string): string[] {
  const parents: string[] = [];
  for (let at = root.lastIndexOf('/'); at >= SCHEME.length; at = root.lastIndexOf('/', at - 1))
    parents.push(root.slice(0, at));
  return parents;
}

/** Whether the text can only be one name in a path. */
export function isPlainSegment(segment: string): boolean {
  return segment !== '' && segment !== '.' && segment !== '..' && !UNSAFE.test(segment);
}

// --- internal ---

const SCHEME = 'skill://';
// On Windows a backslash separates directories and a colon follows a drive; elsewhere both are plain characters.
const UNSAFE = sep === '\\' ? /[/\\:\0]/ : /[/\0]/;

// Needs no encoding, as nearly all names.
const UNRESERVED = /^[\w.~-]*$/;

function encodeSegment(text: string): string {
  if (UNRESERVED.test(text)) return text;
  // Half of a surrogate pair has no encoding, and no file that can be opened has one in its name.
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\ufffd'));
}

function decodeSegment(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // Not a valid encoding.
  }
}

/** Upstream servers choose their URIs: one with too many levels could never be asked for. */
function isAddressable({ name, directory }: Skill): boolean {
  if (name.length > LONGEST_ADDRESSED) return false;
  return !directory.startsWith(SCHEME) || (directory.length <= LONGEST_URI && isShallow(directory));
}

const isShallow = (uri: string) => uri.split('/', MOST_SEGMENTS + 1).length <= MOST_SEGMENTS;

interface Outer {
  readonly root: string;
  readonly directory: string;
}

/** The nearest skill around this one that has a URI. */
function enclosing(
  skill: Skill,
  byDirectory: ReadonlyMap<string, Skill>,
  assign: (skill: Skill) => string | undefined,
): Outer | undefined {
  for (let below = skill.directory; ; ) {
    const directory = parentOf(below);
    if (directory.length < skill.root.length || directory === below) return undefined;
    const outer = byDirectory.get(directory);
    const root = outer && outer.root === skill.root ? assign(outer) : undefined;
    if (root !== undefined) return { root, directory };
    below = directory;
  }
}

/** The URI of an inner skill continues the outer one's as its directory does, so that each file has one URI. */
function innerUri({ name, directory }: Skill, outer: Outer): string | undefined {
  const path = directory.slice(outer.directory.length + 1).split(/[/\\]/);
  return path.at(-1) === name ? uriOf(outer.root, path.join('/')) : undefined;
}

/** `counts`: which prefixes and names were met before, and the last number given for each. */
function* candidates(skill: Skill, counts: Map<string, number>): Generator<string> {
  const { name, provider, location, plugin, directory } = skill;
  // The directory of an upstream skill is a URI already.
  if (directory.startsWith(SCHEME)) yield directory;
  const start = SCHEME + ownSegment(provider);
  const last = ownSegment(name);
  const at = (prefix: string) => `${start}/${ownSegment(prefix)}/${last}`;
  const longest = plugin ? `${plugin.name}@${plugin.marketplace}` : location;
  const full = at(longest);
  // Only for the first skill of its place: a later one would inherit the URI when the first is deleted.
  if (!counts.has(full)) {
    counts.set(full, 1);
    yield plugin ? at(plugin.name) : `${start}/${last}`;
    yield full;
  }
  const own = `${longest}@${directoryHash(skill)}`;
  yield at(own);
  // Only for two directories of one hash.
  for (let nth = (counts.get(at(own)) ?? 1) + 1; ; nth++) {
    counts.set(at(own), nth);
    yield at(`${own}@${nth}`);
  }
}

/** A segment that is not read as this or the parent directory. */
function ownSegment(text: string): string {
  return /^\.{0,2}$/.test(text) ? '_' : encodeSegment(text);
}

/** Takes the first URI that is free: neither taken, nor above or below a taken one. */
function createAllocator() {
  const taken = new Set<string>();
  const above = new Set<string>();

  return (wanted: Iterable<string>): string | undefined => {
    for (const root of wanted) {
      const parents = parentsOf(root);
      if (taken.has(root) || above.has(root) || parents.some((parent) => taken.has(parent))) continue;
      taken.add(root);
      for (const parent of parents) above.add(parent);
      return root;
    }
    return undefined;
  };
}

function parentOf(directory: string): string {
  return directory.slice(0, Math.max(directory.lastIndexOf('/'), directory.lastIndexOf(sep), 0));
}

function whyNot(skill: Skill): string {
  const inner = isAddressable(skill)
    ? 'it lies inside another skill and its directory has another name'
    : `its directory has over ${MOST_SEGMENTS} levels`;
  const fault = VALID_NAME.test(skill.name) ? inner : UNLAWFUL;
  return `is not in skills/list, because ${fault}; it loads by the skill tool`;
}
