/**
 * `skillwire trust`: the person at the keyboard has looked at this project's file and lets it start programs.
 * Owns: what that person is shown. Leaves alone: the record (hub/trust.ts).
 * Always true: what is recorded is what was shown, and only once all of it was; no fault is a stack trace.
 */
import { homedir } from 'node:os';
import { type Entry, readEntry } from '../hub/config/entries.ts';
import { referencesIn } from '../hub/config/expand.ts';
import { projectFile, readEntries } from '../hub/config/files.ts';
import { trust, trustFile } from '../hub/config/trust.ts';
import { messageOf } from '../log.ts';
import { printable } from '../text.ts';
import { UsageError } from './parse.ts';

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
  const file = projectFile(process.cwd());
  const found = readEntries(file, true);
  if (found.kind !== 'parsed')
    throw new UsageError(`${file} ${found.kind === 'broken' ? found.why : 'does not exist'}`);
  const servers = [...found.servers].flatMap(([name, entry]) => describe(name, entry));
  const heading = servers.length === 0 ? `${file} names no servers.` : `With --hub, ${file} starts:`;
  await show([heading, ...servers, ...found.faults]);
  trust(record, file, found.digest);
  await show([`Trusted ${file} as it is now.`]);
}

/** Settles when the lines are out; rejects when nobody can have read them. */
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

/** As it stands in the file, before anything is expanded and with whatever secrets are in it: it is to be judged. */
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

/** Names, and which variables of this user are handed over under them; what else is in the values may be a secret. */
function named(what: string, values: Readonly<Record<string, string>>): readonly string[] {
  const shown = Object.entries(values).map(([name, value]) => {
    const taken = referencesIn(value).map(quoted);
    return taken.length === 0 ? quoted(name) : `${quoted(name)} (from ${taken.join(' ')})`;
  });
  return shown.length === 0 ? [] : [`    ${what}: ${shown.join(', ')}`];
}

/** So that it can be seen where an argument begins and ends. */
function quoted(text: string): string {
  return /^[\w@%+=:,./${}-]+$/.test(text) ? text : JSON.stringify(text);
}
