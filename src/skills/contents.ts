/**
 * The files of a local skill, as they are on disk when a client asks for them.
 * Owns: reading files, digests, manifests. Leaves alone: which files belong to a skill (skill-paths.ts), URIs (uris.ts).
 * Always true: a manifest describes one version, with the same directory and SKILL.md before the first read and after the
 * last; a file that has not changed is not read again for its digest.
 */
import { join, posix } from 'node:path';
import { sameItems } from '../compare.ts';
import { sha256Of } from '../files/digest.ts';
import { createPacer } from '../files/pace.ts';
import { ChangingError, NOFOLLOW, readStable } from '../files/read.ts';
import { codeOf, isMissing, isRecent, sameVersion, statOf, type Version, versionOf } from '../files/stats.ts';
import { messageOf } from '../log.ts';
import type { FileReading, FileRecord, ManifestReading, SkillChild, SkillFiles } from '../model.ts';
import { SHA256 } from '../protocol/index.ts';
import { SizedCache } from '../sized-cache.ts';
import { delay } from '../wait.ts';
import { readFrontMatter } from './front-matter-values.ts';
import { MAX_COMPARED, MAX_FILE_BYTES, MAX_SKILL_TOTAL, MOST_DIGESTS, READ_ATTEMPTS, READ_PAUSE_MS } from './limits.ts';
import { SKILL_FILE } from './roots.ts';
import { childrenOf, find, findFiles, type Place, Refusal } from './skill-paths.ts';

/** `home`: the real path of the skill. Nothing is given of what a symbolic link in its place leads to. */
export function localFiles(home: string): SkillFiles {
  return {
    async manifest(signal, records = new Map()) {
      try {
        return await whenSettled(() => readManifest(home, records), signal);
      } catch (error) {
        if (error instanceof ChangingError) return { kind: 'moving' };
        if (isMissing(error)) return { kind: 'gone' };
        return { kind: 'unfit', why: `it ${whyNot(error)}` };
      }
    },
    async read(path, signal, maxBytes = MAX_FILE_BYTES) {
      try {
        const look = async () => readFile(home, path, Math.min(maxBytes, MAX_FILE_BYTES));
        return await whenSettled(() => inTurn(look), signal);
      } catch (error) {
        if (error instanceof ChangingError) return { kind: 'moving' };
        if (isMissing(error) || NO_SUCH_NAME.has(codeOf(error))) return { kind: 'missing' };
        return { kind: 'refused', why: whyNot(error) };
      }
    },
    async list(path, signal) {
      try {
        const children = await whenSettled(() => childrenOf(find(home, path), createPacer(), false), signal);
        return children.map(asChild);
      } catch {
        return undefined; // No directory, or none that can be read.
      }
    },
    version: (path) => whenSettled(() => inTurn(() => contentVersion(home, path))),
  };
}

export async function digestOf(bytes: Uint8Array): Promise<string> {
  return `${SHA256}${await sha256Of(bytes)}`;
}

// --- internal ---

/** The files that one request has read so far. */
type Records = Map<string, FileRecord>;

const NO_SUCH_NAME: ReadonlySet<string> = new Set(['ENAMETOOLONG', 'ELOOP', 'EINVAL', 'EILSEQ']);

const whyNot = (error: unknown) =>
  error instanceof Refusal ? error.message : `cannot be read (${codeOf(error) || messageOf(error)})`;

/** Looks again while something changes under the look; throws the last ChangingError. */
export async function whenSettled<T>(look: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof ChangingError) || attempt === READ_ATTEMPTS || signal?.aborted) throw error;
    }
    await delay(READ_PAUSE_MS);
  }
}

/** For what was there a moment ago. */
function asChange(error: unknown): never {
  throw isMissing(error) ? new ChangingError() : error;
}

function readFile(home: string, path: string, maxBytes: number): FileReading {
  const { real, stats } = find(home, path);
  if (stats.isDirectory()) return { kind: 'directory' };
  if (!stats.isFile()) throw new Refusal('is not a regular file');
  if (stats.size > maxBytes) throw new Refusal(`is over ${maxBytes} bytes`);
  const { bytes, version } = readStable(real, maxBytes, NOFOLLOW);
  // The path must still lead to the file that was opened: a directory may have been replaced meanwhile.
  if (!sameVersion(version, find(home, path).stats)) throw new ChangingError();
  return { kind: 'read', bytes };
}

function asChild({ path, stats }: Place): SkillChild {
  const name = posix.basename(path);
  return stats.isDirectory() ? { name, kind: 'directory' } : { name, kind: 'file', size: stats.size };
}

/** Throws an error for which `isMissing` is true when the skill is gone. */
async function readManifest(home: string, records: Records): Promise<ManifestReading> {
  const look = () => [home, join(home, SKILL_FILE)].map(statOf);
  const before = look();
  const files = await readFiles(home, records).catch(asChange);
  if (!files) return { kind: 'unfit', why: `its files have over ${MAX_SKILL_TOTAL} bytes together` };
  // Changes when the directory is replaced or its SKILL.md is edited.
  if (!sameItems(before, look(), sameVersion)) throw new ChangingError();
  for (const [file, record] of files) records.set(keyOf(file), record);
  const listed = Array.from(files, ([{ path }, { size, digest }]) => ({ path, size, digest }));
  const head = [...files].find(([{ path }]) => path === SKILL_FILE)?.[1].head;
  if (head === undefined) return { kind: 'unfit', why: 'its SKILL.md is a link that leads out of it' };
  if (head.kind === 'unfit') return { ...head, files: listed };
  return { kind: 'whole', head: head.fields, files: listed };
}

/** Undefined when they are too large together. */
async function readFiles(home: string, known: Records): Promise<ReadonlyMap<Place, FileRecord> | undefined> {
  const pace = createPacer();
  const found = await findFiles(home, pace);
  const total = found.reduce((sum, { stats }) => sum + stats.size, 0);
  if (total > MAX_SKILL_TOTAL) return undefined;
  const files = new Map<Place, FileRecord>();
  for (const file of found) {
    await pace();
    files.set(file, known.get(keyOf(file)) ?? (await recordOf(file)));
  }
  return files;
}

const isHead = (path: string) => posix.basename(path) === SKILL_FILE;

/** A SKILL.md may be a link to a file that is read under its own name too, without its front matter. */
const keyOf = ({ path, real }: Place) => (isHead(path) ? join(real, SKILL_FILE) : real);

/** Throws a ChangingError when the file is no longer the one that was looked at. */
async function recordOf(file: Place): Promise<FileRecord> {
  const known = digests.get(keyOf(file));
  if (known && sameVersion(known.version, file.stats)) return known.record;
  const { bytes, version } = readStable(file.real, MAX_FILE_BYTES, NOFOLLOW);
  if (!sameVersion(version, file.stats)) throw new ChangingError();
  const head = isHead(file.path) ? await readFrontMatter(bytes) : undefined;
  const record = { size: bytes.length, digest: await digestOf(bytes), head };
  if (!isRecent(file.stats)) digests.set(keyOf(file), { version, record }, 1);
  return record;
}

/** The file's digest, so that touching it changes nothing; for a large file its version. Undefined: no such file. */
async function contentVersion(home: string, path: string): Promise<string | undefined> {
  const file = fileAt(home, path);
  if (!file) return undefined;
  if (file.stats.size > MAX_COMPARED) return Object.values(versionOf(file.stats)).join(':');
  return (await recordOf(file).catch(asChange)).digest;
}

function fileAt(home: string, path: string): Place | undefined {
  try {
    const place = find(home, path);
    return place.stats.isFile() ? place : undefined;
  } catch {
    return undefined; // There is nothing that would be served.
  }
}

const digests = new SizedCache<string, { readonly version: Version; readonly record: FileRecord }>(MOST_DIGESTS);

const breaks = createPacer();
let lastTask: Promise<unknown> = Promise.resolve();

/** Runs one task after the other with breaks: a client that asks for a thousand files must not delay all others. */
function inTurn<T>(task: () => Promise<T>): Promise<T> {
  const next = lastTask.then(breaks).then(task);
  lastTask = next.catch(() => {}); // The caller of the task gets its failure.
  return next;
}
