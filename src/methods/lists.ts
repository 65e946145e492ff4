/**
 * Lists: made once per snapshot and kind of client, sent in pages, each page encoded once.
 * Always true: a cursor names the last item of its page, not a position, so items that come or go between two pages
 * neither repeat nor hide others.
 */
import type { Registry } from '../catalog/registry.ts';
import { compare } from '../compare.ts';
import type { Snapshot } from '../model.ts';
import { EncodedResult, invalidParams, type Method, type Peer } from '../protocol/index.ts';
import { HASH_LENGTH, hashOf } from '../text.ts';
import { LONGEST_CURSOR, PAGE } from './limits.ts';

/** What a client can list, ask for, and be notified of: tools, resources, prompts. */
export interface Feature {
  /** As in the names of its methods, notifications and capabilities. */
  readonly name: 'tools' | 'resources' | 'prompts';
  readonly methods: readonly Method[];
  /** Does a part of the work of `lists` beforehand, with breaks. */
  prepare?(snapshot: Snapshot): Promise<void>;
  /** What this client is listed; a change of it is announced. */
  lists(snapshot: Snapshot, peer: Peer): readonly EncodedList[];
}

/** Only lists, and names that are not known yet, wait for upstream servers that are late. */
export function listMethod(
  about: Omit<Method, 'run'>,
  registry: Registry,
  listFor: (snapshot: Snapshot, peer: Peer) => EncodedList,
): Method {
  return { ...about, run: async ({ cursor }, { peer }) => listFor(await registry.complete(), peer).page(cursor) };
}

/** The results of a list method. */
export interface EncodedList {
  page(cursor: unknown): EncodedResult;
  /** The JSON of each page, made when it is asked for: equal when a client would be sent the same. */
  pages(): Iterable<Uint8Array>;
}

/**
 * `keyOf`: what cursors name; of more than one page the items must be sorted by it. `member`: of the result, with the
 * items. `name`: a cursor of one list is refused by every other. `define`: what is listed of an item; it is made for its
 * page, and not kept.
 */
export function createList<T>(
  member: string,
  items: readonly T[],
  keyOf: (item: T) => string,
  pageSize: number = PAGE,
  name: string = member,
  define: (item: T) => unknown = (item) => item,
): EncodedList {
  const known = new Map<number, EncodedResult>();
  function pageFrom(start: number): EncodedResult {
    const made = known.get(start);
    if (made) return made;
    const here = items.slice(start, start + pageSize);
    const last = here.at(-1);
    const isLast = last === undefined || start + here.length === items.length;
    const nextCursor = isLast ? undefined : cursorAfter(name, keyOf(last));
    const page = new EncodedResult({ [member]: here.map(define), nextCursor });
    // A client can make up cursors, so only the pages that are given out in turn are kept.
    if (start % pageSize === 0) known.set(start, page);
    return page;
  }
  return {
    page: (cursor) => pageFrom(indexAfter(name, items, keyOf, cursor)),
    *pages() {
      yield pageFrom(0).body;
      for (let start = pageSize; start < items.length; start += pageSize) yield pageFrom(start).body;
    },
  };
}

export function sortedList<T>(member: string, items: readonly T[], keyOf: (item: T) => string, name?: string) {
  const sorted = [...items].sort((a, b) => compare(keyOf(a), keyOf(b)));
  return createList(member, sorted, keyOf, PAGE, name);
}

/** The index of the first item behind the one that the cursor names. */
export function indexAfter<T>(list: string, items: readonly T[], keyOf: (item: T) => string, cursor: unknown): number {
  if (cursor === undefined) return 0;
  const text = typeof cursor === 'string' ? cursor : '';
  if (text.length > LONGEST_CURSOR) throw invalidParams(`cursor has over ${LONGEST_CURSOR} characters`);
  const key = Buffer.from(text, 'base64url').toString().slice(HASH_LENGTH);
  // Decoding accepts almost any text. Only a cursor that this list would have made is accepted.
  if (cursorAfter(list, key) !== cursor) throw invalidParams('cursor is not one that this list gave out');
  const index = items.findIndex((item) => keyOf(item) > key);
  return index === -1 ? items.length : index;
}

export function cursorAfter(list: string, key: string): string {
  return Buffer.from(`${hashOf(`${list}\n${key}`)}${key}`).toString('base64url');
}

/**
 * Makes a value once for each snapshot and key of a view. A snapshot never changes, so the value never gets old. There
 * must be few keys: what a client says of itself must not be in one.
 */
export function perSnapshot<T, V = void>(
  make: (snapshot: Snapshot, view: V) => T,
  keyOf: (view: V) => string = () => '',
): (snapshot: Snapshot, view: V) => T {
  const values = new WeakMap<Snapshot, Map<string, T>>();
  return (snapshot, view) => {
    const key = keyOf(view);
    const known = values.get(snapshot);
    const value = known?.get(key) ?? make(snapshot, view);
    if (known) known.set(key, value);
    else values.set(snapshot, new Map([[key, value]]));
    return value;
  };
}
