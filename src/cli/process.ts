/**
 * What every program here does with its process: the log on stderr, signals, usage errors and the exit.
 * Always true: a program that is stopped writes one line that says so and exits 0; a usage error exits 2.
 */
import { styleText } from 'node:util';
import { createLog, type Level, type Log, messageOf } from '../log.ts';
import { SHUTDOWN } from '../shutdown.ts';
import { printable } from '../text.ts';
import { type LogOptions, UsageError } from './parse.ts';

/** Runs `main`; a UsageError becomes one line on stderr. */
export async function runProgram(main: () => Promise<void>): Promise<void> {
  // The reader of our output may close it at any time; that is not an error of ours.
  process.stdout.on('error', () => {});
  try {
    await main();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`skillwire: ${printable(error.message)}; see skillwire --help\n`);
    process.exitCode = 2;
  }
}

/** The directory that the program was started in. It may have been deleted since: after a change of branches, say. */
export function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new UsageError(`cannot use the working directory, it may have been deleted (${messageOf(error)})`);
  }
}

export function createStderrLog({ level, colour }: LogOptions): Log {
  const { stderr, env } = process;
  // stderr may be closed, or full because its reader does not read. Neither is a reason to stop.
  stderr.on('error', () => {});
  const write = (line: string) => {
    if (stderr.writableLength < MAX_UNREAD_LOG) stderr.write(line);
  };
  const isPainted = colour && stderr.isTTY && !env.NO_COLOR;
  return createLog(write, level, isPainted ? (own) => styleText(COLOURS[own], own) : undefined);
}

/** Runs `serve` until it ends by itself or a signal fires its AbortSignal, then exits. */
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
      setTimeout(exit, SHUTDOWN.exitMs).unref();
    });
  }
  await serve(stop.signal);
  // An open pipe or a file watcher must not keep the process alive.
  exit();
}

/** A person who starts the program in a terminal sees nothing happen: this says what it waits for. */
export function explainTerminal(log: Log): void {
  if (!process.stdin.isTTY) return;
  log.info('waiting for an MCP client to write JSON-RPC lines to stdin; Ctrl+D or Ctrl+C ends it');
  log.info('to connect a client, give it this command, for example: claude mcp add skillwire -- npx -y skillwire');
}

// --- internal ---

const COLOURS = { error: 'red', warn: 'yellow', info: 'blue', debug: 'gray' } as const satisfies Record<Level, string>;

/** Bytes of log lines that stderr has not taken yet; further lines are dropped until its reader catches up. */
export const MAX_UNREAD_LOG = 256 * 1024;
