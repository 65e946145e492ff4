/**
 * What starts a refresh: the start, a timer, which finds every change, a watcher, which finds most of them sooner, and a
 * source that says that it has changed.
 * Owns: the two timers. Leaves alone: the refresh (registry.ts), the watches (watcher.ts).
 * Always true:
 * - every tick of the timer is a refresh, whatever else happens.
 * - a burst of watch events causes one refresh, DEBOUNCE_MS after its last one; the timer does not wait for its end.
 * - nothing here keeps the process alive.
 */
import type { Settings } from '../config.ts';
import { DEBOUNCE_MS } from '../limits.ts';
import { stackOf } from '../log.ts';
import type { Source } from '../model.ts';
import type { Registry } from './registry.ts';
import { createWatcher } from './watcher.ts';

/** Returns what stops all of it. */
export function startTriggers(registry: Registry, sources: readonly Source[], settings: Settings): () => void {
  const { autoRefresh, refreshInterval, watch, log } = settings;
  let isStopped = false;
  const begin = (reason: string) =>
    void registry.refresh(reason).catch((error) => log.error(`refresh (${reason}) failed: ${stackOf(error)}`));
  const refresh = (reason: string) => {
    if (!isStopped) begin(reason);
  };
  // Two turns of the event loop: a handshake that is already there is read in one and its answer written in the other.
  // The input may have ended by then; what it asked for waits for the first snapshot all the same.
  setImmediate(() => setImmediate(begin, 'start'));
  for (const source of sources) source.onChange?.(refresh);

  let debounce: NodeJS.Timeout | undefined;
  const onWatchEvent = () => {
    clearTimeout(debounce);
    debounce = setTimeout(refresh, DEBOUNCE_MS, 'watch').unref();
  };
  const interval = autoRefresh ? setInterval(() => refresh('timer'), refreshInterval).unref() : undefined;
  const watcher = autoRefresh && watch ? createWatcher(onWatchEvent, log) : undefined;
  registry.onRefresh(() => watcher?.follow(sources.flatMap((source) => source.watched?.() ?? [])));

  return () => {
    isStopped = true;
    clearInterval(interval);
    clearTimeout(debounce);
    watcher?.close();
  };
}
