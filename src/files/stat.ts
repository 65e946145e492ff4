/**
 * What the file system says about a path without opening it.
 * Owns: when two looks at a file count as the same, which names are skipped.
 * Leaves alone: contents (read.ts), which links are followed (skills/walk.ts).
 */
import { realpathSync, type Stats, statSync } from 'node:fs';
import { sep } from 'node:path';

/** The part of a look that is kept: all of it would take three times the memory. */
export type Version = Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>;

export function versionOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): Version {
  return { dev, ino, size, mtimeMs, ctimeMs };
}

/** True as long as the content is the same. Size and mtime can be restored after an edit; the change time cannot. */
export function sameVersion(a: Version, b: Version): boolean {
  return a.ctimeMs === b.ctimeMs && a.mtimeMs === b.mtimeMs && a.size === b.size && a.ino === b.ino && a.dev === b.dev;
}

/**
 * Whether it changed in the last `ms`. A time further in the future does not count: it comes from another machine's clock,
 * or from before ours was set back.
 */
export function changedWithin({ ctimeMs }: Version, ms: number, now = Date.now()): boolean {
  return Math.abs(now - ctimeMs) < ms;
}

/** Which file or directory it is, whatever it contains. With its time of birth: inode numbers of deleted ones are reused. */
export const identityOf = ({ dev, ino, birthtimeMs }: Stats) => `${dev} ${ino} ${birthtimeMs}`;

/** What the path leads to; undefined where that cannot be told. Who opens it gets the reason. */
export function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** The native variant is one call; the other one looks at every directory of the path. */
export const realPathOf = (path: string): string => realpathSync.native(path);

/** The real path; the path itself where it does not exist or may not be resolved. For comparing. */
export function realPathOrSame(path: string): string {
  try {
    return realPathOf(path);
  } catch {
    return path; // A path that does not exist equals no other.
  }
}

/** Whether a path is the directory or lies in it, by their text. */
export function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** Version control and packages are not part of a skill. In any case of letters, as macOS and Windows compare names. */
export const isSkipped = (name: string) => /^(?:\.git|node_modules)$/i.test(name);

/** The system's error code: ENOENT, EACCES, …; empty for any other error. */
export const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
