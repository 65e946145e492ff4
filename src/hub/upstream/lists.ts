/**
 * One list of an upstream server: requested page by page, checked item by item.
 * Owns: when it ends, by number, size or time; what is reported of bad items. Leaves alone: which lists there are (listing.ts).
 * Always true: whatever the server sends, a list ends, and the part that is kept stays within the limits.
 */
import { messageOf } from '../../log.ts';
import { isObject, type Params } from '../../protocol/index.ts';
import { visibleLine } from '../../text.ts';
import { monotonicMs } from '../../wait.ts';
import { UpstreamError } from '../connection/connection.ts';
import type { McpClient } from '../connection/mcp-client.ts';
import { MAX_CURSOR, MAX_ITEM_BYTES, MAX_ITEMS, MAX_LIST_BYTES, MAX_PAGES, MAX_QUOTED_NAME } from './limits.ts';

/** A text of a server for people: without its secrets, of that length at most. */
export type Quote = (text: string, length: number) => string;

export interface ListKind<T> {
  /** Its first part is the name of the capability that the list belongs to. */
  readonly method: string;
  /** The member of the result that holds the items. */
  readonly key: string;
  /** What an item is called in a report, and the member that tells items apart. */
  readonly what: string;
  readonly name: string;
  /**
   * Without a list that it `must` have a server is not used. Few servers have one that they `may` have, and some never
   * answer: nothing waits for it long. Any other is reported when it fails.
   */
  readonly need?: 'must' | 'may';
  readonly maxItems?: number;
  /** See definitions.ts. */
  check(raw: Params, dropped: string[], mcp: McpClient): T | undefined;
}

export interface List<T> {
  readonly items: readonly T[];
  readonly faults: readonly string[];
  /** Milliseconds for which it is valid; Infinity where nothing is known; 0 when the request failed. */
  readonly ttlMs: number;
}

/** Every page of a list. `timeout` is for all pages together. */
export async function requestList<T>(kind: ListKind<T>, mcp: McpClient, quote: Quote, timeout: number) {
  const { method, key } = kind;
  const deadline = monotonicMs() + timeout;
  const { items, faults, add } = createItems(kind, mcp, quote);
  const cursors = new Set<string>();
  let ttlMs = Number.POSITIVE_INFINITY;
  for (let cursor: string | undefined; ; ) {
    const left = Math.max(1, Math.ceil(deadline - monotonicMs()));
    const { [key]: list, nextCursor: next, ttlMs: ttl } = await mcp.request(method, { cursor }, { timeout: left });
    if (!Array.isArray(list)) throw new UpstreamError(`the result of ${method} has no list of ${key}`);
    if (typeof ttl === 'number' && ttl >= 0) ttlMs = Math.min(ttlMs, ttl);
    const full = add(list) ?? (typeof next === 'string' ? cursorFault(next, cursors) : undefined);
    if (full !== undefined) faults.unshift(`${full}; ${items.size} ${key} are served`);
    if (full !== undefined || typeof next !== 'string') return { items: [...items.values()], faults, ttlMs };
    cursors.add(next);
    cursor = next;
  }
}

// --- internal ---

function cursorFault(cursor: string, earlier: ReadonlySet<string>): string | undefined {
  if (cursor.length > MAX_CURSOR) return `a cursor has over ${MAX_CURSOR} characters`;
  return earlier.has(cursor) || earlier.size >= MAX_PAGES ? 'the pages have no end' : undefined;
}

/** The items that can be served, each name once, and a fault for each of the others. */
function createItems<T>({ key, what, name, maxItems = MAX_ITEMS, check }: ListKind<T>, mcp: McpClient, quote: Quote) {
  const items = new Map<string, T>();
  const faults: string[] = [];
  // Values that are left out count too: otherwise a list of them would have no end.
  let [received, bytes] = [0, 0];

  /** Serves the item if it can be served. Returns what is to be reported of it. */
  function take(raw: Params, size: number): string | undefined {
    const dropped: string[] = [];
    try {
      if (size > MAX_ITEM_BYTES) throw new Error(`it is over ${MAX_ITEM_BYTES} bytes`);
      const item = check(raw, dropped, mcp);
      if (item === undefined) return undefined;
      const identity = visibleLine(String(raw[name]));
      if (items.has(identity)) return 'listed twice; the first is served';
      items.set(identity, item);
      return dropped.length > 0 ? `listed without its invalid fields: ${dropped.join(', ')}` : undefined;
    } catch (error) {
      return `left out: ${messageOf(error)}`;
    }
  }

  /** Returns the reason when no further item is accepted. */
  function add(list: readonly unknown[]): string | undefined {
    for (const raw of list) {
      const size = isObject(raw) ? JSON.stringify(raw).length : 0;
      const others = items.size < received ? ', with those that are left out' : '';
      received += 1;
      bytes += Math.min(size, MAX_ITEM_BYTES);
      if (received > maxItems) return `over ${maxItems} ${key}${others}`;
      if (bytes > MAX_LIST_BYTES) return `over ${MAX_LIST_BYTES} bytes of ${key}${others}`;
      if (!isObject(raw)) continue;
      const fault = take(raw, size);
      if (fault === undefined) continue;
      // The name is short, so that the reason after it is not cut off.
      const shown = typeof raw[name] === 'string' ? `"${quote(raw[name], MAX_QUOTED_NAME)}"` : 'without a name';
      faults.push(`${what} ${shown} is ${fault}`);
    }
    return undefined;
  }

  return { items, faults, add };
}
