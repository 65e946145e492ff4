/**
 * Names of tools and prompts in the characters that every model API takes: `[A-Za-z0-9_-]`.
 * Owns: how a name is spelled, and which name a spelling stands for. Leaves alone: who is shown which (hosts.ts).
 * Always true:
 * - equal sets of names are spelled equally; no two names are spelled alike;
 * - a spelling that could stand for two names stands for neither: each of them carries the hash of its plain name.
 */
import { shorten } from '../text.ts';

/** Claude Desktop and most model APIs stop here. */
export const LONGEST_SAFE_NAME = 64;

/** The longest name in hosts that put more in front of it. */
export const SHORT_NAMES = 45;

export const HASH_LENGTH = 8;

export type Finding<T> =
  | { readonly kind: 'found'; readonly item: T }
  /** `spellings`: of the names that were meant, perhaps. */
  | { readonly kind: 'ambiguous'; readonly spellings: readonly string[] }
  | { readonly kind: 'missing' };

/** Things under their names, in every spelling. */
export interface NameTable<T> {
  /** The safe spelling of one of the names: `skills.list` as `skills_list`, `server:tool` as `server__tool`. */
  spell(name: string, longest: number): string;
  /** What a name stands for, however it is spelled. `shown`: how names are spelled for whoever uses it. */
  find(name: string, shown: 'plain' | 'safe'): Finding<T>;
}

/**
 * `servers`: all that are configured, connected or not. A spelling that begins like the names of a second one carries
 * the hash from the start: that server may come with the same name, or leave with it.
 */
export function createNameTable<T>(items: ReadonlyMap<string, T>, servers: readonly string[]): NameTable<T> {
  let made: Spellings | undefined;
  // Ten thousand names take a while, and most clients use plain ones.
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

/** What somebody is told who uses a spelling of several names. */
export function ambiguityOf(spelling: string, spellings: readonly string[]): string {
  const rest = spellings.length - MOST_SHOWN;
  const shown = [...spellings.slice(0, MOST_SHOWN), ...(rest > 0 ? [`${rest} more`] : [])];
  return `"${shorten(spelling, LONGEST_SAFE_NAME)}" is ambiguous; use one of these names: ${shown.join(', ')}`;
}

/**
 * FNV-1a in hexadecimal. It only has to tell apart a few names that would be spelled alike, or a text from a mangled one;
 * loading node:crypto for that would be a tenth of the time this program takes to start.
 */
export function hashOf(name: string): string {
  let hash = 0x811c9dc5;
  const bytes = ENCODER.encode(name);
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193) >>> 0;
  return hash.toString(16).padStart(HASH_LENGTH, '0');
}

// --- internal ---

const ENCODER = new TextEncoder();

// An answer need not list a thousand names that clash.
const MOST_SHOWN = 10;
const LENGTHS: readonly number[] = [LONGEST_SAFE_NAME, SHORT_NAMES];

interface Spellings {
  spell(name: string, longest: number): string;
  /** The names that a spelling may stand for. */
  meaningsOf(spelling: string): readonly string[];
  /** Whether a spelling of this name may become one of another server's. */
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
    // Two names of one hash are somebody's doing. A salt in front gives each of them another.
    for (let salt = '_'; ; salt += '_') {
      const spelling = withHash(name, hashOf(salt + name), longest);
      if (claims.has(spelling) || (salted.get(spelling) ?? name) !== name) continue;
      salted.set(spelling, name);
      return spelling;
    }
  }

  // All at once, so that what a spelling means does not depend on what was asked for before.
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

/** Whether nothing is lost or cut: dots and colons have spellings of their own, all else that is replaced has none. */
function hasBare(name: string): boolean {
  return /^[A-Za-z0-9_.:-]*$/.test(name) && respell(name).length <= LONGEST_SAFE_NAME;
}

function respell(name: string): string {
  return name.replaceAll(':', '__').replace(/[^A-Za-z0-9_-]/g, '_');
}

function withHash(name: string, hash: string, longest: number): string {
  return `${respell(name.slice(0, longest)).slice(0, longest - HASH_LENGTH - 1)}_${hash}`;
}

/** Every spelling that a name might have, whether it needs it or not, with all the names that might have it. */
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

/** By the beginning that the spellings of a server's names have: how many servers have it. */
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
