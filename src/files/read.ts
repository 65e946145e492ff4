/**
 * One stable read of a file that other programs write to.
 * Owns: opening safely, and whether the bytes are of one version. Leaves alone: which files matter (skills/, hub/config/).
 * Always true:
 * - bytes are given only of regular files, only up to `limit`, and only when all of them belong to one version;
 * - nothing here blocks, and nothing throws.
 */
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { sep } from 'node:path';
import { asError } from '../log.ts';
import { identityOf, isBelow, isMissing, isRecent, realPathOf, statOf, versionOf } from './stats.ts';

export type Reading =
  | {
      readonly kind: 'read';
      readonly bytes: Buffer;
      readonly version: string;
      /** Which file was opened: see `identityOf`. */
      readonly identity: string;
      /** See `isRecent`: the version must not be relied on to notice the next change. */
      readonly recent: boolean;
    }
  | { readonly kind: 'missing'; readonly error: Error }
  /** The file changed while it was read. */
  | { readonly kind: 'moving' }
  | { readonly kind: 'refused'; readonly error: Error };

/** For `flags`: refuses to open a symbolic link. Windows has no such flag. */
export const NOFOLLOW = constants.O_NOFOLLOW ?? 0;

/** `flags`: further ones for opening the file. */
export function readStable(path: string, limit: number, flags = 0): Reading {
  return guarded(() => {
    // NONBLOCK: opening a FIFO without a writer would wait for one. Windows has neither.
    const handle = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | flags);
    try {
      return readQuick(handle, limit) ?? readBetween(handle, limit);
    } finally {
      closeSync(handle);
    }
  });
}

/**
 * Reads a file of a directory, also through a symbolic link that stays inside it. `directory`: its real path.
 * The path is resolved before and after opening, so nothing is given of what took the directory's place meanwhile.
 */
export function readInside(directory: string, name: string, limit: number): Reading {
  return guarded(() => {
    const path = directory + sep + name;
    const resolve = () => {
      if (realPathOf(directory) !== directory) throw new Error(`${directory} ${REPLACED}`);
      const real = realPathOf(path);
      if (!isBelow(real, directory)) throw new Error('it is a link that leaves its directory');
      return real;
    };
    // Before opening as well: opening a device can have effects.
    const reading = readStable(resolve(), limit, NOFOLLOW);
    if (reading.kind !== 'read') return reading;
    return identityOf(statOf(resolve())) === reading.identity ? reading : MOVING;
  });
}

/** Said of a directory that was replaced by a symbolic link after it was found. */
export const REPLACED = 'now leads elsewhere than when it was found';

// --- internal ---

const MOVING: Reading = { kind: 'moving' };

function guarded(read: () => Reading): Reading {
  try {
    return read();
  } catch (error) {
    return { kind: isMissing(error) ? 'missing' : 'refused', error: asError(error) };
  }
}

// 95 % of all SKILL.md files fit.
const SCRATCH = Buffer.allocUnsafeSlow(16 * 1024);
// The machine that has the disk sets the file times, and its clock may be behind ours.
const CLOCK_LAG_MS = 500;

/** A small file that has not changed for a while needs one stat, after reading. Undefined: any other file. */
function readQuick(handle: number, limit: number): Reading | undefined {
  const before = Date.now() - CLOCK_LAG_MS;
  const length = tryRead(handle, SCRATCH);
  const stats = fstatSync(handle, { bigint: true });
  if (!stats.isFile() || Number(stats.size) !== length || length > limit || isRecent(stats, before)) return undefined;
  return {
    kind: 'read',
    bytes: Buffer.from(SCRATCH.subarray(0, length)),
    version: versionOf(stats),
    identity: identityOf(stats),
    recent: false,
  };
}

function tryRead(handle: number, into: Buffer): number | undefined {
  try {
    return readSync(handle, into, 0, into.length, 0);
  } catch {
    return undefined; // Not a file that can be read; `readBetween` has the error.
  }
}

/** Compares the file before and after reading. */
function readBetween(handle: number, limit: number): Reading {
  const before: BigIntStats = fstatSync(handle, { bigint: true });
  if (!before.isFile()) throw new Error('it is not a regular file');
  if (before.size > limit) throw new Error(`it has over ${limit} bytes`);
  const bytes = Buffer.allocUnsafe(Number(before.size));
  let length = 0;
  while (length < bytes.length) {
    const count = readSync(handle, bytes, length, bytes.length - length, length);
    if (count === 0) break;
    length += count;
  }
  const after = fstatSync(handle, { bigint: true });
  if (length !== bytes.length || versionOf(after) !== versionOf(before)) return MOVING;
  return { kind: 'read', bytes, version: versionOf(before), identity: identityOf(before), recent: isRecent(before) };
}
