/**
 * Watches directories one by one: on Linux a recursive watch no longer reports a file after one atomic save.
 * Owns: the watches. Leaves alone: when a change causes a refresh (triggers.ts).
 * Always true: a directory that was replaced by another one is watched anew, because a watch stays with the old one; a
 * change between a directory's scan and its watch is not missed: `onChange` is called when new watches are set; when the
 * system has no more watches, one warning is logged and all of them are closed.
 */
import { type FSWatcher, statfsSync, watch } from 'node:fs';
import { createPacer } from '../files/pace.ts';
import { codeOf, sameWatched } from '../files/stats.ts';
import { type Log, messageOf } from '../log.ts';
import type { Watched } from '../model.ts';
import { backgroundDelay } from '../wait.ts';
import { FIRST_WATCH_DELAY_MS } from './limits.ts';

/** What the system does with directories. */
export interface WatchSystem {
  readonly watch: typeof watch;
  /** Whether the directory is on a file system that only this machine writes to. */
  isLocal(directory: string): boolean;
}

export function createWatcher(onChange: () => void, log: Log, system: WatchSystem = { watch, isLocal }) {
  const watches = new Map<string, FSWatcher>();
  /** Those that report nothing more; most often the directory is gone. */
  const failed = new Set<FSWatcher>();
  const localDevices = new Map<number, boolean>();
  let wanted: readonly Watched[] = [];
  /** What the watches are set for, by directory. */
  let current: ReadonlyMap<string, Watched> = new Map();
  let isBusy = false;
  let isClosed = false;

  // One function for all watches: thousands of closures would take megabytes.
  const onEvent = () => onChange();
  const listenerFor = (only: string | undefined) => {
    if (only === undefined) return onEvent;
    const names = only.split(BETWEEN_NAMES);
    return (_event: string, name: string | null) => {
      if (name === null || names.includes(name)) onChange();
    };
  };
  function onError(this: FSWatcher): void {
    failed.add(this);
  }

  function add({ directory, only, identity }: Watched): void {
    try {
      const one = system.watch(directory, { persistent: false }, listenerFor(only));
      one.on('error', onError);
      watches.set(directory, one);
      const device = identity?.dev;
      if (device !== undefined && !localDevices.has(device)) localDevices.set(device, system.isLocal(directory));
    } catch (error) {
      // Any other directory is gone or may not be watched: the timer finds its changes.
      if (!['ENOSPC', 'EMFILE'].includes(codeOf(error))) return;
      log.warn(`no more file watches (${messageOf(error)}); changes are seen at the next timed refresh instead`);
      close();
    }
  }

  function drop(directory: string, one: FSWatcher): void {
    one.close();
    failed.delete(one);
    watches.delete(directory);
  }

  function close(): void {
    isClosed = true;
    for (const [directory, one] of watches) drop(directory, one);
  }

  async function adjust(): Promise<void> {
    isBusy = true;
    // Only at the start: later a delay would hold up the refresh that follows new watches, and with it other changes.
    if (watches.size === 0) await backgroundDelay(FIRST_WATCH_DELAY_MS);
    const targets = wanted;
    const before = current;
    current = byDirectory(targets);
    const pace = createPacer();
    let added = 0;
    for (const [directory, one] of watches) {
      const [last, next] = [before.get(directory), current.get(directory)];
      if (!last || !next || failed.has(one) || !sameWatched(last, next)) drop(directory, one);
    }
    for (const [directory, target] of current) {
      if (isClosed) return;
      if (watches.has(directory)) continue;
      add(target);
      if (watches.has(directory)) added++;
      const rest = pace();
      if (rest) await rest;
    }
    if (isClosed) return;
    isBusy = false;
    if (added > 0) onChange();
    if (wanted !== targets) await adjust();
  }

  return {
    /** Whether every directory that exists is watched, on file systems that report all changes. */
    isReliable(): boolean {
      if (isBusy || isClosed || failed.size > 0 || current.size === 0) return false;
      for (const [directory, { identity }] of current)
        if (identity && !(watches.has(directory) && localDevices.get(identity.dev))) return false;
      return true;
    },
    /** From now on these directories are watched, and no others. */
    follow(targets: readonly Watched[]): void {
      wanted = targets;
      if (!isBusy) adjust().catch((error) => log.error(`watching failed: ${messageOf(error)}`));
    },
    close,
  };
}

// --- internal ---

/** File systems of Linux that only this machine writes to, by the number that statfs gives. */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x5846_5342, // XFS
  0x9123_683e, // Btrfs
  0xf2f5_2010, // F2FS
  0x2fc1_2fc1, // ZFS
  0xca45_1a4e, // bcachefs
  0x0102_1994, // tmpfs
  0x794c_7630, // overlayfs, as in containers
]);

/** A file system that is not known to be local may be shared with machines whose changes are not reported here. */
function isLocal(directory: string): boolean {
  try {
    return LOCAL_TYPES.has(statfsSync(directory).type);
  } catch {
    return false; // It is gone, or the system does not tell.
  }
}

// No name can contain it.
const BETWEEN_NAMES = '/';

/** One target for each directory: of several, some may be for one entry, and others for all of them. */
function byDirectory(targets: readonly Watched[]): ReadonlyMap<string, Watched> {
  const all = new Map<string, Watched>();
  for (const one of targets) {
    const other = all.get(one.directory);
    all.set(one.directory, other ? join(other, one) : one);
  }
  return all;
}

function join({ directory, identity, only }: Watched, other: Watched): Watched {
  if (only === undefined || other.only === undefined) return { directory, identity };
  return { directory, identity, only: only + BETWEEN_NAMES + other.only };
}
