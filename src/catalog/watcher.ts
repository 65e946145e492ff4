/**
 * Watches directories, one by one: on Linux a recursive watch no longer sees a file after one atomic save.
 * Owns: the watches. Leaves alone: what a change leads to (triggers.ts).
 * Always true: what is watched follows what the last refresh saw, also when another directory has taken the place of
 * one that was watched (a watch stays with the old one, wherever that is); a change is told while it is made or right after the
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
  const watches = new Map<string, MessageScope>();
  let wanted: Wanted = new Map();
  let state: 'idle' | 'busy' | 'over' = 'idle';

  function add(directory: string, identity: string | undefined): void {
    try {
      const one = watch(directory, { persistent: false }, (_event, name) => {
        const only = wanted.get(directory)?.only;
        if (only === 'all' || name === null || only?.has(name)) onChange();
      });
      one.on('error', () => drop(directory)); // It is gone; the refresh that notices brings the next one.
      watches.set(directory, { watch: one, identity });
    } catch (error) {
      if (!isExhaustion(error)) return; // It vanished, or may not be watched: the timer still looks there.
      log.warn(`no more file watches (${messageOf(error)}); changes are seen at the next timed refresh instead`);
      close();
    }
  }

  function drop(directory: string): void {
    watches.get(directory)?.watch.close();
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
    for (const [directory, { identity }] of watches) {
      const next = target.get(directory);
      if (!next || next.identity !== identity) drop(directory);
    }
    for (const [directory, { identity }] of target) {
      if (isOver()) return;
      if (watches.has(directory)) continue;
      add(directory, identity);
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
      if (state === 'idle') adjust().catch((error) => log.error(`watching failed: ${messageOf(error)}`));
    },
    close,
  };
}

// --- internal ---

interface MessageScope {
  readonly watch: FSWatcher;
  /** See `Watched`. */
  readonly identity: string | undefined;
}

/** By directory: which of its entries matter, and which directory it is. */
type Wanted = ReadonlyMap<
  string,
  { readonly only: ReadonlySet<string> | 'all'; readonly identity: string | undefined }
>;

// Setting a watch takes some 20 µs; after this many the event loop gets its turn.
const WATCHES_PER_TURN = 50;
const BREATHER_MS = 20;

function byDirectory(targets: readonly Watched[]): Wanted {
  const wanted = new Map<string, { only: Set<string> | 'all'; identity: string | undefined }>();
  for (const { directory, only, identity } of targets) {
    const known = wanted.get(directory) ?? { only: new Set(), identity };
    wanted.set(directory, known);
    if (only === undefined) known.only = 'all';
    else if (known.only !== 'all') known.only.add(only);
  }
  return wanted;
}

function isExhaustion(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EMFILE');
}
