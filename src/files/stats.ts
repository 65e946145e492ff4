/**
 * What the file system says about a path without opening it: versions, identities, and where a path leads.
 * Owns: when two looks at a file count as the same, and which names are skipped. Leaves alone: contents (read.ts).
 */
import { type BigIntStats, lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, sep } from 'node:path';
import type { Watched } from '../model.ts';

export const statOf = (path: string): BigIntStats => statSync(path, { bigint: true });
export const lstatOf = (path: string): BigIntStats => lstatSync(path, { bigint: true });
/** The native variant is one system call; the other one looks at every directory of the path. */
export const realPathOf = (path: string): string => realpathSync.native(path);

/** Equal as long as the content is. Size and mtime can be restored after an edit; the inode change time cannot. */
export function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

/** Equal for two paths to one file or directory. */
export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** The identity of a directory over time: the system reuses inode numbers, but not together with the birth time. */
export function lastingIdentityOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`;
}

// File systems store times in steps of up to 10 ms; some old ones in steps of 2 s, which shows in whole seconds.
const CLOCK_STEP_MS = 20;
const COARSE_STEP_MS = 2500;

/** Whether the file changed so shortly before `now` that another change could leave the same version. */
export function isRecent({ ctimeNs, ctimeMs }: BigIntStats, now = Date.now()): boolean {
  const step = ctimeNs % 1_000_000_000n === 0n ? COARSE_STEP_MS : CLOCK_STEP_MS;
  return now - Number(ctimeMs) < step;
}

/** What one stat tells about a file. */
export type Look =
  /** The content is the same as in any other look with this version. */
  | { readonly kind: 'settled'; readonly version: string }
  | { readonly kind: 'missing' }
  /** It changed recently, or cannot be looked at: only reading it tells more. */
  | { readonly kind: 'doubtful' };

export function lookAt(path: string, stat = statOf): Look {
  try {
    const stats = stat(path);
    return isRecent(stats) ? { kind: 'doubtful' } : { kind: 'settled', version: versionOf(stats) };
  } catch (error) {
    return { kind: isMissing(error) ? 'missing' : 'doubtful' };
  }
}

/** Watches the directory of a path for that one entry. Neither of them needs to exist. */
export function watchEntry(path: string): Watched {
  const directory = dirname(path);
  return { directory, only: basename(path), identity: lastingIdentityAt(directory) };
}

/** Whether a path is the directory or lies in it, by their text. */
export function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** Whether two paths lead to one directory; false when one of them does not exist. */
export function isSameDirectory(a: string, b: string): boolean {
  if (a === b) return true;
  try {
    return realPathOf(a) === realPathOf(b);
  } catch {
    return false; // A directory that does not exist is not the other one.
  }
}

/** Directories of version control and package managers are not searched, and are not part of a skill. */
export function isSkipped(name: string): boolean {
  // Case-insensitive, as macOS and Windows are. The first letter rules out most names without a lookup.
  return /^[.n]/i.test(name) && SKIPPED.has(name.toLowerCase());
}

/** Whether a path below a directory contains a name that is skipped. */
export function passesSkipped(path: string, directory: string): boolean {
  return isBelow(path, directory) && path.slice(directory.length).split(sep).some(isSkipped);
}

/** The system's error code: ENOENT, EACCES, …; empty for any other error. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** A transient system error. It says nothing about the file, so the last known state is kept. */
export function isTransient(error: unknown): boolean {
  return ['EMFILE', 'ENFILE', 'EAGAIN', 'EBUSY', 'EIO', 'EINTR', 'ENOMEM'].includes(codeOf(error));
}

/** The path does not exist, or no longer. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(error));
}

// --- internal ---

const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

function lastingIdentityAt(directory: string): string | undefined {
  try {
    return lastingIdentityOf(statOf(directory));
  } catch {
    return undefined; // A directory that cannot be looked at cannot be watched either.
  }
}
