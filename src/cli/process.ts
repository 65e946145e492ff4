/**
 * What every program here does with its process: the log on stderr, errors for the user, signals and the exit.
 * Always true: a program that is stopped writes one line that says so and exits 0; a usage error is one line and exit 2.
 */
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { SkillwireOptions } from '../config.ts';
import { codeOf } from '../files/stat.ts';
import { MAX_UNREAD_LOG } from '../limits.ts';
import { createLog, type Log, messageOf } from '../log.ts';
import { printable } from '../text.ts';
import type { GENERAL_OPTIONS, OptionTable } from './options.ts';
import { UsageError, type Values } from './parse.ts';

export type GeneralValues = Values<typeof GENERAL_OPTIONS>;

/** Runs a program. A number that `work` gives is the exit code. */
export async function runProgram(work: () => unknown): Promise<void> {
  // stderr may be closed. That is no reason to stop.
  process.stderr.on('error', () => {});
  // The reader of our output may close it at any time, which is not an error either. A full disk is one.
  process.stdout.on('error', (error) => {
    if (!READER_GONE.includes(codeOf(error))) fail(`the output cannot be written: ${messageOf(error)}`, 1);
  });
  try {
    const code = await work();
    if (typeof code === 'number') process.exitCode = code;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    fail(`${error.message} (see --help)`, 2);
  }
}

/** One line for the user on stderr. */
export function complain(message: string, written = () => {}): void {
  process.stderr.write(`skillwire: ${printable(message)}\n`, written);
}

/** The directory that the program was started in. It may have been deleted since: after a change of branches, say. */
export function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new UsageError(`cannot use the working directory, it may have been deleted (${messageOf(error)})`);
  }
}

/** The values that the library takes, under its names, and what else it takes from this process. */
export function libraryOptions<T extends OptionTable>(values: Values<T>, options: T): SkillwireOptions {
  const named = Object.entries(options).flatMap(([name, { key }]) => (key ? [[key, values[name]]] : []));
  return { ...Object.fromEntries(named), cwd: workingDirectory(), env: process.env };
}

/** Lines are dropped while stderr is not read: the log never blocks the program. */
export function createStderrLog(values: GeneralValues): Log {
  const { stderr } = process;
  const write = (line: string) => {
    if (stderr.writableLength < MAX_UNREAD_LOG) stderr.write(line);
  };
  return createLog(write, values.quiet ? 'error' : values['log-level']);
}

/** Runs `serve` until it ends by itself or a signal asks it to stop, then exits. */
export async function serveUntilStopped(log: Log, serve: (stop: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  let cause = 'the client closed its end';
  const exit = () => {
    log.info(`stopped: ${cause}`);
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // The second signal does not wait for responses.
      if (stop.signal.aborted) exit();
      cause = signal;
      stop.abort();
    });
  }
  await serve(stop.signal);
  // An open pipe or a file watcher must not keep the process alive.
  exit();
}

/** A person who starts the program in a terminal sees nothing happen: this says what it waits for. */
export function explainTerminal(log: Log): void {
  if (!process.stdin.isTTY) return;
  const command = selfCommand().map((word) => (word.includes(' ') ? `"${word}"` : word));
  log.info('waiting for an MCP client to write JSON-RPC lines to stdin; Ctrl+D or Ctrl+C ends it');
  log.info(`to connect a client, give it this command: claude mcp add skillwire -- ${command.join(' ')} (for example)`);
}

/**
 * The command by which a client starts this very program: by absolute paths, because a desktop client lacks the shell's
 * PATH, or by npx where npx runs it, because its cache may go.
 */
export function selfCommand(): readonly [command: string, ...args: string[]] {
  const file = realpathSync(process.argv[1] ?? '');
  if (/[\\/]_npx[\\/]/.test(file)) return ['npx', '-y', 'skillwire'];
  const isDeno = basename(process.execPath).startsWith('deno');
  return [process.execPath, ...(isDeno ? ['run', '-A'] : []), file];
}

// --- internal ---

/** One line on stderr, and then the exit, whatever is under way. */
function fail(message: string, code: 1 | 2): void {
  complain(message, () => process.exit(code));
}

// On Windows a closed pipe is EOF.
const READER_GONE = ['EPIPE', 'ECONNRESET', 'EOF'];
