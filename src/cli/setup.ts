/**
 * `skillwire setup`: shows the entry of this server for a client's configuration file, puts it there or takes it out.
 * Owns: which file, and what is said about it. Leaves alone: the entry (setup/server-entry.ts), the text
 * (setup/client-entry.ts), the file (setup/client-file.ts).
 * Always true: an error says which file and changes nothing; a token is never written, only the name of its variable.
 */
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import { SyntaxFault } from '../files/scanner.ts';
import { hostFiles, type System } from '../hub/config/hosts.ts';
import { messageOf } from '../log.ts';
import { printable, printableJson } from '../text.ts';
import { openOutput } from './output.ts';
import { hintFor, UsageError } from './parse.ts';
import { workingDirectory } from './process.ts';
import { isThere } from './replace-file.ts';
import { entryState, withEntry, withoutEntry } from './setup/client-entry.ts';
import { deleteClientFile, newestBackup, readClientFile, replaceClientFile } from './setup/client-file.ts';
import { CLIENTS, type ClientEntry, ENTRY_NAME, type SetupClient } from './setup/clients.ts';
import { httpEntry, stdioEntry } from './setup/server-entry.ts';
import type { SetupValues } from './view-options.ts';

/** `words`: the name of a client, then options of the server. */
export async function setup(values: SetupValues, [name, ...options]: readonly string[]): Promise<number> {
  const { platform, env } = process;
  const system = { platform, env, home: homedir(), cwd: workingDirectory() };
  // Relative paths would lead into the project.
  if (!isAbsolute(system.home)) throw new UsageError('the home directory is not known; set HOME to its path');
  const output = openOutput(values);
  if (name === undefined) {
    const needing = ONE_CLIENT.find((option) => values[option]);
    if (needing !== undefined) throw new UsageError(`--${needing} is for one CLIENT; it can be ${NAMES.join(', ')}`);
    const clients = CLIENTS.map((client) => listed(client, values, system));
    if (values.json) output.json({ clients });
    else output.lines(clients.flatMap(listedLines).map(printable));
    return 0;
  }
  const target = targetOf(values, name, options, system);
  try {
    const done = perform(target, values);
    if (values.json) output.json(done);
    else output.lines(linesOf(target, done));
    return 0;
  } catch (error) {
    const { client, file } = target;
    const fault = faultOf(error);
    if (values.json) output.json({ client: client.name, file, action: 'failed', ...fault });
    process.stderr.write(`skillwire: ${printable(faultLine(file, fault))}; nothing was changed\n`);
    return 1;
  }
}

// --- internal ---

const NAMES = CLIENTS.map(({ name }) => name);
const ONE_CLIENT = ['write', 'remove', 'project', 'http', 'url', 'hub'] as const;

interface Target {
  readonly client: SetupClient;
  readonly file: string;
  /** The directory, when it is a file of the project. */
  readonly project: string | undefined;
  readonly entry: ClientEntry;
  /** What else is to be done. */
  readonly notes: readonly string[];
}

/** The output of `--json`, besides its version. */
interface Done {
  readonly client: string;
  readonly file: string;
  /** Whether the file was there before. */
  readonly existed: boolean;
  /** What is shown: whether the file has it already, or the fault in the file. */
  readonly found?: Found | undefined;
  readonly action: 'shown' | 'written' | 'removed' | 'deleted' | 'none';
  /** The entry as a whole file would have it. */
  readonly snippet?: string;
  readonly entry?: ClientEntry;
  readonly backup?: string | undefined;
  readonly notes?: readonly string[];
}

/** Of a file that exists: whether it has the entry, or the fault in it. */
type Found = { readonly state: ReturnType<typeof entryState> } | Fault;

interface Fault {
  readonly error: string;
  readonly line?: number;
  readonly column?: number;
}

function faultOf(error: unknown): Fault {
  const place = error instanceof SyntaxFault ? { line: error.line, column: error.column } : undefined;
  return { error: messageOf(error), ...place };
}

const faultLine = (file: string, { error, ...place }: Fault) =>
  `${[file, ...Object.values(place)].join(':')}: ${error}`;

function targetOf(values: SetupValues, name: string, options: readonly string[], system: System): Target {
  const client = CLIENTS.find((one) => one.name === name);
  if (!client) throw new UsageError(`unknown client "${name}"${hintFor(name, NAMES)}; it can be ${NAMES.join(', ')}`);
  if (values.write && values.remove) throw new UsageError('--write and --remove exclude each other');
  const { user, project } = hostFiles(client.name, system);
  const files = values.project ? project : user;
  if (!files) throw new UsageError(`${client.title} has no file for a project; leave out --project`);
  const file = chosenOf(files);
  const isHttp = values.http || values.url !== undefined;
  const made = (isHttp ? httpEntry : stdioEntry)(client, values, options, system);
  if (!values.project) return { client, file, project: undefined, ...made };
  const notes = [...made.notes, `${client.title} may ask whether you trust this project.`];
  return { client, file, project: system.cwd, entry: made.entry, notes };
}

const chosenOf = (files: readonly string[]) => files.find(isThere) ?? files.at(-1) ?? '';

function perform({ client, file, project, entry, notes }: Target, values: SetupValues): Done {
  const base = { client: client.name, file, existed: isThere(file) };
  if (!values.write && !values.remove) {
    const found = lookAt({ client, file, project, entry });
    return { ...base, action: 'shown', found, snippet: withEntry(client, '', entry), entry, notes };
  }
  const found = readClientFile(file, project);
  const before = found.content?.text;
  if (values.write) {
    const after = withEntry(client, before ?? '', entry);
    if (after === before) return { ...base, action: 'none', entry };
    return { ...base, action: 'written', entry, backup: replaceClientFile(found, after), notes };
  }
  const after = before === undefined ? undefined : withoutEntry(client, before, newestBackup(found));
  if (after === before) return { ...base, action: 'none' };
  if (after !== undefined) return { ...base, action: 'removed', backup: replaceClientFile(found, after) };
  deleteClientFile(found);
  return { ...base, action: 'deleted' };
}

/** Undefined when there is no such file. */
function lookAt({ client, file, project, entry }: Omit<Target, 'notes'>): Found | undefined {
  if (!isThere(file)) return undefined;
  try {
    return { state: entryState(client, readClientFile(file, project).content?.text ?? '', entry) };
  } catch (error) {
    return faultOf(error);
  }
}

function linesOf({ client, notes }: Target, { file, found, action, snippet = '', entry, backup }: Done) {
  const { title, servers, format } = client;
  const said = {
    shown: [
      `${title}: ${foundLine(file, found)}`,
      '',
      ...(format === 'toml' ? snippet.trimEnd() : printableJson({ [servers]: { [ENTRY_NAME]: entry } })).split('\n'),
      '',
      ...(isReady(found) ? ['--write puts it there.'] : []),
      ...notes,
    ],
    written: [`${title}: the entry is in ${file}`, ...kept(backup), ...notes, `Restart ${title} to connect.`],
    removed: [`${title}: the entry was taken out of ${file}`, ...kept(backup)],
    deleted: [`${title}: deleted ${file}, which had nothing else in it`],
    none: [`${title}: nothing to do in ${file}`],
  };
  return said[action].map(printable);
}

const kept = (backup: string | undefined) => (backup === undefined ? [] : [`Backup: ${backup}`]);

const STATES = { there: 'has this entry', differs: 'has an entry that differs', missing: 'has no such entry' };

/** Whether --write would change something, and can. */
const isReady = (found: Found | undefined) => !found || ('state' in found && found.state !== 'there');

function foundLine(file: string, found: Found | undefined): string {
  if (!found) return `${file} (does not exist yet)`;
  return 'state' in found ? `${file} (${STATES[found.state]})` : faultLine(file, found);
}

/** A client in the list of all. */
function listed(client: SetupClient, values: SetupValues, system: System) {
  const { name, title } = client;
  const { user, project } = hostFiles(name, system);
  const { entry } = stdioEntry(client, values, [], system);
  const chosen = (files: readonly string[], directory?: string) => {
    const file = chosenOf(files);
    return { file, exists: isThere(file), found: lookAt({ client, file, project: directory, entry }) };
  };
  return { name, title, user: chosen(user), ...(project ? { project: chosen(project, system.cwd) } : {}) };
}

function listedLines({ name, user, project }: ReturnType<typeof listed>): readonly string[] {
  const line = (left: string, { file, found }: typeof user, right: string) =>
    `${left.padEnd(NAME_WIDTH)} ${found ? `exists  ${foundLine(file, found)}` : `missing ${file}`}${right}`;
  return [line(name, user, ''), ...(project ? [line('', project, ' (--project)')] : [])];
}

const NAME_WIDTH = Math.max(...CLIENTS.map(({ name }) => name.length)) + 1;
