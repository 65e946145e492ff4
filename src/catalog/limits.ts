/** Every timeout and number of catalog/, with its reason. */

/** How long the first lists wait for upstream servers. Most servers start within this, and the client waits meanwhile. */
export const FIRST_LISTS_MS = 1000;
/** Between two timed refreshes: the contract's number. */
export const DEFAULT_INTERVAL_MS = 30_000;
/** The same while everything is watched: looking at a thousand skills takes 20 ms each time. */
export const WATCHED_INTERVAL_MS = 300_000;
/** A burst of file changes is over when this long nothing has changed. */
export const DEBOUNCE_MS = 500;
/** A burst that goes on longer causes a refresh all the same: one file may be written to without a pause. */
export const LONGEST_BURST_MS = 2000;
/** A file that was changing during a refresh is read again after this; the time doubles while it keeps changing. */
export const UNSETTLED_MS = 250;
export const LONGEST_UNSETTLED_MS = 8000; // It doubles up to this.
/** While nothing is watched yet, watches are set this long after a scan: a list of ten thousand skills, which waited for it, is sent by then. */
export const FIRST_WATCH_DELAY_MS = 250;
