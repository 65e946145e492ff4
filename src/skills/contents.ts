/**
 * The files of a skill on this machine, as they are on disk when a client asks for them, and the form in which they are sent.
 * Leaves alone: what stays inside a directory (files/read.ts), the spelling of URIs (uris.ts).
 * Always true: only regular files are given, and nothing that a link leads to outside the skill's real directory; the
 * digests of a manifest are those of the bytes that were read for it.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync } from 'node:fs';
import { extname, sep } from 'node:path';
import { createPacer } from '../files/pace.ts';
import { changing, FileError, readInside, resolveInside, withFileErrors } from '../files/read.ts';
import { codeOf, identityOf, isSkipped } from '../files/stat.ts';
import { MAX_DIRECTORIES, MAX_SKILL_FILES, MAX_SKILL_TOTAL } from '../limits.ts';
import type { Manifest, SkillChild, SkillFiles } from '../model.ts';
import { compare } from '../text.ts';
import { frontMatterOf } from './front-matter.ts';
import { SKILL_FILE } from './roots.ts';

export class LocalFiles implements SkillFiles {
  readonly #directory: string;

  /** `directory`: the real path of the skill. Nothing is given of what a link in its place leads to. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  async read(path: string, limit: number): Promise<Buffer> {
    await pace();
    return readInside(this.#directory, path, limit).bytes;
  }

  /** Without links to directories: the files behind them are listed where they are, each once. */
  async list(path: string): Promise<readonly SkillChild[]> {
    const { real, stats } = resolveInside(this.#directory, path);
    if (!stats.isDirectory()) throw new FileError('refused', 'it is not a directory');
    const children: SkillChild[] = [];
    for (const name of withFileErrors(() => readdirSync(real)).sort(compare)) {
      await pace();
      if (isSkipped(name)) continue;
      const child = withFileErrors(() => this.#childAt(real, path === '' ? name : `${path}/${name}`, name));
      if (child) children.push(child);
    }
    // The names must be those of the directory that was found, and not of one that took its place meanwhile.
    if (identityOf(resolveInside(this.#directory, path).stats) !== identityOf(stats)) throw changing();
    return children;
  }

  async manifest(): Promise<Manifest> {
    const look = () => identityOf(resolveInside(this.#directory, '').stats);
    const before = look();
    const files: { path: string; size: number; digest: string }[] = [];
    let head: Buffer | undefined;
    for (const path of await this.#findFiles()) {
      await pace();
      const { bytes } = readInside(this.#directory, path, MAX_SKILL_TOTAL);
      if (path === SKILL_FILE) head = bytes;
      const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
      files.push({ path, size: bytes.length, digest });
    }
    // Programs that install skills put a whole new directory in place: the files of the two must not be mixed.
    if (look() !== before) throw changing();
    const skillFile = head;
    if (!skillFile) throw new FileError('missing', 'it has no SKILL.md of its own');
    return { files, head: () => frontMatterOf(skillFile) };
  }

  /** The paths of all files, sorted. */
  async #findFiles(): Promise<readonly string[]> {
    const files: string[] = [];
    const directories = [''];
    let total = 0;
    // The list grows while it is walked.
    for (const directory of directories) {
      for (const { name, kind, size = 0 } of await this.list(directory)) {
        const path = directory === '' ? name : `${directory}/${name}`;
        (kind === 'directory' ? directories : files).push(path);
        total += size;
      }
      if (directories.length > MAX_DIRECTORIES) throw refusal(`it has over ${MAX_DIRECTORIES} directories`);
      if (files.length > MAX_SKILL_FILES) throw refusal(`it has over ${MAX_SKILL_FILES} files`);
      if (total > MAX_SKILL_TOTAL) throw refusal(`its files have over ${MAX_SKILL_TOTAL} bytes together`);
    }
    return files.sort(compare);
  }

  #childAt(parent: string, path: string, name: string): SkillChild | undefined {
    try {
      const look = lstatSync(parent + sep + name);
      if (look.isDirectory()) return { name, kind: 'directory' };
      const stats = look.isSymbolicLink() ? resolveInside(this.#directory, path).stats : look;
      // A FIFO, a socket or a device has no content to serve.
      return stats.isFile() ? { name, kind: 'file', size: stats.size } : undefined;
    } catch (error) {
      // A link that leads out of the skill or nowhere (a FileError), or what was just deleted: nothing to serve.
      if (error instanceof FileError || codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }
}

export const DIRECTORY_TYPE = 'inode/directory';

/** The media type by the name of a file; undefined for an unknown ending. */
export function typeOfName(path: string): string | undefined {
  return TYPES.get(extname(path).toLowerCase());
}

/** The text of UTF-8 bytes, byte order mark included; undefined for other bytes. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined; // Not UTF-8.
  }
}

/** One file in the result of `resources/read`: as text only when the client can get the same bytes back from it. */
export function contentOf(uri: string, path: string, bytes: Buffer): object {
  const text = textOf(bytes);
  const mimeType = typeOfName(path) ?? (text === undefined ? 'application/octet-stream' : 'text/plain');
  return text === undefined ? { uri, mimeType, blob: bytes.toString('base64') } : { uri, mimeType, text };
}

// --- internal ---

// One for all skills: a client may ask for a thousand of them, each with one small file.
const pace = createPacer();

const refusal = (why: string) => new FileError('refused', why);

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Of the files that clients show in a way of their own. Others are text or bytes, by what they contain. */
const TYPES = new Map([
  ['.md', 'text/markdown'],
  ['.json', 'application/json'],
  ['.pdf', 'application/pdf'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
]);
