/**
 * `--include` and `--exclude`: one language for skills and for upstream tools.
 * Owns: the meaning of a pattern. Leaves alone: when items are filtered (catalog/snapshot.ts, hub/).
 * Always true: an item is kept when an include pattern matches, or there is none, and no exclude pattern matches; a
 * pattern that matches nothing is reported.
 */
import picomatch from 'picomatch';
import type { Plugin, Problem } from '../model.ts';
import { visibleLine } from '../text.ts';
import { nameKey } from './names.ts';
import type { Patterns } from './patterns.ts';

/** The fields that patterns are matched with. `group` is a provider or an upstream server. */
export interface Subject {
  readonly name: string;
  readonly group: string;
  readonly plugin?: Plugin | undefined;
}

/** `groups`: providers and servers that exist, also without items. */
export type Filter = <T>(
  items: readonly T[],
  subjectOf: (item: T) => Subject,
  groups: readonly string[],
) => { readonly kept: readonly T[]; readonly problems: readonly Problem[] };

export type CreateFilter = typeof createFilter;

export function createFilter({ include, exclude }: Patterns): Filter {
  const globs = new Map([...include, ...exclude].map((pattern) => [pattern, compile(pattern)]));
  return (items, subjectOf, groups) => {
    const subjects = items.map((item) => keysOf(subjectOf(item)));
    const known = new Set([...groups.map(nameKey), ...subjects.map(({ group }) => group)]);
    const tests = new Map<string, Test>();
    for (const [pattern, matches] of globs) {
      const key = nameKey(pattern);
      // The name of a provider or server means all its items, not a skill that has the same name.
      tests.set(pattern, known.has(key) ? ({ group }) => group === key : matches);
    }
    const anyOf = (patterns: readonly string[]) => (keys: Keys) => patterns.some((one) => tests.get(one)?.(keys));
    const [isWanted, isUnwanted] = [anyOf(include), anyOf(exclude)];
    const isKept = (keys: Keys) => (include.length === 0 || isWanted(keys)) && !isUnwanted(keys);
    const kept = subjects.map(isKept);
    const idle = [...tests].filter(([, matches]) => !subjects.some(matches));
    return {
      kept: items.filter((_item, at) => kept[at]),
      problems: idle.map(([pattern]) => ({ where: `filter "${pattern}"`, what: 'matches nothing' })),
    };
  };
}

// --- internal ---

/** The fields in the form in which they are compared. */
interface Keys {
  readonly name: string;
  readonly group: string;
  /** `plugin` and `plugin@marketplace`; empty for other items. */
  readonly plugins: readonly string[];
}

type Test = (keys: Keys) => boolean;

function keysOf({ name, group, plugin }: Subject): Keys {
  const plugins = plugin ? [plugin.name, `${plugin.name}@${plugin.marketplace}`].map(nameKey) : [];
  // As it is listed: invisible characters in a name must not hide it from a pattern.
  return { name: nameKey(visibleLine(name)), group: nameKey(group), plugins };
}

/** For a pattern that is not the name of a group. */
function compile(pattern: string): Test {
  if (nameKey(pattern) === '@plugins') return ({ plugins }) => plugins.length > 0;
  const whole = glob(pattern);
  const colon = pattern.indexOf(':');
  if (colon === -1) return ({ name }) => whole(name);
  const prefix = glob(pattern.slice(0, colon));
  const rest = glob(pattern.slice(colon + 1));
  return ({ name, group, plugins }) => {
    const inGroup = prefix(group) && [name, ...plugins.map((plugin) => `${plugin}:${name}`)].some(rest);
    return inGroup || (plugins.some(prefix) && rest(name)) || whole(name);
  };
}

/** Names are not paths: a star also matches slashes and leading dots, and `!` is a plain character. */
function glob(pattern: string): (text: string) => boolean {
  // An empty part, as in `claude:`, and a pattern longer than any name match nothing.
  if (pattern === '' || pattern.length > LONGEST_PATTERN) return () => false;
  const key = nameKey(pattern);
  if (/^[^\\[\]{}()|+@!]*$/.test(key)) return (text) => matchesStars(key, text);
  // The glob package tries every split of the name among the stars.
  if (key.split('*').length - 1 > MOST_STARS) return () => false;
  const matches = picomatch(slashless(key), { dot: true, nonegate: true });
  return (text) => text.length <= LONGEST_MATCHED && matches(slashless(text));
}

/** Plain characters, `*` for any number of them and `?` for one. The time is at most the product of the lengths. */
function matchesStars(pattern: string, text: string): boolean {
  let [at, place, star, retry] = [0, 0, -1, 0];
  while (place < text.length) {
    if (pattern[at] === '*') {
      star = at++;
      retry = place;
    } else if (pattern[at] === '?' || pattern[at] === text[place]) {
      at++;
      place++;
    } else if (star !== -1) {
      // The last star takes one more character; the stars before it need not be tried again.
      at = star + 1;
      place = ++retry;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}

// The glob package throws for patterns of 64 KiB.
const LONGEST_PATTERN = 10_000;
// Names come from outside. Four stars in 128 characters take some 30 ms at worst; each further one a hundred times that.
const LONGEST_MATCHED = 128;
const MOST_STARS = 4; // Of a pattern that is slow to compare, for the same reason.

// Replaces a slash on both sides of the comparison; no name or pattern contains it.
const slashless = (text: string) => text.replaceAll('/', '\u0001');
