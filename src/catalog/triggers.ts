/**
 * What starts a refresh: a timer, which finds every change, a watcher, which finds most of them sooner, and a source that
 * says so. Owns: the timers. Leaves alone: the refresh (registry.ts), watching directories (watcher.ts).
 * Always true: a burst of changes causes one refresh, after its last change, and a change is looked at no later than
 * LONGEST_BURST_MS after it; the timer waits for nothing, and is spared only while all that the sources depend on is
 * watched; nothing here keeps the process alive.
 */
import { sameItems } from '../compare.ts';
import { type Log, stackOf } from '../log.ts';
import type { Source, Watched } from '../model.ts';
import { type Clock, systemClock } from '../wait.ts';
import {
  DEBOUNCE_MS,
  DEFAULT_INTERVAL_MS,
  LONGEST_BURST_MS,
  LONGEST_UNSETTLED_MS,
  UNSETTLED_MS,
  WATCHED_INTERVAL_MS,
} from './limits.ts';
import type { Registry } from './registry.ts';
import { createWatcher, type WatchSystem } from './watcher.ts';

export interface TriggerOptions {
  /** False: no timer and no watcher. */
  readonly autoRefresh: boolean;
  /** Undefined: DEFAULT_INTERVAL_MS, and WATCHED_INTERVAL_MS while everything is watched. */
  readonly refreshInterval: number | undefined;
  readonly watch: boolean;
}

/** `begin` starts the timer and the watcher. `refresh` is for any other cause. */
export function createTriggers(
  registry: Registry,
  sources: readonly Source[],
  { autoRefresh, refreshInterval, watch }: TriggerOptions,
  log: Log,
  clock: Clock = systemClock,
  system?: WatchSystem,
): { begin(): void; stop(): void; refresh(cause: string): void } {
  /** When the first change since the last refresh was seen. */
  let burstStart: number | undefined;
  const refresh = (cause: string) => {
    // A refresh for another cause finds the changes that the watcher has seen.
    const reason = burstStart === undefined || cause === 'watch' ? cause : `${cause}, watch`;
    burstStart = undefined;
    registry.refresh(reason).catch((error) => log.error(`refresh (${reason}) failed: ${stackOf(error)}`));
  };
  if (!autoRefresh) return { begin() {}, stop() {}, refresh };
  /** The timer of each reason, as a function that cancels it. */
  const timers = new Map<string, () => void>();
  let isStopped = false;

  const cancel = (reason: string) => timers.get(reason)?.();
  const refreshIn = (milliseconds: number, reason: string) => {
    if (isStopped) return;
    cancel(reason);
    const timer = clock.timer(milliseconds, () => refresh(reason));
    timers.set(reason, timer);
  };
  const onChange = () => {
    burstStart ??= clock.now();
    // A file that is written all the time must not delay the changes of all others.
    const rest = burstStart + LONGEST_BURST_MS - clock.now();
    refreshIn(Math.max(0, Math.min(DEBOUNCE_MS, rest)), 'watch');
  };
  const watcher = watch ? createWatcher(onChange, log, system) : undefined;
  let lastRefresh = clock.now();
  const tick = () => {
    const isSpared =
      refreshInterval === undefined && watcher?.isReliable() && sources.every((source) => source.isFullyWatched?.());
    if (isSpared && clock.now() - lastRefresh < WATCHED_INTERVAL_MS)
      log.info('refresh (timer): the watches saw no change');
    else refresh('timer');
    startTick();
  };
  const startTick = () => void timers.set('timer', clock.timer(refreshInterval ?? DEFAULT_INTERVAL_MS, tick));
  let watched: readonly (readonly Watched[] | undefined)[] = [];
  let unsettledInRow = 0;
  const look = () => {
    lastRefresh = clock.now();
    const isUnsettled = sources.some((source) => source.isUnsettled?.());
    if (isUnsettled) refreshIn(Math.min(UNSETTLED_MS * 2 ** unsettledInRow, LONGEST_UNSETTLED_MS), 'settling');
    else cancel('settling');
    unsettledInRow = isUnsettled ? unsettledInRow + 1 : 0;
    const wanted = sources.map((source) => source.watched?.());
    if (sameItems(wanted, watched)) return;
    watched = wanted;
    watcher?.follow(wanted.flatMap((one) => one ?? []));
  };

  return {
    refresh,
    begin() {
      if (isStopped) return;
      startTick();
      registry.onRefresh(look);
      // For the refreshes before this.
      if (registry.current()) look();
    },
    stop() {
      isStopped = true;
      for (const reason of timers.keys()) cancel(reason);
      watcher?.close();
    },
  };
}
