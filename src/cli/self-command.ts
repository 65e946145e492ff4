/**
 * The command by which a client, or a person, starts this very program.
 * Always true: it works as it is written, in any directory.
 */
import { basename, delimiter, join } from 'node:path';
import { realPathOf } from '../files/stats.ts';

/** What is running. */
export interface Running {
  /** The file of the program. */
  readonly file: string;
  readonly execPath: string;
  readonly platform: string;
  /** The variable PATH. */
  readonly path: string;
}

/** An installed package is named; a file of a checkout, or a copy, has its absolute path. */
export function selfCommand(running: Running = runningNow()): readonly [command: string, ...args: string[]] {
  const { execPath, platform } = running;
  const file = tryRealPath(running.file) ?? running.file;
  if (!INSTALLED.test(file)) {
    const runtime = basename(execPath).replace(/\.exe$/i, '');
    // Another runtime of that name may come first in PATH: then the path of this one is safe.
    const command = isFirstInPath(basename(execPath), execPath, running) ? runtime : execPath;
    return [command, ...(runtime === 'deno' ? ['run', '-A'] : []), file];
  }
  // Not every client starts a script (.cmd) of Windows by itself.
  if (platform === 'win32') return ['cmd', '/c', 'npx', '-y', 'skillwire'];
  return isFirstInPath('skillwire', file, running) ? ['skillwire'] : ['npx', '-y', 'skillwire'];
}

/** The same for a shell. */
export function inShell(words: readonly string[], { platform }: Pick<Running, 'platform'> = runningNow()): string {
  const quoted = (word: string) => (platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`);
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word))).join(' ');
}

/** What a person types to run this program with these words, for messages. */
export const commandLine = (words: readonly string[]) => inShell([...selfCommand(), ...words]);

// --- internal ---

const INSTALLED = /[\\/]node_modules[\\/]skillwire[\\/]dist[\\/]skillwire\.cjs$/;

function runningNow(): Running {
  const { argv, execPath, platform, env } = process;
  return { file: argv[1] ?? '', execPath, platform, path: env.PATH ?? '' };
}

/** Whether a client that looks for `name` finds this file. npm and npx add directories to PATH for their own children. */
function isFirstInPath(name: string, file: string, { path }: Running): boolean {
  const places = path
    .split(delimiter)
    .filter((place) => place !== '' && !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(place));
  const found = places.map((place) => tryRealPath(join(place, name))).find((real) => real !== undefined);
  return found !== undefined && found === tryRealPath(file);
}

function tryRealPath(path: string): string | undefined {
  try {
    return realPathOf(path);
  } catch {
    return undefined; // It does not exist, or may not be looked at.
  }
}
