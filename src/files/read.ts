/**
 * One stable read of a file that other programs write to, and reads that stay inside a directory.
 * Owns: opening safely, whether the bytes are of one version, what the system's errors mean.
 * Leaves alone: which files matter (skills/, hub/).
 * Always true: bytes are given only of regular files, only up to a limit, and only when all of them belong to one version;
 * anything else throws a FileError; opening waits for no other program.
 */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { sep } from 'node:path';
import { messageOf } from '../log.ts';
import { codeOf, isBelow, isSkipped, realPathOf, sameVersion, versionOf } from './stat.ts';

/** Why a file is not given; the message is for people. `changing`: it did while it was looked at; later may be better. */
export class FileError extends Error {
  readonly kind: 'missing' | 'directory' | 'refused' | 'unreadable' | 'changing';

  constructor(kind: FileError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

export const changing = () => new FileError('changing', 'it is being written');

/** `links`: whether the path itself may be a symbolic link. Windows has no flag to refuse one. */
export function readStable(path: string, limit: number, links: 'follow' | 'refuse') {
  return withFileErrors(() => {
    // NONBLOCK: opening a FIFO without a writer would wait for one.
    const flags = (constants.O_NONBLOCK ?? 0) | (links === 'refuse' ? (constants.O_NOFOLLOW ?? 0) : 0);
    const handle = openSync(path, constants.O_RDONLY | flags);
    try {
      const stats = fstatSync(handle);
      checkRegular(stats);
      if (stats.size > limit) throw new FileError('refused', `it has over ${limit} bytes`);
      const bytes = Buffer.allocUnsafe(stats.size);
      // A regular file is read in one call, unless it has become shorter.
      const isWhole = readSync(handle, bytes, 0, bytes.length, 0) === bytes.length;
      if (!isWhole || !sameVersion(stats, fstatSync(handle))) throw changing();
      return { bytes, version: versionOf(stats) };
    } finally {
      closeSync(handle);
    }
  });
}

/**
 * Where a path in a directory leads: through links, but never out of the directory, nor into what is skipped.
 * `directory`: its real path; nothing is given of what a link in its place leads to. `path`: with slashes; '' is itself.
 */
export function resolveInside(directory: string, path: string): { readonly real: string; readonly stats: Stats } {
  return withFileErrors(() => {
    if (realPathOf(directory) !== directory) throw new FileError('refused', `${directory} now leads elsewhere`);
    const real = realPathOf(directory + sep + path);
    if (!isBelow(real, directory)) throw new FileError('refused', 'it leads out of its directory');
    // In both paths: a link may lead there, and some systems accept other spellings of a name.
    const names = `${path}/${real.slice(directory.length)}`.split(/[/\\]/);
    if (names.some(isSkipped)) throw new FileError('missing', 'it does not exist');
    return { real, stats: statSync(real) };
  });
}

/** Reads a file of a directory; see `resolveInside`. */
export function readInside(directory: string, path: string, limit: number) {
  // Before opening as well: opening a device can have effects.
  const { real, stats } = resolveInside(directory, path);
  checkRegular(stats);
  const content = readStable(real, limit, 'refuse');
  // The path must still lead to what was opened: a directory may have been replaced by a link meanwhile.
  if (!sameVersion(resolveInside(directory, path).stats, content.version)) throw changing();
  return content;
}

/** Turns the system's errors into FileErrors. */
export function withFileErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof FileError) throw error;
    const code = codeOf(error);
    if (MISSING.includes(code)) throw new FileError('missing', messageOf(error));
    throw new FileError(TRANSIENT.includes(code) ? 'changing' : 'unreadable', messageOf(error));
  }
}

// --- internal ---

// The path does not exist, or cannot: it goes through a file, is too long, has a NUL, or its links lead in a circle.
const MISSING = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE', 'ELOOP'];
// These errors say nothing about the file.
const TRANSIENT = ['EMFILE', 'ENFILE', 'EAGAIN', 'EBUSY', 'EIO', 'EINTR', 'ENOMEM'];

function checkRegular(stats: Stats): void {
  if (stats.isDirectory()) throw new FileError('directory', 'it is a directory');
  if (!stats.isFile()) throw new FileError('refused', 'it is not a regular file');
}
