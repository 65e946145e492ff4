/**
 * The processes of stdio servers: how they are started, and that none of them is left.
 * Owns: command line, environment, process groups, the guard. Leaves alone: what goes through the pipes (stdio.ts).
 * Always true: a child gets nothing of our environment but what is named here; no shell reads what a configuration says,
 * except cmd.exe for a batch file, and that is escaped; where there are process groups, none outlives us by over two seconds.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, extname, isAbsolute, join, resolve, win32 } from 'node:path';
import { kill, platform } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '../config.ts';
import { EXIT_MS, KILL_LOOK_MS, KILL_MS } from '../limits.ts';
import type { StdioTarget } from './entries.ts';

/** For `createHub` without an `env`. */
export { env as ownEnvironment } from 'node:process';

/** Tells a hub that is started by a hub how many are in front of it. */
export const HOPS_VARIABLE = 'SKILLWIRE_HOPS';

/** Throws when no process can be made. A command that is not found is an `error` event of the child. */
export function startProcess(target: StdioTarget, env: Environment, hops: number) {
  const own = { ...inheritedFrom(env, platform), ...target.env, [HOPS_VARIABLE]: String(hops) };
  const { command, args, verbatim } = commandLine(target, own, platform);
  const child = spawn(command, args, {
    cwd: target.cwd,
    env: own,
    // A group of its own, so that its children end with it: npx and shells have some.
    detached: platform !== 'win32',
    windowsHide: true,
    windowsVerbatimArguments: verbatim,
  });
  const { pid } = child;
  // When no descriptor is left, Node returns a child without pipes and emits an error. This Error replaces both.
  if (!child.stdin || !child.stdout) {
    child.on('error', () => {});
    throw new Error('there are no file descriptors left for it');
  }
  const exited = new Promise<void>((done) => {
    child.once('exit', () => done());
    child.once('error', () => done());
  });
  if (pid !== undefined) guard(groups.add(pid));
  return {
    child,
    /** Closes its stdin; SIGTERM follows, and SIGKILL, for its whole group. Settles when that is done. */
    async end(): Promise<void> {
      child.stdin.end();
      const waiting = new AbortController();
      await Promise.race([exited, delay(EXIT_MS, undefined, { signal: waiting.signal }).catch(() => {})]);
      waiting.abort();
      if (pid !== undefined) await endGroup(pid, own);
    },
  };
}

/** The variables of ours that a child gets: our environment may hold the secrets of other programs. */
export function inheritedFrom(env: Environment, system: string): Environment {
  const isGiven = (name: string) => INHERITED.test(name) || (system === 'win32' && WINDOWS.test(name));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isGiven(name)));
}

/**
 * A command with a slash is a path from the working directory; any other is looked up in PATH. `verbatim`: the arguments
 * are quoted as Windows needs them.
 */
export function commandLine({ command, args, cwd }: StdioTarget, env: Environment, system: string) {
  const isPath = system === 'win32' ? /[\\/]/.test(command) : command.includes('/');
  const program = isPath ? resolve(cwd, command) : command;
  if (system !== 'win32') return { command: program, args, verbatim: false };
  const file = findOnWindows(program, isPath, env);
  if (!/\.(cmd|bat)$/i.test(file)) return { command: file, args, verbatim: false };
  // Only cmd.exe can run a batch file such as npx, and it interprets its line twice, so arguments are escaped twice.
  const line = [escapeMeta(file), ...args.map((arg) => escapeMeta(escapeMeta(quote(arg))))].join(' ');
  const shell = variableIn(env, 'COMSPEC') || inSystem32(env, 'cmd.exe');
  return { command: shell, args: ['/d', '/s', '/c', `"${line}"`], verbatim: true };
}

// --- internal ---

const INHERITED = /^(PATH|HOME|LANG|LANGUAGE|LC_.*|(HTTP|HTTPS|NO|ALL|FTP)_PROXY)$/i;
// What no program of Windows starts without.
const WINDOWS = new RegExp(
  '^(PATHEXT|COMSPEC|SYSTEMROOT|SYSTEMDRIVE|WINDIR|USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|TEMP|TMP' +
    '|PROGRAMDATA|PROGRAMFILES|PROGRAMFILES\\(X86\\)|PROCESSOR_ARCHITECTURE)$',
  'i',
);

/** Windows compares the names of variables without case. */
function variableIn(env: Environment, upper: string): string {
  return Object.entries(env).find(([name]) => name.toUpperCase() === upper)?.[1] ?? '';
}

/** As cmd.exe does: every directory of PATH, every ending of PATHEXT. */
function findOnWindows(command: string, isPath: boolean, env: Environment): string {
  // A relative or empty directory in PATH would be one of the project's.
  const directories = isPath ? [''] : variableIn(env, 'PATH').split(delimiter).filter(isAbsolute);
  const endings = (variableIn(env, 'PATHEXT') || '.COM;.EXE;.BAT;.CMD').split(';');
  const tails = extname(command) === '' ? endings : ['', ...endings];
  const files = directories.flatMap((directory) => tails.map((tail) => join(directory, command) + tail));
  return files.find((file) => existsSync(file)) ?? command;
}

const quote = (arg: string) => `"${arg.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, '$1$1')}"`;
const escapeMeta = (text: string) => text.replace(/[()\][%!^"`<>&|;, *?]/g, '^$&');

/** The full path of a program of Windows. A bare name could be found in a project's directory first. */
function inSystem32(env: Environment, program: string): string {
  const root = variableIn(env, 'SYSTEMROOT');
  return win32.join(/^[A-Za-z]:[\\/]/.test(root) ? root : 'C:\\Windows', 'System32', program);
}

// A process that is killed cannot clean up. So one small shell for all children keeps the ids of their groups, and reads
// from a pipe whose other end only we hold: when the kernel closes it, the shell ends every group that is left.
const groups = new Set<number>();
let shell: ChildProcess | undefined;

function guard(left: ReadonlySet<number>): void {
  // Windows has no process groups. A server that outlives us there sees its pipes close.
  if (platform === 'win32') return;
  shell ??= startShell();
  shell.stdin?.write(`${[...left].map((group) => -group).join(' ')}\n`);
  if (left.size > 0) return;
  shell.stdin?.end();
  shell = undefined;
}

// Each line names all groups. `kill` goes on after a group that has ended.
const SCRIPT = `
trap '' HUP INT TERM
while read -r line; do groups=$line; done
[ -z "$groups" ] && exit 0
kill -s TERM -- $groups 2>/dev/null
sleep 1
kill -s KILL -- $groups 2>/dev/null
`;

function startShell(): ChildProcess {
  // Detached: a signal to our own process group must not end it.
  const started = spawn('/bin/sh', ['-c', SCRIPT], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell, servers still end when we end in an orderly manner.
  started.on('error', () => {});
  started.stdin?.on('error', () => {});
  return started;
}

async function endGroup(group: number, env: Environment): Promise<void> {
  if (platform === 'win32') {
    const taskkill = inSystem32(env, 'taskkill.exe');
    return new Promise((done) => void execFile(taskkill, ['/pid', `${group}`, '/t', '/f'], () => done()));
  }
  let isLeft = signal(group, 'SIGTERM');
  for (let waited = 0; isLeft && waited < KILL_MS; waited += KILL_LOOK_MS) {
    await delay(KILL_LOOK_MS);
    isLeft = signal(group, 0);
  }
  if (isLeft) signal(group, 'SIGKILL');
  if (groups.delete(group)) guard(groups);
}

/** Whether a process of the group was there to get the signal; 0 only asks. */
function signal(group: number, which: NodeJS.Signals | 0): boolean {
  try {
    return kill(-group, which);
  } catch {
    return false; // There is no such group, or it is not ours.
  }
}
