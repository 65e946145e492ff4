/**
 * The files that configure upstream servers: the user's, the project's, and those given with --config.
 * Owns: which files are read, in which order, and which of them need trust. Leaves alone: entries (entries.ts).
 * Always true:
 * - an entry replaces an earlier entry of its name as a whole; a project file that is not trusted changes nothing;
 * - a file that cannot be parsed, as while it is being written, counts as its last version that could be.
 */
import { createHash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { NOFOLLOW, readStable } from '../../files/read.ts';
import { isSameDirectory, lookAt, lstatOf, watchEntry } from '../../files/stats.ts';
import { messageOf } from '../../log.ts';
import type { Problem, Watched } from '../../model.ts';
import { isObject, type Params } from '../../protocol/index.ts';
import { shorten } from '../../text.ts';
import type { Environment } from '../connection/command.ts';
import { inactiveConfig, parseEntry, type UpstreamConfig } from './entries.ts';
import { MAX_FILE, MAX_PROJECT_FILE, MAX_SERVER_NAME, MAX_SERVERS } from './limits.ts';
import { reasonNotTrusted, trustFile } from './trust.ts';

export interface FileOptions {
  readonly cwd: string;
  readonly home: string;
  readonly env: Environment;
  /** From the command line. */
  readonly configFiles: readonly string[];
  readonly trustProject: boolean;
}

export interface Configuration {
  readonly configs: readonly UpstreamConfig[];
  readonly problems: readonly Problem[];
  readonly watched: readonly Watched[];
}

export const projectFile = (cwd: string) => join(cwd, FILE_NAME);

/** The last version of each file that could be parsed; kept by a caller that reads more than once. */
export type ConfigCache = Map<string, ParsedFile>;

export function readConfiguration(options: FileOptions, cache: ConfigCache = new Map()): Configuration {
  const { cwd, home, env } = options;
  const variables = { env, workspaceFolder: cwd, userHome: home };
  const configs = new Map<string, UpstreamConfig>();
  /** Entries of the project that would replace others if the project were trusted. */
  const untrusted = new Map<string, UpstreamConfig>();
  const problems: Problem[] = [];
  const record = trustFile(home, env);
  const files = filesOf(options);

  for (const { path, needsTrust, mustExist } of files) {
    const found = unchanged(path, cache.get(path)) ?? readEntries(path, needsTrust);
    if (found.kind === 'broken') problems.push({ where: path, what: found.why });
    if (found.kind === 'missing' && mustExist) problems.push({ where: path, what: 'does not exist' });
    const parsed = found.kind === 'broken' ? cache.get(path) : found;
    if (parsed?.kind !== 'parsed') {
      cache.delete(path);
      continue;
    }
    cache.set(path, parsed);
    problems.push(...parsed.faults.map((what) => ({ where: path, what })));
    const reason = needsTrust && parsed.servers.size > 0 ? reasonNotTrusted(record, path, parsed.digest) : undefined;
    for (const [name, entry] of parsed.servers) {
      if (reason !== undefined) untrusted.set(name, inactiveConfig(name, path, 'untrusted', reason));
      else {
        configs.set(name, parseEntry(name, entry, { from: path, variables }));
        untrusted.delete(name);
      }
    }
  }
  for (const [name, config] of untrusted) if (!configs.has(name)) configs.set(name, config);
  const reported = new Set([...configs.values(), ...untrusted.values()]);
  // The directories of the record are created when the first project is trusted, so they are watched too.
  const paths = [...files.map(({ path }) => path), record, dirname(record), dirname(dirname(record))];
  return {
    configs: [...configs.values()],
    problems: [...problems, ...[...reported].flatMap(problemOf)],
    watched: paths.map(watchEntry),
  };
}

export type FileEntries = { readonly kind: 'missing' } | { readonly kind: 'broken'; readonly why: string } | ParsedFile;

export interface ParsedFile {
  readonly kind: 'parsed';
  /** Undefined when the file changed recently: it is read again next time. */
  readonly version: string | undefined;
  /** SHA-256 of the bytes that `servers` was parsed from; empty for files that need no trust. */
  readonly digest: string;
  readonly servers: ReadonlyMap<string, unknown>;
  /** The reasons for which entries are left out. */
  readonly faults: readonly string[];
}

/** `needsTrust`: the file may come from a stranger. A symbolic link could lead to another project's file, so it is refused. */
export function readEntries(path: string, needsTrust: boolean): FileEntries {
  if (needsTrust && isLink(path)) return { kind: 'broken', why: LINK };
  const reading = readStable(path, needsTrust ? MAX_PROJECT_FILE : MAX_FILE, needsTrust ? NOFOLLOW : 0);
  if (reading.kind === 'missing') return { kind: 'missing' };
  if (reading.kind === 'refused') return { kind: 'broken', why: `cannot be read: ${messageOf(reading.error)}` };
  if (reading.kind === 'moving') return { kind: 'broken', why: 'cannot be read: it is being written' };
  const { bytes } = reading;
  const parsed = parse(bytes.toString('utf8'));
  if (!parsed) return { kind: 'broken', why: 'is not a JSON object' };
  const { mcpServers = {} } = parsed;
  if (!isObject(mcpServers)) return { kind: 'broken', why: 'mcpServers must be an object' };
  const digest = needsTrust ? createHash('sha256').update(bytes).digest('hex') : '';
  const version = reading.recent ? undefined : reading.version;
  return { kind: 'parsed', version, digest, ...withinLimits(Object.entries(mcpServers)) };
}

// --- internal ---

const FILE_NAME = '.kode.json';
const LINK = 'is not read: it is a link, and what it leads to belongs to another project';

interface ConfigFile {
  readonly path: string;
  readonly needsTrust: boolean;
  readonly mustExist: boolean;
}

function filesOf({ cwd, home, configFiles, trustProject }: FileOptions): readonly ConfigFile[] {
  const user = { path: join(home, FILE_NAME), needsTrust: false, mustExist: false };
  const project = { path: projectFile(cwd), needsTrust: !trustProject, mustExist: false };
  const given = configFiles.map((file) => ({ path: resolve(cwd, file), needsTrust: false, mustExist: true }));
  // In the home directory the project's file is the user's own.
  return [user, ...(isSameDirectory(cwd, home) ? [] : [project]), ...given];
}

function withinLimits(entries: readonly (readonly [string, unknown])[]): Pick<ParsedFile, 'servers' | 'faults'> {
  const first = entries.slice(0, MAX_SERVERS);
  const isLong = ([name]: readonly [string, unknown]) => name.length > MAX_SERVER_NAME;
  const faults = first
    .filter(isLong)
    .map(([name]) => `server "${shorten(name, MAX_SERVER_NAME)}": its name is over ${MAX_SERVER_NAME} characters`);
  if (entries.length > MAX_SERVERS)
    faults.push(`names ${entries.length} servers; only the first ${MAX_SERVERS} are looked at`);
  return { servers: new Map(first.filter((entry) => !isLong(entry))), faults };
}

/** The cached file if it has not changed: some files have megabytes, and each refresh looks at them. */
function unchanged(path: string, cached: ParsedFile | undefined): ParsedFile | undefined {
  if (cached?.version === undefined) return undefined;
  // Not through a link: a link has a version of its own, so the file is read again.
  const look = lookAt(path, lstatOf);
  return look.kind === 'settled' && look.version === cached.version ? cached : undefined;
}

function problemOf({ name, from, target }: UpstreamConfig): readonly Problem[] {
  if (target.kind !== 'none' || target.state === 'disabled') return [];
  return [{ where: from, what: `server "${name}": ${target.reason}` }];
}

function isLink(path: string): boolean {
  try {
    return lstatOf(path).isSymbolicLink();
  } catch {
    return false; // Reading the file gives the reason.
  }
}

function parse(text: string): Params | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // The caller reports it.
  }
}
