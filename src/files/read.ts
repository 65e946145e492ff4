/**
 * One stable read of a file that other programs write to.
 * Owns: opening safely, and whether the bytes are of one version. Leaves alone: which files matter (skills/, hub/config/).
 * Always true: bytes are given only of regular files, only up to a limit, and only when all of them belong to one version;
 * anything else throws. Nothing here blocks.
 */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { sep } from 'node:path';
import { lazy } from '../lazy.ts';
import {
  fstatOf,
  isBelow,
  isRecent,
  realPathOf,
  sameFile,
  sameVersion,
  statOf,
  type Version,
  versionOf,
} from './stats.ts';

export interface FileContent {
  readonly bytes: Buffer;
  readonly version: Version;
  /** See `isRecent`: the version must not be relied on to notice the next change. */
  readonly recent: boolean;
}

/** Thrown when a file or directory changed while it was looked at: looking again may help. */
export class ChangingError extends Error {
  override readonly name = 'ChangingError';
  override readonly message = 'it is being written';
}

/** For `flags`: refuses to open a symbolic link. Windows has no such flag. */
export const NOFOLLOW = constants.O_NOFOLLOW ?? 0;

/** Where small files are read to. */
export interface Memory {
  /** Reads the beginning of a file, up to SMALL_BYTES, and gives the number of bytes. */
  fill(handle: number): number;
  /** The first of these bytes, which stay as they are. */
  keep(length: number): Buffer;
}

/** `flags`: further ones for opening the file. */
export function readStable(path: string, limit: number, flags = 0, memory: Memory = COPIES): FileContent {
  // NONBLOCK: opening a FIFO without a writer would wait for one. Windows has neither.
  const handle = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | flags);
  try {
    return readHandle(handle, limit, memory);
  } finally {
    closeSync(handle);
  }
}

/**
 * Reads a file of a directory, also through a symbolic link that stays inside it. `directory`: its real path.
 * The path is resolved before and after opening, so nothing is given of what took the directory's place meanwhile.
 */
export function readInside(directory: string, name: string, limit: number): FileContent {
  const resolve = () => {
    if (realPathOf(directory) !== directory) throw new Error(`${directory} ${REPLACED}`);
    const real = realPathOf(directory + sep + name);
    if (!isBelow(real, directory)) throw new Error('it is a link that leaves its directory');
    const stats = statOf(real);
    if (!stats.isFile()) throw new Error(NOT_REGULAR);
    return { real, stats };
  };
  // Before opening as well: opening a device can have effects.
  const content = readStable(resolve().real, limit, NOFOLLOW);
  if (!sameFile(resolve().stats, content.version)) throw new ChangingError();
  return content;
}

/**
 * Keeps many small files together, which takes less time and memory than each alone. A block stays in memory as long as
 * one of its files does, so this is for files that are kept as long as each other.
 */
export function createBlocks(): Memory {
  let block = Buffer.alloc(0);
  let used = 0;
  return {
    fill(handle) {
      if (block.length - used < SMALL_BYTES) {
        block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
        used = 0;
      }
      return readSync(handle, block, used, SMALL_BYTES, 0);
    },
    keep(length) {
      const start = used;
      used += length;
      return block.subarray(start, used);
    },
  };
}

/** Said of a directory that was replaced by a symbolic link after it was found. */
export const REPLACED = 'now leads elsewhere than when it was found';

// --- internal ---

const NOT_REGULAR = 'it is not a regular file';
// 95 % of all SKILL.md files are smaller.
const SMALL_BYTES = 16 * 1024;
const BLOCK_BYTES = 1024 * 1024; // Small files share a block, because memory for each of them takes longer to get.
// The machine that has the disk sets the file times, and its clock may be behind ours.
const CLOCK_LAG_MS = 500;

const scratch = lazy(() => Buffer.allocUnsafeSlow(SMALL_BYTES));

/** Each file by itself. Not in Node's shared pool, which a file that is kept would keep alive. */
const COPIES: Memory = {
  fill: (handle) => readSync(handle, scratch(), 0, SMALL_BYTES, 0),
  keep(length) {
    const bytes = Buffer.allocUnsafeSlow(length);
    scratch().copy(bytes, 0, 0, length);
    return bytes;
  },
};

function readHandle(handle: number, limit: number, memory: Memory): FileContent {
  const start = Date.now() - CLOCK_LAG_MS;
  const length = tryFill(memory, handle);
  const stats = fstatOf(handle);
  const version = versionOf(stats);
  if (!stats.isFile()) throw new Error(NOT_REGULAR);
  if (stats.size > limit) throw new Error(`it has over ${limit} bytes`);
  // For a small file that did not change for a while before it was read, one look is enough.
  const isOld = stats.ctimeMs < start && !isRecent(stats, start);
  if (stats.size === length && isOld) return { bytes: memory.keep(length), version, recent: false };
  const bytes = Buffer.allocUnsafeSlow(stats.size);
  for (let at = 0; at < bytes.length; ) {
    const count = readSync(handle, bytes, at, bytes.length - at, at);
    if (count === 0) throw new ChangingError();
    at += count;
  }
  if (!sameVersion(stats, fstatOf(handle))) throw new ChangingError();
  return { bytes, version, recent: isRecent(stats) };
}

function tryFill(memory: Memory, handle: number): number | undefined {
  try {
    return memory.fill(handle);
  } catch {
    return undefined; // Most often a directory. A file that cannot be read throws again when all of it is read.
  }
}
