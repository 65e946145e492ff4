/**
 * `skillwire setup`: shows the entry of this server for a client's configuration file, or puts it there.
 * Owns: the entry's arguments, editing and replacing the file. Leaves alone: the clients (clients.ts).
 * Always true: the file is replaced in one step or not at all, after a backup; a file that is not plain JSON, or has another
 * entry of our name, is left alone.
 */
import * as fs from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readStable } from '../files/read.ts';
import { MAX_JSON_BYTES } from '../limits.ts';
import { messageOf } from '../log.ts';
import { isObject } from '../protocol/index.ts';
import { textOf } from '../skills/contents.ts';
import { expandHome } from '../skills/roots.ts';
import { printable } from '../text.ts';
import { CLIENTS, type ClientEntry, foldersOf, type SetupClient } from './clients.ts';
import { ALL_OPTIONS, type SetupValues } from './commands.ts';
import type { OptionTable } from './options.ts';
import { jsonLines, openOutput } from './output.ts';
import { checkedValues, nearestOf, parseArguments, UsageError } from './parse.ts';
import { complain, selfCommand, workingDirectory } from './process.ts';

/** `options`: those of the server, for the entry. Gives the exit code. */
export async function setup(
  values: SetupValues,
  [name]: readonly string[],
  options: readonly string[],
): Promise<number> {
  const { platform, env } = process;
  const home = homedir();
  // Relative paths would lead into the project.
  if (!isAbsolute(home)) throw new UsageError('the home directory is not known; set HOME to its path');
  const folders = foldersOf({ platform, home, env });
  const fileOf = ({ files }: SetupClient) => files(folders).find(fs.existsSync) ?? files(folders).at(-1) ?? '';
  const output = openOutput(values);
  if (name === undefined) {
    if (values.write || options.length > 0) throw new UsageError(`name the client: ${NAMES.join(', ')}`);
    const stateOf = (file: string) => (fs.existsSync(file) ? '' : ' (does not exist)');
    output.lines(CLIENTS.map((one) => printable(`${one.name.padEnd(16)}${fileOf(one)}${stateOf(fileOf(one))}`)));
    return 0;
  }
  const client = CLIENTS.find((one) => one.name === name);
  if (!client) throw new UsageError(`unknown client "${name}"${nearestOf(name, NAMES)}; it can be ${NAMES.join(', ')}`);
  const file = fileOf(client);
  const [command, ...self] = selfCommand();
  const own = client.exclude === undefined ? [] : ['--exclude', client.exclude];
  const entry = client.entry(command, [...self, ...own, ...serverArguments(options, home)]);
  if (!values.write) {
    output.lines([printable(`${client.title}: ${file}`), '', ...linesOf(client, entry), '', '--write puts it there.']);
    return 0;
  }
  try {
    const state = writeEntry(client, file, entry)
      ? `is in ${file} now; restart ${client.title}`
      : `was in ${file} already`;
    output.lines([printable(`${client.title}: the entry ${state}`)]);
    return 0;
  } catch (error) {
    output.lines(linesOf(client, entry));
    complain(`${file}: ${messageOf(error)}; nothing was changed, put the entry there by hand`);
    return 1;
  }
}

/** The text of a client's file with the entry; the same text when it has it. Throws when it is not plain, or has another. */
export function withEntry({ format, servers }: SetupClient, text: string, entry: ClientEntry): string {
  return format === 'toml' ? withTable(servers, text, entry) : withMember(servers, text, entry);
}

// --- internal ---

const NAMES = CLIENTS.map((one) => one.name);
const ENTRY_NAME = 'skillwire';
const OTHER_ENTRY = `it has another entry "${ENTRY_NAME}"`;

/** Checks the server's options. A client starts the server in any directory, so paths become absolute. */
function serverArguments(options: readonly string[], home: string): readonly string[] {
  const table: OptionTable = ALL_OPTIONS;
  const { given, words, rest } = parseArguments(options, table);
  const { transport, help, version } = checkedValues(given, ALL_OPTIONS);
  const [word] = [...words, ...rest];
  if (word !== undefined) throw new UsageError(`unexpected argument "${word}" after --`);
  if (transport !== 'stdio' || help || version)
    throw new UsageError('a client starts the server on stdin and stdout: leave out --transport, --help and --version');
  return given.flatMap(({ name, rawName, value, inlineValue }) => {
    if (value === undefined) return [rawName];
    const isPath = ['DIR', 'FILE'].includes(table[name]?.hint ?? '');
    const text = isPath ? expandHome({ home, cwd: workingDirectory() }, value) : value;
    // Kept as one word: only in that form may a value begin with a dash.
    return inlineValue ? [`${rawName}=${text}`] : [rawName, text];
  });
}

/** As it would stand in a new file, for a terminal. */
function linesOf({ format, servers }: SetupClient, entry: ClientEntry): readonly string[] {
  if (format === 'toml') return tableOf(servers, entry).split('\n').map(printable);
  return jsonLines({ [servers]: { [ENTRY_NAME]: entry } });
}

/** Whether the file was changed. */
function writeEntry(client: SetupClient, path: string, entry: ClientEntry): boolean {
  const isThere = fs.existsSync(path);
  // Where a link leads to is replaced, not the link.
  const file = isThere ? fs.realpathSync(path) : path;
  const before = isThere ? textOf(readStable(file, MAX_JSON_BYTES, 'follow').bytes) : '';
  if (before === undefined) throw new Error('it is not UTF-8');
  const after = withEntry(client, before, entry);
  if (after === before) return false;
  fs.mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (isThere) fs.copyFileSync(file, `${file}.bak`);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    fs.writeFileSync(draft, after, { mode: 0o600 });
    // Apart from the creation, whose mode the process may limit.
    if (isThere) fs.chmodSync(draft, fs.statSync(file).mode & 0o777);
    fs.renameSync(draft, file);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  }
  return true;
}

function withMember(servers: string, text: string, entry: ClientEntry): string {
  const whole = text.trim() === '' ? {} : parsePlain(text);
  if (!isObject(whole) || !isObject(whole[servers] ?? {})) throw new Error(`it is not an object with "${servers}"`);
  const known = Object(whole[servers]);
  if (isDeepStrictEqual(known[ENTRY_NAME], entry)) return text;
  if (Object.hasOwn(known, ENTRY_NAME)) throw new Error(OTHER_ENTRY);
  const indentation = /^[ \t]+(?=")/m.exec(text)?.[0] ?? '  ';
  const after = JSON.stringify({ ...whole, [servers]: { ...known, [ENTRY_NAME]: entry } }, undefined, indentation);
  return `${after}\n`.replaceAll('\n', text.includes('\r\n') ? '\r\n' : '\n');
}

/** Throws when not everything in the text would be there after it was parsed and written again. */
function parsePlain(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    // Of a key that is there twice only one would be left, and long numbers would lose digits.
    if (JSON.stringify(value) === text.replace(/("[^"\\]*(?:\\.[^"\\]*)*")|\s+/g, '$1')) return value;
  } catch {
    // The parser does not know about comments, so it cannot say what is wrong.
  }
  throw new Error('it is not plain JSON (it has a comment, a fault, or a spelling that would be lost)');
}

function tableOf(servers: string, entry: ClientEntry): string {
  // JSON's texts and lists of texts are TOML's too, but for one character that only TOML wants escaped.
  const lines = Object.entries(entry).map(
    ([key, value]) => `${key} = ${JSON.stringify(value).replaceAll('\x7f', '\\u007f')}`,
  );
  return [`[${servers}.${ENTRY_NAME}]`, ...lines].join('\n');
}

/** Appends the table, unless a header or a key of our name is there. */
function withTable(servers: string, text: string, entry: ClientEntry): string {
  const table = tableOf(servers, entry);
  if (`\n${text.replaceAll('\r', '')}\n`.includes(`\n${table}\n`)) return text;
  const start = `^[ \\t]*(?:\\[[ \\t]*)?(?:["']?${servers}["']?[ \\t]*\\.[ \\t]*)?`;
  if (new RegExp(`${start}["']?${ENTRY_NAME}["']?[ \\t]*[\\].=]`, 'm').test(text)) throw new Error(OTHER_ENTRY);
  if (new RegExp(`^[ \\t]*["']?${servers}["']?[ \\t]*=`, 'm').test(text))
    throw new Error(`"${servers}" is not written as tables`);
  const gap = text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
  return `${text}${gap}${table}\n`;
}
