/**
 * Tool names in the characters that every model API takes: `[A-Za-z0-9_-]`.
 * Always true: equal sets of names are spelled equally; no two names are spelled alike.
 */
/** Claude Desktop and most model APIs stop here. */
export const LONGEST_SAFE_NAME = 64;

/** Each name with its safe spelling: `skills.list` as `skills_list`, `server:tool` as `server__tool`. */
export function safeSpellings(names: readonly string[], longest: number): ReadonlyMap<string, string> {
  const spellings = new Map<string, string>();
  // A name that is safe as it stands keeps itself, whatever the others would turn into.
  const taken = new Set(names.filter((name) => respell(name) === name && name.length <= longest));
  for (const name of names) {
    const simple = respell(name);
    let spelling = simple;
    for (let salt = ''; spelling.length > longest || (spelling !== name && taken.has(spelling)); salt += '_') {
      spelling = `${simple.slice(0, longest - HASH_LENGTH - 1)}_${hashOf(name + salt)}`;
    }
    taken.add(spelling);
    spellings.set(name, spelling);
  }
  return spellings;
}

export const HASH_LENGTH = 8;

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

/**
 * FNV-1a in hexadecimal. It only has to tell apart a few names that would be spelled alike, or a text from a mangled one;
 * loading node:crypto for that would be a tenth of the time this program takes to start.
 */
export function hashOf(name: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(HASH_LENGTH, '0');
}

// --- internal ---

function respell(name: string): string {
  return name.replaceAll(':', '__').replace(/[^A-Za-z0-9_-]/g, '_');
}
