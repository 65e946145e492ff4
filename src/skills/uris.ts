/**
 * Where skills are found as resources: `skill://{provider}/{name}`, with a plugin or a location between when needed.
 * Owns: the spelling of URIs, and which skill gets which. Leaves alone: what is behind a URI (library.ts).
 * Always true:
 * - no two skills have one URI, and no skill's URI lies below another's unless its directory does too;
 * - a URI ends with the skill's own name, encoded where it must be; a path taken from a URI never leaves the skill by its text.
 */
import { sep } from 'node:path';
import { compare } from '../compare.ts';
import type { ListedSkill, Problem, Skill, SkillUris } from '../model.ts';
import { UNLAWFUL, VALID_NAME } from './front-matter.ts';
import { LONGEST_ADDRESSED, LONGEST_URI, MOST_SEGMENTS } from './limits.ts';

export interface UriAssignment {
  readonly uris: SkillUris;
  readonly problems: readonly Problem[];
}

/** All of them at once, for those who have time. */
export function createUris(listed: readonly ListedSkill[]): UriAssignment {
  const steps = uriSteps(listed);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** `listed`: in order of precedence, so that the first of several skills gets the plainest URI. A step is one skill. */
export function* uriSteps(listed: readonly ListedSkill[]): Generator<void, UriAssignment> {
  const problems: Problem[] = [];
  const space = createSpace();
  const byDirectory = new Map(listed.map(({ skill }) => [skill.directory, skill]));
  const found = new Map<Skill, string | undefined>();
  const counts = new Map<string, number>();

  function find(skill: Skill): string | undefined {
    if (found.has(skill)) return found.get(skill);
    found.set(skill, undefined);
    const outer = isAddressable(skill) ? enclosing(skill, byDirectory, find) : undefined;
    const own = () => (isAddressable(skill) ? space.take(candidates(skill, counts)) : undefined);
    const root = outer ? inner(skill, outer) : own();
    found.set(skill, root);
    if (root === undefined || !VALID_NAME.test(skill.name)) {
      problems.push({ where: skill.file, what: whyNot(skill), mild: true });
    }
    return root;
  }

  const roots: (readonly [string, ListedSkill])[] = [];
  for (const one of listed) {
    yield;
    const root = find(one.skill);
    if (root !== undefined) roots.push([root, one]);
  }
  return {
    uris: {
      roots: new Map(roots.sort((one, other) => compare(one[0], other[0]))),
      rootOf: (skill) => found.get(skill),
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

/** The skill a URI leads into, and the path in it; undefined when there is none, or the path is no plain path. */
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
  // The innermost skill answers for its own files.
  for (let [end, length] = [whole.length, segments.length]; length > 0; length--) {
    const root = whole.slice(0, end);
    const listed = roots.get(root);
    if (listed) {
      // A skill's name may hold anything, a slash even; what comes behind it is looked for on disk.
      const path = segments.slice(length);
      return path.every(isPlainSegment) ? { root, listed, path: path.join('/') } : undefined;
    }
    end = whole.lastIndexOf('/', end - 1);
  }
  return undefined;
}

/** Everything above a URI, nearest first. */
export function parentsOf(root: string): string[] {
  const parents: string[] = [];
  for (let at = root.lastIndexOf('/'); at >= SCHEME.length; at = root.lastIndexOf('/', at - 1))
    parents.push(root.slice(0, at));
  return parents;
}

/** Whether the text can be one name in a path and nothing else. */
export function isPlainSegment(segment: string): boolean {
  return segment !== '' && segment !== '.' && segment !== '..' && !UNSAFE.test(segment);
}

// --- internal ---

const SCHEME = 'skill://';
// On Windows a backslash parts directories and a colon parts drives and streams; elsewhere both are only characters.
const UNSAFE = sep === '\\' ? /[/\\:\0]/ : /[/\0]/;

// Stands for itself, as nearly everything does.
const UNRESERVED = /^[\w.~-]*$/;

function encodeSegment(text: string): string {
  if (UNRESERVED.test(text)) return text;
  // Half a surrogate pair has no encoding. No file that can be opened here has one in its name.
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\ufffd'));
}

function decodeSegment(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // Not an encoding of anything.
  }
}

/** Servers name their directories as they like: one with too many levels could not be asked for anyway. */
function isAddressable({ name, directory }: Skill): boolean {
  if (name.length > LONGEST_ADDRESSED) return false;
  return !directory.startsWith(SCHEME) || (directory.length <= LONGEST_URI && isShallow(directory));
}

const isShallow = (uri: string) => uri.split('/', MOST_SEGMENTS + 1).length <= MOST_SEGMENTS;

/** The nearest skill around this one that has a URI. */
function enclosing(
  skill: Skill,
  byDirectory: ReadonlyMap<string, Skill>,
  find: (skill: Skill) => string | undefined,
): { readonly root: string; readonly directory: string } | undefined {
  for (let below = skill.directory; ; ) {
    const directory = parentOf(below);
    if (directory.length < skill.root.length || directory === below) return undefined;
    const outer = byDirectory.get(directory);
    const root = outer && outer.root === skill.root ? find(outer) : undefined;
    if (root !== undefined) return { root, directory };
    below = directory;
  }
}

/** An inner skill's URI continues the outer one's as its directory does, so that each file has one URI. */
function inner({ name, directory }: Skill, outer: { readonly root: string; readonly directory: string }) {
  const path = directory.slice(outer.directory.length + 1).split(/[/\\]/);
  return path.at(-1) === name ? uriOf(outer.root, path.join('/')) : undefined;
}

/** `counts`: how far the numbers of one prefix and name have come; many skills may share both. */
function* candidates(skill: Skill, counts: Map<string, number>): Generator<string> {
  const { name, provider, location, plugin, directory } = skill;
  // A skill of a server lies at a URI already.
  if (directory.startsWith(SCHEME)) yield directory;
  const start = SCHEME + ownSegment(provider);
  const last = ownSegment(name);
  const at = (prefix: string) => `${start}/${ownSegment(prefix)}/${last}`;
  yield plugin ? at(plugin.name) : `${start}/${last}`;
  const longest = plugin ? `${plugin.name}@${plugin.marketplace}` : location;
  const full = at(longest);
  yield full;
  // Only so many skills can stand above some of these.
  for (let nth = (counts.get(full) ?? 1) + 1; ; nth++) {
    counts.set(full, nth);
    yield at(`${longest}@${nth}`);
  }
}

/** Must not be read as "here" or "up". */
function ownSegment(text: string): string {
  return /^\.{0,2}$/.test(text) ? '_' : encodeSegment(text);
}

/** URIs already given out, and everything above them. */
function createSpace() {
  const taken = new Set<string>();
  const above = new Set<string>();

  return {
    take(wanted: Iterable<string>): string | undefined {
      for (const root of wanted) {
        const parents = parentsOf(root);
        if (taken.has(root) || above.has(root) || parents.some((parent) => taken.has(parent))) continue;
        taken.add(root);
        for (const parent of parents) above.add(parent);
        return root;
      }
      return undefined;
    },
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
