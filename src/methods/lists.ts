/**
 * Lists: made once per snapshot, sent in pages, each page encoded once.
 * Always true: a cursor names the last item of its page, not a position, so items that come or go between two pages
 * neither repeat nor hide others; equal items give equal bytes.
 */
import type { Registry } from '../catalog/registry.ts';
import { PAGE } from '../limits.ts';
import type { Snapshot } from '../model.ts';
import { type Call, EncodedResult, invalidParams, type Method, type Params } from '../protocol/index.ts';
import { compare } from '../text.ts';

/** What a client can list, ask for, and be notified of. */
export interface Feature {
  /** As in the names of its methods, notifications and capabilities. */
  readonly name: 'tools' | 'prompts' | 'resources';
  readonly methods: readonly Method[];
  /** What is listed: a text or a definition for each item. A change of it is announced. */
  contents(snapshot: Snapshot): readonly (string | object)[];
}

/** Files change at any time, and what they contain is this user's own. */
export const NO_CACHE = { ttlMs: 0, cacheScope: 'private' } as const;

/** A method that lists or reads, from one snapshot. */
export function readMethod(
  registry: Registry,
  name: string,
  read: (snapshot: Snapshot, params: Params, call: Call) => object | Promise<object>,
): Method {
  return { name, cache: NO_CACHE, run: async (params, call) => read(await registry.ready(), params, call) };
}

/**
 * The pages of a list, by their cursors. `member`: of the result, with the items. `keyOf`: the order of the items, and what
 * cursors name. `name`: a cursor of one list is refused by every other.
 */
export function createList<T>(
  member: string,
  items: readonly T[],
  keyOf: (item: T) => string,
  name = member,
): (cursor: unknown) => EncodedResult {
  const sorted = [...items].sort((a, b) => compare(keyOf(a), keyOf(b)));
  const known = new Map<number, EncodedResult>();
  return (cursor) => {
    const start = indexAfter(name, sorted, keyOf, cursor);
    const made = known.get(start);
    if (made) return made;
    const here = sorted.slice(start, start + PAGE);
    const last = start + PAGE < sorted.length ? here.at(-1) : undefined;
    const nextCursor = last && cursorAfter(name, keyOf(last));
    const page = new EncodedResult({ [member]: here, nextCursor });
    // A client can make up cursors, so only the pages that are given out in turn are kept.
    if (start % PAGE === 0) known.set(start, page);
    return page;
  };
}

/** The index of the first item behind the one that the cursor names. The items are sorted by their keys. */
export function indexAfter<T>(list: string, items: readonly T[], keyOf: (item: T) => string, cursor: unknown): number {
  if (cursor === undefined) return 0;
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  const key = text.slice(list.length + 1);
  // Decoding accepts almost any text. Only a cursor that this list would have made is accepted.
  if (cursorAfter(list, key) !== cursor) throw invalidParams('cursor is not one that this list gave out');
  const index = items.findIndex((item) => keyOf(item) > key);
  return index === -1 ? items.length : index;
}

export function cursorAfter(list: string, key: string): string {
  return Buffer.from(`${list}\n${key}`).toString('base64url');
}

/**
 * Makes a value once for each snapshot and key. A snapshot never changes, so the value never gets old. There must be few
 * keys: what a client says of itself must not be one.
 */
export function perSnapshot<T, K = void>(make: (snapshot: Snapshot, key: K) => T): (snapshot: Snapshot, key: K) => T {
  const values = new WeakMap<Snapshot, Map<K, T>>();
  return (snapshot, key) => {
    const made = values.get(snapshot) ?? new Map<K, T>();
    values.set(snapshot, made);
    const value = made.get(key) ?? make(snapshot, key);
    made.set(key, value);
    return value;
  };
}
