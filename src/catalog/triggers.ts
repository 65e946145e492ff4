/**
 * What makes the registry look again: a timer, which is the truth, and a watcher, which is quicker.
 * Owns: the timers. Leaves alone: what a refresh does (registry.ts), how directories are watched (watcher.ts).
 * Always true: a burst of changes causes one refresh, after its last change; nothing here keeps the process alive.
 */
import { type Log, messageOf } from '../log.ts';
import type { Source, Watched } from '../model.ts';
import type { Registry } from './registry.ts';
import { createWatcher } from './watcher.ts';

export interface TriggerOptions {
  /** Undefined: no timer and no watcher. */
  readonly refreshInterval: number | undefined;
  readonly watch: boolean;
}

const DEBOUNCE_MS = 500;
// A file caught in the middle of a change is looked at again after this, and more and more seldom if it never rests.
const UNSETTLED_MS = 250;
const LONGEST_UNSETTLED_MS = 8000;

export function startTriggers(
  registry: Registry,
  sources: readonly Source[],
  options: TriggerOptions,
  log: Log,
): () => void {
  const { refreshInterval } = options;
  if (refreshInterval === undefined) return () => {};
  const stop = new AbortController();
  const { signal } = stop;
  const timers = { tick: undefined as Timer, quiet: undefined as Timer };

  const refresh = (reason: string) => {
    if (signal.aborted) return;
    registry.refresh(reason).catch((error) => log.error(`refresh (${reason}) failed: ${messageOf(error)}`));
  };
  const afterQuiet = (reason: string, wait: number) => {
    clearTimeout(timers.quiet);
    if (signal.aborted) return;
    timers.quiet = setTimeout(() => {
      timers.quiet = undefined;
      refresh(reason);
    }, wait).unref();
  };

  let patience = true;
  const tick = () => {
    // In the middle of a burst the refresh after it will do. It gets one tick's patience, then the timer goes on.
    const wait = timers.quiet !== undefined && patience;
    patience = !wait;
    if (!wait) refresh('timer');
    timers.tick = setTimeout(tick, refreshInterval).unref();
  };
  timers.tick = setTimeout(tick, refreshInterval).unref();

  const watcher = options.watch ? createWatcher(() => afterQuiet('watch', DEBOUNCE_MS), log) : undefined;
  let followed: readonly (readonly Watched[])[] = [];
  let unsettledFor = 0;
  registry.onRefresh(() => {
    if (signal.aborted) return;
    const unsettled = sources.some((source) => source.isUnsettled?.());
    if (unsettled) afterQuiet('settling', Math.min(UNSETTLED_MS * 2 ** unsettledFor, LONGEST_UNSETTLED_MS));
    unsettledFor = unsettled ? unsettledFor + 1 : 0;
    const watched = sources.map((source) => source.watched?.() ?? NOTHING_WATCHED);
    if (watched.every((one, at) => one === followed[at])) return;
    followed = watched;
    watcher?.follow(watched.flat());
  });

  return () => {
    stop.abort();
    clearTimeout(timers.tick);
    clearTimeout(timers.quiet);
    watcher?.close();
  };
}

// --- internal ---

const NOTHING_WATCHED: readonly Watched[] = [];

type Timer = NodeJS.Timeout | undefined;
