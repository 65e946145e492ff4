/**
 * `skillwire trust`: allows this project's .kode.json, or other files of it, as they are now, to start their servers.
 * Owns: the text that the user is shown. Leaves alone: the record (hub/config/trust.ts).
 * Always true: exactly the file that was shown is recorded, after all of it was written out; errors have no stack trace.
 */
import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { isBelow } from '../files/stats.ts';
import type { Entry } from '../hub/config/entries.ts';
import { referencesIn } from '../hub/config/expand.ts';
import { projectFile } from '../hub/config/files.ts';
import { createProjectReader, faultOf } from '../hub/config/read.ts';
import { trust, trustFile } from '../hub/config/trust.ts';
import { messageOf } from '../log.ts';
import { printable } from '../text.ts';
import { UsageError } from './parse.ts';
import { workingDirectory } from './process.ts';

/** `names`: of files in the project; without any, its .kode.json. */
export async function trustProject(names: readonly string[]): Promise<void> {
  const project = workingDirectory();
  const files = names.length === 0 ? [projectFile(project)] : names.map((name) => resolve(project, name));
  const other = files.find((file) => !isBelow(file, project));
  if (!isAbsolute(homedir())) throw new UsageError('the home directory is not known; set HOME to its path');
  if (other !== undefined) throw new UsageError(`${other} is not in this project, ${project}`);
  try {
    for (const file of files) await showAndTrust(project, file);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    process.stderr.write(`skillwire: not trusted: ${printable(messageOf(error))}\n`);
    process.exitCode = 1;
  }
}

// --- internal ---

async function showAndTrust(project: string, file: string): Promise<void> {
  const record = trustFile(homedir(), process.env);
  const found = createProjectReader(project)(file);
  if (!found.value?.digest) throw new UsageError(`${file} ${faultOf(found) ?? 'does not exist'}`);
  const { faults, digest } = found.value;
  const servers = [...found.value.servers].flatMap(([name, entry]) => describe(name, entry));
  const heading = servers.length === 0 ? `${file} names no servers.` : `With --hub, ${file} starts:`;
  await show([heading, ...servers, ...faults]);
  await trust(record, project, file, await digest());
  await show([`Trusted ${file} as it is now.`]);
}

/** Resolves when the lines are written; rejects when they cannot be. */
function show(lines: readonly string[]): Promise<void> {
  return new Promise((done, fail) => {
    process.stdout.write(`${lines.map(printable).join('\n')}\n`, (error) => (error ? fail(error) : done()));
  });
}

function describe(name: string, entry: Entry | Error): readonly string[] {
  if (entry instanceof Error) return [`  ${name}: not started: ${entry.message}`];
  const [line, ...details] = linesOf(entry);
  return [`  ${name}: ${line}`, ...details];
}

/** The text of the file, before variables are expanded, with all secrets in it: the user must judge exactly this. */
function linesOf(entry: Entry): readonly string[] {
  switch (entry.kind) {
    case 'disabled':
      return ['disabled, not started'];
    case 'stdio': {
      const command = [entry.command, ...entry.args].map(quoted).join(' ');
      const place = entry.cwd === undefined ? [] : [`    in ${quoted(entry.cwd)}`];
      return [command, ...place, ...named('env', { ...ownVariables(entry.envVars), ...entry.env })];
    }
    default:
      return [`${quoted(entry.url)} (connects to it)`, ...named('headers', entry.headers)];
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

/** The variables of ours that it gets, as if the file referred to them. */
function ownVariables(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, `\${${name}}`]));
}

/** Quotes show where an argument begins and ends. */
function quoted(text: string): string {
  return /^[\w@%+=:,./${}-]+$/.test(text) ? text : JSON.stringify(text);
}
