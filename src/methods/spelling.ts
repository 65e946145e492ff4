/**
 * Names of tools and prompts in the characters that every model API takes: `[A-Za-z0-9_-]`.
 * Owns: how a name is spelled, and which name a spelling means. Leaves alone: which client is shown which spelling
 * (host-profiles.ts).
 * Always true:
 * - equal sets of names have equal spellings; no two names have the same spelling;
 * - a spelling that could mean two names means neither: both have a spelling with the hash of their plain name.
 */
import { HASH_LENGTH, hashOf, shorten } from '../text.ts';

/** The limit of Claude Desktop and most model APIs. */
export const LONGEST_SAFE_NAME = 64;

/** For hosts that put a prefix before it and limit the whole. */
export const SHORT_NAMES = 45;

export type Finding<T> =
  | { readonly kind: 'found'; readonly item: T }
  /** `spellings`: those of the names that the client may mean. */
  | { readonly kind: 'ambiguous'; readonly spellings: readonly string[] }
  | { readonly kind: 'missing' };

/** Items by name, in every spelling. */
export interface NameTable<T> {
  /** The safe spelling of one of the names: `skills.list` as `skills_list`, `server:tool` as `server__tool`. */
  spell(name: string, longest: number): string;
  /** The item that a name means, in any spelling. `shown`: the spelling that the client is shown. */
  find(name: string, shown: 'plain' | 'safe'): Finding<T>;
}

/**
 * `servers`: all that are configured, connected or not. A spelling that begins like the names of two servers has the
 * hash even while only one of them is connected: the other may bring the same name later.
 */
export function createNameTable<T>(items: ReadonlyMap<string, T>, servers: readonly string[]): NameTable<T> {
  let made: Spellings | undefined;
  // Made when first needed: ten thousand names take a while, and most clients use plain names.
  const spellings = () => {
    made ??= createSpellings(items.keys(), servers);
    return made;
  };
  return {
    spell: (name, longest) => spellings().spell(name, longest),
    find(name, shown) {
      const plain = items.get(name);
      if (plain !== undefined && (shown === 'plain' || !isSafe(name))) return { kind: 'found', item: plain };
      const names = spellings().meaningsOf(name);
      const [only = name] = names;
      const item = names.length > 1 ? undefined : items.get(only);
      if (item !== undefined && !spellings().isContested(name, only)) return { kind: 'found', item };
      if (names.length === 0) return { kind: 'missing' };
      return { kind: 'ambiguous', spellings: names.map((one) => spellings().spell(one, LONGEST_SAFE_NAME)) };
    },
  };
}

/** The error text for a spelling that may mean several names. */
export function ambiguityOf(spelling: string, spellings: readonly string[]): string {
  const rest = spellings.length - MOST_SHOWN;
  const shown = [...spellings.slice(0, MOST_SHOWN), ...(rest > 0 ? [`${rest} more`] : [])];
  return `"${shorten(spelling, LONGEST_SAFE_NAME)}" is ambiguous; use one of these names: ${shown.join(', ')}`;
}

// --- internal ---

// Names in an error message; more would not help.
const MOST_SHOWN = 10;
const LENGTHS: readonly number[] = [LONGEST_SAFE_NAME, SHORT_NAMES];

interface Spellings {
  spell(name: string, longest: number): string;
  /** The names that a spelling may mean. */
  meaningsOf(spelling: string): readonly string[];
  /** Whether a tool of another server may get this spelling of the name. */
  isContested(spelling: string, name: string): boolean;
}

function createSpellings(names: Iterable<string>, servers: readonly string[]): Spellings {
  const all = [...names];
  const fronts = countFronts(servers);
  const claims = claimsOf(all);
  const isClear = (spelling: string) => claims.get(spelling)?.length === 1;
  const salted = new Map<string, string>();

  function choose(name: string, longest: number): string {
    const bare = respell(name);
    if (hasBare(name) && bare.length <= longest && isClear(bare) && !isShared(bare, fronts)) return bare;
    const usual = withHash(name, hashOf(name), longest);
    if (isClear(usual)) return usual;
    // Two names with one hash are an attack. With a salt before the name each gets another hash.
    for (let salt = '_'; ; salt += '_') {
      const spelling = withHash(name, hashOf(salt + name), longest);
      if (claims.has(spelling) || (salted.get(spelling) ?? name) !== name) continue;
      salted.set(spelling, name);
      return spelling;
    }
  }

  // All at once, so that the meaning of a spelling does not depend on earlier requests.
  const chosen = new Map(
    LENGTHS.map((longest) => [longest, new Map(all.map((name) => [name, choose(name, longest)]))]),
  );
  return {
    spell: (name, longest) => chosen.get(longest)?.get(name) ?? name,
    meaningsOf(spelling) {
      const late = salted.get(spelling);
      return late === undefined ? (claims.get(spelling) ?? []) : [late];
    },
    isContested: (spelling, name) => isShared(spelling, fronts) && respell(name) === spelling,
  };
}

const isSafe = (name: string) => name.length <= LONGEST_SAFE_NAME && /^[A-Za-z0-9_-]*$/.test(name);

/** Whether the bare spelling loses nothing: dots and colons have their own replacements, other characters do not. */
function hasBare(name: string): boolean {
  return /^[A-Za-z0-9_.:-]*$/.test(name) && respell(name).length <= LONGEST_SAFE_NAME;
}

function respell(name: string): string {
  return name.replaceAll(':', '__').replace(/[^A-Za-z0-9_-]/g, '_');
}

function withHash(name: string, hash: string, longest: number): string {
  return `${respell(name.slice(0, longest)).slice(0, longest - HASH_LENGTH - 1)}_${hash}`;
}

/** Every spelling that a name might have, with all the names that might have it. */
function claimsOf(names: Iterable<string>): ReadonlyMap<string, readonly string[]> {
  const claims = new Map<string, string[]>();
  for (const name of names) {
    const hash = hashOf(name);
    const spellings = LENGTHS.map((longest) => withHash(name, hash, longest));
    for (const spelling of new Set(hasBare(name) ? [respell(name), ...spellings] : spellings)) {
      const owners = claims.get(spelling);
      if (owners) owners.push(name);
      else claims.set(spelling, [name]);
    }
  }
  return claims;
}

/** How many servers have names whose spellings begin with each prefix. */
function countFronts(servers: readonly string[]): ReadonlyMap<string, number> {
  const fronts = new Map<string, number>();
  for (const server of new Set(servers)) {
    const front = respell(`${server}:`);
    fronts.set(front, (fronts.get(front) ?? 0) + 1);
  }
  return fronts;
}

/** Whether a spelling begins like the names of more than one server. */
function isShared(spelling: string, fronts: ReadonlyMap<string, number>): boolean {
  if (fronts.size === 0) return false;
  let count = 0;
  for (let at = spelling.indexOf('__'); at !== -1; at = spelling.indexOf('__', at + 1)) {
    count += fronts.get(spelling.slice(0, at + 2)) ?? 0;
  }
  return count > 1;
}
