/**
 * Replaces a file of the user as a whole. Leaves alone: what is in it, and which file it is.
 * Always true: a reader finds either the old content or the new; a file that has changed since it was read, or may not be
 * written to, is not replaced; the new one has the owner and rights of the old; when this throws, the file is as it was.
 */
import { randomUUID } from 'node:crypto';
import { accessSync, chmodSync, chownSync, constants, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { ChangingError } from '../files/read.ts';
import { lstatOf, sameVersion, statOf, type Version } from '../files/stats.ts';

/** A file and the version that was read of it; undefined: there was none. */
export interface OldFile {
  /** A real path: a link here would be replaced itself. */
  readonly path: string;
  readonly version: Version | undefined;
}

/** `rights`: of a new file. `prepare`: called just before the old file goes. */
export function replaceFile(old: OldFile, text: string, rights = 0o600, prepare: () => void = () => {}): void {
  const draft = `${old.path}.${randomUUID()}.tmp`;
  try {
    writeLike(old.path, draft, text, rights);
    checkUnchanged(old);
    prepare();
    renameSync(draft, old.path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Never through a link or over another file. With owner and rights of `like`, if that exists. */
export function writeLike(like: string, path: string, text: string, rights: number): void {
  const wanted = isThere(like) ? statSync(like) : undefined;
  writeFileSync(path, text, { flag: 'wx', mode: wanted ? 0o600 : rights });
  if (!wanted) return;
  const made = statSync(path);
  if (made.uid !== wanted.uid || made.gid !== wanted.gid) chownSync(path, wanted.uid, wanted.gid);
  chmodSync(path, wanted.mode & 0o7777);
}

export function checkUnchanged({ path, version }: OldFile): void {
  const isSame = version ? sameVersion(version, statOf(path)) : !isThere(path);
  if (!isSame) throw new ChangingError();
  // A file can be replaced without the right to write to it, which is there to prevent that.
  if (version) accessSync(path, constants.W_OK);
}

/** A link counts, wherever it leads. */
export function isThere(path: string): boolean {
  try {
    lstatOf(path);
    return true;
  } catch {
    return false; // Or it may not be looked at, which reading it will say.
  }
}
