/**
 * What belongs to a skill: the regular files and directories that really lie in its own directory.
 * Owns: how a path is followed. Leaves alone: what is read (library.ts), how paths are spelled (address.ts).
 * Always true:
 * - a link that leads out of the skill is never followed; a link that leads back up is no part of it;
 * - nothing is given of a directory that has become a link since it was found, nor of what is skipped, whatever way leads there.
 * Everywhere here `directory` is that of a skill, without any link, as it was when the skill was found.
 */
import { type BigIntStats, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Pacer } from '../files/pace.ts';
import {
  codeOf,
  ELSEWHERE,
  fileIdentity,
  isBelow,
  isMissing,
  isSkipped,
  passesSkipped,
  statOf,
} from '../files/read.ts';
import { compare, isPlainSegment } from './uris.ts';

/** Every host of the Skills extension accepts this many files and bytes, so this is what we list. */
export const MAX_SKILL_FILES = 512;
export const MAX_SKILL_TOTAL = 16 * 1024 * 1024;
/** Links between directories can make more of them than there are. */
export const MAX_SKILL_DIRECTORIES = 2048;

export interface Spot {
  /** Absolute, without any link. */
  readonly real: string;
  readonly stats: BigIntStats;
}

/** Why there is nothing to be had at a path; `closed`: the system does not let us look; `moved`: a link took its place. */
export type Nothing = 'outside' | 'missing' | 'closed' | 'moved';

/** What stands at a path of a skill. Never throws. */
export function find(directory: string, path: string): Spot | Nothing {
  const chain = chainTo(directory, path);
  return typeof chain === 'string' ? chain : (chain.at(-1) ?? 'missing');
}

export interface Child extends Spot {
  readonly name: string;
}

/** What can be served of a directory of a skill, by name; undefined when it is none, or cannot be read. Never throws. */
export async function list(directory: string, path: string, pace: Pacer): Promise<readonly Child[] | undefined> {
  const chain = chainTo(directory, path);
  if (typeof chain === 'string' || !chain.at(-1)?.stats.isDirectory()) return undefined;
  const names = attempt(() => namesIn(chain));
  if (typeof names === 'string') return undefined;
  const children = await childrenOf(names, (name) => attempt(() => enter(chain, name)), pace);
  return attempt(() => isStill(chain)) === true ? children : undefined;
}

export interface Found extends Spot {
  readonly path: string;
}

/** A reason why a skill cannot be listed as it stands. */
export class Unfit extends Error {
  override readonly name = 'Unfit';
}

/** Every file of the skill, by path. */
export async function findFiles(directory: string, pace: Pacer): Promise<readonly Found[]> {
  const files: Found[] = [];
  let directories = 0;

  async function visit(chain: readonly Spot[], prefix: string): Promise<void> {
    await pace();
    if (++directories > MAX_SKILL_DIRECTORIES) throw new Unfit(`it has over ${MAX_SKILL_DIRECTORIES} directories`);
    const names = namesIn(chain);
    // More than could all be listed: no need to look at each.
    if (names.length > MAX_SKILL_FILES + MAX_SKILL_DIRECTORIES) throw new Unfit(`it has over ${MAX_SKILL_FILES} files`);
    const children = await childrenOf(names, (name) => enterListed(chain, name), pace);
    if (!isStill(chain)) throw Object.assign(new Error('it has been replaced'), { code: 'ENOENT' });
    for (const child of children) {
      const path = prefix + child.name;
      if (child.stats.isDirectory()) await visit([...chain, child], `${path}/`);
      else files.push({ path, real: child.real, stats: child.stats });
      if (files.length > MAX_SKILL_FILES) throw new Unfit(`it has over ${MAX_SKILL_FILES} files`);
    }
  }

  const home = homeOf(directory);
  if (home === 'moved') throw new Unfit(`its directory ${ELSEWHERE}`);
  await visit([home], '');
  return files.sort((a, b) => compare(a.path, b.path));
}

// --- internal ---

/** The way from the skill's own directory to the path, each step with its links followed. */
function chainTo(directory: string, path: string): readonly Spot[] | Nothing {
  return attempt(() => {
    const home = homeOf(directory);
    if (home === 'moved') return home;
    const chain = [home];
    for (const name of path === '' ? [] : path.split('/')) {
      if (!isPlainSegment(name) || isSkipped(name) || !chain.at(-1)?.stats.isDirectory()) return 'missing';
      const next = enter(chain, name);
      if (typeof next === 'string') return next;
      chain.push(next);
    }
    // Some systems know one file by names that look different: without case, in short, with characters that count for
    // nothing. The real path has the name it was given.
    const real = realpathSync.native(chain.at(-1)?.real ?? directory);
    return passesSkipped(real, directory) ? 'missing' : chain;
  });
}

/** What the system says against it becomes a result. */
function attempt<T>(act: () => T): T | 'missing' | 'closed' {
  try {
    return act();
  } catch (error) {
    const code = codeOf(error);
    if (code === '') throw error; // Not the system's word: a fault of ours.
    return isMissing(error) || NO_SUCH_NAME.has(code) ? 'missing' : 'closed';
  }
}

const NO_SUCH_NAME: ReadonlySet<string> = new Set(['ENAMETOOLONG', 'ELOOP', 'EINVAL', 'EILSEQ']);

function homeOf(directory: string): Spot | 'moved' {
  // The native one asks the system once; the other looks at every directory on the way itself.
  return realpathSync.native(directory) === directory ? { real: directory, stats: statOf(directory) } : 'moved';
}

/** One entry of the last directory of the chain. */
function enter(chain: readonly Spot[], name: string): Spot | Nothing {
  const [home, here] = [chain[0], chain.at(-1)];
  if (!home || !here) return 'missing';
  const path = join(here.real, name);
  const stats = lstatSync(path, { bigint: true });
  if (!stats.isSymbolicLink()) return { real: path, stats };
  const real = realpathSync.native(path);
  if (!isBelow(real, home.real)) return 'outside';
  if (passesSkipped(real, home.real)) return 'missing';
  const target = statOf(real);
  // Followed, it would come by here again, and again.
  if (target.isDirectory() && chain.some((one) => isBelow(one.real, real))) return 'missing';
  return { real, stats: target };
}

function namesIn(chain: readonly Spot[]): readonly string[] {
  const here = chain.at(-1);
  return here ? readdirSync(here.real).filter((name) => !isSkipped(name)) : [];
}

/** Looks at each name for itself, with rests: a directory may have any number of them. */
async function childrenOf(
  names: readonly string[],
  open: (name: string) => Spot | Nothing,
  pace: Pacer,
): Promise<readonly Child[]> {
  const children: Child[] = [];
  for (const name of [...names].sort(compare)) {
    const rest = pace();
    if (rest) await rest;
    const spot = open(name);
    // Anything else, such as a FIFO or a socket, has no content of its own.
    if (typeof spot === 'object' && (spot.stats.isFile() || spot.stats.isDirectory())) children.push({ name, ...spot });
  }
  return children;
}

/** Asked after its names were listed: whether they are not those of what was put in its place meanwhile. */
function isStill(chain: readonly Spot[]): boolean {
  const here = chain.at(-1);
  return (
    here !== undefined &&
    realpathSync.native(here.real) === here.real &&
    fileIdentity(statOf(here.real)) === fileIdentity(here.stats)
  );
}

/** For a list that must be whole: throws where something cannot be had that is there. */
function enterListed(chain: readonly Spot[], name: string): Spot | Nothing {
  try {
    return enter(chain, name);
  } catch (error) {
    // A name that is not UTF-8 comes to us mended, and nothing has that name.
    if (isMissing(error) && name.includes('\ufffd')) throw new Unfit('it has a file whose name is not UTF-8');
    // A link that leads nowhere or in a circle, or a file that has just gone.
    if (isMissing(error) || codeOf(error) === 'ELOOP') return 'missing';
    throw error;
  }
}
