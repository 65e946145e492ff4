/**
 * What the file system says about a path without opening it: versions, identities, and where a path leads.
 * Owns: when two looks at a file count as the same, and which names are skipped. Leaves alone: contents (read.ts).
 */
import { fstatSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, sep } from 'node:path';
import { messageOf } from '../log.ts';
import type { Identity, Watched } from '../model.ts';

/**
 * One look at a file or directory. In numbers, because a scan takes tens of thousands of looks and bigints take twice the
 * memory: times are then exact to 0.25 µs, and two changes with a look between them are further apart.
 */
export interface Look extends Version {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

export const statOf = (path: string): Look => exactly(statSync(path), () => statSync(path, BIGINT));
export const lstatOf = (path: string): Look => exactly(lstatSync(path), () => lstatSync(path, BIGINT));
export const fstatOf = (handle: number): Look => exactly(fstatSync(handle), () => fstatSync(handle, BIGINT));
/** The native variant is one system call; the other one looks at every directory of the path. */
export const realPathOf = (path: string): string => realpathSync.native(path);

/** The part of a look that is kept: the whole takes three times the memory. */
export interface Version extends Identity {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

export function versionOf({ dev, ino, birthtimeMs, size, mtimeMs, ctimeMs }: Look): Version {
  return { dev, ino, birthtimeMs, size, mtimeMs, ctimeMs };
}

/** True as long as the content is the same. Size and mtime can be restored after an edit; the change time cannot. */
export function sameVersion(a: Version, b: Version): boolean {
  return sameFile(a, b) && a.ctimeMs === b.ctimeMs && a.mtimeMs === b.mtimeMs && a.size === b.size;
}

/** Whether two looks were at one file or directory, whatever its content was. */
export function sameFile(a: Identity, b: Identity): boolean {
  return a.ino === b.ino && a.dev === b.dev && a.birthtimeMs === b.birthtimeMs;
}

/** An identity as text, for sets and maps. */
export function keyOf({ dev, ino, birthtimeMs }: Identity): string {
  return `${dev} ${ino} ${birthtimeMs}`;
}

const CLOCK_STEP_MS = 20; // File systems store times in steps of up to 10 ms.
const COARSE_STEP_MS = 2500; // Some old ones in steps of 2 s, which shows in whole seconds.

/** Whether the file changed so shortly before `now` that another change could leave the same version. */
export function isRecent(version: Version, now = Date.now()): boolean {
  const age = now - version.ctimeMs;
  return isNew(version, now) || (age >= 0 && age < COARSE_STEP_MS && version.ctimeMs % 1000 === 0);
}

/**
 * The same, where old file systems are not worth a wait of seconds. A time further in the future does not count: it comes
 * from another machine's clock, or from before ours was set back.
 */
export function isNew({ ctimeMs }: Version, now = Date.now()): boolean {
  return Math.abs(now - ctimeMs) < CLOCK_STEP_MS;
}

/** Watches the directory of a path for that one entry. Neither of them needs to exist. */
export function watchEntry(path: string): Watched {
  const directory = dirname(path);
  try {
    return { directory, only: basename(path), identity: versionOf(statOf(directory)) };
  } catch {
    return { directory, only: basename(path), identity: undefined }; // It cannot be watched either.
  }
}

export function sameWatched(a: Watched, b: Watched): boolean {
  return a === b || (a.directory === b.directory && a.only === b.only && sameIdentity(a.identity, b.identity));
}

/** Undefined: there was nothing. */
function sameIdentity(a: Identity | undefined, b: Identity | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && sameFile(a, b));
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

/** `directory`, `file` or `missing`, or why the system refuses to tell. Never throws: one bad path affects no other. */
export function kindAt(path: string): string {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'file';
  } catch (error) {
    return isMissing(error) ? 'missing' : codeOf(error) || messageOf(error);
  }
}

const SKIPPED = ['.git', 'node_modules'];

/** Directories of version control and package managers are not searched, and are not part of a skill. */
export function isSkipped(name: string): boolean {
  // Case-insensitive, as macOS and Windows are. For a pattern with the flag `i`, V8 would load tables of all letters.
  return SKIPPED.some((one) => one.length === name.length && one === name.toLowerCase());
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

const BIGINT = { bigint: true } as const;

/** Some file systems have inode numbers beyond what a number holds exactly, and then those of neighbours would be equal. */
function exactly(look: Look, again: () => Pick<Look, 'ino'>): Look {
  return Number.isSafeInteger(look.ino) ? look : Object.assign(look, { ino: again().ino });
}
