/**
 * A list of an upstream server, page by page.
 * Owns: the end of it: by number, by size, by time. Leaves alone: what stands in it (inventory.ts).
 * Always true: whatever the server does, a list ends, and what is kept of it stays below the limits here.
 */
import { messageOf } from '../../log.ts';
import { isObject, type Params, RpcError } from '../../protocol/index.ts';
import { UpstreamError } from '../connection/connection.ts';
import type { McpClient } from '../connection/dialects.ts';
import type { RequestOptions } from '../connection/rpc-client.ts';

export interface Inventory<T> {
  readonly items: readonly T[];
  /** Why something was left out. */
  readonly faults: readonly string[];
  /** Milliseconds for which the server says the list can be used. */
  readonly ttlMs?: number | undefined;
  /** It is an older one, because the list could not be had: to be asked for again. */
  readonly isOld?: boolean;
}

export const NOTHING: Inventory<never> = { items: [], faults: [] };

// A hundred times what the largest real servers have.
export const MOST_ITEMS = 10_000;
export const MOST_PAGES = 1000;
// Ten thousand definitions of ordinary size. A page may have 32 MiB, so a limit in items alone is none.
export const MOST_LIST_BYTES = 8 * 1024 * 1024;
// One item that is out of all proportion must not take the place of all the others.
export const MOST_ITEM_BYTES = 1024 * 1024;
// A cursor holds a place in a list; all of them are kept until the list ends, to notice a circle.
export const LONGEST_CURSOR = 4096;

/** What is used in place of a list that could not be had. A server that does not know the question has none. */
export const insteadOf =
  <T>(method: string, last: readonly T[]) =>
  (error: unknown): Inventory<T> => {
    const isUnknown = error instanceof RpcError && error.code === METHOD_NOT_FOUND;
    const items = isUnknown ? [] : last;
    const kept = items.length > 0 ? ', its last answer counts' : '';
    return { items, faults: [`${method} failed${kept}: ${messageOf(error)}`], isOld: !isUnknown };
  };

/** Every page of a list. `timeout` is for all of them together. */
export async function listAll(
  mcp: McpClient,
  method: string,
  key: string,
  { timeout = Number.POSITIVE_INFINITY, ...options }: RequestOptions,
  most = MOST_ITEMS,
): Promise<Inventory<Params>> {
  const deadline = performance.now() + timeout;
  const taken = createCollection(key, most);
  const cursors = new Set<string>();
  let ttlMs: number | undefined;
  for (let cursor: string | undefined; ; ) {
    const left = deadline - performance.now();
    if (left <= 0) return { ...taken.end(`${method} takes over ${timeout} ms`), ttlMs };
    const patience = Number.isFinite(left) ? { ...options, timeout: Math.ceil(left) } : options;
    const page = await mcp.request(method, cursor === undefined ? {} : { cursor }, patience);
    const { [key]: list, nextCursor: next } = page;
    if (!Array.isArray(list)) throw new UpstreamError(`the answer to ${method} holds no list of ${key}`);
    ttlMs = shorter(ttlMs, page.ttlMs);
    const full = taken.add(list);
    if (full !== undefined || typeof next !== 'string') return { ...taken.end(full), ttlMs };
    if (next.length > LONGEST_CURSOR)
      return { ...taken.end(`${method} gives a cursor over ${LONGEST_CURSOR} characters`), ttlMs };
    if (cursors.has(next) || cursors.size >= MOST_PAGES)
      return { ...taken.end(`${method} gives pages without end`), ttlMs };
    cursors.add(next);
    cursor = next;
  }
}

// --- internal ---

const METHOD_NOT_FOUND = -32601;

interface Collection {
  /** Says why nothing more is taken. */
  add(list: readonly unknown[]): string | undefined;
  /** `why`: the list is not whole. */
  end(why: string | undefined): Inventory<Params>;
}

function createCollection(key: string, most: number): Collection {
  const items: Params[] = [];
  let bytes = 0;
  let oversized = 0;
  return {
    add(list) {
      for (const item of list) {
        if (!isObject(item)) continue;
        if (items.length >= most) return `over ${most} ${key}`;
        const size = JSON.stringify(item).length;
        if (size > MOST_ITEM_BYTES) oversized += 1;
        else if (bytes + size > MOST_LIST_BYTES) return `over ${MOST_LIST_BYTES} bytes of ${key}`;
        else {
          bytes += size;
          items.push(item);
        }
      }
      return undefined;
    },
    end: (why) => ({
      items,
      faults: [
        ...(oversized > 0 ? [`${oversized} ${key} are left out: each is over ${MOST_ITEM_BYTES} bytes`] : []),
        ...(why === undefined ? [] : [`${why}; ${items.length} ${key} are served`]),
      ],
    }),
  };
}

function shorter(known: number | undefined, told: unknown): number | undefined {
  if (typeof told !== 'number' || !(told >= 0)) return known;
  return Math.min(known ?? told, told);
}
