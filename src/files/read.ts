/**
 * Looking at and reading files that belong to somebody else.
 * Owns: what counts as the same file state, and opening safely. Leaves alone: which files matter (scan.ts).
 * Always true: only what is in regular files is given, never more than `limit` bytes of it, and nothing here can block.
 */
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, sep } from 'node:path';
import type { Watched } from '../model.ts';

/** Size and times alone miss an edit that restores both; the inode change time cannot be set back. */
export function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

/** Two paths to one real directory have one place. */
export function fileIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Of a directory: unlike its place it is never given again to one that is made after it was removed. */
export function identityOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`;
}

/** The directory that an entry stands in, to be watched for that entry. The entry need not exist, nor the directory. */
export function watchEntry(path: string): Watched {
  const directory = dirname(path);
  return { directory, only: basename(path), identity: identityAt(directory) };
}

// File systems stamp times in steps of up to 10 ms, some old ones in steps of up to 2 s, which shows in whole seconds.
// A change within the step we looked in could leave no trace.
const CLOCK_STEP_MS = 20;
const COARSE_STEP_MS = 2500;

/** Changed so shortly before `now` that a change after it might not show in its version. */
export function isFresh({ ctimeNs, ctimeMs }: BigIntStats, now = Date.now()): boolean {
  const step = ctimeNs % 1_000_000_000n === 0n ? COARSE_STEP_MS : CLOCK_STEP_MS;
  return now - Number(ctimeMs) < step;
}

/** Refuses to open a link; on Windows, where it does not exist, links are told by looking first. */
export const NOFOLLOW = constants.O_NOFOLLOW ?? 0;

/** Not looked into, neither for skills nor as part of one: what version control and package managers put there. */
export function isSkipped(name: string): boolean {
  // Without case, as macOS and Windows read names; most are told by their first letter.
  return /^[.n]/i.test(name) && SKIPPED.has(name.toLowerCase());
}

/** Whether the way from a directory down to a path in it passes something that is skipped. */
export function passesSkipped(path: string, directory: string): boolean {
  return isBelow(path, directory) && path.slice(directory.length).split(sep).some(isSkipped);
}

export const statOf = (path: string): BigIntStats => statSync(path, { bigint: true });

export interface Reading {
  /** Undefined when the file changed while it was read: the bytes are of no one version. */
  readonly version: string | undefined;
  /** Which file was opened: see `fileIdentity`. */
  readonly place: string;
  /** See `isFresh`. */
  readonly fresh: boolean;
  readonly bytes: Buffer;
}

/** `flags`: further ones for opening, such as `NOFOLLOW`. */
export function readRegularFile(path: string, limit: number, flags = 0): Reading {
  // NONBLOCK: opening a FIFO that nobody writes to would otherwise wait for ever. Windows has neither.
  const handle = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | flags);
  try {
    return readOnce(handle, limit);
  } finally {
    closeSync(handle);
  }
}

/**
 * A file that lies in a directory, itself or by a link that does not leave it. `directory`: without any link.
 * It is opened first and looked for afterwards: what was put in the directory's place meanwhile is not given.
 */
export function readInside(directory: string, name: string, limit: number): Reading {
  const path = directory + sep + name;
  const reading = readRegularFile(path, limit);
  if (realpathSync.native(directory) !== directory) throw new Error(`${directory} ${ELSEWHERE}`);
  const real = realpathSync.native(path);
  if (!isBelow(real, directory)) throw new Error(`${path} is a link that leaves its skill`);
  // Another file by now: no version of it has been read.
  return fileIdentity(statOf(real)) === reading.place ? reading : { ...reading, version: undefined };
}

/** Said of a directory that a link has taken the place of. */
export const ELSEWHERE = 'now leads elsewhere than when it was found';

/** Whether a path is the directory or lies in it, by their text. */
export function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** The operating system's word for it: ENOENT, EACCES, …; empty for any other error. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Says something of the machine at this moment and nothing of the file. */
export function isTransient(error: unknown): boolean {
  return ['EMFILE', 'ENFILE', 'EAGAIN', 'EBUSY', 'EIO', 'EINTR', 'ENOMEM'].includes(codeOf(error));
}

/** There is nothing there (any more): no cause for concern. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(error));
}

// --- internal ---

const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

function identityAt(directory: string): string | undefined {
  try {
    return identityOf(statOf(directory));
  } catch {
    return undefined; // There is none, or none that can be looked at: it cannot be watched either.
  }
}

// Nineteen of twenty SKILL.md fit; whatever does not is read the other way.
const SCRATCH = Buffer.allocUnsafeSlow(16 * 1024);
// Times are given by the machine that has the disk, and its clock may be behind ours.
const CLOCK_LAG_MS = 500;

/** A small file that has not been touched for a while needs one look, after reading, which tells that it still was not. */
function readOnce(handle: number, limit: number): Reading {
  const before = Date.now() - CLOCK_LAG_MS;
  const length = attemptRead(handle, SCRATCH);
  const stats = fstatSync(handle, { bigint: true });
  const settled = stats.isFile() && Number(stats.size) === length && length <= limit && !isFresh(stats, before);
  if (!settled) return readBetween(stats, handle, limit);
  return {
    version: versionOf(stats),
    place: fileIdentity(stats),
    fresh: false,
    bytes: Buffer.from(SCRATCH.subarray(0, length)),
  };
}

function attemptRead(handle: number, into: Buffer): number | undefined {
  try {
    return readSync(handle, into, 0, into.length, 0);
  } catch {
    return undefined; // No file that can be read; the other way has the words for it.
  }
}

/** Any other needs a look before and a look after. */
function readBetween(before: BigIntStats, handle: number, limit: number): Reading {
  if (!before.isFile()) throw new Error('it is not a regular file');
  if (before.size > limit) throw new Error(`it has over ${limit} bytes`);
  const bytes = Buffer.allocUnsafe(Number(before.size));
  let length = 0;
  while (length < bytes.length) {
    const got = readSync(handle, bytes, length, bytes.length - length, length);
    if (got === 0) break;
    length += got;
  }
  const after = fstatSync(handle, { bigint: true });
  const whole = length === bytes.length && after.ctimeNs === before.ctimeNs && after.size === before.size;
  return {
    version: whole ? versionOf(before) : undefined,
    place: fileIdentity(before),
    fresh: isFresh(before),
    bytes: bytes.subarray(0, length),
  };
}
