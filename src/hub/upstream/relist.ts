/**
 * When the lists of a server are requested again.
 * Owns: the times of that, for one session. Leaves alone: requesting them (listing.ts), who learns of a change (health.ts).
 * Always true:
 * - listings never overlap; a change that is announced during one causes exactly one more;
 * - a server that keeps announcing changes is listed less and less often, and its last state is always seen;
 * - it ends with `until`.
 */
import { pause } from '../../wait.ts';
import { MAX_LIST_RETRY_MS, MAX_RELIST_MS, MIN_RELIST_MS, MIN_TTL_MS } from './limits.ts';

/** What a listing says about the next one. */
export interface ListingOutcome {
  /** A list could not be requested: it is tried again soon. */
  readonly isOutdated: boolean;
  /** Milliseconds until the lists are requested again without an announced change; undefined: never. */
  readonly ttlMs: number | undefined;
}

export interface RelistOptions {
  list(isFirst: boolean): Promise<ListingOutcome>;
  /** Called when `list` rejects, except for the first time. */
  fail(error: unknown): void;
  readonly until: AbortSignal;
}

export interface Relist {
  /** The first listing. */
  begin(): Promise<void>;
  /** The lists have changed, or may have. */
  again(): void;
}

export function createRelist({ list, fail, until }: RelistOptions): Relist {
  let isWanted = false;
  let wake = () => {};
  // How often in a row a change was announced during the pause after a listing, and how often a list failed.
  let changes = 0;
  let failures = 0;

  async function listOnce(isFirst: boolean): Promise<ListingOutcome> {
    isWanted = false;
    const outcome = await list(isFirst);
    failures = outcome.isOutdated ? failures + 1 : 0;
    return outcome;
  }

  async function waitForNext({ isOutdated, ttlMs }: ListingOutcome): Promise<void> {
    await pause(doubled(MIN_RELIST_MS, changes, MAX_RELIST_MS), until);
    changes = isWanted ? changes + 1 : 0;
    if (isWanted) return;
    const retry = isOutdated ? doubled(2 * MIN_RELIST_MS, failures - 1, MAX_LIST_RETRY_MS) : MAX_TIMER_MS;
    const poll = ttlMs === undefined ? MAX_TIMER_MS : Math.max(ttlMs, MIN_TTL_MS);
    const awake = new AbortController();
    wake = () => awake.abort();
    await pause(Math.min(retry, poll, MAX_TIMER_MS), AbortSignal.any([until, awake.signal]));
  }

  async function repeat(first: ListingOutcome): Promise<void> {
    for (let outcome = first; ; outcome = await listOnce(false)) {
      await waitForNext(outcome);
      if (until.aborted) return;
    }
  }

  return {
    async begin() {
      const first = await listOnce(true);
      repeat(first).catch((error: unknown) => {
        if (!until.aborted) fail(error);
      });
    },
    again() {
      isWanted = true;
      wake();
    },
  };
}

// --- internal ---

// The longest time that a timer can have. A listing every three weeks does no harm.
const MAX_TIMER_MS = 2 ** 31 - 1;

function doubled(first: number, times: number, most: number): number {
  return Math.min(first * 2 ** Math.min(times, 30), most);
}
