/**
 * One list of an upstream server: requested page by page, checked item by item.
 * Owns: when it ends, by number, size or time; what is reported of bad items. Leaves alone: what a valid item is
 * (definitions.ts, skill-entries.ts).
 * Always true: whatever the server sends, a list ends, and the part that is kept stays within the limits.
 */
import { isObject, type Params } from '../../protocol/index.ts';
import { printable, shorten } from '../../text.ts';
import type { Redact } from '../config/redact.ts';
import { UpstreamError } from '../connection/connection.ts';
import type { McpClient } from '../connection/dialects.ts';
import type { RequestOptions } from '../connection/rpc-client.ts';
import type { Checked } from './definitions.ts';
import {
  MAX_CURSOR,
  MAX_FAULT,
  MAX_FAULTS,
  MAX_ITEM_BYTES,
  MAX_ITEMS,
  MAX_LIST_BYTES,
  MAX_PAGES,
  MAX_QUOTED_NAME,
} from './limits.ts';

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

/** The items that can be passed on, each identity once, and a fault for each of the others. */
export function checkItems<T>(
  list: List<Params>,
  { what, key, redact }: { readonly what: string; readonly key: string; readonly redact: Redact },
  check: (raw: Params) => Checked<T>,
  identityOf: (raw: Params) => unknown = (raw) => raw[key],
): List<T> {
  const items = new Map<unknown, T>();
  const faults = [...list.faults];
  for (const raw of list.items) {
    const checked = check(raw);
    const subject = () => `${what} ${quote(raw[key], redact)}`;
    if (checked.kind === 'unusable') faults.push(`${subject()} is left out: ${checked.why}`);
    else if (items.has(identityOf(raw))) faults.push(`${subject()} is listed twice; the first is served`);
    else {
      items.set(identityOf(raw), checked.item);
      if (checked.dropped.length > 0)
        faults.push(`${subject()} is listed without its invalid fields: ${checked.dropped.join(', ')}`);
    }
  }
  return { ...list, items: [...items.values()], faults };
}

/** The faults of a list for people: a few of them, without secrets, short. */
export function faultTexts({ faults }: List<unknown>, redact: Redact): readonly string[] {
  const left = faults.length - MAX_FAULTS;
  const shown = left > 0 ? [...faults.slice(0, MAX_FAULTS), `and ${left} more like these`] : faults;
  // Secrets are removed before the text is cut: half a secret would not be recognized.
  return shown.map((fault) => printable(shorten(redact(fault), MAX_FAULT)));
}

// --- internal ---

function createItems(key: string, maxItems: number) {
  const items: Params[] = [];
  let bytes = 0;
  let oversized = 0;
  // Skipped values count too, with limits twice as high: otherwise a list of them would have no end.
  let received = 0;
  let receivedBytes = 0;
  return {
    /** Returns the reason when no further item is accepted. */
    add(list: readonly unknown[]): string | undefined {
      for (const item of list) {
        received += 1;
        if (received > 2 * maxItems) return `over ${2 * maxItems} ${key}, with those that are left out`;
        if (!isObject(item)) continue;
        if (items.length >= maxItems) return `over ${maxItems} ${key}`;
        const size = JSON.stringify(item).length;
        receivedBytes += size;
        if (receivedBytes > 2 * MAX_LIST_BYTES)
          return `over ${2 * MAX_LIST_BYTES} bytes of ${key}, with those that are left out`;
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

/** Short, so that the reason after it is not cut off. */
function quote(name: unknown, redact: Redact): string {
  return typeof name === 'string' ? `"${shorten(redact(name), MAX_QUOTED_NAME)}"` : 'without a name';
}
