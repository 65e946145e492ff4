/**
 * Watches directories one by one: on Linux a recursive watch no longer reports a file after one atomic save.
 * Owns: the watches. Leaves alone: which directories (skills/scan.ts), when a change causes a refresh (triggers.ts).
 * Always true:
 * - a directory that was replaced by another is watched anew, because a watch stays with the old one.
 * - a change between the scan of a directory and its watch is not missed: setting watches counts as a change.
 * - when the system has no more watches, one warning is logged and all are closed: the timer finds every change.
 */
import { type FSWatcher, watch } from 'node:fs';
import { createPacer } from '../files/pace.ts';
import { codeOf } from '../files/stat.ts';
import { FIRST_WATCH_MS } from '../limits.ts';
import { type Log, messageOf } from '../log.ts';
import type { WatchedDirectory } from '../model.ts';

export function createWatcher(onChange: () => void, log: Log) {
  const watches = new Map<string, { readonly identity: string; readonly watch: FSWatcher }>();
  let wanted: readonly WatchedDirectory[] = [];
  let isBusy = false;
  let isClosed = false;

  function add(path: string, identity: string): void {
    try {
      // An error means most often that the directory is gone, which is a change too.
      watches.set(path, { identity, watch: watch(path, { persistent: false }, onChange).on('error', onChange) });
    } catch (error) {
      // Any other directory is gone or may not be watched.
      if (!['ENOSPC', 'EMFILE'].includes(codeOf(error))) return;
      log.warn(`no more file watches (${messageOf(error)}); changes are seen at the next timed refresh instead`);
      close();
    }
  }

  function drop(path: string): void {
    watches.get(path)?.watch.close();
    watches.delete(path);
  }

  function close(): void {
    isClosed = true;
    for (const path of watches.keys()) drop(path);
  }

  /** Sets and closes watches until they are those that are wanted, which may change meanwhile. */
  async function adjust(): Promise<void> {
    if (watches.size === 0) await new Promise((done) => setTimeout(done, FIRST_WATCH_MS).unref());
    const pace = createPacer();
    for (let set: typeof wanted | undefined; set !== wanted; ) {
      set = wanted;
      const identities = new Map(set.map(({ path, identity }) => [path, identity]));
      for (const [path, { identity }] of watches) if (identities.get(path) !== identity) drop(path);
      const missing = [...identities].filter(([path]) => !watches.has(path));
      for (const [path, identity] of missing) {
        if (isClosed) return;
        add(path, identity);
        await pace();
      }
      if (missing.some(([path]) => watches.has(path))) onChange();
    }
    isBusy = false;
  }

  return {
    /** From now on these directories are watched, and no others. */
    follow(directories: readonly WatchedDirectory[]): void {
      wanted = directories;
      if (isBusy || isClosed) return;
      isBusy = true;
      void adjust();
    },
    close,
  };
}
