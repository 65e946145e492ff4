/**
 * Names of tools and prompts in the characters that every model API takes: `[A-Za-z0-9_-]`.
 * Owns: how a name is spelled, and which name a spelling means. Leaves alone: which client is shown which spelling
 * (host-profiles.ts).
 * Always true: equal sets of names have equal spellings, no two of them the same; a spelling that could mean two names
 * means neither, and both have one with the hash of their plain name.
 */
import { lazy } from '../lazy.ts';
import { invalidParams, type RpcError } from '../protocol/index.ts';
import { HASH_LENGTH, hashOf, shorten } from '../text.ts';
import { LONGEST_NAME } from './limits.ts';

/** The limit of Claude Desktop and most model APIs. */
export const LONGEST_SAFE_NAME = 64;

/** For hosts that put a prefix before it and limit the whole. */
export const SHORT_NAMES = 45;

/** The characters of a safe name; undefined for a client that is shown plain names. */
export type NameLimit = typeof LONGEST_SAFE_NAME | typeof SHORT_NAMES | undefined;

/** Items by name, in every spelling. */
export interface NameTable<T> {
  readonly items: ReadonlyMap<string, T>;
  /** One of the names as a client is shown it. Safe are `skills_list` for `skills.list`, `server__tool` for `server:tool`. */
  spell(name: string, limit: NameLimit): string;
  /** The item that a name means, in any spelling. `limit`: of the names that the client is shown. Throws `ambiguous`. */
  find(name: string, limit: NameLimit): T | undefined;
}

/**
 * `servers`: all that are configured, connected or not. A spelling that begins like the names of two servers has the
 * hash even while only one of them is connected: the other may bring the same name later.
 */
export function createNameTable<T>(
  what: 'tool' | 'prompt',
  items: ReadonlyMap<string, T>,
  servers: readonly string[],
): NameTable<T> {
  // Ten thousand names take a while, and most clients use plain names.
  const spellings = lazy(() => createSpellings([...items.keys()], servers));
  const spell = (name: string, limit: NameLimit) =>
    limit === undefined ? name : (spellings().safe.get(limit)?.get(name) ?? name);
  const spellSafely = (name: string) => spell(name, LONGEST_SAFE_NAME);
  return {
    items,
    spell,
    find(name, limit) {
      const plain = items.get(name);
      if (plain !== undefined && (limit === undefined || !isSafe(name))) return plain;
      const names = spellings().meanings.get(name) ?? [];
      if (names.length > 1) throw ambiguous(what, name, names.filter((one) => one !== LATER).map(spellSafely));
      const [meant] = names;
      return meant === undefined ? undefined : items.get(meant);
    },
  };
}

/** The error for a name that may mean several, which are given in a spelling that means one. */
export function ambiguous(what: string, name: string, spellings: readonly string[]): RpcError {
  const rest = spellings.length - MOST_SHOWN;
  const shown = [...spellings.slice(0, MOST_SHOWN), ...(rest > 0 ? [`${rest} more`] : [])];
  const asked = shorten(name, LONGEST_SAFE_NAME);
  return invalidParams(`${what} "${asked}" is ambiguous; use one of these names: ${shown.join(', ')}`);
}

/** The name in a request; throws when it is not one. */
export function nameParam(what: string, name: unknown): string {
  if (typeof name !== 'string') throw invalidParams(`name must be the name of a ${what}`);
  if (name.length > LONGEST_NAME) throw invalidParams(`no ${what} has a name of over ${LONGEST_NAME} characters`);
  return name;
}

// --- internal ---

// Names in an error message; more would not help.
const MOST_SHOWN = 10;
const LIMITS = [LONGEST_SAFE_NAME, SHORT_NAMES] as const;

/** Stands for a name that another server may bring later. */
const LATER = '';

/** `safe`: spellings, by limit and name. `meanings`: the names that may have a spelling. */
function createSpellings(names: readonly string[], servers: readonly string[]) {
  const meanings = possibleMeanings(names, servers);

  function choose(name: string, limit: number): string {
    const isFree = (spelling: string) => meanings.get(spelling)?.every((other) => other === name) ?? true;
    const bare = bareOf(name);
    if (bare !== undefined && bare.length <= limit && isFree(bare)) return bare;
    // Two names with one hash are an attack. With a salt before the name each gets another hash.
    for (let salt = ''; ; salt += '_') {
      const spelling = withHash(name, hashOf(salt + name), limit);
      if (!isFree(spelling)) continue;
      meanings.set(spelling, [name]);
      return spelling;
    }
  }

  // All at once, so that the meaning of a spelling does not depend on earlier requests.
  const safe = new Map<number, ReadonlyMap<string, string>>(
    LIMITS.map((limit) => [limit, new Map(names.map((name) => [name, choose(name, limit)]))]),
  );
  return { safe, meanings };
}

/** Every spelling that a name might have, with all the names that might have it. */
function possibleMeanings(names: readonly string[], servers: readonly string[]): Map<string, string[]> {
  const fronts = [...new Set(servers)].map((server) => respell(`${server}:`));
  /** What names of several servers begin with: of the servers `a` and `a__b` that is `a__b__`. */
  const shared = fronts.filter((front, at) => fronts.some((other, index) => index !== at && front.startsWith(other)));
  const meanings = new Map<string, string[]>();
  const add = (spelling: string, name: string) => {
    const known = meanings.get(spelling);
    if (!known) meanings.set(spelling, [name]);
    else if (known.at(-1) !== name) known.push(name);
  };
  for (const name of names) {
    const bare = bareOf(name);
    if (bare !== undefined) add(bare, name);
    if (bare !== undefined && shared.some((front) => bare.startsWith(front))) add(bare, LATER);
    const hash = hashOf(name);
    for (const limit of LIMITS) add(withHash(name, hash, limit), name);
  }
  return meanings;
}

const isSafe = (name: string) => name.length <= LONGEST_SAFE_NAME && /^[A-Za-z0-9_-]*$/.test(name);

/** Without a hash; undefined where that loses something. Dots and colons have replacements, other characters do not. */
function bareOf(name: string): string | undefined {
  const bare = respell(name);
  return /^[A-Za-z0-9_.:-]*$/.test(name) && bare.length <= LONGEST_SAFE_NAME ? bare : undefined;
}

function respell(name: string): string {
  return name.replaceAll(':', '__').replace(/[^A-Za-z0-9_-]/g, '_');
}

function withHash(name: string, hash: string, limit: number): string {
  return `${respell(name.slice(0, limit)).slice(0, limit - HASH_LENGTH - 1)}_${hash}`;
}
