/**
 * The files that name upstream servers: the user's, the project's, and those given by hand.
 * Owns: which files, in which order, and whom they are believed. Leaves alone: what an entry means (config.ts).
 * Always true:
 * - a whole entry replaces a whole entry; a project file that is not trusted starts, and stops, nothing;
 * - a file that cannot be understood, as while it is being written, counts as what it last was.
 */
import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf } from '../log.ts';
import type { Problem, Watched } from '../model.ts';
import { isObject, type Params } from '../protocol/index.ts';
import { isMissing, readRegularFile } from '../skills/files.ts';
import { idlePlan, type Plan, planOf } from './config.ts';
import type { Environment } from './launch.ts';
import { isTrusted, trustFile } from './trust.ts';

export interface FileOptions {
  readonly cwd: string;
  readonly home: string;
  readonly env: Environment;
  /** Further files, from the command line. */
  readonly configFiles: readonly string[];
  readonly trustProject: boolean;
}

export interface Configuration {
  readonly plans: readonly Plan[];
  readonly problems: readonly Problem[];
  readonly watched: readonly Watched[];
}

export const projectFile = (cwd: string) => join(cwd, FILE_NAME);

/** What was last understood of each file; kept by whoever reads more than once. */
export type Memory = Map<string, Understood>;

export function readConfiguration(options: FileOptions, memory: Memory = new Map()): Configuration {
  const { cwd, home, env } = options;
  const variables = { env, workspaceFolder: cwd, userHome: home };
  const plans = new Map<string, Plan>();
  const problems: Problem[] = [];

  for (const { file, needsTrust, mustExist } of filesOf(options)) {
    const now = readEntries(file);
    if (now.kind === 'broken') problems.push({ where: file, what: now.why });
    if (now.kind === 'absent' && mustExist) problems.push({ where: file, what: 'does not exist' });
    const found = now.kind === 'broken' ? memory.get(file) : now;
    if (found?.kind !== 'read') {
      memory.delete(file);
      continue;
    }
    memory.set(file, found);
    const trusted = !needsTrust || found.servers.size === 0 || isTrusted(trustFile(home, env), file, found.text);
    for (const [name, entry] of found.servers) {
      const plan = trusted
        ? planOf(name, entry, { from: file, variables })
        : idlePlan(name, file, 'untrusted', UNTRUSTED);
      if (trusted || !plans.has(name)) plans.set(name, plan);
      const { way } = plan;
      if (way.kind === 'none' && way.state !== 'disabled')
        problems.push({ where: file, what: `server "${name}": ${way.reason}` });
    }
  }
  const record = trustFile(home, env);
  // The directories of the record may be made only when the first project is trusted.
  const places = [...filesOf(options).map(({ file }) => file), record, dirname(record), dirname(dirname(record))];
  const watched = places.map((place) => ({ directory: dirname(place), only: basename(place) }));
  return { plans: [...plans.values()], problems, watched };
}

export type Entries = { readonly kind: 'absent' } | { readonly kind: 'broken'; readonly why: string } | Understood;

export interface Understood {
  readonly kind: 'read';
  readonly text: string;
  readonly servers: ReadonlyMap<string, unknown>;
}

export function readEntries(file: string): Entries {
  let text: string;
  try {
    text = readRegularFile(file, MAX_FILE).bytes.toString('utf8');
  } catch (error) {
    if (!isMissing(error)) return { kind: 'broken', why: `cannot be read: ${messageOf(error)}` };
    return { kind: 'absent' };
  }
  const parsed = parse(text);
  if (!parsed) return { kind: 'broken', why: 'is not a JSON object' };
  const { mcpServers = {} } = parsed;
  if (!isObject(mcpServers)) return { kind: 'broken', why: 'mcpServers must be an object' };
  return { kind: 'read', text, servers: new Map(Object.entries(mcpServers)) };
}

// --- internal ---

const FILE_NAME = '.kode.json';
const UNTRUSTED = 'not started: this project is not trusted; look at the file, then run "skillwire trust"';
// Agents keep their history in these files too.
const MAX_FILE = 64 * 1024 * 1024;

interface ConfigFile {
  readonly file: string;
  readonly needsTrust: boolean;
  readonly mustExist: boolean;
}

function filesOf({ cwd, home, configFiles, trustProject }: FileOptions): readonly ConfigFile[] {
  const user = { file: join(home, FILE_NAME), needsTrust: false, mustExist: false };
  const project = { file: projectFile(cwd), needsTrust: !trustProject, mustExist: false };
  const given = configFiles.map((file) => ({ file: resolve(cwd, file), needsTrust: false, mustExist: true }));
  // In the home directory the project's file is the user's own.
  return [user, ...(realPath(project.file) === realPath(user.file) ? [] : [project]), ...given];
}

/** A home may be reached by a link, while the working directory is told without. */
function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file; // It does not exist, or cannot be looked at: reading it tells which.
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
