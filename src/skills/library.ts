/**
 * The files of local skills, as they are on disk when asked for.
 * Owns: which files belong to a skill, their digests, and what was last promised of them. Leaves alone: URIs (address.ts).
 * Always true:
 * - only regular files that really lie in the skill's own directory are opened; a link that leads out is never followed;
 * - a manifest is of one version: the directory and its SKILL.md are the same before the first file is read and after the last;
 * - a file whose bytes are no longer those a manifest promised is never given out as if they were.
 * Memory: a file's path, version and digest, some 300 bytes, for at most MOST_KNOWN files; no contents.
 */
import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../log.ts';
import type { FileReading, ManifestFile, ManifestReading, SkillChild, SkillFiles } from '../model.ts';
import { compare, isPlainSegment } from './address.ts';
import {
  codeOf,
  isBelow,
  isFresh,
  isMissing,
  look,
  NOFOLLOW,
  placeOf,
  readRegularFile,
  SKIPPED,
  versionOf,
} from './files.ts';
import { type FrontMatter, readFrontMatter } from './frontmatter.ts';
import { textOf } from './mime.ts';
import { createPacer, type Pacer } from './pace.ts';

/** What every host of the Skills extension must accept, and so what we list. */
export const MAX_SKILL_FILES = 512;
export const MAX_SKILL_TOTAL = 16 * 1024 * 1024;
/** The largest single file that is read at all. */
export const MAX_FILE_BYTES = MAX_SKILL_TOTAL;
/** Directories of one skill; links between them could make more than there are. */
export const MAX_SKILL_DIRECTORIES = 2048;

export interface Library {
  filesOf(directory: string): SkillFiles;
}

export function createLibrary(): Library {
  const memory = createMemory();
  return {
    filesOf: (directory) => ({
      manifest: (signal) => readManifest(directory, memory, signal),
      read: async (path) => readFile(directory, path, memory),
      list: async (path) => listDirectory(directory, path),
      async version(path) {
        const spot = find(directory, path);
        return typeof spot === 'object' && spot.stats.isFile() ? versionOf(spot.stats) : undefined;
      },
      announced(path) {
        const spot = find(directory, path);
        if (typeof spot === 'object') memory.release(spot.real);
      },
    }),
  };
}

// --- internal ---

// A manifest that was overtaken by a change is begun again; whoever saves in bursts is done by then.
const ATTEMPTS = 5;
const PAUSE_MS = 60;

async function readManifest(directory: string, memory: Memory, signal: AbortSignal): Promise<ManifestReading> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await new Promise((done) => setTimeout(done, PAUSE_MS));
    if (signal.aborted) break;
    try {
      const reading = await tryManifest(directory, memory);
      if (reading) return reading;
    } catch (error) {
      if (error instanceof Unfit) return { kind: 'unfit', why: error.message };
      // Something vanished between two looks.
      if (!isMissing(error)) return { kind: 'unfit', why: `it cannot be read: ${messageOf(error)}` };
    }
  }
  return { kind: 'moving' };
}

/** A reason why a skill can never be listed as it stands. */
class Unfit extends Error {
  override readonly name = 'Unfit';
}

async function tryManifest(directory: string, memory: Memory): Promise<ManifestReading | undefined> {
  const pace = createPacer();
  const before = identityOf(directory);
  const found = await findFiles(realpathSync(directory), pace);
  const total = found.reduce((sum, { stats }) => sum + Number(stats.size), 0);
  if (total > MAX_SKILL_TOTAL) throw new Unfit(`its files have over ${MAX_SKILL_TOTAL} bytes together`);
  const files: (ManifestFile & { readonly real: string })[] = [];
  let head: FrontMatter | undefined;
  for (const { path, real, stats } of found) {
    await pace();
    const known = memory.get(real, versionOf(stats));
    const isHead = path === 'SKILL.md';
    if (known && !(isHead && known.head === undefined)) {
      files.push({ path, size: known.size, digest: known.digest, real });
      if (isHead) head = known.head;
      continue;
    }
    const { version, bytes } = readRegularFile(real, MAX_FILE_BYTES, NOFOLLOW);
    if (version !== versionOf(stats)) return undefined;
    if (isHead) head = await readHeadOf(bytes);
    const record = { size: bytes.length, digest: digestOf(bytes), ...(isHead ? { head } : {}) };
    // Two changes within one tick of the file system's clock look like one: such a version says nothing yet.
    memory.set(real, isFresh(stats) ? undefined : version, record);
    files.push({ path, size: record.size, digest: record.digest, real });
  }
  if (head === undefined || identityOf(directory) !== before) return undefined;
  if (head.kind === 'unfit') return head;
  for (const { real, digest } of files) memory.promise(real, digest);
  return {
    kind: 'whole',
    manifest: { head: head.fields, files: files.map(({ path, size, digest }) => ({ path, size, digest })) },
  };
}

async function readHeadOf(bytes: Uint8Array): Promise<FrontMatter> {
  const text = textOf(bytes);
  return text === undefined ? { kind: 'unfit', why: 'its SKILL.md is not UTF-8' } : readFrontMatter(text);
}

/** A skill that is replaced as a whole gets another directory; one that is edited, another SKILL.md. */
function identityOf(directory: string): string {
  return `${placeOf(look(directory))} ${versionOf(look(join(directory, 'SKILL.md')))}`;
}

interface Spot {
  /** Absolute, without any link. */
  readonly real: string;
  readonly stats: BigIntStats;
}

/**
 * One entry of the last directory of `chain`: real directories from the skill's own down to this one.
 * A link that leads out of the skill is 'outside'; one that leads back up would have no end and does not count.
 */
function enter(chain: readonly string[], name: string): Spot | 'outside' | undefined {
  const [home = '', here = home] = [chain[0], chain.at(-1)];
  const path = join(here, name);
  const stats = lstatSync(path, { bigint: true });
  if (!stats.isSymbolicLink()) return { real: path, stats };
  const real = realpathSync(path);
  if (!isBelow(real, home)) return 'outside';
  const target = look(real);
  return target.isDirectory() && chain.some((one) => isBelow(one, real)) ? undefined : { real, stats: target };
}

/** What stands at a path of a skill; why there is nothing to be had. */
function find(directory: string, path: string): Spot | 'outside' | 'missing' {
  try {
    const chain = [realpathSync(directory)];
    let spot: Spot = { real: chain[0] ?? '', stats: look(directory) };
    if (path === '') return spot;
    for (const name of path.split('/')) {
      if (!isPlainSegment(name) || SKIPPED.has(name) || !spot.stats.isDirectory()) return 'missing';
      const next = enter(chain, name);
      if (next === 'outside') return next;
      if (next === undefined) return 'missing';
      chain.push(next.real);
      spot = next;
    }
    return spot;
  } catch (error) {
    if (isMissing(error) || NO_SUCH_NAME.has(codeOf(error))) return 'missing';
    throw error;
  }
}

const NO_SUCH_NAME: ReadonlySet<string> = new Set(['ENAMETOOLONG', 'ELOOP', 'EINVAL', 'EILSEQ']);

interface Found extends Spot {
  readonly path: string;
}

/** Every file of the skill, by path. */
async function findFiles(home: string, pace: Pacer): Promise<readonly Found[]> {
  const files: Found[] = [];
  let directories = 0;

  async function visit(chain: readonly string[], prefix: string): Promise<void> {
    await pace();
    if (++directories > MAX_SKILL_DIRECTORIES) throw new Unfit(`it has over ${MAX_SKILL_DIRECTORIES} directories`);
    for (const { name, real, stats } of childrenOf(chain)) {
      const path = prefix + name;
      if (stats.isDirectory()) await visit([...chain, real], `${path}/`);
      else files.push({ path, real, stats });
      if (files.length > MAX_SKILL_FILES) throw new Unfit(`it has over ${MAX_SKILL_FILES} files`);
    }
  }

  await visit([home], '');
  return files.sort((a, b) => compare(a.path, b.path));
}

/** The files and directories in the last directory of the chain that are part of the skill. */
function childrenOf(chain: readonly string[]): readonly (Spot & { readonly name: string })[] {
  const names = readdirSync(chain.at(-1) ?? '').filter((name) => !SKIPPED.has(name));
  return names.sort(compare).flatMap((name) => {
    const spot = enterListed(chain, name);
    if (typeof spot !== 'object') return [];
    return spot.stats.isFile() || spot.stats.isDirectory() ? [{ name, ...spot }] : [];
  });
}

function enterListed(chain: readonly string[], name: string): Spot | 'outside' | undefined {
  try {
    return enter(chain, name);
  } catch (error) {
    // A name that is not UTF-8 comes to us mended, and nothing has that name.
    if (isMissing(error) && name.includes('\ufffd')) throw new Unfit('it has a file whose name is not UTF-8');
    // A link that leads nowhere, or a file that has just gone: no part of the skill.
    if (isMissing(error) || codeOf(error) === 'ELOOP') return undefined;
    throw error;
  }
}

function listDirectory(directory: string, path: string): readonly SkillChild[] | undefined {
  const chain = chainTo(directory, path);
  if (!chain) return undefined;
  return childrenOf(chain).map(({ name, stats }) =>
    stats.isDirectory() ? { name, kind: 'directory' } : { name, kind: 'file', size: Number(stats.size) },
  );
}

/** The real directories from the skill's own down to `path`; undefined when it is not a directory of the skill. */
function chainTo(directory: string, path: string): readonly string[] | undefined {
  const names = path === '' ? [] : path.split('/');
  const spots = names.map((_name, at) => find(directory, names.slice(0, at + 1).join('/')));
  const home = find(directory, '');
  const chain = [home, ...spots].map((spot) => (typeof spot === 'object' && spot.stats.isDirectory() ? spot.real : ''));
  return chain.includes('') ? undefined : chain;
}

function readFile(directory: string, path: string, memory: Memory): FileReading {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const spot = find(directory, path);
    if (spot === 'missing') return { kind: 'missing' };
    if (spot === 'outside') return { kind: 'refused', why: 'is or passes a link that leaves the skill' };
    const { real, stats } = spot;
    if (stats.isDirectory()) return { kind: 'directory' };
    if (!stats.isFile()) return { kind: 'refused', why: 'is not a regular file' };
    if (stats.size > MAX_FILE_BYTES) return { kind: 'refused', why: `is over ${MAX_FILE_BYTES} bytes` };
    try {
      const { version, bytes } = readRegularFile(real, MAX_FILE_BYTES, NOFOLLOW);
      // Asked again by name: what was opened must be what the name still leads to, or a directory was swapped on the way.
      const again = find(directory, path);
      if (version === undefined || typeof again !== 'object' || versionOf(again.stats) !== version) continue;
      return { kind: memory.allows(real, bytes) ? 'read' : 'changed', bytes };
    } catch (error) {
      if (isMissing(error)) continue;
      return { kind: 'refused', why: `cannot be read (${codeOf(error) || messageOf(error)})` };
    }
  }
  return { kind: 'moving' };
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

interface FileRecord {
  readonly size: number;
  readonly digest: string;
  /** Only of a SKILL.md. */
  readonly head?: FrontMatter | undefined;
}

interface Memory {
  get(real: string, version: string): FileRecord | undefined;
  set(real: string, version: string | undefined, record: FileRecord): void;
  /** A manifest with this digest is being given out. */
  promise(real: string, digest: string): void;
  release(real: string): void;
  /** Whether these bytes are what was promised, if anything was. */
  allows(real: string, bytes: Uint8Array): boolean;
}

const MOST_KNOWN = 100_000;
// A host checks digests itself and asks anew when one is wrong; refusing only spares it that. Somebody else who reads
// the same file and lists nothing must not be kept out for ever.
const PROMISE_MS = 15 * 60 * 1000;

function createMemory(): Memory {
  const records = createBounded<{ readonly version: string | undefined; readonly record: FileRecord }>();
  const promises = createBounded<{ readonly digest: string; readonly until: number }>();
  return {
    get(real, version) {
      const known = records.get(real);
      return known?.version === version ? known.record : undefined;
    },
    set: (real, version, record) => records.set(real, { version, record }),
    promise: (real, digest) => promises.set(real, { digest, until: performance.now() + PROMISE_MS }),
    release: (real) => promises.delete(real),
    allows(real, bytes) {
      const promise = promises.get(real);
      return !promise || promise.until < performance.now() || promise.digest === digestOf(bytes);
    },
  };
}

/** Forgets what was set longest ago when there is too much. */
function createBounded<V>() {
  const map = new Map<string, V>();
  return {
    get: (key: string) => map.get(key),
    delete: (key: string) => void map.delete(key),
    set(key: string, value: V): void {
      map.delete(key);
      map.set(key, value);
      if (map.size <= MOST_KNOWN) return;
      const [oldest] = map.keys();
      if (oldest !== undefined) map.delete(oldest);
    },
  };
}
