/**
 * Watches directories, one by one: on Linux a recursive watch no longer sees a file after one atomic save.
 * Owns: the watches. Leaves alone: what a change leads to (triggers.ts).
 * Always true: what is watched follows what the last refresh saw; a change is told while it is made or right after the
 * watch is set; when the system has no more watches to give, that is said once and all of them are given back.
 */
import { type FSWatcher, watch as watchDirectory } from 'node:fs';
import { type Log, messageOf } from '../log.ts';
import type { Watched } from '../model.ts';

export interface Watcher {
  /** From now on these and no others. */
  follow(targets: readonly Watched[]): void;
  close(): void;
}

export type Watch = typeof watchDirectory;

/** `onChange` is also called when new watches stand: something may have changed since their directories were looked at. */
export function createWatcher(onChange: () => void, log: Log, watch: Watch = watchDirectory): Watcher {
  const watches = new Map<string, FSWatcher>();
  let wanted: Wanted = new Map();
  let state: 'idle' | 'busy' | 'over' = 'idle';

  function add(directory: string): void {
    try {
      const one = watch(directory, { persistent: false }, (_event, name) => {
        const only = wanted.get(directory);
        if (only === 'all' || name === null || only?.has(name)) onChange();
      });
      one.on('error', () => drop(directory)); // It is gone; the refresh that notices brings the next one.
      watches.set(directory, one);
    } catch (error) {
      if (!isExhaustion(error)) return; // It vanished, or may not be watched: the timer still looks there.
      log.warn(`no more file watches (${messageOf(error)}); changes are seen at the next timed refresh instead`);
      close();
    }
  }

  function drop(directory: string): void {
    watches.get(directory)?.close();
    watches.delete(directory);
  }

  function close(): void {
    state = 'over';
    for (const directory of watches.keys()) drop(directory);
  }

  async function adjust(): Promise<void> {
    state = 'busy';
    // Answers that wait for the scan go first.
    await new Promise((done) => setTimeout(done, BREATHER_MS).unref());
    const target = wanted;
    let added = 0;
    for (const directory of watches.keys()) if (!target.has(directory)) drop(directory);
    for (const directory of target.keys()) {
      if (isOver()) return;
      if (watches.has(directory)) continue;
      add(directory);
      if (watches.has(directory)) added++;
      if (added % WATCHES_PER_TURN === 0) await new Promise((done) => setImmediate(done));
    }
    if (isOver()) return;
    state = 'idle';
    if (added > 0) onChange();
    if (wanted !== target) await adjust();
  }

  // Closing may come while it waits, which the compiler cannot see.
  const isOver = () => (state as string) === 'over';

  return {
    follow(targets) {
      wanted = byDirectory(targets);
      if (state === 'idle') void adjust();
    },
    close,
  };
}

// --- internal ---

/** By directory: which of its entries matter. */
type Wanted = ReadonlyMap<string, ReadonlySet<string> | 'all'>;

// Setting a watch takes some 20 µs; after this many the event loop gets its turn.
const WATCHES_PER_TURN = 50;
const BREATHER_MS = 20;

function byDirectory(targets: readonly Watched[]): Wanted {
  const wanted = new Map<string, Set<string> | 'all'>();
  for (const { directory, only } of targets) {
    const known = wanted.get(directory);
    if (only === undefined || known === 'all') wanted.set(directory, 'all');
    else if (known) known.add(only);
    else wanted.set(directory, new Set([only]));
  }
  return wanted;
}

function isExhaustion(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EMFILE');
}
