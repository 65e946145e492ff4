/**
 * How a configured command is really started: without a shell, with a small environment.
 * Owns: what a child inherits, and the detour that `.cmd` files need on Windows. Leaves alone: the process itself.
 */
import { existsSync } from 'node:fs';
import { delimiter, extname, isAbsolute, join, resolve, win32 } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** The arguments are already quoted the way Windows wants them. */
  readonly verbatim: boolean;
}

/**
 * What a server needs to run like any program of this user: paths, language, proxies, certificates.
 * Not the rest: our environment may hold keys that are none of its business.
 */
export function baseEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && isInherited(name) ? [[name, value] as const] : [],
  );
  return Object.fromEntries(kept);
}

/** `cwd`: where a command that is a relative path begins. */
export function launchOf(
  command: string,
  args: readonly string[],
  env: Environment,
  platform: NodeJS.Platform,
  cwd: string,
): Launch {
  const place = isPath(command, platform) ? resolve(cwd, command) : command;
  if (platform !== 'win32') return { command: place, args, verbatim: false };
  const file = findOnWindows(place, env);
  if (!/\.(cmd|bat)$/i.test(file)) return { command: file, args, verbatim: false };
  // A batch file is no program: cmd.exe must run it, and cmd.exe reads its line twice, so it is escaped twice.
  const line = [quoteCommand(file), ...args.map((arg) => escapeMeta(escapeMeta(quote(arg))))].join(' ');
  const shell = env.ComSpec ?? env.COMSPEC ?? inSystem32(env, 'cmd.exe');
  return { command: shell, args: ['/d', '/s', '/c', `"${line}"`], verbatim: true };
}

/** A program of Windows itself, wherever that is installed. */
export function inSystem32(env: Environment, program: string): string {
  const [, root = ''] = Object.entries(env).find(([name]) => name.toUpperCase() === 'SYSTEMROOT') ?? [];
  // Of another shape it would be looked for in the working directory.
  return win32.join(/^[A-Za-z]:[\\/]/.test(root) ? root : 'C:\\Windows', 'System32', program);
}

// --- internal ---

const INHERITED: ReadonlySet<string> = new Set(
  [
    'PATH HOME USER LOGNAME SHELL TERM LANG LANGUAGE TZ TMPDIR TMP TEMP',
    'HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY FTP_PROXY',
    'NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE',
    'SSH_AUTH_SOCK DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS DOCKER_HOST',
    'APPDATA LOCALAPPDATA COMPUTERNAME COMSPEC HOMEDRIVE HOMEPATH PATHEXT PROGRAMDATA PROGRAMFILES',
    'PROGRAMFILES(X86) PROCESSOR_ARCHITECTURE SYSTEMDRIVE SYSTEMROOT USERNAME USERPROFILE WINDIR',
  ].flatMap((line) => line.split(' ')),
);

function isInherited(name: string): boolean {
  const upper = name.toUpperCase();
  return INHERITED.has(upper) || upper.startsWith('LC_') || upper.startsWith('XDG_');
}

/** Anything else is a name, to be looked up in PATH. */
function isPath(command: string, platform: NodeJS.Platform): boolean {
  return platform === 'win32' ? /[\\/]/.test(command) : command.includes('/');
}

/** As the shell there looks for it: every directory of PATH, every ending of PATHEXT. */
function findOnWindows(command: string, env: Environment): string {
  const path = Object.entries(env).find(([name]) => name.toUpperCase() === 'PATH')?.[1] ?? '';
  const endings = (env.PATHEXT ?? '.COM;.EXE;.BAT;.CMD').split(';');
  // A relative directory, or an empty one, would be one of the project's.
  const directories = isPath(command, 'win32') ? [''] : path.split(delimiter).filter((one) => isAbsolute(one));
  const tails = extname(command) === '' ? endings : ['', ...endings];
  for (const directory of directories) {
    for (const tail of tails) {
      const file = join(directory, command) + tail;
      if (existsSync(file)) return file;
    }
  }
  return command;
}

function quote(arg: string): string {
  return `"${arg.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, '$1$1')}"`;
}

const escapeMeta = (text: string) => text.replace(/[()\][%!^"`<>&|;, *?]/g, '^$&');
const quoteCommand = (file: string) => escapeMeta(file);
