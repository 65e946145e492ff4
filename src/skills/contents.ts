/**
 * The files of local skills, as they are on disk when a client asks for them.
 * Owns: reading files, digests, manifests. Leaves alone: which files belong to a skill (skill-paths.ts), URIs (uris.ts).
 * Always true:
 * - a manifest describes one version: the directory and its SKILL.md are the same before the first read and after the last;
 * - a file that has not changed is not read again for its digest.
 */
import { join } from 'node:path';
import { createPacer } from '../files/pace.ts';
import { NOFOLLOW, REPLACED, readStable } from '../files/read.ts';
import { codeOf, identityOf, isMissing, isRecent, statOf, versionOf } from '../files/stats.ts';
import { messageOf } from '../log.ts';
import type { FileReading, FileRecord, FrontMatter, ManifestReading, SkillChild, SkillFiles } from '../model.ts';
import { SHA256 } from '../protocol/index.ts';
import { delay } from '../wait.ts';
import { readFrontMatter } from './front-matter-values.ts';
import { MAX_COMPARED, MAX_FILE_BYTES, MAX_SKILL_TOTAL, MOST_DIGESTS, READ_ATTEMPTS, READ_PAUSE_MS } from './limits.ts';
import { textOf } from './media-types.ts';
import { type Child, find, findFiles, list, type Nothing, Unfit } from './skill-paths.ts';
import { SKILL_FILE } from './walk.ts';

/** `directory`: its real path. Nothing is given of what a symbolic link in its place leads to. */
export type ContentsOf = (directory: string) => SkillFiles;

export function createContents(): ContentsOf {
  const digests = new DigestCache();
  const inTurn = createQueue();
  return (directory) => ({
    manifest: (signal, seen = new Map()) => readManifest(directory, digests, seen, signal),
    read: (path, _signal, maxBytes = MAX_FILE_BYTES) => readFile(directory, path, Math.min(maxBytes, MAX_FILE_BYTES)),
    list: (path) => listDirectory(directory, path),
    version: (path) => inTurn(() => contentVersion(directory, path, digests)),
  });
}

// --- internal ---

/** The records of files by real path and version; the oldest are dropped when there are too many. */
class DigestCache {
  readonly #records = new Map<string, { readonly version: string; readonly record: FileRecord }>();

  get(real: string, version: string): FileRecord | undefined {
    const known = this.#records.get(real);
    return known?.version === version ? known.record : undefined;
  }

  set(real: string, version: string, record: FileRecord): void {
    this.#records.delete(real);
    this.#records.set(real, { version, record });
    const [oldest] = this.#records.size > MOST_DIGESTS ? this.#records.keys() : [];
    if (oldest !== undefined) this.#records.delete(oldest);
  }
}

/** The files that one request has read so far, by real path. */
type Seen = Map<string, FileRecord>;

async function readManifest(
  directory: string,
  digests: DigestCache,
  seen: Seen,
  signal: AbortSignal,
): Promise<ManifestReading> {
  for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
    if (attempt > 0) await delay(READ_PAUSE_MS);
    if (signal.aborted) break;
    try {
      const reading = await tryManifest(directory, digests, seen);
      if (reading) return reading;
    } catch (error) {
      if (error instanceof Unfit) return { kind: 'unfit', why: error.message };
      if (!isMissing(error)) return { kind: 'unfit', why: `it cannot be read (${codeOf(error) || messageOf(error)})` };
      // A file was deleted between two looks. If it was the SKILL.md, another attempt is useless.
      if (find(directory, SKILL_FILE) === 'missing') return { kind: 'gone' };
    }
  }
  return { kind: 'moving' };
}

/** Undefined when a file changed meanwhile. */
async function tryManifest(directory: string, digests: DigestCache, seen: Seen): Promise<ManifestReading | undefined> {
  const pace = createPacer();
  const before = skillVersion(directory);
  const found = await findFiles(directory, pace);
  const total = found.reduce((sum, { stats }) => sum + Number(stats.size), 0);
  if (total > MAX_SKILL_TOTAL) throw new Unfit(`its files have over ${MAX_SKILL_TOTAL} bytes together`);
  const files: { readonly path: string; readonly real: string; readonly record: FileRecord }[] = [];
  for (const { path, real, stats } of found) {
    await pace();
    const version = versionOf(stats);
    const known = seen.get(real) ?? digests.get(real, version);
    // A SKILL.md may be a link to a file that was read under its own name, without its front matter.
    const record = known && (known.head || !isHead(path)) ? known : await examine(path, real, version);
    if (!record) return undefined;
    if (!isRecent(stats) && !seen.has(real)) digests.set(real, version, record);
    files.push({ path, real, record });
  }
  if (skillVersion(directory) !== before) return undefined;
  const head = files.find(({ path }) => path === SKILL_FILE)?.record.head;
  if (head === undefined) throw new Unfit('its SKILL.md is a link that leads out of it');
  for (const { real, record } of files) seen.set(real, record);
  const listed = files.map(({ path, record: { size, digest } }) => ({ path, size, digest }));
  if (head.kind === 'unfit') return { ...head, files: listed };
  return { kind: 'whole', manifest: { head: head.fields, files: listed } };
}

/** Of this skill, or of one inside it. */
const isHead = (path: string) => path === SKILL_FILE || path.endsWith(`/${SKILL_FILE}`);

/** Changes when the directory is replaced or its SKILL.md is edited. */
function skillVersion(directory: string): string {
  return `${identityOf(statOf(directory))} ${versionOf(statOf(join(directory, SKILL_FILE)))}`;
}

/** Undefined when the file no longer has that version. Throws when it is missing or cannot be read. */
async function examine(path: string, real: string, version: string): Promise<FileRecord | undefined> {
  const reading = readStable(real, MAX_FILE_BYTES, NOFOLLOW);
  if (reading.kind === 'missing' || reading.kind === 'refused') throw reading.error;
  if (reading.kind === 'moving' || reading.version !== version) return undefined;
  const { bytes } = reading;
  return { size: bytes.length, digest: await digestOf(bytes), head: isHead(path) ? await headOf(bytes) : undefined };
}

async function headOf(bytes: Uint8Array): Promise<FrontMatter> {
  const text = textOf(bytes);
  if (text === undefined) return { kind: 'unfit', why: 'its SKILL.md is not UTF-8' };
  return readFrontMatter(text);
}

/** The file's digest, so that touching it changes nothing; for a large file its version. Undefined: no such file. */
async function contentVersion(directory: string, path: string, digests: DigestCache): Promise<string | undefined> {
  let version: string | undefined;
  for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
    const spot = find(directory, path);
    if (typeof spot !== 'object' || !spot.stats.isFile()) return undefined;
    const { real, stats } = spot;
    version = versionOf(stats);
    const known = digests.get(real, version);
    if (known) return known.digest;
    if (stats.size > MAX_COMPARED) return version;
    const reading = readStable(real, MAX_COMPARED, NOFOLLOW);
    if (reading.kind === 'refused') throw reading.error;
    if (reading.kind !== 'read' || reading.version !== version) continue; // It was replaced or written to meanwhile.
    const digest = await digestOf(reading.bytes);
    if (!isRecent(stats)) digests.set(real, version, { size: reading.bytes.length, digest, head: undefined });
    return digest;
  }
  return version;
}

/** Runs one task after the other with breaks: a client that asks for a thousand files must not delay all others. */
function createQueue() {
  const pace = createPacer();
  let last: Promise<unknown> = Promise.resolve();
  return <T>(task: () => Promise<T>): Promise<T> => {
    const next = last.then(pace).then(task);
    last = next.catch(() => {}); // The caller of the task gets its failure.
    return next;
  };
}

const REFUSALS: Readonly<Record<Exclude<Nothing, 'missing'>, string>> = {
  outside: 'is, or is behind, a link that leaves the skill',
  moved: `is in a directory that ${REPLACED}`,
  closed: 'cannot be read: access is denied, or the disk has errors',
};

async function readFile(directory: string, path: string, maxBytes: number): Promise<FileReading> {
  for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
    const spot = find(directory, path);
    if (spot === 'missing') return { kind: 'missing' };
    if (typeof spot === 'string') return { kind: 'refused', why: REFUSALS[spot] };
    if (spot.stats.isDirectory()) return { kind: 'directory' };
    if (!spot.stats.isFile()) return { kind: 'refused', why: 'is not a regular file' };
    if (spot.stats.size > maxBytes) return { kind: 'refused', why: `is over ${maxBytes} bytes` };
    const reading = readStable(spot.real, maxBytes, NOFOLLOW);
    if (reading.kind === 'refused')
      return { kind: 'refused', why: `cannot be read (${codeOf(reading.error) || messageOf(reading.error)})` };
    if (reading.kind !== 'read') continue;
    // The path must still lead to the file that was opened: a directory may have been replaced meanwhile.
    const again = find(directory, path);
    if (typeof again === 'object' && versionOf(again.stats) === reading.version) return reading;
  }
  return { kind: 'moving' };
}

async function listDirectory(directory: string, path: string): Promise<readonly SkillChild[] | undefined> {
  for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
    if (attempt > 0) await delay(READ_PAUSE_MS);
    const children = await list(directory, path, createPacer());
    if (children !== 'moving') return children?.map(asChild);
  }
  return undefined;
}

function asChild({ name, stats }: Child): SkillChild {
  return stats.isDirectory() ? { name, kind: 'directory' } : { name, kind: 'file', size: Number(stats.size) };
}

async function digestOf(bytes: Uint8Array): Promise<string> {
  // Loaded on first use: loading it takes a tenth of the program's start.
  const { createHash } = await import('node:crypto');
  return `${SHA256}${createHash('sha256').update(bytes).digest('hex')}`;
}
