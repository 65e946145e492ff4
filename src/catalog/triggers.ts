/**
 * What starts a refresh: a timer, which finds every change, and a watcher, which finds most of them sooner.
 * Owns: the timers. Leaves alone: the refresh (registry.ts), watching directories (watcher.ts).
 * Always true: a burst of changes causes one refresh, after its last change, but no later than LONGEST_BURST_MS after its
 * first; the timer waits for nothing; nothing here keeps the process alive.
 */
import { type Clock, systemClock } from '../clock.ts';
import { sameItems } from '../compare.ts';
import { type Log, messageOf } from '../log.ts';
import type { Source, Watched } from '../model.ts';
import { DEBOUNCE_MS, LONGEST_BURST_MS, LONGEST_UNSETTLED_MS, UNSETTLED_MS } from './limits.ts';
import type { Registry } from './registry.ts';
import { createWatcher, type Watch } from './watcher.ts';

export interface TriggerOptions {
  /** Undefined: no timer and no watcher. */
  readonly refreshInterval: number | undefined;
  readonly watch: boolean;
}

/** Gives a function that stops them. */
export function startTriggers(
  registry: Registry,
  sources: readonly Source[],
  { refreshInterval, watch }: TriggerOptions,
  log: Log,
  clock: Clock = systemClock,
  watchDirectory?: Watch,
): () => void {
  if (refreshInterval === undefined) return () => {};
  let isStopped = false;
  let cancelTick = () => {};
  let cancelBurst = () => {};
  let cancelSettling = () => {};
  /** When the first change of the current burst was seen. */
  let burstStart: number | undefined;

  const refresh = (reason: string) => {
    registry.refresh(reason).catch((error) => log.error(`refresh (${reason}) failed: ${messageOf(error)}`));
  };
  const onChange = () => {
    if (isStopped) return;
    burstStart ??= clock.now();
    // A file that is written all the time must not delay the changes of all others.
    const rest = burstStart + LONGEST_BURST_MS - clock.now();
    cancelBurst();
    cancelBurst = clock.timer(Math.max(0, Math.min(DEBOUNCE_MS, rest)), () => {
      burstStart = undefined;
      refresh('watch');
    });
  };

  const tick = () => {
    refresh('timer');
    cancelTick = clock.timer(refreshInterval, tick);
  };
  cancelTick = clock.timer(refreshInterval, tick);

  const watcher = watch ? createWatcher(onChange, log, watchDirectory) : undefined;
  let watched: readonly (readonly Watched[])[] = [];
  let unsettledInRow = 0;
  registry.onRefresh(() => {
    if (isStopped) return;
    const isUnsettled = sources.some((source) => source.isUnsettled?.());
    cancelSettling();
    if (isUnsettled) {
      const wait = Math.min(UNSETTLED_MS * 2 ** unsettledInRow, LONGEST_UNSETTLED_MS);
      cancelSettling = clock.timer(wait, () => refresh('settling'));
    }
    unsettledInRow = isUnsettled ? unsettledInRow + 1 : 0;
    const wanted = sources.map((source) => source.watched?.() ?? NOTHING_WATCHED);
    if (sameItems(wanted, watched)) return;
    watched = wanted;
    watcher?.follow(wanted.flat());
  });

  return () => {
    isStopped = true;
    cancelTick();
    cancelBurst();
    cancelSettling();
    watcher?.close();
  };
}

// --- internal ---

const NOTHING_WATCHED: readonly Watched[] = [];
