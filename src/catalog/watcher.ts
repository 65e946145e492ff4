/**
 * Watches directories one by one: on Linux a recursive watch no longer reports a file after one atomic save.
 * Owns: the watches. Leaves alone: when a change causes a refresh (triggers.ts).
 * Always true:
 * - the watched directories are those of the last refresh; a directory that was replaced by another one is watched anew,
 *   because a watch stays with the old one;
 * - a change between a directory's scan and its watch is not missed: `onChange` is called when new watches are set;
 * - when the system has no more watches, one warning is logged and all of them are closed.
 */
import { type FSWatcher, watch as watchDirectory } from 'node:fs';
import { codeOf } from '../files/stats.ts';
import { type Log, messageOf } from '../log.ts';
import type { Watched } from '../model.ts';
import { backgroundDelay } from '../wait.ts';
import { WATCH_DELAY_MS, WATCHES_PER_TURN } from './limits.ts';

export interface Watcher {
  /** From now on these directories are watched, and no others. */
  follow(targets: readonly Watched[]): void;
  close(): void;
}

export type Watch = typeof watchDirectory;

export function createWatcher(onChange: () => void, log: Log, watch: Watch = watchDirectory): Watcher {
  const watches = new Map<string, ActiveWatch>();
  let wanted: Wanted = new Map();
  let state: 'idle' | 'busy' | 'closed' = 'idle';

  function add(directory: string, identity: string | undefined): void {
    try {
      const one = watch(directory, { persistent: false }, (_event, name) => {
        const only = wanted.get(directory)?.only;
        if (only === 'all' || name === null || only?.has(name)) onChange();
      });
      one.on('error', () => drop(directory)); // The directory is gone; the refresh that notices may set a new watch.
      watches.set(directory, { watch: one, identity });
    } catch (error) {
      // Any other directory is gone or may not be watched: the timer finds its changes.
      if (!['ENOSPC', 'EMFILE'].includes(codeOf(error))) return;
      log.warn(`no more file watches (${messageOf(error)}); changes are seen at the next timed refresh instead`);
      close();
    }
  }

  function drop(directory: string): void {
    watches.get(directory)?.watch.close();
    watches.delete(directory);
  }

  function close(): void {
    state = 'closed';
    for (const directory of watches.keys()) drop(directory);
  }

  async function adjust(): Promise<void> {
    state = 'busy';
    await backgroundDelay(WATCH_DELAY_MS);
    const target = wanted;
    let added = 0;
    for (const [directory, { identity }] of watches) {
      const next = target.get(directory);
      if (!next || next.identity !== identity) drop(directory);
    }
    for (const [directory, { identity }] of target) {
      if (isClosed()) return;
      if (watches.has(directory)) continue;
      add(directory, identity);
      if (watches.has(directory)) added++;
      if (added % WATCHES_PER_TURN === 0) await new Promise((done) => setImmediate(done));
    }
    if (isClosed()) return;
    state = 'idle';
    if (added > 0) onChange();
    if (wanted !== target) await adjust();
  }

  // `close` may be called during an await, which the compiler cannot see.
  const isClosed = () => (state as string) === 'closed';

  return {
    follow(targets) {
      wanted = byDirectory(targets);
      if (state === 'idle') adjust().catch((error) => log.error(`watching failed: ${messageOf(error)}`));
    },
    close,
  };
}

// --- internal ---

interface ActiveWatch {
  readonly watch: FSWatcher;
  /** See `Watched`. */
  readonly identity: string | undefined;
}

/** By directory: which of its entries matter, and its identity. */
type Wanted = ReadonlyMap<
  string,
  { readonly only: ReadonlySet<string> | 'all'; readonly identity: string | undefined }
>;

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
