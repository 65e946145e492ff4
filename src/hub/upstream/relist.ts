/**
 * When the lists of a server are asked for again.
 * Owns: the pace of that, for one session. Leaves alone: what is asked for (inventory.ts), who hears of a change
 * (vigil.ts).
 * Always true:
 * - listings never overlap; being told of a change during one causes exactly one more;
 * - a server that keeps announcing changes is listed less and less often, and its last state is always seen;
 * - it ends with `until`.
 */
import { pause } from '../../wait.ts';

/** What a listing says of the next one. */
export interface ListingOutcome {
  /** Something could not be had: to be tried again soon. */
  readonly isOld: boolean;
  /** Milliseconds for which the lists hold though nothing is announced; undefined: until a change is announced. */
  readonly ttlMs: number | undefined;
}

export interface RelistOptions {
  /** Rejects when the lists cannot be had. */
  list(isFirst: boolean): Promise<ListingOutcome>;
  /** Whether a failure says nothing of the lists, so that those which are known still count. */
  isTransient(error: unknown): boolean;
  /** `list` rejected, and not for the first time. */
  fail(error: unknown): void;
  readonly until: AbortSignal;
}

export interface Relist {
  /** The first listing. */
  begin(): Promise<void>;
  /** The lists have changed, or may have. */
  again(): void;
}

// Shorter than a person notices; a server that announces a change per item it loads is asked twice a second at most.
export const SHORTEST_RELIST_MS = 500;
// The delay with which the last state of a restless server is seen.
export const LONGEST_RELIST_MS = 8000;
// Lists are asked for by polling only where a server announces nothing; a small `ttlMs` must not become a load.
export const SHORTEST_TTL_MS = 60_000;
// A list that fails for ever is asked for as often as a server that does not start.
const LONGEST_RETRY_MS = 60_000;

export function createRelist({ list, isTransient, fail, until }: RelistOptions): Relist {
  let wanted = false;
  let wake = () => {};
  // How often in a row a change was announced before the pause after a listing was over; how often a list failed.
  let restless = 0;
  let failures = 0;

  const sleep = (milliseconds: number) => {
    const awake = new AbortController();
    wake = () => awake.abort();
    return pause(milliseconds, AbortSignal.any([until, awake.signal]));
  };

  async function look(isFirst: boolean): Promise<ListingOutcome> {
    wanted = false;
    const listed = await list(isFirst);
    failures = listed.isOld ? failures + 1 : 0;
    return listed;
  }

  function excuse(error: unknown): ListingOutcome {
    if (!isTransient(error)) throw error;
    failures += 1;
    return { isOld: true, ttlMs: undefined };
  }

  /** From one listing to the next. */
  async function rest(listed: ListingOutcome): Promise<void> {
    await pause(doubled(SHORTEST_RELIST_MS, restless, LONGEST_RELIST_MS), until);
    restless = wanted ? restless + 1 : 0;
    if (wanted) return;
    const retry = listed.isOld ? doubled(2 * SHORTEST_RELIST_MS, failures - 1, LONGEST_RETRY_MS) : undefined;
    const poll = listed.ttlMs === undefined ? undefined : Math.max(listed.ttlMs, SHORTEST_TTL_MS);
    await sleep(Math.min(retry ?? FOR_EVER, poll ?? FOR_EVER, FOR_EVER));
  }

  async function goOn(first: ListingOutcome): Promise<void> {
    for (let listed = first; ; listed = await look(false).catch(excuse)) {
      await rest(listed);
      if (until.aborted) return;
    }
  }

  return {
    async begin() {
      const first = await look(true);
      goOn(first).catch((error: unknown) => {
        if (!until.aborted) fail(error);
      });
    },
    again() {
      wanted = true;
      wake();
    },
  };
}

// --- internal ---

// The longest that a timer can wait. A listing every three weeks does no harm.
const FOR_EVER = 2 ** 31 - 1;

function doubled(first: number, times: number, most: number): number {
  return Math.min(first * 2 ** Math.min(times, 30), most);
}
