/**
 * The command line and environment of a stdio server.
 * Owns: which variables a child inherits, and how a `.cmd` file is run on Windows. Leaves alone: the process (stdio.ts).
 * Always true: no shell reads what the configuration says, except cmd.exe for a batch file, and that is escaped.
 */
import { existsSync } from 'node:fs';
import { delimiter, extname, isAbsolute, join, resolve, win32 } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that any program of this user needs. Our environment may hold secrets of other programs besides. */
export function inheritedEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && INHERITED.test(name) ? [[name, value] as const] : [],
  );
  return Object.fromEntries(kept);
}

/**
 * A command with a slash is a path, relative to `cwd`; any other is looked up in PATH. `verbatim`: the arguments are
 * already quoted as Windows needs them.
 */
export function commandLine(
  command: string,
  args: readonly string[],
  env: Environment,
  platform: NodeJS.Platform,
  cwd: string,
) {
  const place = isPath(command, platform) ? resolve(cwd, command) : command;
  if (platform !== 'win32') return { command: place, args, verbatim: false };
  const file = findOnWindows(place, env);
  if (!/\.(cmd|bat)$/i.test(file)) return { command: file, args, verbatim: false };
  // Only cmd.exe can run a batch file, and it interprets its line twice, so the arguments are escaped twice.
  const line = [escapeMeta(file), ...args.map((arg) => escapeMeta(escapeMeta(quote(arg))))].join(' ');
  const shell = env.ComSpec ?? env.COMSPEC ?? inSystem32(env, 'cmd.exe');
  return { command: shell, args: ['/d', '/s', '/c', `"${line}"`], verbatim: true };
}

/** The full path of a program of Windows. A bare name could be found in a project's directory first. */
export function inSystem32(env: Environment, program: string): string {
  const root = variableIn(env, 'SYSTEMROOT');
  return win32.join(/^[A-Za-z]:[\\/]/.test(root) ? root : 'C:\\Windows', 'System32', program);
}

// --- internal ---

// Paths and language, proxies, certificates, the desktop, Windows.
const NAMES = [
  'PATH HOME USER LOGNAME SHELL TERM LANG LANGUAGE LC_.* XDG_.* TZ TMPDIR TMP TEMP',
  'HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY FTP_PROXY',
  'NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE',
  'SSH_AUTH_SOCK DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS DOCKER_HOST',
  'APPDATA LOCALAPPDATA COMPUTERNAME COMSPEC HOMEDRIVE HOMEPATH PATHEXT PROGRAMDATA PROGRAMFILES',
  'PROGRAMFILES\\(X86\\) PROCESSOR_ARCHITECTURE SYSTEMDRIVE SYSTEMROOT USERNAME USERPROFILE WINDIR',
];
const INHERITED = new RegExp(`^(?:${NAMES.join(' ').replaceAll(' ', '|')})$`, 'i');

/** Windows compares the names of variables without case. */
function variableIn(env: Environment, upper: string): string {
  return Object.entries(env).find(([name]) => name.toUpperCase() === upper)?.[1] ?? '';
}

function isPath(command: string, platform: NodeJS.Platform): boolean {
  return platform === 'win32' ? /[\\/]/.test(command) : command.includes('/');
}

/** As cmd.exe does: every directory of PATH, every ending of PATHEXT. */
function findOnWindows(command: string, env: Environment): string {
  // A relative or empty directory in PATH would be one of the project's.
  const absolute = variableIn(env, 'PATH').split(delimiter).filter(isAbsolute);
  const directories = isPath(command, 'win32') ? [''] : absolute;
  const endings = (env.PATHEXT ?? '.COM;.EXE;.BAT;.CMD').split(';');
  const tails = extname(command) === '' ? endings : ['', ...endings];
  const files = directories.flatMap((directory) => tails.map((tail) => join(directory, command) + tail));
  return files.find((file) => existsSync(file)) ?? command;
}

const quote = (arg: string) => `"${arg.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, '$1$1')}"`;
const escapeMeta = (text: string) => text.replace(/[()\][%!^"`<>&|;, *?]/g, '^$&');
