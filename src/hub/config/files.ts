/**
 * The files that name upstream servers: the user's, the project's, and those given by hand.
 * Owns: which files, in which order, and whom they are believed. Leaves alone: what an entry means (config.ts).
 * Always true:
 * - a whole entry replaces a whole entry; a project file that is not trusted starts, and stops, nothing;
 * - a file that cannot be understood, as while it is being written, counts as what it last was.
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
import { inactiveConfig, LONGEST_NAME, parseEntry, type UpstreamConfig } from './entries.ts';
import { lookUpTrust, trustFile } from './trust.ts';

export interface FileOptions {
  readonly cwd: string;
  readonly home: string;
  readonly env: Environment;
  /** Further files, from the command line. */
  readonly configFiles: readonly string[];
  readonly trustProject: boolean;
}

export interface Configuration {
  readonly configs: readonly UpstreamConfig[];
  readonly problems: readonly Problem[];
  readonly watched: readonly Watched[];
}

export const projectFile = (cwd: string) => join(cwd, FILE_NAME);

/** What was last understood of each file; kept by whoever reads more than once. */
export type Memory = Map<string, Understood>;

export function readConfiguration(options: FileOptions, memory: Memory = new Map()): Configuration {
  const { cwd, home, env } = options;
  const variables = { env, workspaceFolder: cwd, userHome: home };
  const configs = new Map<string, UpstreamConfig>();
  // Those of the project that would count if it were trusted.
  const untrusted = new Map<string, UpstreamConfig>();
  const problems: Problem[] = [];
  const record = trustFile(home, env);
  const files = filesOf(options);

  for (const { file, needsTrust, mustExist } of files) {
    const now = unchanged(file, memory.get(file)) ?? readEntries(file, needsTrust);
    if (now.kind === 'broken') problems.push({ where: file, what: now.why });
    if (now.kind === 'absent' && mustExist) problems.push({ where: file, what: 'does not exist' });
    const found = now.kind === 'broken' ? memory.get(file) : now;
    if (found?.kind !== 'read') {
      memory.delete(file);
      continue;
    }
    memory.set(file, found);
    problems.push(...found.faults.map((what) => ({ where: file, what })));
    const reason = needsTrust && found.servers.size > 0 ? distrust(record, file, found.digest) : undefined;
    for (const [name, entry] of found.servers) {
      if (reason !== undefined) untrusted.set(name, inactiveConfig(name, file, 'untrusted', reason));
      else {
        configs.set(name, parseEntry(name, entry, { from: file, variables }));
        untrusted.delete(name);
      }
    }
  }
  for (const [name, config] of untrusted) if (!configs.has(name)) configs.set(name, config);
  const inUse = new Set([...configs.values(), ...untrusted.values()]);
  // The directories of the record may be made only when the first project is trusted.
  const places = [...files.map(({ file }) => file), record, dirname(record), dirname(dirname(record))];
  const watched = places.map(watchEntry);
  return { configs: [...configs.values()], problems: [...problems, ...[...inUse].flatMap(problemOf)], watched };
}

export type Entries = { readonly kind: 'absent' } | { readonly kind: 'broken'; readonly why: string } | Understood;

export interface Understood {
  readonly kind: 'read';
  /** Of the file; undefined when it says nothing yet, and the file is to be read again. */
  readonly version: string | undefined;
  /** SHA-256 of the very bytes that `servers` was read from; empty where nobody is to trust them. */
  readonly digest: string;
  readonly servers: ReadonlyMap<string, unknown>;
  /** What is left out, and why. */
  readonly faults: readonly string[];
}

/** `careful`: the file may be a stranger's. It must not be a link, which would be another project's file. */
export function readEntries(file: string, careful: boolean): Entries {
  if (careful && isLink(file)) return { kind: 'broken', why: LINK };
  const reading = readStable(file, careful ? MAX_PROJECT_FILE : MAX_FILE, careful ? NOFOLLOW : 0);
  if (reading.kind === 'missing') return { kind: 'absent' };
  if (reading.kind === 'refused') return { kind: 'broken', why: `cannot be read: ${messageOf(reading.error)}` };
  if (reading.kind === 'moving') return { kind: 'broken', why: 'cannot be read: it is being written' };
  const { bytes } = reading;
  const parsed = parse(bytes.toString('utf8'));
  if (!parsed) return { kind: 'broken', why: 'is not a JSON object' };
  const { mcpServers = {} } = parsed;
  if (!isObject(mcpServers)) return { kind: 'broken', why: 'mcpServers must be an object' };
  const digest = careful ? createHash('sha256').update(bytes).digest('hex') : '';
  const version = reading.recent ? undefined : reading.version;
  return { kind: 'read', version, digest, ...chosenOf(Object.entries(mcpServers)) };
}

// --- internal ---

const FILE_NAME = '.kode.json';
const UNTRUSTED = 'not started: this project is not trusted; look at the file, then run "skillwire trust"';
const LINK = 'is not read: it is a link, and what it leads to belongs to another project';
// Agents keep their history in these files too.
const MAX_FILE = 64 * 1024 * 1024;
/** Of a project's file, which may be a stranger's and is read again and again. */
export const MAX_PROJECT_FILE = 4 * 1024 * 1024;
/** Servers of one file: people have a few dozen, and each is a process and some lines in the log. */
export const MAX_SERVERS = 500;

interface ConfigFile {
  readonly file: string;
  readonly needsTrust: boolean;
  readonly mustExist: boolean;
}

/** The entries that are looked at. A name that is too long to be shown is not carried any further. */
function chosenOf(entries: readonly (readonly [string, unknown])[]): Pick<Understood, 'servers' | 'faults'> {
  const first = entries.slice(0, MAX_SERVERS);
  const long = first.filter(([name]) => name.length > LONGEST_NAME);
  return {
    servers: new Map(first.filter(([name]) => name.length <= LONGEST_NAME)),
    faults: [
      ...long.map(([name]) => `server "${shorten(name, LONGEST_NAME)}": its name is over ${LONGEST_NAME} characters`),
      ...(entries.length > MAX_SERVERS
        ? [`names ${entries.length} servers; only the first ${MAX_SERVERS} are looked at`]
        : []),
    ],
  };
}

/** What is known of a file, if that still holds: some have megabytes, and are looked at every few seconds. */
function unchanged(file: string, known: Understood | undefined): Understood | undefined {
  if (known?.version === undefined) return undefined;
  // Not through a link: a link has a version of its own, so the file is read again.
  const look = lookAt(file, lstatOf);
  return look.kind === 'settled' && look.version === known.version ? known : undefined;
}

/** Why a project's servers are not started; undefined: they are. */
function distrust(record: string, file: string, digest: string): string | undefined {
  const verdict = lookUpTrust(record, file, digest);
  switch (verdict.kind) {
    case 'trusted':
      return undefined;
    case 'unknown':
      return UNTRUSTED;
    case 'unreadable':
      return `not started: whether this project is trusted is not known: ${verdict.why}`;
  }
}

function problemOf({ name, from, target }: UpstreamConfig): readonly Problem[] {
  if (target.kind !== 'none' || target.state === 'disabled') return [];
  return [{ where: from, what: `server "${name}": ${target.reason}` }];
}

function filesOf({ cwd, home, configFiles, trustProject }: FileOptions): readonly ConfigFile[] {
  const user = { file: join(home, FILE_NAME), needsTrust: false, mustExist: false };
  const project = { file: projectFile(cwd), needsTrust: !trustProject, mustExist: false };
  const given = configFiles.map((file) => ({ file: resolve(cwd, file), needsTrust: false, mustExist: true }));
  // In the home directory the project's file is the user's own.
  return [user, ...(isSameDirectory(cwd, home) ? [] : [project]), ...given];
}

function isLink(file: string): boolean {
  try {
    return lstatOf(file).isSymbolicLink();
  } catch {
    return false; // Reading the file gives the reason.
  }
}

function parse(text: string): Params | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
