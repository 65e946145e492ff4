/**
 * Loads a file of this program, and keeps what Node compiled of it for the next start.
 * Owns: the cache files in the user's cache directory, and when one may be used. Leaves alone: what the program does.
 * Always true:
 * - compiled code is used only when this user's own Node made it from the very file that is loaded: V8 runs a cache instead of
 *   the source and does not check that they belong together;
 * - a cache that is missing, damaged in one of its two copies, not writable or another user's changes nothing but the time of
 *   the start.
 */
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { Script } from 'node:vm';

/**
 * The exports of a file that is one function with the parameters of a CommonJS module: such a file is compiled as it is,
 * while Node would first make a copy with that function around it. Files that it requires by a relative path are loaded
 * in the same way; `nodeRequire` gives the others, which are Node's own modules.
 */
export function loadFile(path: string, nodeRequire: NodeJS.Require): unknown {
  const known = loaded.get(path);
  if (known) return known.exports;
  const module = { exports: {} };
  const requireFrom = (name: string) =>
    name.startsWith('./') ? loadFile(join(dirname(path), name), nodeRequire) : nodeRequire(name);
  const cache = isEnabled() ? cacheOf(path) : undefined;
  const script = compile(path, cache);
  // Before it runs: files may require each other.
  loaded.set(path, module);
  try {
    script.runInThisContext()(module.exports, requireFrom, module, path, dirname(path));
  } catch (error) {
    loaded.delete(path); // The next attempt must not get half of it.
    throw error;
  }
  return module.exports;
}

// --- internal ---

/** Compiled code is written this long after the start, when a client has usually asked its first questions. It takes some 10 ms. */
export const WRITE_AFTER_MS = 300;
/** And once more, with what was compiled since: a first scan may take longer, and the host may be busy. */
export const COMPLETE_AFTER_MS = 3000;
/** Of several versions of Node and of this program. Each has some 300 KB. */
export const MOST_CACHES = 16;
/** Far above what the program compiles to. */
const MAX_CACHE_BYTES = 16 * 1024 * 1024;
const PIECE_BYTES = 32 * 1024; // The second copy is compared in pieces, so that it takes no memory of its own.
/** Bytes. V8 copies code that begins elsewhere before it takes it over. */
const ALIGNMENT = 8;

const loaded = new Map<string, { readonly exports: object }>();

/** Only on Node: other runtimes have caches of their own. */
function isEnabled(): boolean {
  const { env, versions } = process;
  return versions.bun === undefined && versions.deno === undefined && env.SKILLWIRE_CACHE !== 'off';
}

interface Cache {
  readonly file: string;
  readonly key: string;
}

function compile(path: string, cache: Cache | undefined): Script {
  const source = readFileSync(path, 'utf8');
  const cachedData = cache && readCache(cache);
  const script = new Script(source, { filename: path, ...(cachedData ? { cachedData } : {}) });
  if (cache && (!cachedData || script.cachedDataRejected))
    for (const delay of [WRITE_AFTER_MS, COMPLETE_AFTER_MS]) setTimeout(() => writeCache(cache, script), delay).unref();
  return script;
}

/** Undefined when the program or Node itself cannot be looked at. */
function cacheOf(path: string): Cache | undefined {
  try {
    const name = `${basename(path, '.cjs')}-${process.version}-${numberOf(path)}.bin`;
    return { file: join(cacheDirectory(), name), key: keyOf(path) };
  } catch {
    return undefined;
  }
}

/**
 * Tells the copies of a file in several installations apart. Two of one number would only replace each other's code. Not
 * `hashOf`: with it all of text.ts would be in the one file that is not kept compiled.
 */
function numberOf(path: string): number {
  let number = 0;
  for (let at = 0; at < path.length; at++) number = (Math.imul(number, 31) + path.charCodeAt(at)) >>> 0;
  return number;
}

/** Which file was compiled, and by which Node: one line, padded so that the code behind it begins where V8 wants it. */
function keyOf(path: string): string {
  const { version, arch, execPath, versions } = process;
  const identities = [identityOf(statSync(path)), identityOf(statSync(execPath))];
  const key = JSON.stringify([path, version, versions.v8, arch, execPath, ...identities]);
  const length = Buffer.byteLength(key) + 1;
  return `${key}${' '.repeat(ALIGNMENT - (length % ALIGNMENT))}\n`;
}

/** Size and times can be restored after a change, except for the time of the last change of the inode. */
function identityOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): readonly number[] {
  return [dev, ino, size, mtimeMs, ctimeMs];
}

function cacheDirectory(): string {
  const { XDG_CACHE_HOME: base = '' } = process.env;
  return join(isAbsolute(base) ? base : join(homedir(), '.cache'), 'skillwire');
}

/**
 * The file: a line with the key, then the compiled code twice. Damage to one of the two is noticed by comparing them, in a
 * tenth of the time that loading Node's checksums takes.
 */
function readCache({ file, key }: Cache): Buffer | undefined {
  try {
    const handle = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = fstatSync(handle);
      // What others may write could be made to run as this user.
      const isOwn = !process.getuid || (stats.uid === process.getuid() && (stats.mode & 0o077) === 0);
      if (!isOwn || !stats.isFile() || stats.size > MAX_CACHE_BYTES) return undefined;
      return readCode(handle, stats.size, Buffer.from(key));
    } finally {
      closeSync(handle);
    }
  } catch {
    return undefined; // There is none yet, or it may not be read.
  }
}

/** The second copy is read in pieces into one place: memory that was never touched before is what takes longest here. */
function readCode(handle: number, size: number, key: Buffer): Buffer | undefined {
  const first = Buffer.allocUnsafeSlow((size + key.length) / 2);
  if (readSync(handle, first, 0, first.length, 0) < first.length) return undefined;
  const code = first.subarray(key.length);
  const piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
  for (let at = 0; at < code.length; at += PIECE_BYTES) {
    const read = readSync(handle, piece, 0, PIECE_BYTES, first.length + at);
    if (!piece.subarray(0, read).equals(code.subarray(at, at + PIECE_BYTES))) return undefined;
  }
  return code.length > 0 && first.subarray(0, key.length).equals(key) ? code : undefined;
}

/** No right to write, or no space: the next start compiles again. */
function writeCache({ file, key }: Cache, script: Script): void {
  const draft = `${file}.${process.pid}`;
  try {
    const code = script.createCachedData();
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(draft, Buffer.concat([Buffer.from(key), code, code]), { mode: 0o600, flag: 'wx' });
    // Renamed into place: a start at the same time finds either no cache or a complete one.
    renameSync(draft, file);
    removeOldest(dirname(file));
  } catch {
    tryRemove(draft);
  }
}

function tryRemove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // It is not there, or cannot be removed: nothing reads a file of that name.
  }
}

function removeOldest(directory: string): void {
  const files = readdirSync(directory)
    .filter((name) => name.endsWith('.bin'))
    .map((name) => ({ path: join(directory, name), mtimeMs: statSync(join(directory, name)).mtimeMs }));
  const oldest = files.sort((a, b) => b.mtimeMs - a.mtimeMs).slice(MOST_CACHES);
  for (const { path } of oldest) rmSync(path, { force: true });
}
