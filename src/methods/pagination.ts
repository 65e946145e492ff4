/**
 * Lists in pages, each page encoded once.
 * Owns: cursors and encoded pages. Leaves alone: what is in a list.
 * Always true: a cursor names the last item of its page, not a position, so items that come or go between two pages
 * neither repeat nor hide others.
 */
import type { Snapshot } from '../model.ts';
import { type EncodedResult, encodeResultBody, invalidParams } from '../protocol/index.ts';
import { HASH_LENGTH, hashOf } from '../text.ts';
import { LONGEST_CURSOR } from './limits.ts';

export interface ListShape<T> {
  /** A cursor of one list is refused by every other. */
  readonly name: string;
  /** The member of the result that has the items. */
  readonly member: string;
  readonly pageSize: number;
  /** Lists are sorted by it. */
  keyOf(item: T): string;
}

/** The results of a list method. */
export class EncodedList<T> {
  readonly #shape: ListShape<T>;
  readonly #items: readonly T[];
  readonly #pages = new Map<number, EncodedResult>();

  constructor(shape: ListShape<T>, items: readonly T[]) {
    this.#shape = shape;
    this.#items = items;
  }

  page(cursor: unknown): EncodedResult {
    const { name, keyOf } = this.#shape;
    return this.#pageFrom(indexAfter(name, this.#items, keyOf, cursor));
  }

  /** Whether a client would be sent the same pages. */
  equals(other: EncodedList<T>): boolean {
    const { length } = this.#items;
    if (length !== other.#items.length) return false;
    for (let start = 0; start < length; start += this.#shape.pageSize)
      if (this.#pageFrom(start).body !== other.#pageFrom(start).body) return false;
    return true;
  }

  #pageFrom(start: number): EncodedResult {
    const { name, member, pageSize, keyOf } = this.#shape;
    const known = this.#pages.get(start);
    if (known) return known;
    const items = this.#items.slice(start, start + pageSize);
    const last = items.at(-1);
    const isLast = last === undefined || start + items.length === this.#items.length;
    const page = encodeResultBody({ [member]: items, nextCursor: isLast ? undefined : cursorAfter(name, keyOf(last)) });
    // A client can make up cursors, so only the pages that are given out in turn are kept.
    if (start % pageSize === 0) this.#pages.set(start, page);
    return page;
  }
}

/** The index of the first item behind the one that the cursor names. */
export function indexAfter<T>(list: string, items: readonly T[], keyOf: (item: T) => string, cursor: unknown): number {
  if (cursor === undefined) return 0;
  const key = keyIn(list, cursor);
  const index = items.findIndex((item) => keyOf(item) > key);
  return index === -1 ? items.length : index;
}

export function cursorAfter(list: string, key: string): string {
  return Buffer.from(`${hashOf(`${list}\n${key}`)}${key}`).toString('base64url');
}

/** Makes a value once for each snapshot. A snapshot never changes, so the value never gets old. */
export function perSnapshot<T>(make: (snapshot: Snapshot) => T): (snapshot: Snapshot) => T {
  const values = new WeakMap<Snapshot, { readonly value: T }>();
  return (snapshot) => {
    const known = values.get(snapshot) ?? { value: make(snapshot) };
    values.set(snapshot, known);
    return known.value;
  };
}

// --- internal ---

function keyIn(list: string, cursor: unknown): string {
  if (typeof cursor === 'string' && cursor.length > LONGEST_CURSOR)
    throw invalidParams(`cursor has over ${LONGEST_CURSOR} characters`);
  const key = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString().slice(HASH_LENGTH) : '';
  // Decoding accepts almost any text. Only a cursor that this list would have made is accepted.
  if (cursorAfter(list, key) !== cursor) throw invalidParams('cursor is not one that this list gave out');
  return key;
}
