/**
 * `skillwire trust`: allows this project's .kode.json, as it is now, to start its servers.
 * Owns: the text that the user is shown. Leaves alone: the record (hub/config/trust.ts).
 * Always true: exactly the file that was shown is recorded, after all of it was written out; errors have no stack trace.
 */
import { homedir } from 'node:os';
import { type Entry, readEntry } from '../hub/config/entries.ts';
import { referencesIn } from '../hub/config/expand.ts';
import { projectFile, readEntries } from '../hub/config/files.ts';
import { trust, trustFile } from '../hub/config/trust.ts';
import { messageOf } from '../log.ts';
import { printable } from '../text.ts';
import { UsageError } from './parse.ts';
import { workingDirectory } from './process.ts';

export async function trustProject(): Promise<void> {
  try {
    await showAndTrust();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    process.stderr.write(`skillwire: not trusted: ${printable(messageOf(error))}\n`);
    process.exitCode = 1;
  }
}

// --- internal ---

async function showAndTrust(): Promise<void> {
  const record = trustFile(homedir(), process.env);
  const file = projectFile(workingDirectory());
  const found = readEntries(file, true);
  if (found.kind !== 'parsed')
    throw new UsageError(`${file} ${found.kind === 'broken' ? found.why : 'does not exist'}`);
  const servers = [...found.servers].flatMap(([name, entry]) => describe(name, entry));
  const heading = servers.length === 0 ? `${file} names no servers.` : `With --hub, ${file} starts:`;
  await show([heading, ...servers, ...found.faults]);
  trust(record, file, found.digest);
  await show([`Trusted ${file} as it is now.`]);
}

/** Resolves when the lines are written; rejects when they cannot be. */
function show(lines: readonly string[]): Promise<void> {
  return new Promise((done, fail) => {
    process.stdout.write(`${lines.map(printable).join('\n')}\n`, (error) => (error ? fail(error) : done()));
  });
}

function describe(name: string, entry: unknown): readonly string[] {
  try {
    const read = readEntry(name, entry);
    return [`  ${name}: ${lineOf(read)}`, ...detailsOf(read)];
  } catch (error) {
    return [`  ${name}: not started: ${messageOf(error)}`];
  }
}

/** The text of the file, before variables are expanded, with all secrets in it: the user must judge exactly this. */
function lineOf(entry: Entry): string {
  switch (entry.kind) {
    case 'disabled':
      return 'disabled, not started';
    case 'stdio':
      return [entry.command, ...entry.args].map(quoted).join(' ');
    default:
      return `${quoted(entry.url)} (connects to it)`;
  }
}

function detailsOf(entry: Entry): readonly string[] {
  switch (entry.kind) {
    case 'disabled':
      return [];
    case 'stdio':
      return [...(entry.cwd === undefined ? [] : [`    in ${quoted(entry.cwd)}`]), ...named('env', entry.env)];
    default:
      return named('headers', entry.headers);
  }
}

/** The names, and the variables that their values refer to. The rest of a value may be a secret and is not shown. */
function named(what: string, values: Readonly<Record<string, string>>): readonly string[] {
  const shown = Object.entries(values).map(([name, value]) => {
    const taken = referencesIn(value).map(quoted);
    return taken.length === 0 ? quoted(name) : `${quoted(name)} (from ${taken.join(' ')})`;
  });
  return shown.length === 0 ? [] : [`    ${what}: ${shown.join(', ')}`];
}

/** Quotes show where an argument begins and ends. */
function quoted(text: string): string {
  return /^[\w@%+=:,./${}-]+$/.test(text) ? text : JSON.stringify(text);
}
