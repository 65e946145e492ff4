/**
 * The regular files and directories that lie in the directory of a skill, and how a path in it is followed.
 * Leaves alone: reading (contents.ts), the spelling of URIs (uris.ts).
 * Always true: no link out of the skill is followed; nothing is given of a directory that was replaced by a link, if only
 * for a moment, nor of a skipped directory, whichever path leads there.
 */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compare, sameItems } from '../compare.ts';
import type { Pacer } from '../files/pace.ts';
import { ChangingError, REPLACED } from '../files/read.ts';
import {
  codeOf,
  isBelow,
  isMissing,
  isNew,
  isSkipped,
  type Look,
  lstatOf,
  passesSkipped,
  realPathOf,
  sameVersion,
  statOf,
} from '../files/stats.ts';
import { MAX_SKILL_DIRECTORIES, MAX_SKILL_FILES } from './limits.ts';
import { isPlainSegment } from './uris.ts';

/** A file or directory of a skill, with links resolved. */
export interface Place {
  /** The real path of the skill when it was found. */
  readonly home: string;
  /** Relative to the skill; '' is its directory. */
  readonly path: string;
  readonly real: string;
  readonly stats: Look;
  /** The directory that the path to it passes last; undefined for the skill itself. */
  readonly parent: Place | undefined;
}

/** A reason for which a file, or a list of all files, is not given: "is a link that …", "has over …". */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Throws a Refusal, or the system's error; when there is nothing, one for which `isMissing` is true. */
export function find(home: string, path: string): Place {
  if (realPathOf(home) !== home) throw new Refusal(`is in a directory that ${REPLACED}`);
  let place: Place = { home, path: '', real: home, stats: statOf(home), parent: undefined };
  for (const name of path === '' ? [] : path.split('/')) {
    if (!isPlainSegment(name) || isSkipped(name) || !place.stats.isDirectory()) throw nothing();
    place = enter(place, name);
  }
  // Some systems accept several spellings of one name: another case, a short form, ignored characters. Only the real
  // path tells whether the name is one that is skipped.
  if (passesSkipped(realPathOf(place.real), home)) throw nothing();
  return place;
}

/**
 * The children of a directory that would be served, by name; throws a ChangingError when it changed meanwhile or just
 * before. `isComplete`: a list that must leave nothing out is refused when it does, or has too many entries.
 */
export async function childrenOf(directory: Place, pace: Pacer, isComplete: boolean): Promise<readonly Place[]> {
  if (!directory.stats.isDirectory()) throw nothing();
  const before = directoriesTo(directory);
  const names = readdirSync(directory.real).filter((name) => !isSkipped(name));
  // There is no need to look at each when there are too many to be listed anyway.
  if (isComplete && names.length > MAX_SKILL_FILES + MAX_SKILL_DIRECTORIES) throw new Refusal(TOO_MANY_FILES);
  const children: Place[] = [];
  for (const name of names.sort(compare)) {
    // A directory may have any number of entries.
    await pace();
    try {
      const child = enter(directory, name);
      // A FIFO, a socket or a device has no content to serve.
      if (child.stats.isFile() || child.stats.isDirectory()) children.push(child);
    } catch (error) {
      if (!isComplete) continue;
      // Node replaces bytes that are not UTF-8 in a name, and no file has the resulting name.
      if (isMissing(error) && name.includes('\ufffd')) throw new Refusal('has a file whose name is not UTF-8');
      // A link that leads nowhere, in a circle or out of the skill, or what was just deleted, is not part of the skill.
      if (!(error instanceof Refusal) && !isMissing(error) && codeOf(error) !== 'ELOOP') throw error;
    }
  }
  // The names must be those of the directory that was found, not of one that replaced it.
  const after = realPathOf(directory.real) === directory.real ? directoriesTo(directory) : [];
  if (!sameItems(before, after, sameVersion)) throw new ChangingError();
  return children;
}

/** Every file of the skill, by path. Throws a Refusal, a ChangingError, or the system's error. */
export async function findFiles(home: string, pace: Pacer): Promise<readonly Place[]> {
  const files: Place[] = [];
  const directories = [find(home, '')];
  // The list grows while it is walked.
  for (const directory of directories) {
    await pace();
    if (directories.length > MAX_SKILL_DIRECTORIES) throw new Refusal(`has over ${MAX_SKILL_DIRECTORIES} directories`);
    for (const child of await childrenOf(directory, pace, true))
      (child.stats.isDirectory() ? directories : files).push(child);
    if (files.length > MAX_SKILL_FILES) throw new Refusal(TOO_MANY_FILES);
  }
  return files.sort((a, b) => compare(a.path, b.path));
}

// --- internal ---

const TOO_MANY_FILES = `has over ${MAX_SKILL_FILES} files`;

const nothing = () => Object.assign(new Error('there is no such file'), { code: 'ENOENT' });

/** One entry of a directory. */
function enter(parent: Place, name: string): Place {
  const { home } = parent;
  const path = parent.path === '' ? name : `${parent.path}/${name}`;
  const own = join(parent.real, name);
  const stats = lstatOf(own);
  if (!stats.isSymbolicLink()) return { home, path, real: own, stats, parent };
  const real = realPathOf(own);
  if (!isBelow(real, home)) throw new Refusal('is, or is behind, a link that leaves the skill');
  if (passesSkipped(real, home)) throw nothing();
  const target = statOf(real);
  // A link to a directory that the path passes would be followed without end.
  for (let above: Place | undefined = parent; above && target.isDirectory(); above = above.parent)
    if (isBelow(above.real, real)) throw nothing();
  return { home, path, real, stats: target, parent };
}

/**
 * All directories from the skill's own down to this one: renaming one changes its version, so another that took its
 * place for a moment is noticed. Throws when one changed just now, as versions could not tell that.
 */
function directoriesTo({ home, real }: Place): readonly Look[] {
  const all: Look[] = [];
  for (let path = real; ; path = dirname(path)) {
    const stats = lstatOf(path);
    if (!stats.isDirectory() || isNew(stats)) throw new ChangingError();
    all.push(stats);
    if (path === home) return all;
  }
}
