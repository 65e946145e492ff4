/**
 * `--include` and `--exclude`: one language for skills and for upstream tools.
 * Owns: what a pattern means. Leaves alone: what happens to the rest.
 * Always true: includes unite, excludes win; a pattern that names nothing selects nothing and is reported.
 */
import picomatch from 'picomatch';
import type { Plugin, Problem } from '../model.ts';
import { visibleLine } from '../text.ts';
import { nameKey } from './names.ts';
import type { Patterns } from './patterns.ts';

/** What a pattern looks at. `group` is a provider or an upstream server. */
export interface Subject {
  readonly name: string;
  readonly group: string;
  readonly plugin?: Plugin | undefined;
}

/** `groups`: provider and server names that exist even when they hold nothing. */
export type Filter = <T>(
  items: readonly T[],
  subjectOf: (item: T) => Subject,
  groups: readonly string[],
) => Filtered<T>;

export interface Filtered<T> {
  readonly kept: readonly T[];
  readonly problems: readonly Problem[];
}

export function createFilter({ include, exclude }: Patterns): Filter {
  const globs = new Map([...include, ...exclude].map((pattern) => [pattern, compile(pattern)]));
  return (items, subjectOf, groups) => {
    const subjects = items.map((item) => keysOf(subjectOf(item)));
    const known = new Set([...groups.map(nameKey), ...subjects.map(({ group }) => group)]);
    const testOf = (pattern: string): Test =>
      // A word that names a provider or server means that, not a skill that happens to share its name.
      known.has(nameKey(pattern)) ? ({ group }) => group === nameKey(pattern) : (globs.get(pattern) ?? nothing);
    const [wanted, unwanted] = [include.map(testOf), exclude.map(testOf)];
    const kept = items.filter((_item, at) => {
      const keys = subjects[at];
      if (!keys) return false;
      return (wanted.length === 0 || wanted.some((test) => test(keys))) && !unwanted.some((test) => test(keys));
    });
    const idle = [...globs.keys()].filter((pattern) => !subjects.some(testOf(pattern)));
    const problems = idle.map((pattern) => ({ where: `filter "${pattern}"`, what: 'matches nothing' }));
    return { kept, problems };
  };
}

// --- internal ---

/** A subject's words as they are compared. */
interface Keys {
  readonly name: string;
  readonly group: string;
  /** `plugin` and `plugin@marketplace`; none for anything else. */
  readonly plugins: readonly string[];
}

type Test = (keys: Keys) => boolean;
type Glob = (text: string) => boolean;

const nothing: Test = () => false;

function keysOf({ name, group, plugin }: Subject): Keys {
  const plugins = plugin ? [plugin.name, `${plugin.name}@${plugin.marketplace}`].map(nameKey) : [];
  // As it is listed: what nobody sees in a name must not get it past a pattern.
  return { name: nameKey(visibleLine(name)), group: nameKey(group), plugins };
}

/** What a pattern means that is not simply the name of a group. */
function compile(pattern: string): Test {
  if (nameKey(pattern) === '@plugins') return ({ plugins }) => plugins.length > 0;
  const whole = glob(pattern);
  const colon = pattern.indexOf(':');
  if (colon === -1) return ({ name }) => whole(name);
  const prefix = glob(pattern.slice(0, colon));
  const rest = glob(pattern.slice(colon + 1));
  return ({ name, group, plugins }) => {
    const inner = plugins.map((plugin) => `${plugin}:${name}`);
    const inGroup = prefix(group) && [name, ...inner].some(rest);
    return inGroup || (plugins.some(prefix) && rest(name)) || whole(name);
  };
}

/** Names are not paths: a star also crosses slashes and leading dots, and `!` is only a character. */
function glob(pattern: string): Glob {
  // A provider or plugin and nothing behind its colon names nothing, and neither does what no name is long enough for.
  if (pattern === '' || pattern.length > LONGEST_PATTERN) return () => false;
  const key = nameKey(pattern);
  if (/^[^\\[\]{}()|+@!]*$/.test(key)) return (text) => matchesStars(key, text);
  // The glob library tries every way to share a name among the stars.
  if (key.split('*').length - 1 > MOST_STARS) return () => false;
  const matches = picomatch(slashless(key), { dot: true, nonegate: true });
  return (text) => text.length <= LONGEST_MATCHED && matches(slashless(text));
}

/** Letters, `*` for any of them and `?` for one: in time that grows with both texts, and no faster. */
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
      // The last star takes one letter more; those before it need not.
      at = star + 1;
      place = ++retry;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}

// The glob library refuses patterns of 64 KiB with an exception.
const LONGEST_PATTERN = 10_000;
// Names come from outside. In 128 letters four stars take some 30 ms at worst, and each further one a hundred times more.
const LONGEST_MATCHED = 128;
const MOST_STARS = 4;

// Stands for a slash on both sides of the comparison; no name or pattern contains it.
const slashless = (text: string) => text.replaceAll('/', '\u0001');
