/**
 * The files of local skills, as they are on disk when asked for.
 * Owns: reading them, digests, manifests. Leaves alone: which files belong to a skill (contents.ts), URIs (address.ts).
 * Always true:
 * - a manifest is of one version: the directory and its SKILL.md are the same before the first file is read and after the last;
 * - a file that has not changed is not read again for its digest.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { createPacer } from '../files/pace.ts';
import {
  codeOf,
  ELSEWHERE,
  fileIdentity,
  isFresh,
  isMissing,
  NOFOLLOW,
  type Reading,
  readRegularFile,
  statOf,
  versionOf,
} from '../files/read.ts';
import { messageOf } from '../log.ts';
import type { FileReading, ManifestReading, SkillChild, SkillFiles } from '../model.ts';
import { SHA256 } from '../protocol/index.ts';
import { createRecords, type FileRecord, type Records } from './digest-cache.ts';
import { type FrontMatter, readFrontMatter } from './front-matter-values.ts';
import { textOf } from './media-types.ts';
import { type Child, find, findFiles, list, MAX_SKILL_TOTAL, Unfit } from './skill-paths.ts';

/** The largest single file that is read at all. */
export const MAX_FILE_BYTES = MAX_SKILL_TOTAL;
/** Larger files count as changed when their times say so: to read them costs more than a notification too many. */
export const MAX_COMPARED = 1024 * 1024;

export interface Library {
  /** `directory`: without any link. What a link in its place would lead to is never given. */
  filesOf(directory: string): SkillFiles;
}

export function createLibrary(): Library {
  const records = createRecords();
  const inTurn = createTurns();
  return {
    filesOf: (directory) => ({
      manifest: (signal) => readManifest(directory, records, signal),
      read: (path) => readFile(directory, path),
      list: async (path) => (await list(directory, path, createPacer()))?.map(asChild),
      version: (path) => inTurn(() => contentVersion(directory, path, records)),
    }),
  };
}

// --- internal ---

// A manifest that was overtaken by a change is begun again; whoever saves in bursts is done by then.
const ATTEMPTS = 5;
const PAUSE_MS = 60;

async function readManifest(directory: string, records: Records, signal: AbortSignal): Promise<ManifestReading> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await new Promise((done) => setTimeout(done, PAUSE_MS));
    if (signal.aborted) break;
    try {
      const reading = await tryManifest(directory, records);
      if (reading) return reading;
    } catch (error) {
      if (error instanceof Unfit) return { kind: 'unfit', why: error.message };
      if (!isMissing(error)) return { kind: 'unfit', why: `it cannot be read (${codeOf(error) || messageOf(error)})` };
      // Something vanished between two looks. If it is the skill itself, no further look will find it.
      if (find(directory, HEAD_FILE) === 'missing') return { kind: 'gone' };
    }
  }
  return { kind: 'moving' };
}

/** Undefined when something changed on the way. */
async function tryManifest(directory: string, records: Records): Promise<ManifestReading | undefined> {
  const pace = createPacer();
  const before = identityOf(directory);
  const found = await findFiles(directory, pace);
  const total = found.reduce((sum, { stats }) => sum + Number(stats.size), 0);
  if (total > MAX_SKILL_TOTAL) throw new Unfit(`its files have over ${MAX_SKILL_TOTAL} bytes together`);
  const files: (FileRecord & { readonly path: string })[] = [];
  for (const { path, real, stats } of found) {
    await pace();
    const version = versionOf(stats);
    const known = records.recall(real, version);
    // A SKILL.md that is a link to a file met before under its own name still has to be read as what it is.
    const isKnown = known && (known.head !== undefined || !isHead(path));
    const record = isKnown ? known : await examine(path, real, version);
    if (!record) return undefined;
    // Two changes within one tick of the file system's clock look like one: such a version says nothing yet.
    if (!isFresh(stats)) records.keep(real, version, record);
    files.push({ ...record, path });
  }
  if (identityOf(directory) !== before) return undefined;
  const head = files.find(({ path }) => path === HEAD_FILE)?.head;
  if (head === undefined) throw new Unfit('its SKILL.md is a link that leads out of it');
  const listing = files.map(({ path, size, digest }) => ({ path, size, digest }));
  if (head.kind === 'unfit') return { ...head, files: listing };
  return { kind: 'whole', manifest: { head: head.fields, files: listing } };
}

const HEAD_FILE = 'SKILL.md';
/** Of this skill, or of one inside it. */
const isHead = (path: string) => path === HEAD_FILE || path.endsWith(`/${HEAD_FILE}`);

/** A skill that is replaced as a whole gets another directory; one that is edited, another SKILL.md. */
function identityOf(directory: string): string {
  return `${fileIdentity(statOf(directory))} ${versionOf(statOf(join(directory, HEAD_FILE)))}`;
}

/** Reads the file; undefined when it has no longer that version. */
async function examine(path: string, real: string, wanted: string): Promise<FileRecord | undefined> {
  const { version, bytes } = readRegularFile(real, MAX_FILE_BYTES, NOFOLLOW);
  if (version !== wanted) return undefined;
  const record = { size: bytes.length, digest: digestOf(bytes) };
  return isHead(path) ? { ...record, head: await headOf(bytes) } : record;
}

async function headOf(bytes: Uint8Array): Promise<FrontMatter> {
  const text = textOf(bytes);
  if (text === undefined) return { kind: 'unfit', why: 'its SKILL.md is not UTF-8' };
  return readFrontMatter(text);
}

/** The digest of a file, so that one which was only touched is the same; undefined when there is none. */
function contentVersion(directory: string, path: string, records: Records): string | undefined {
  let version: string | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const spot = find(directory, path);
    if (typeof spot !== 'object' || !spot.stats.isFile()) return undefined;
    const { real, stats } = spot;
    version = versionOf(stats);
    const known = records.recall(real, version);
    if (known) return known.digest;
    if (stats.size > MAX_COMPARED) return version;
    const reading = attemptRead(real);
    if (reading?.version !== version) continue; // It was replaced or written to meanwhile.
    const digest = digestOf(reading.bytes);
    if (!isFresh(stats)) records.keep(real, version, { size: reading.bytes.length, digest });
    return digest;
  }
  return version;
}

/** Undefined when it is gone. */
function attemptRead(real: string): Reading | undefined {
  try {
    return readRegularFile(real, MAX_COMPARED, NOFOLLOW);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** One piece of work after the other, with rests: whoever asks for a thousand must not hold everybody else. */
function createTurns() {
  const pace = createPacer();
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => T): Promise<T> => {
    const next = last.then(pace).then(work);
    last = next.catch(() => {}); // A failure is for the one who asked.
    return next;
  };
}

async function readFile(directory: string, path: string): Promise<FileReading> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const spot = find(directory, path);
    if (spot === 'missing') return { kind: 'missing' };
    if (spot === 'outside') return { kind: 'refused', why: 'is or passes a link that leaves the skill' };
    if (spot === 'moved') return { kind: 'refused', why: `lies in a directory that ${ELSEWHERE}` };
    if (spot === 'closed')
      return { kind: 'refused', why: 'cannot be read: access is denied, or its disk is in trouble' };
    const { real, stats } = spot;
    if (stats.isDirectory()) return { kind: 'directory' };
    if (!stats.isFile()) return { kind: 'refused', why: 'is not a regular file' };
    if (stats.size > MAX_FILE_BYTES) return { kind: 'refused', why: `is over ${MAX_FILE_BYTES} bytes` };
    try {
      const { version, bytes } = readRegularFile(real, MAX_FILE_BYTES, NOFOLLOW);
      // What was opened must be what the path still leads to, or a directory was swapped on the way.
      const again = find(directory, path);
      if (version === undefined || typeof again !== 'object' || versionOf(again.stats) !== version) continue;
      return { kind: 'read', bytes };
    } catch (error) {
      if (isMissing(error)) continue;
      return { kind: 'refused', why: `cannot be read (${codeOf(error) || messageOf(error)})` };
    }
  }
  return { kind: 'moving' };
}

function asChild({ name, stats }: Child): SkillChild {
  return stats.isDirectory() ? { name, kind: 'directory' } : { name, kind: 'file', size: Number(stats.size) };
}

function digestOf(bytes: Uint8Array): string {
  return `${SHA256}${createHash('sha256').update(bytes).digest('hex')}`;
}
