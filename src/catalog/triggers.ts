/**
 * What makes the registry look again: a timer, which is the truth, and a watcher, which is quicker.
 * Owns: timers and watches. Leaves alone: what a refresh does (registry.ts).
 * Always true: a burst of changes causes one refresh, after its last change; nothing here keeps the process alive.
 *
 * Directories are watched one by one: on Linux a recursive watch no longer sees a file after one atomic save.
 */
import { type FSWatcher, watch } from 'node:fs';
import { type Log, messageOf } from '../log.ts';
import type { Contribution, Watched } from '../model.ts';
import type { Registry } from './registry.ts';

export interface TriggerOptions {
  /** Undefined: no timer and no watcher. */
  readonly refreshInterval: number | undefined;
  readonly watch: boolean;
}

const DEBOUNCE_MS = 500;
// A file caught in the middle of a change is looked at again after this.
const UNSETTLED_MS = 250;

export function startTriggers(registry: Registry, options: TriggerOptions, log: Log): () => void {
  const { refreshInterval } = options;
  const timers = { tick: undefined as Timer, quiet: undefined as Timer };
  let stopped = false;

  const refresh = (reason: string) => {
    if (stopped) return;
    registry.refresh(reason).catch((error) => log.error(`refresh (${reason}) failed: ${messageOf(error)}`));
  };
  const afterQuiet = (reason: string, wait: number) => {
    clearTimeout(timers.quiet);
    timers.quiet = setTimeout(() => {
      timers.quiet = undefined;
      refresh(reason);
    }, wait).unref();
  };
  const tick = () => {
    // In the middle of a burst the refresh after it will do. It gets one tick's patience, then the timer goes on.
    if (timers.quiet && !patience) patience = true;
    else {
      patience = false;
      refresh('timer');
    }
    timers.tick = setTimeout(tick, refreshInterval).unref();
  };
  let patience = false;

  const watcher = createWatcher(() => afterQuiet('watch', DEBOUNCE_MS), log);
  registry.onRefresh(({ contributions }) => {
    if (stopped || refreshInterval === undefined) return;
    if (contributions.some(({ unsettled }) => unsettled)) afterQuiet('settling', UNSETTLED_MS);
    if (options.watch) watcher.follow(contributions);
  });
  if (refreshInterval !== undefined) timers.tick = setTimeout(tick, refreshInterval).unref();

  return () => {
    stopped = true;
    clearTimeout(timers.tick);
    clearTimeout(timers.quiet);
    watcher.close();
  };
}

// --- internal ---

type Timer = NodeJS.Timeout | undefined;

// Setting a watch takes some 20 µs; after this many the event loop gets its turn.
const WATCHES_PER_TURN = 50;
const BREATHER_MS = 20;

function createWatcher(onChange: () => void, log: Log) {
  const watches = new Map<string, FSWatcher>();
  let wanted: ReadonlyMap<string, Watched> = new Map();
  let busy = false;
  let first = true;
  let exhausted = false;

  function add(key: string, { directory, only }: Watched): void {
    try {
      const one = watch(directory, { persistent: false }, (_event, name) => {
        if (only === undefined || name === null || name === only) onChange();
      });
      one.on('error', () => drop(key)); // The directory is gone; the refresh that notices brings the next one.
      watches.set(key, one);
    } catch (error) {
      if (!isExhaustion(error)) return; // It vanished, or may not be watched: the timer still looks there.
      exhausted = true;
      log.warn(`no more file watches (${messageOf(error)}); changes are seen at the next timed refresh instead`);
      close();
    }
  }

  function drop(key: string): void {
    watches.get(key)?.close();
    watches.delete(key);
  }

  function close(): void {
    for (const key of watches.keys()) drop(key);
  }

  async function adjust(): Promise<void> {
    busy = true;
    // Answers that wait for the scan go first.
    await new Promise((done) => setTimeout(done, BREATHER_MS).unref());
    const target = wanted;
    const added: string[] = [];
    for (const key of watches.keys()) if (!target.has(key)) drop(key);
    for (const [key, one] of target) {
      if (exhausted) break;
      if (watches.has(key)) continue;
      add(key, one);
      added.push(key);
      if (added.length % WATCHES_PER_TURN === 0) await new Promise((done) => setImmediate(done));
    }
    // Between the look into a new directory and the watch on it something may have come in.
    if (added.some((key) => watches.has(key)) && !first) onChange();
    first = false;
    busy = false;
    if (wanted !== target && !exhausted) await adjust();
  }

  return {
    follow(contributions: readonly Contribution[]): void {
      const targets = contributions.flatMap(({ watched }) => watched);
      wanted = new Map(targets.map((target) => [`${target.directory}\0${target.only ?? ''}`, target]));
      if (!busy && !exhausted) void adjust();
    },
    close(): void {
      exhausted = true;
      close();
    },
  };
}

function isExhaustion(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EMFILE');
}
