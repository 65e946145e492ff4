/**
 * Reads one configuration file, whatever its format.
 * Owns: the limit of a file, its syntax, and the digest that trust is for. Leaves alone: what is in it (formats.ts), which
 * files are read (files.ts).
 * Always true: a message about a fault says where it is and never quotes the file.
 */
import { dirname, join } from 'node:path';
import { sha256Of } from '../../files/digest.ts';
import { parseJsonc } from '../../files/jsonc.ts';
import { createFileCache, type Links, type ParsedFile } from '../../files/parsed.ts';
import { BYTE_ORDER_MARK, SyntaxFault } from '../../files/scanner.ts';
import { kindAt, realPathOf } from '../../files/stats.ts';
import { parseToml } from '../../files/toml.ts';
import { lazy } from '../../lazy.ts';
import { isObject } from '../../protocol/index.ts';
import { type Servers, serversIn } from './formats.ts';
import { MAX_FILE, MAX_PROJECT_FILE } from './limits.ts';

export interface ServerFile extends Servers {
  /** SHA-256 of the bytes; undefined for files that need no trust. */
  readonly digest: (() => Promise<string>) | undefined;
}

export type Read = (path: string) => ParsedFile<ServerFile>;

/** `cwd`: the project. */
export function createReader(cwd: string): Read {
  return createReaders(cwd, MAX_FILE, 'all', () => undefined);
}

/** For a file that may come from a stranger. A symbolic link could lead to another project's file, so it is refused. */
export function createProjectReader(cwd: string): Read {
  return createReaders(cwd, MAX_PROJECT_FILE, 'none', (bytes) => lazy(() => sha256Of(bytes)));
}

/** Why the file as it is now is not used, if so. */
export function faultOf({ fault }: ParsedFile<unknown>): string | undefined {
  return fault?.step === 'read' ? `is not read: ${fault.why}` : fault?.why;
}

// --- internal ---

function createReaders(
  cwd: string,
  maxBytes: number,
  links: Links,
  digestOf: (bytes: Buffer) => ServerFile['digest'],
): Read {
  const projects = projectPaths(cwd);
  const read = createFileCache(maxBytes, (bytes, path) => ({
    ...serversIn(parseObject(bytes, path), { path, projects }),
    digest: digestOf(bytes),
  }));
  return (path) => {
    const file = read(path, links);
    const isDirectory = file.fault?.step === 'read' && kindAt(path) === 'directory';
    return isDirectory ? { ...file, fault: DIRECTORY } : file;
  };
}

function parseObject(bytes: Buffer, path: string): Readonly<Record<string, unknown>> {
  const [parse, fault] = /\.toml$/i.test(path) ? TOML : JSON_TEXT;
  const text = bytes.toString();
  // In TOML that is a table without entries.
  if (parse === parseJson && text.trim() === '') throw new Error(EMPTY);
  try {
    const value = parse(text);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    throw new Error(`${fault}: line ${error.line}, column ${error.column}: ${error.message}`);
  }
  throw new Error(fault);
}

const DIRECTORY = { step: 'read', why: 'it is a directory; give the file itself' } as const;
const EMPTY = 'is empty; write {"mcpServers": {}} into it, or remove it or the option that names it';
const TOML = [(text: string) => parseToml(text).value, 'is not valid TOML'] as const;
const JSON_TEXT = [parseJson, 'is not a JSON object'] as const;

/** Plain JSON in a tenth of the time: hosts keep megabytes of history in some files, and write them often. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  } catch {
    return parseJsonc(text).value; // It has comments, or a fault that this one gives a place.
  }
}

/** Claude Code knows a project by the directory that has its `.git`; where there is none, by that which it started in. */
function projectPaths(cwd: string): readonly string[] {
  const starts = [cwd, ...realPathsOf(cwd)];
  const paths = starts.flatMap((start) => [start, ...rootOf(start)]);
  // On Windows with slashes.
  return [...new Set(paths.flatMap((path) => [path, path.replaceAll('\\', '/')]))];
}

function realPathsOf(path: string): readonly string[] {
  try {
    return [realPathOf(path)];
  } catch {
    return []; // The directory is gone.
  }
}

function rootOf(path: string): readonly string[] {
  if (kindAt(join(path, '.git')) !== 'missing') return [path];
  return dirname(path) === path ? [] : rootOf(dirname(path));
}
