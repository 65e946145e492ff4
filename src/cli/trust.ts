/**
 * `skillwire trust`: allows this project's .kode.json, as it is now, to start its servers.
 * Owns: the text that the user is shown. Leaves alone: the record (hub/trust.ts).
 * Always true: exactly the content that was shown is recorded, after all of it was written out.
 */
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import { projectFile, trustProject } from '../hub/trust.ts';
import { messageOf } from '../log.ts';
import { isObject, type Params } from '../protocol/index.ts';
import { printable } from '../text.ts';
import { jsonLines } from './output.ts';
import { UsageError } from './parse.ts';
import { complain, workingDirectory } from './process.ts';

/** Gives the exit code. */
export async function trust(): Promise<number> {
  const [cwd, home] = [workingDirectory(), homedir()];
  if (!isAbsolute(home)) throw new UsageError('the home directory is not known; set HOME to its path');
  try {
    await trustProject({ cwd, home, env: process.env }, (file, content) => print(linesOf(file, content)));
    await print([printable(`Trusted as it is now: ${projectFile(cwd)}`)]);
    return 0;
  } catch (error) {
    complain(`not trusted: ${messageOf(error)}`);
    return 1;
  }
}

// --- internal ---

/** The text of the file, before variables are expanded: the user must judge exactly this. */
function linesOf(file: string, { mcpServers = {} }: Params): readonly string[] {
  const isEmpty = !isObject(mcpServers) || Object.keys(mcpServers).length === 0;
  if (isEmpty) return [printable(`${file} names no servers.`)];
  return [printable(`With --hub, ${file} starts:`), ...jsonLines(mcpServers)];
}

/** Rejects when they cannot be written. */
function print(lines: readonly string[]): Promise<void> {
  return new Promise((done, fail) => {
    process.stdout.write(`${lines.join('\n')}\n`, (error) => (error ? fail(error) : done()));
  });
}
