/**
 * `--include` and `--exclude`: one language for skills and for upstream tools.
 * Owns: what a pattern means. Leaves alone: what happens to the rest.
 * Always true: includes unite, excludes win; a pattern that names nothing selects nothing and is reported.
 */
import picomatch from 'picomatch';
import type { Plugin, Problem } from '../model.ts';
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
  return (items, subjectOf, groups) => {
    const subjects = items.map(subjectOf);
    const known = new Set([...groups, ...subjects.map(({ group }) => group)].map(lower));
    const test = (patterns: readonly string[]) =>
      patterns.map((pattern) => ({ pattern, matches: compile(pattern, known) }));
    const [wanted, unwanted] = [test(include), test(exclude)];
    const kept = items.filter((_item, at) => {
      const subject = subjects[at];
      if (!subject) return false;
      const hit = ({ matches }: Compiled) => matches(subject);
      return (wanted.length === 0 || wanted.some(hit)) && !unwanted.some(hit);
    });
    const idle = [...wanted, ...unwanted].filter(({ matches }) => !subjects.some(matches));
    const problems = idle.map(({ pattern }) => ({ where: `filter "${pattern}"`, what: 'matches nothing' }));
    return { kept, problems };
  };
}

// --- internal ---

interface Compiled {
  readonly pattern: string;
  readonly matches: (subject: Subject) => boolean;
}

function compile(pattern: string, groups: ReadonlySet<string>): (subject: Subject) => boolean {
  if (pattern === '@plugins') return ({ plugin }) => plugin !== undefined;
  // A word that names a provider or server means that, not a skill that happens to share its name.
  if (groups.has(lower(pattern))) return ({ group }) => lower(group) === lower(pattern);
  const whole = glob(pattern);
  const colon = pattern.indexOf(':');
  if (colon <= 0) return ({ name }) => whole(name);
  const prefix = glob(pattern.slice(0, colon));
  const rest = glob(pattern.slice(colon + 1));
  return ({ name, group, plugin }) => {
    const inner = plugin ? `${plugin.name}:${name}` : name;
    if (whole(name) || whole(inner)) return true;
    if (plugin && prefix(plugin.name) && rest(name)) return true;
    return prefix(group) && (rest(name) || rest(inner));
  };
}

/** Names are not paths: a star also crosses slashes and leading dots, and `!` is only a character. */
function glob(pattern: string): (text: string) => boolean {
  const matches = picomatch(slashless(pattern), {
    nocase: true,
    dot: true,
    nonegate: true,
  });
  return (text) => matches(slashless(text.normalize('NFC')));
}

// Stands for a slash on both sides of the comparison; no name or pattern contains it.
const slashless = (text: string) => text.replaceAll('/', '\u0001');

function lower(text: string): string {
  return text.toLowerCase();
}
