/**
 * Tool names in the characters that every model API takes: `[A-Za-z0-9_-]`.
 * Always true: equal sets of names are spelled equally; no two names are spelled alike.
 */
import { createHash } from 'node:crypto';

/** Claude Desktop and most model APIs stop here. */
export const LONGEST_SAFE_NAME = 64;

/** Each name with its safe spelling: `skills.list` as `skills_list`, `server:tool` as `server__tool`. */
export function safeSpellings(names: readonly string[], longest: number): ReadonlyMap<string, string> {
  const spellings = new Map<string, string>();
  // A name that is safe as it stands keeps itself, whatever the others would turn into.
  const taken = new Set(names.filter((name) => respell(name) === name && name.length <= longest));
  for (const name of names) {
    const simple = respell(name);
    const free = simple.length <= longest && (simple === name || !taken.has(simple));
    const spelling = free ? simple : `${simple.slice(0, longest - HASH_LENGTH - 1)}_${hashOf(name)}`;
    taken.add(spelling);
    spellings.set(name, spelling);
  }
  return spellings;
}

/** The longest name in hosts that put more in front of it. */
export const SHORT_NAMES = 45;

/** Whatever a client was shown: plain names first, so that no spelling can take one over. */
export function everySpelling<T>(plain: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  const all = new Map(plain);
  for (const longest of [LONGEST_SAFE_NAME, SHORT_NAMES]) {
    for (const [name, spelling] of safeSpellings([...plain.keys()], longest)) {
      const item = plain.get(name);
      if (item !== undefined && !all.has(spelling)) all.set(spelling, item);
    }
  }
  return all;
}

// --- internal ---

const HASH_LENGTH = 8;

function respell(name: string): string {
  return name.replaceAll(':', '__').replace(/[^A-Za-z0-9_-]/g, '_');
}

function hashOf(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH);
}
