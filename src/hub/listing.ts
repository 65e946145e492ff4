/**
 * A list of an upstream server, page by page.
 * Owns: the end of it. Leaves alone: what stands in it (inventory.ts).
 */
import { messageOf } from '../log.ts';
import { isObject, type Params } from '../protocol/index.ts';
import type { Conversation } from './dialects.ts';
import type { Asking } from './link.ts';
import { UpstreamError } from './wire.ts';

export interface Inventory<T> {
  readonly items: readonly T[];
  /** Why something was left out. */
  readonly faults: readonly string[];
}

export const NOTHING: Inventory<never> = { items: [], faults: [] };

export const nothingBut = (method: string) => (error: unknown) => ({
  items: [],
  faults: [`${method} failed: ${messageOf(error)}`],
});

/** Every page of a list. Ends, whatever the server does with its cursors. */
export async function listAll(
  conversation: Conversation,
  method: string,
  key: string,
  asking: Asking,
  most = MOST_ITEMS,
): Promise<Inventory<Params>> {
  const items: Params[] = [];
  const faults: string[] = [];
  const cursors = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    const page = await conversation.ask(method, cursor === undefined ? {} : { cursor }, asking);
    const list = page[key];
    if (!Array.isArray(list)) throw new UpstreamError(`the answer to ${method} holds no list of ${key}`);
    items.push(...list.filter(isObject));
    if (items.length > most) return { items: items.slice(0, most), faults: [`over ${most} ${key}`] };
    const { nextCursor: next } = page;
    if (typeof next !== 'string') return { items, faults };
    if (cursors.has(next) || cursors.size >= MOST_PAGES) {
      return { items, faults: [`${method} gives pages without end; ${items.length} ${key} are served`] };
    }
    cursors.add(next);
    cursor = next;
  }
}

// --- internal ---

const MOST_ITEMS = 10_000;
const MOST_PAGES = 1000;
