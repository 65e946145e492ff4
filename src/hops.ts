/**
 * The loop guard of hubs that serve hubs: a count of the hubs in front of this one.
 * Always true: the count that is passed on is higher than every count that was received lately, so in a loop it rises
 * until a hub in the loop refuses it.
 */
import { monotonicMs } from './wait.ts';

export const HOPS_HEADER = 'x-skillwire-hops';
/** The same for servers that are started as processes. */
export const HOPS_VARIABLE = 'SKILLWIRE_HOPS';
/**
 * A hub behind a hub behind a hub is more than we have met. A hub that is configured to run itself starts this many copies
 * of itself, and of all its servers, before the guard stops it.
 */
export const MAX_HOPS = 2;
/** A hub that is refused tries again after a minute at most, so a loop that still exists is not forgotten. */
export const HOPS_REMEMBERED_MS = 150_000;

export type Hops = ReturnType<typeof createHops>;

/** `started`: the count that this process was started with. */
export function createHops(started: unknown, now = monotonicMs) {
  const base = countIn(started);
  let highest = 0;
  let since = 0;
  const current = () => Math.max(base, highest > 0 && now() - since < HOPS_REMEMBERED_MS ? highest : 0);
  return {
    /** The count for upstream servers. */
    next: () => current() + 1,
    /** Takes the count that came with a request; false when the request must be refused. */
    accept(received: unknown): boolean {
      const count = countIn(received);
      if (count > 0 && count >= current()) [highest, since] = [count, now()];
      return count <= MAX_HOPS;
    },
  };
}

// --- internal ---

function countIn(text: unknown): number {
  const count = typeof text === 'string' && /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return Math.min(count, MAX_HOPS + 1);
}
