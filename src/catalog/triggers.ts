/**
 * What starts a refresh: a timer, which finds every change, and a watcher, which finds most of them sooner.
 * Owns: the timers. Leaves alone: the refresh (registry.ts), watching directories (watcher.ts).
 * Always true: a burst of changes causes one refresh, after its last change; nothing here keeps the process alive.
 */
import { type Clock, systemClock } from '../clock.ts';
import { sameItems } from '../compare.ts';
import { type Log, messageOf } from '../log.ts';
import type { Source, Watched } from '../model.ts';
import { DEBOUNCE_MS, LONGEST_UNSETTLED_MS, UNSETTLED_MS } from './limits.ts';
import type { Registry } from './registry.ts';
import { createWatcher } from './watcher.ts';

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
): () => void {
  if (refreshInterval === undefined) return () => {};
  let isStopped = false;
  let cancelTick = () => {};
  let cancelQuiet: (() => void) | undefined;

  const refresh = (reason: string) => {
    registry.refresh(reason).catch((error) => log.error(`refresh (${reason}) failed: ${messageOf(error)}`));
  };
  const refreshAfter = (quiet: number, reason: string) => {
    cancelQuiet?.();
    if (isStopped) return;
    cancelQuiet = clock.timer(quiet, () => {
      cancelQuiet = undefined;
      refresh(reason);
    });
  };

  let wasSkipped = false;
  const tick = () => {
    // During a burst of changes the refresh after it is enough; but a burst may delay the timer only once.
    wasSkipped = cancelQuiet !== undefined && !wasSkipped;
    if (!wasSkipped) refresh('timer');
    cancelTick = clock.timer(refreshInterval, tick);
  };
  cancelTick = clock.timer(refreshInterval, tick);

  const watcher = watch ? createWatcher(() => refreshAfter(DEBOUNCE_MS, 'watch'), log) : undefined;
  let watched: readonly (readonly Watched[])[] = [];
  let unsettledInRow = 0;
  registry.onRefresh(() => {
    if (isStopped) return;
    const isUnsettled = sources.some((source) => source.isUnsettled?.());
    if (isUnsettled) refreshAfter(Math.min(UNSETTLED_MS * 2 ** unsettledInRow, LONGEST_UNSETTLED_MS), 'settling');
    unsettledInRow = isUnsettled ? unsettledInRow + 1 : 0;
    const wanted = sources.map((source) => source.watched?.() ?? NOTHING_WATCHED);
    if (sameItems(wanted, watched)) return;
    watched = wanted;
    watcher?.follow(wanted.flat());
  });

  return () => {
    isStopped = true;
    cancelTick();
    cancelQuiet?.();
    watcher?.close();
  };
}

// --- internal ---

const NOTHING_WATCHED: readonly Watched[] = [];
