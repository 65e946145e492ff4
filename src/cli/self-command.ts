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

/**
 * The name where that is this file in PATH, `npx` where the program is in npx's cache, else the absolute path of the file.
 * `withoutPath`: for a client that does not have the PATH of the user's shell.
 */
export function selfCommand(
  running: Running = runningNow(),
  withoutPath = false,
): readonly [command: string, ...args: string[]] {
  const { execPath, platform } = running;
  const file = tryRealPath(running.file) ?? running.file;
  // Not every client starts a script (.cmd) of Windows by itself.
  if (NPX_CACHE.test(file)) return platform === 'win32' ? ['cmd', '/c', ...NPX] : NPX;
  if (!withoutPath && findInPath('skillwire', file, running) !== undefined) return ['skillwire'];
  const runtime = basename(execPath).replace(/\.exe$/i, '');
  // Another runtime of that name may come first in PATH: then the path of this one is safe.
  const found = findInPath(basename(execPath), execPath, running);
  // A link in PATH stays when its target is replaced by a newer version.
  const command = found === undefined ? execPath : withoutPath ? found : runtime;
  return [command, ...(runtime === 'deno' ? ['run', '-A'] : []), file];
}

/** The same for a shell. */
export function inShell(words: readonly string[], { platform }: Pick<Running, 'platform'> = runningNow()): string {
  const quoted = (word: string) => (platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`);
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word))).join(' ');
}

/** What a person types to run this program with these words, for messages. */
export const commandLine = (words: readonly string[]) => inShell([...selfCommand(), ...words]);

// --- internal ---

const NPX = ['npx', '-y', 'skillwire'] as const;
// Anywhere else npx would fetch the newest release instead of this program.
const NPX_CACHE = /[\\/]_npx[\\/][^\\/]+[\\/]node_modules[\\/]skillwire[\\/]/;

function runningNow(): Running {
  const { argv, execPath, platform, env } = process;
  return { file: argv[1] ?? '', execPath, platform, path: env.PATH ?? '' };
}

/**
 * Where a client that looks for `name` finds this file; undefined when it finds another or none. npm and npx add
 * directories to PATH for their own children.
 */
function findInPath(name: string, file: string, { path }: Running): string | undefined {
  const places = path
    .split(delimiter)
    .filter((place) => place !== '' && !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(place));
  const found = places.map((place) => join(place, name)).find((one) => tryRealPath(one) !== undefined);
  return found !== undefined && tryRealPath(found) === tryRealPath(file) ? found : undefined;
}

function tryRealPath(path: string): string | undefined {
  try {
    return realPathOf(path);
  } catch {
    return undefined; // It does not exist, or may not be looked at.
  }
}
