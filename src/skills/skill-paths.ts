/**
 * The regular files and directories that lie in the directory of a skill.
 * Owns: how a path in a skill is followed. Leaves alone: reading (contents.ts), the spelling of URIs (uris.ts).
 * Always true:
 * - a symbolic link out of the skill is never followed; a link up to a directory around it is left out;
 * - nothing is given of a directory that was replaced by a link, if only for a moment, nor of a skipped directory, whichever path leads there.
 * `directory` is everywhere the real path of the skill when it was found.
 */
import { type BigIntStats, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compare } from '../compare.ts';
import type { Pacer } from '../files/pace.ts';
import { REPLACED } from '../files/read.ts';
import {
  codeOf,
  isBelow,
  isMissing,
  isRecent,
  isSkipped,
  lstatOf,
  passesSkipped,
  realPathOf,
  statOf,
  versionOf,
} from '../files/stats.ts';
import { MAX_SKILL_DIRECTORIES, MAX_SKILL_FILES } from './limits.ts';
import { isPlainSegment } from './uris.ts';

export interface Spot {
  /** The real path. */
  readonly real: string;
  readonly stats: BigIntStats;
}

/** `outside`: a link leaves the skill; `closed`: no access; `moved`: a link took the place of the directory. */
export type Nothing = 'outside' | 'missing' | 'closed' | 'moved';

/** The file or directory at a path of a skill. Never throws. */
export function find(directory: string, path: string): Spot | Nothing {
  const chain = chainTo(directory, path);
  return typeof chain === 'string' ? chain : (chain.at(-1) ?? 'missing');
}

export interface Child extends Spot {
  readonly name: string;
}

/** `moving`: it changed while it was listed, or just before. */
export type Listing = readonly Child[] | 'moving' | undefined;

/** The children of a directory of a skill, by name; undefined when it cannot be listed. Never throws. */
export async function list(directory: string, path: string, pace: Pacer): Promise<Listing> {
  const chain = chainTo(directory, path);
  if (typeof chain === 'string' || !chain.at(-1)?.stats.isDirectory()) return undefined;
  const before = attempt(() => versionOfPath(chain));
  const names = attempt(() => namesIn(chain));
  if (typeof names === 'string') return undefined;
  const children = await childrenOf(names, (name) => attempt(() => enter(chain, name)), pace);
  return attempt(() => isStill(chain, before)) === true ? children : 'moving';
}

export interface FoundFile extends Spot {
  readonly path: string;
}

/** The reason why a skill cannot be listed with digests. */
export class Unfit extends Error {
  override readonly name = 'Unfit';
}

/** Every file of the skill, by path. Throws `Unfit`, or the system's error. */
export async function findFiles(directory: string, pace: Pacer): Promise<readonly FoundFile[]> {
  const files: FoundFile[] = [];
  let directories = 0;

  async function visit(chain: readonly Spot[], prefix: string): Promise<void> {
    await pace();
    if (++directories > MAX_SKILL_DIRECTORIES) throw new Unfit(`it has over ${MAX_SKILL_DIRECTORIES} directories`);
    const before = versionOfPath(chain);
    const names = namesIn(chain);
    // There is no need to look at each when there are too many to be listed anyway.
    if (names.length > MAX_SKILL_FILES + MAX_SKILL_DIRECTORIES) throw new Unfit(`it has over ${MAX_SKILL_FILES} files`);
    const children = await childrenOf(names, (name) => enterListed(chain, name), pace);
    if (!isStill(chain, before)) throw Object.assign(new Error('it has changed'), { code: 'ENOENT' });
    for (const child of children) {
      const path = prefix + child.name;
      if (child.stats.isDirectory()) await visit([...chain, child], `${path}/`);
      else files.push({ path, real: child.real, stats: child.stats });
      if (files.length > MAX_SKILL_FILES) throw new Unfit(`it has over ${MAX_SKILL_FILES} files`);
    }
  }

  const home = homeOf(directory);
  if (home === 'moved') throw new Unfit(`its directory ${REPLACED}`);
  await visit([home], '');
  return files.sort((a, b) => compare(a.path, b.path));
}

// --- internal ---

/** The directories from the skill's own down to the path, with links resolved, and the entry at the path. */
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
    // Some systems accept several spellings of one name: another case, a short form, ignored characters. Only the real
    // path tells whether the name is one that is skipped.
    const real = realPathOf(chain.at(-1)?.real ?? directory);
    return passesSkipped(real, directory) ? 'missing' : chain;
  });
}

/** Turns an error of the system into a result. */
function attempt<T>(act: () => T): T | 'missing' | 'closed' {
  try {
    return act();
  } catch (error) {
    const code = codeOf(error);
    if (code === '') throw error; // Not an error of the system, but a fault in this program.
    return isMissing(error) || NO_SUCH_NAME.has(code) ? 'missing' : 'closed';
  }
}

const NO_SUCH_NAME: ReadonlySet<string> = new Set(['ENAMETOOLONG', 'ELOOP', 'EINVAL', 'EILSEQ']);

function homeOf(directory: string): Spot | 'moved' {
  return realPathOf(directory) === directory ? { real: directory, stats: statOf(directory) } : 'moved';
}

/** One entry of the last directory of the chain. */
function enter(chain: readonly Spot[], name: string): Spot | Nothing {
  const [home, here] = [chain[0], chain.at(-1)];
  if (!home || !here) return 'missing';
  const path = join(here.real, name);
  const stats = lstatOf(path);
  if (!stats.isSymbolicLink()) return { real: path, stats };
  const real = realPathOf(path);
  if (!isBelow(real, home.real)) return 'outside';
  if (passesSkipped(real, home.real)) return 'missing';
  const target = statOf(real);
  // A link to a directory of the chain would be followed without end.
  if (target.isDirectory() && chain.some((one) => isBelow(one.real, real))) return 'missing';
  return { real, stats: target };
}

function namesIn(chain: readonly Spot[]): readonly string[] {
  const here = chain.at(-1);
  return here ? readdirSync(here.real).filter((name) => !isSkipped(name)) : [];
}

/** With breaks: a directory may have any number of entries. */
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
    // A FIFO, a socket or a device has no content to serve.
    if (typeof spot === 'object' && (spot.stats.isFile() || spot.stats.isDirectory())) children.push({ name, ...spot });
  }
  return children;
}

/** Checked after listing: the names must be those of the directory that was found, not of one that replaced it. */
function isStill(chain: readonly Spot[], before: string | undefined): boolean {
  const here = chain.at(-1);
  return (
    here !== undefined && before !== undefined && realPathOf(here.real) === here.real && versionOfPath(chain) === before
  );
}

/**
 * Of all directories from the skill's own down to the last of the chain: renaming one changes its version, so another
 * that took its place for a moment is noticed. Undefined when one changed recently, as versions could not tell that.
 */
function versionOfPath(chain: readonly Spot[]): string | undefined {
  const [home, here] = [chain[0], chain.at(-1)];
  if (!home || !here) return undefined;
  const versions: string[] = [];
  for (let path = here.real; isBelow(path, home.real); path = dirname(path)) {
    const stats = lstatOf(path);
    if (!stats.isDirectory() || isRecent(stats)) return undefined;
    versions.push(versionOf(stats));
    if (path === home.real) break;
  }
  return versions.join(' ');
}

/** For a complete list: throws when an existing entry cannot be looked at. */
function enterListed(chain: readonly Spot[], name: string): Spot | Nothing {
  try {
    return enter(chain, name);
  } catch (error) {
    // Node replaces bytes that are not UTF-8 in a name, and no file has the resulting name.
    if (isMissing(error) && name.includes('\ufffd')) throw new Unfit('it has a file whose name is not UTF-8');
    // A link that leads nowhere or in a circle, or a file that was just deleted.
    if (isMissing(error) || codeOf(error) === 'ELOOP') return 'missing';
    throw error;
  }
}
