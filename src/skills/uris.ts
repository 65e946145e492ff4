/**
 * The resource URIs of skills: `skill://{provider}/{name}`, with a plugin, `global` or a number in between when needed.
 * Owns: the spelling of URIs, and which skill gets which. Leaves alone: the content behind a URI (contents.ts).
 * Always true: no two skills have one URI, and one is below another's only when its path is, perhaps through a link; the
 * path in a URI cannot leave the skill by its text; the time is linear in the number of skills.
 */
import { sep } from 'node:path';
import { createPacer } from '../files/pace.ts';
import { MAX_SEGMENTS } from '../limits.ts';
import type { ListedSkill, Skill, Snapshot } from '../model.ts';
import { compare } from '../text.ts';

/** `listed`: in order of precedence, so that the first of several skills gets the shortest URI. Gives them by URI, sorted. */
export async function assignUris(listed: readonly ListedSkill[]): Promise<ReadonlyMap<string, ListedSkill>> {
  const pace = createPacer();
  const byDirectory = new Map(listed.map((one) => [one.skill.directory, one]));
  const choose = createChooser();
  const roots = new Map<ListedSkill, string>();
  const assign = (one: ListedSkill): string => {
    const found = outerOf(one.skill, byDirectory);
    const root = roots.get(one) ?? (found ? assign(found.outer) + found.path : choose(one));
    roots.set(one, root);
    return root;
  };
  for (const one of listed) {
    await pace();
    assign(one);
  }
  await pace();
  const sorted = [...roots].sort(([, a], [, b]) => compare(a, b));
  return new Map(sorted.map(([one, root]) => [root, one]));
}

/** `skill://claude/pdf` and `references/a b.md` to `skill://claude/pdf/references/a%20b.md`. */
export function uriOf(root: string, path: string): string {
  return path === '' ? root : `${root}/${path.split('/').map(encodeSegment).join('/')}`;
}

/**
 * The skill of a URI, with the `root` of its own URIs, and the `path` below that; '' is its directory. Undefined when no skill
 * has the URI, or the path is not a plain path.
 */
export function skillPathAt({ uris }: Pick<Snapshot, 'uris'>, uri: string) {
  if (!uri.startsWith(SCHEME)) return undefined;
  const parts = uri.slice(SCHEME.length).split('/', MAX_SEGMENTS + 1);
  if (parts.length > MAX_SEGMENTS) return undefined;
  const segments = parts.map(decodeSegment);
  const encoded = segments.map(encodeSegment);
  // From the longest prefix: a file belongs to the innermost skill.
  for (let length = segments.length; length > 0; length--) {
    const root = SCHEME + encoded.slice(0, length).join('/');
    const listed = uris.get(root);
    if (!listed) continue;
    // A skill's name may contain any character, even a slash; the path after it is looked up on disk.
    const path = segments.slice(length);
    return path.every(isPlainSegment) ? { root, listed, path: path.join('/') } : undefined;
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

/** Half of a surrogate pair has no encoding, and no file that can be opened has one in its name. */
const encodeSegment = (text: string) => encodeURIComponent(text.toWellFormed());

/** A segment that is not read as this or the parent directory. */
const safeSegment = (text: string) => (/^\.{0,2}$/.test(text) ? '_' : encodeSegment(text));

/** Empty, which no segment of a served URI is, when it is not a valid encoding. */
function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** The nearest skill around this one, up to its root, and the way from there. */
function outerOf({ root, directory, location }: Skill, byDirectory: ReadonlyMap<string, ListedSkill>) {
  // The directory of an upstream skill is a URI.
  const [separator, isUri] = location === 'mcp' ? ['/', true] : [sep, false];
  let end = directory.lastIndexOf(separator);
  for (let level = 0; end >= root.length && level < MAX_SEGMENTS; level++) {
    const outer = byDirectory.get(directory.slice(0, end));
    const path = directory.slice(end + 1);
    if (outer) return { outer, path: isUri ? `/${path}` : uriOf('', path.replaceAll(sep, '/')) };
    end = directory.lastIndexOf(separator, end - 1);
  }
  return undefined;
}

/** Gives the shortest URI that is free, to a skill that is not inside another one. */
function createChooser() {
  /** Every URI that is taken: by a skill, or as a level above one. */
  const used = new Map<string, 'skill' | 'above'>();
  const counters = new Map<string, number>();

  const take = (root: string): boolean => {
    const parents = parentsOf(root);
    if (used.has(root) || parents.some((parent) => used.get(parent) === 'skill')) return false;
    used.set(root, 'skill');
    for (const parent of parents) used.set(parent, 'above');
    return true;
  };

  return ({ id, skill, isShadowed }: ListedSkill): string => {
    const top = SCHEME + safeSegment(skill.provider);
    const name = safeSegment(skill.name);
    const between = skill.plugin?.name ?? (isShadowed ? 'global' : undefined);
    const stem = between === undefined ? top : `${top}/${safeSegment(between)}`;
    if (take(`${stem}/${name}`)) return `${stem}/${name}`;
    // When a skill is called like the plugin, or `global`, all URIs below its own are those of its files.
    const base = used.get(stem) === 'skill' ? top : stem;
    // Without a counter, the thousandth skill of a name would try a thousand numbers.
    let count = Math.max(Number(/#(\d{1,9})$/.exec(id)?.[1] ?? 2), counters.get(`${base}/${name}`) ?? 2);
    while (!take(`${base}/${count}/${name}`)) count++;
    counters.set(`${base}/${name}`, count + 1);
    return `${base}/${count}/${name}`;
  };
}

/** The URIs above one, but not that of its provider, which no skill has. */
function parentsOf(root: string): readonly string[] {
  const segments = root.slice(SCHEME.length).split('/');
  return segments.slice(2).map((_, nth) => SCHEME + segments.slice(0, nth + 2).join('/'));
}
