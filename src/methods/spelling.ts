/**
 * Names of tools and prompts in the characters that every model API takes: `[A-Za-z0-9_-]`.
 * Owns: how a name is spelled, and which item a spelling means. Leaves alone: which client is shown which spelling
 * (hosts.ts).
 * Always true: equal sets of names have equal spellings; nobody can make a name that is spelled like another author's.
 */
import { createHash } from 'node:crypto';
import { SAFE_NAME, SHORT_NAME } from '../limits.ts';
import type { Prompt, Tool } from '../model.ts';
import { invalidParams } from '../protocol/index.ts';

/** The characters of a safe name; undefined for a client that is shown plain names. */
export type NameLimit = typeof SAFE_NAME | typeof SHORT_NAME | undefined;

/** Items by name; of several with one name, the first. */
export interface NameTable<T> {
  /** In their order, by the names that a client is shown: `skills_list` for `skills.list`. */
  shown(limit: NameLimit): ReadonlyMap<string, T>;
  /** One name as a client is shown it. Undefined for a name that is not in the table. */
  spell(name: string, limit: NameLimit): string | undefined;
  /** The item that the name in a request means: as this client is shown it, plain, or as any other client is. */
  find(name: unknown, limit: NameLimit): T | undefined;
}

export function createNameTable<T extends Tool | Prompt>(what: 'tool' | 'prompt', all: readonly T[]): NameTable<T> {
  const plain = new Map<string, T>();
  for (const item of all) if (!plain.has(item.definition.name)) plain.set(item.definition.name, item);
  // Made when they are asked for: ten thousand names take a while, and most clients use plain ones.
  const made = new Map<NameLimit, ReadonlyMap<string, T>>();
  const shown = (limit: NameLimit) => {
    if (limit === undefined) return plain;
    const spelled = made.get(limit) ?? spellAll(plain, limit);
    made.set(limit, spelled);
    return spelled;
  };
  return {
    shown,
    spell: (name, limit) => [...shown(limit)].find(([, { definition }]) => definition.name === name)?.[0],
    find(name, limit) {
      if (typeof name !== 'string') throw invalidParams(`name must be the name of a ${what}`);
      const inUse = [limit, undefined, SAFE_NAME, SHORT_NAME] as const;
      for (const one of inUse) if (shown(one).has(name)) return shown(one).get(name);
      return undefined;
    },
  };
}

/** Tells apart texts that would be spelled alike. So long that nobody can make a text that has the hash of another. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

// --- internal ---

function spellAll<T>(items: ReadonlyMap<string, T>, limit: number): ReadonlyMap<string, T> {
  const counts = new Map<string, number>();
  const alone = Array.from(items.keys(), (name) => spellAlone(name, limit));
  for (const spelling of alone) counts.set(spelling, (counts.get(spelling) ?? 0) + 1);
  const choose = (name: string, spelling = '') => (counts.get(spelling) === 1 ? spelling : withHash(name, limit));
  return new Map(Array.from(items, ([name, item], at) => [choose(name, alone[at]), item]));
}

/** Where no other name clashes with it. Dots and colons have replacements; other characters are lost without the hash. */
function spellAlone(name: string, limit: number): string {
  const spelling = respell(name);
  // A name that ends like a hash carries its own, so that nobody can make one that is spelled like another with its hash.
  const isPlain = /^[A-Za-z0-9_.:-]*$/.test(name) && !/_[0-9a-f]{16}$/.test(spelling);
  return isPlain && spelling.length <= limit ? spelling : withHash(name, limit);
}

function respell(name: string): string {
  return name.replaceAll(':', '__').replace(/[^A-Za-z0-9_-]/g, '_');
}

function withHash(name: string, limit: number): string {
  const hash = hashOf(name);
  return `${respell(name.slice(0, limit)).slice(0, limit - hash.length - 1)}_${hash}`;
}
