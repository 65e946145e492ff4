/**
 * The resource URIs of skills: `skill://{provider}/{name}`, with a plugin or a location in between when needed.
 * Owns: the spelling of URIs, and which skill gets which. Leaves alone: the content behind a URI (contents.ts).
 * Always true: no two skills have one URI, and one is below another's only when its directory is; a URI ends with the
 * skill's own name, encoded where necessary; the path in a URI cannot leave the skill by its text.
 */
import { sep } from 'node:path';
import { compare } from '../compare.ts';
import { createPacer } from '../files/pace.ts';
import { lazy } from '../lazy.ts';
import type { ListedSkill, Problem, Skill, SkillUris } from '../model.ts';
import { hashOf } from '../text.ts';
import { UNLAWFUL, VALID_NAME } from './front-matter.ts';
import { LONGEST_ADDRESSED, LONGEST_URI, MOST_SEGMENTS } from './limits.ts';

/** `listed`: in order of precedence, so that the first of several skills gets the shortest URI. */
export function createUris(listed: readonly ListedSkill[]): SkillUris {
  const nesting = createNesting(listed);
  const roots = new Map<string, ListedSkill>();
  const assigned = new Map<Skill, string | undefined>();
  // On first use: most clients never ask for a resource.
  const steps = assignUris(listed, nesting, roots, assigned);
  const finish = () => {
    while (!steps.next().done);
  };
  return {
    async prepare() {
      const pace = createPacer();
      while (!steps.next().done) await pace();
    },
    get roots() {
      finish();
      return roots;
    },
    rootOf(skill) {
      finish();
      return assigned.get(skill);
    },
    problems: listed
      .filter(({ skill }) => !skill.isRegular)
      .map(({ skill }) => problemOf(skill, nesting))
      .filter((problem) => problem !== undefined),
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
  const segments = segmentsOf(uri);
  if (!segments || segments.length > MOST_SEGMENTS) return undefined;
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
  return encodeURIComponent(text.toWellFormed());
}

function segmentsOf(uri: string): readonly string[] | undefined {
  try {
    return uri
      .slice(SCHEME.length)
      .split('/', MOST_SEGMENTS + 1)
      .map(decodeURIComponent);
  } catch {
    return undefined; // Not a valid encoding.
  }
}

// At most so many skills get their URIs in one step, which takes less than a millisecond.
const STEP = 100;

type Nesting = ReturnType<typeof createNesting>;

/** A skill inside another continues its URI, so that each file has one URI; its directory must have its name for that. */
function createNesting(listed: readonly ListedSkill[]) {
  const byDirectory = lazy(() => new Map(listed.map(({ skill }) => [skill.directory, skill])));
  const misnamed = new Map<Skill, boolean>();

  /** The nearest skill around this one that has a URI. */
  function outerOf(skill: Skill): Skill | undefined {
    for (let below = skill.directory; ; ) {
      const directory = parentOf(below);
      if (directory.length < skill.root.length || directory === below) return undefined;
      const outer = byDirectory().get(directory);
      if (outer?.root === skill.root && hasUri(outer)) return outer;
      below = directory;
    }
  }

  function hasUri(skill: Skill): boolean {
    if (!isAddressable(skill)) return false;
    const { name, directory } = skill;
    if (directory.endsWith(name) && /[/\\]/.test(directory.charAt(directory.length - name.length - 1))) return true;
    const known = misnamed.get(skill) ?? outerOf(skill) === undefined;
    misnamed.set(skill, known);
    return known;
  }

  return { outerOf, hasUri };
}

/** Upstream servers choose their URIs: one with too many levels could never be asked for. */
function isAddressable({ name, directory }: Skill): boolean {
  if (name.length > LONGEST_ADDRESSED) return false;
  if (!directory.startsWith(SCHEME)) return true;
  return directory.length <= LONGEST_URI && directory.split('/', MOST_SEGMENTS + 1).length <= MOST_SEGMENTS;
}

function parentOf(directory: string): string {
  return directory.slice(0, Math.max(directory.lastIndexOf('/'), directory.lastIndexOf(sep), 0));
}

function problemOf(skill: Skill, { hasUri }: Nesting): Problem | undefined {
  const isLawful = VALID_NAME.test(skill.name);
  if (isLawful && hasUri(skill)) return undefined;
  const inner = isAddressable(skill)
    ? 'it lies inside another skill and its directory has another name'
    : `its directory has over ${MOST_SEGMENTS} levels`;
  const what = `is not in skills/list, because ${isLawful ? inner : UNLAWFUL}; it loads by the skill tool`;
  return { where: skill.file, what, mild: true };
}

/** In small steps. It fills `roots` and `assigned`, which are complete when it is done. */
function* assignUris(
  listed: readonly ListedSkill[],
  { outerOf, hasUri }: Nesting,
  roots: Map<string, ListedSkill>,
  assigned: Map<Skill, string | undefined>,
): Generator<void, void> {
  const taken = new Map<string, Skill>();
  const above = new Set<string>();

  /** Undefined when the URI is taken, or above or below a taken one. */
  function take(root: string, skill: Skill): string | undefined {
    const parents = parentsOf(root);
    if (taken.has(root) || above.has(root) || parents.some((parent) => taken.has(parent))) return undefined;
    taken.set(root, skill);
    for (const parent of parents) above.add(parent);
    return root;
  }

  /** The shortest that is free. Undefined only when the hashes of two directories are equal. */
  function choose(skill: Skill): string | undefined {
    const { name, provider, plugin, directory } = skill;
    const at = (...between: readonly string[]) => SCHEME + [provider, ...between, name].map(ownSegment).join('/');
    const short = plugin ? at(plugin.name) : at();
    // The directory of an upstream skill is a URI already.
    const root = (directory.startsWith(SCHEME) ? take(directory, skill) : undefined) ?? take(short, skill);
    if (root !== undefined) return root;
    const holder = taken.get(short);
    const place = placeOf(skill);
    // Only for the first skill of its place: a later one would inherit the URI when the first is deleted.
    const isFirst = !holder || placeOf(holder) !== place;
    return (isFirst ? take(at(place), skill) : undefined) ?? take(at(`${place}@${hashOf(directory)}`), skill);
  }

  function assign(skill: Skill): string | undefined {
    if (assigned.has(skill)) return assigned.get(skill);
    const outer = outerOf(skill);
    const start = outer && assign(outer);
    const path = skill.directory.slice((outer?.directory.length ?? 0) + 1).replaceAll('\\', '/');
    const root = start === undefined ? choose(skill) : uriOf(start, path);
    assigned.set(skill, root);
    return root;
  }

  const found: [string, ListedSkill][] = [];
  for (const one of listed) {
    const root = hasUri(one.skill) ? assign(one.skill) : undefined;
    if (root !== undefined) found.push([root, one]);
    if (found.length % STEP === 0) yield;
  }
  found.sort((one, other) => compare(one[0], other[0]));
  yield;
  for (const [root, one] of found) roots.set(root, one);
}

const placeOf = ({ plugin, location }: Skill) => (plugin ? `${plugin.name}@${plugin.marketplace}` : location);

/** A segment that is not read as this or the parent directory. */
function ownSegment(text: string): string {
  return /^\.{0,2}$/.test(text) ? '_' : encodeSegment(text);
}

/** Every URI above this one. */
function parentsOf(root: string): readonly string[] {
  const parents: string[] = [];
  for (let at = root.lastIndexOf('/'); at >= SCHEME.length; at = root.lastIndexOf('/', at - 1))
    parents.push(root.slice(0, at));
  return parents;
}
