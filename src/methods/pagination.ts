/**
 * Long lists in pages. A cursor names the last entry of its page, not a position: entries that come or go between two
 * pages neither repeat nor hide any other.
 */
import { invalidParams } from '../protocol/index.ts';
import { HASH_LENGTH, hashOf } from './spelling.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** What goes into the result beside the items. */
  readonly more: { readonly nextCursor?: string };
}

/** `list` tells the lists apart, so that one's cursor is no good for another. `items`: sorted by key. */
export function pageOf<T>(
  list: string,
  items: readonly T[],
  keyOf: (item: T) => string,
  cursor: unknown,
  size: number,
): Page<T> {
  const rest = itemsAfter(list, items, keyOf, cursor);
  const page = rest.slice(0, size);
  const last = page.at(-1);
  return { items: page, more: rest.length > size && last !== undefined ? nextAfter(list, keyOf(last)) : {} };
}

export function itemsAfter<T>(
  list: string,
  items: readonly T[],
  keyOf: (item: T) => string,
  cursor: unknown,
): readonly T[] {
  if (cursor === undefined) return items;
  const key = keyIn(list, cursor);
  const at = items.findIndex((item) => keyOf(item) > key);
  return at === -1 ? [] : items.slice(at);
}

export function nextAfter(list: string, key: string): { readonly nextCursor: string } {
  return { nextCursor: Buffer.from(`${hashOf(`${list}\n${key}`)}${key}`).toString('base64url') };
}

/** It holds a name or a URI, and those have at most some ten thousand characters. */
export const LONGEST_CURSOR = 100_000;

// --- internal ---

function keyIn(list: string, cursor: unknown): string {
  if (typeof cursor === 'string' && cursor.length > LONGEST_CURSOR)
    throw invalidParams(`cursor has over ${LONGEST_CURSOR} characters`);
  const key = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString().slice(HASH_LENGTH) : '';
  // Decoding takes almost anything; only what we would have written, for this list, is ours.
  if (nextAfter(list, key).nextCursor !== cursor) throw invalidParams('cursor is not one that this list gave out');
  return key;
}
