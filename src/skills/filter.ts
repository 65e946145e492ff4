/**
 * `--include` and `--exclude`: one language for skills and for the items of upstream servers.
 * Owns: the meaning of a pattern. Leaves alone: when items are filtered (catalog/snapshot.ts, hub/), the limits of patterns
 * (config.ts).
 * Always true: an item is kept when an include pattern matches it, or there is none, and no exclude pattern does.
 */
import picomatch from 'picomatch';
import { createPacer } from '../files/pace.ts';
import { MAX_MATCHED_NAME } from '../limits.ts';
import type { Plugin, Problem } from '../model.ts';
import { cut } from '../text.ts';
import { nameKey } from './names.ts';

/** What patterns are matched with, of a skill, tool, prompt, resource or template. */
export interface Subject {
  /** Without the prefix of its provider or server. */
  readonly name: string;
  /** The provider, or the upstream server that has it. */
  readonly group: string;
  readonly isUpstream?: boolean;
  readonly plugin?: Plugin | undefined;
}

export interface Filter {
  keeps(subject: Subject): boolean;
  /**
   * The include patterns that match nothing. `subjects`: everything there is, of all kinds. `awaited`: the upstream servers
   * that have nothing listed yet; a pattern that may be meant for one of them is not reported.
   */
  problems(subjects: readonly Subject[], awaited: readonly string[]): Promise<readonly Problem[]>;
}

export function createFilter(patterns: Readonly<Record<'include' | 'exclude', readonly string[]>>): Filter {
  const include = [...new Set(patterns.include)].map(compile);
  const exclude = patterns.exclude.map(compile);
  return {
    keeps(subject) {
      if (include.length + exclude.length === 0) return true;
      const keys = keysOf(subject);
      const isWanted = include.length === 0 || include.some(({ matches }) => matches(keys));
      return isWanted && !exclude.some(({ matches }) => matches(keys));
    },
    async problems(subjects, awaited) {
      const pace = createPacer();
      const servers = awaited.map(nameKey);
      let idle = include.filter(({ mayBeOn }) => !servers.some(mayBeOn));
      for (const subject of subjects) {
        if (idle.length === 0) break;
        await pace();
        const keys = keysOf(subject);
        idle = idle.filter(({ matches }) => !matches(keys));
      }
      return idle.map(({ text }) => ({ where: `filter "${text}"`, what: 'matches nothing', hint: HINT }));
    },
  };
}

// --- internal ---

const HINT = 'Correct the pattern of --include: `skillwire list` without it shows every name and provider.';

// The name of one of these never means a skill that is called like it, also while the provider has no skills.
const PROVIDERS = ['agents', 'claude', 'codex', 'custom'];

/** The fields in the form in which they are compared. */
interface Keys {
  readonly name: string;
  readonly group: string;
  readonly isUpstream: boolean;
  /** `plugin` and `plugin@marketplace`; empty for other items. */
  readonly plugins: readonly string[];
}

interface Pattern {
  readonly text: string;
  matches(keys: Keys): boolean;
  /** Whether it may match something on the upstream server of that key. */
  mayBeOn(server: string): boolean;
}

function keysOf({ name, group, plugin, isUpstream = false }: Subject): Keys {
  const plugins = plugin ? [plugin.name, `${plugin.name}@${plugin.marketplace}`].map(nameKey) : [];
  return { name: nameKey(cut(name, MAX_MATCHED_NAME)), group: nameKey(group), isUpstream, plugins };
}

function compile(text: string): Pattern {
  const key = nameKey(text);
  const never = () => false;
  // `--include "$UNSET"` must not mean what has no provider.
  if (key === '' || key === '@') return { text, matches: never, mayBeOn: never };
  if (key === '@plugins') return { text, matches: ({ plugins }) => plugins.length > 0, mayBeOn: never };
  if (key.startsWith('@')) {
    const matches = ({ group, isUpstream }: Keys) => group === key.slice(1) && !isUpstream;
    return { text, matches, mayBeOn: never };
  }
  if (PROVIDERS.includes(key))
    return { text, matches: ({ group }) => group === key, mayBeOn: (server) => server === key };
  const whole = globOf(key);
  const colon = key.indexOf(':');
  if (colon === -1) return { text, matches: ({ name, group }) => group === key || whole(name), mayBeOn: () => true };
  const prefix = globOf(key.slice(0, colon));
  const rest = globOf(key.slice(colon + 1));
  const matches = ({ name, group, plugins }: Keys) => {
    const inGroup = prefix(group) && [name, ...plugins.map((plugin) => `${plugin}:${name}`)].some(rest);
    return inGroup || (plugins.some(prefix) && rest(name)) || whole(name);
  };
  return { text, matches, mayBeOn: prefix };
}

/** Names are not paths: a star also matches slashes and leading dots. An empty part, as in `claude:`, matches nothing. */
function globOf(key: string): (text: string) => boolean {
  if (key === '') return () => false;
  // Groups with a quantifier can take exponential time. Braces do without them, so these are plain characters, as is `!`.
  const plain = slashless(key).replace(/[()|+]/g, '\\$&');
  const matches = picomatch(plain, { dot: true, nonegate: true });
  return (text) => matches(slashless(text));
}

// Replaces a slash on both sides of the comparison; no name has this character.
const slashless = (text: string) => text.replaceAll('/', '\u0001');
