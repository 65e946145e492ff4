/**
 * One list of an upstream server, requested page by page.
 * Owns: when it ends: by number, size or time. Leaves alone: checking its items (listing.ts).
 * Always true: whatever the server sends, a list ends, and the part that is kept stays within the limits.
 */
import { isObject, type Params } from '../../protocol/index.ts';
import { UpstreamError } from '../connection/connection.ts';
import type { McpClient } from '../connection/dialects.ts';
import type { RequestOptions } from '../connection/rpc-client.ts';
import { MAX_CURSOR, MAX_ITEM_BYTES, MAX_ITEMS, MAX_LIST_BYTES, MAX_PAGES } from './limits.ts';

export interface List<T> {
  readonly items: readonly T[];
  /** Why something was left out. */
  readonly faults: readonly string[];
  /** Milliseconds for which the server says the list is valid. */
  readonly ttlMs?: number | undefined;
  /** The request failed, and these are the items of the previous list. */
  readonly isOutdated?: boolean;
}

export const EMPTY_LIST: List<never> = { items: [], faults: [] };

/** Every page of a list. `timeout` is for all pages together. */
export async function requestList(
  mcp: McpClient,
  method: string,
  key: string,
  { timeout, ...options }: RequestOptions & { readonly timeout: number },
  maxItems = MAX_ITEMS,
): Promise<List<Params>> {
  const deadline = performance.now() + timeout;
  const items = createItems(key, maxItems);
  const cursors = new Set<string>();
  let ttlMs: number | undefined;
  for (let cursor: string | undefined; ; ) {
    const left = Math.ceil(deadline - performance.now());
    if (left <= 0) return { ...items.end(`${method} takes over ${timeout} ms`), ttlMs };
    const page = await mcp.request(method, { cursor }, { ...options, timeout: left });
    const { [key]: list, nextCursor: next } = page;
    if (!Array.isArray(list)) throw new UpstreamError(`the result of ${method} has no list of ${key}`);
    ttlMs = shorter(ttlMs, page.ttlMs);
    const full = items.add(list);
    if (full !== undefined || typeof next !== 'string') return { ...items.end(full), ttlMs };
    if (next.length > MAX_CURSOR)
      return { ...items.end(`${method} returns a cursor over ${MAX_CURSOR} characters`), ttlMs };
    if (cursors.has(next) || cursors.size >= MAX_PAGES)
      return { ...items.end(`${method} returns pages without end`), ttlMs };
    cursors.add(next);
    cursor = next;
  }
}

// --- internal ---

function createItems(key: string, maxItems: number) {
  const items: Params[] = [];
  let bytes = 0;
  let oversized = 0;
  return {
    /** Returns the reason when no further item is accepted. */
    add(list: readonly unknown[]): string | undefined {
      for (const item of list) {
        if (!isObject(item)) continue;
        if (items.length >= maxItems) return `over ${maxItems} ${key}`;
        const size = JSON.stringify(item).length;
        if (size > MAX_ITEM_BYTES) oversized += 1;
        else if (bytes + size > MAX_LIST_BYTES) return `over ${MAX_LIST_BYTES} bytes of ${key}`;
        else {
          bytes += size;
          items.push(item);
        }
      }
      return undefined;
    },
    /** `why`: the list is not complete. */
    end(why: string | undefined): List<Params> {
      const tooLarge = `${oversized} ${key} are left out: each is over ${MAX_ITEM_BYTES} bytes`;
      const incomplete = `${why}; ${items.length} ${key} are served`;
      return { items, faults: [...(oversized > 0 ? [tooLarge] : []), ...(why === undefined ? [] : [incomplete])] };
    },
  };
}

function shorter(known: number | undefined, received: unknown): number | undefined {
  if (typeof received !== 'number' || !(received >= 0)) return known;
  return Math.min(known ?? received, received);
}
