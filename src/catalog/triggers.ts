/**
 * What starts a refresh: a timer, which finds every change, a watcher, which finds most of them sooner, and a source that
 * says that it has changed. Owns: the two timers. Leaves alone: the refresh (registry.ts), the watches (watcher.ts).
 * Always true:
 * - every tick of the timer is a refresh, whatever else happens.
 * - a burst of changes causes one refresh, DEBOUNCE_MS after its last change; the timer does not wait for its end.
 * - nothing here keeps the process alive.
 */
import type { Settings } from '../config.ts';
import { DEBOUNCE_MS } from '../limits.ts';
import { stackOf } from '../log.ts';
import type { Source } from '../model.ts';
import type { Registry } from './registry.ts';
import { createWatcher } from './watcher.ts';

/** To be called before the first refresh. Returns what stops all of it. */
export function startTriggers(registry: Registry, sources: readonly Source[], settings: Settings): () => void {
  const { autoRefresh, refreshInterval, watch, log } = settings;
  let isStopped = false;
  const refresh = (reason: string) => {
    if (isStopped) return;
    registry.refresh(reason).catch((error) => log.error(`refresh (${reason}) failed: ${stackOf(error)}`));
  };
  for (const source of sources) source.onChange?.(refresh);

  let debounce: NodeJS.Timeout | undefined;
  const onWatchEvent = () => {
    clearTimeout(debounce);
    debounce = setTimeout(refresh, DEBOUNCE_MS, 'watch').unref();
  };
  const interval = autoRefresh ? setInterval(() => refresh('timer'), refreshInterval).unref() : undefined;
  const watcher = autoRefresh && watch ? createWatcher(onWatchEvent, log) : undefined;
  let watched: readonly unknown[] = [];
  if (watcher)
    registry.onRefresh(() => {
      const wanted = sources.map((source) => source.watched?.());
      if (wanted.every((one, at) => one === watched[at])) return;
      watched = wanted;
      watcher.follow(wanted.flatMap((one) => one ?? []));
    });

  return () => {
    isStopped = true;
    clearInterval(interval);
    clearTimeout(debounce);
    watcher?.close();
  };
}
