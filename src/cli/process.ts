/**
 * What every program here does with its process: its command line, the log on stderr, signals and the exit.
 * Always true: a program that is stopped writes one line that says so and exits 0; a usage error exits 2.
 */
import { styleText } from 'node:util';
import { createLog, type Level, type Log, messageOf } from '../log.ts';
import { type Cancellation, LazyAbortController } from '../protocol/index.ts';
import { SHUTDOWN } from '../shutdown.ts';
import { printable } from '../text.ts';
import { VERSION } from '../version.ts';
import { afterAnswers } from '../wait.ts';
import type { Program } from './command.ts';
import type { STDIO_OPTIONS } from './options.ts';
import {
  checkedValues,
  checkWords,
  commandIn,
  readPlainArguments,
  splitArguments,
  UsageError,
  type Values,
} from './parse.ts';
import { commandLine } from './self-command.ts';

/** Runs the command that the command line names; a UsageError becomes one line on stderr. */
export async function runProgram(program: Program): Promise<void> {
  // The reader of our output may close it at any time; that is not an error of ours.
  process.stdout.on('error', () => {});
  const argv = process.argv.slice(2);
  if (isOldNode()) {
    const { execPath, version } = process;
    process.stderr.write(`skillwire: Node 20.12 or later is needed, and ${printable(execPath)} is ${version}\n`);
    process.exitCode = 1;
    return;
  }
  let command = program.main;
  try {
    let given: ReturnType<typeof splitArguments> | undefined = readPlainArguments(argv, command);
    if (!given) {
      const commands = await program.commands();
      command = commandIn(argv, commands);
      given = splitArguments(argv, command, commands);
    }
    const { values, words } = given;
    if (values.version) process.stdout.write(`${VERSION}\n`);
    else if (values.help)
      process.stdout.write((await import('./help.ts')).helpOf(program, await program.commands(), argv, command));
    else {
      checkWords(words, command);
      const code = await command.run(checkedValues(command.options, values), words);
      if (typeof code === 'number') process.exitCode = code;
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const help = commandLine([...(command === program.main ? [] : [command.name]), '--help']);
    process.stderr.write(`skillwire: ${printable(error.message)}; see ${help}\n`);
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

export type ColourValues = Pick<Values<typeof STDIO_OPTIONS>, 'no-color'>;

export const wantsNoColours = (values: ColourValues) => values['no-color'] || Boolean(process.env.NO_COLOR);

export function createStderrLog(values: Pick<Values<typeof STDIO_OPTIONS>, 'log-level' | 'quiet'> & ColourValues): Log {
  const isPlain = wantsNoColours(values);
  const paint = (own: Level) => (isPlain || !process.stderr.isTTY ? own : styleText(COLOURS[own], own));
  return createLog(createStderrWriter(), values.quiet ? 'error' : values['log-level'], paint);
}

/** Runs `serve` until it ends by itself or a signal asks it to stop, then exits. */
export async function serveUntilStopped(log: Log, serve: (stop: Cancellation) => Promise<void>): Promise<void> {
  const stop = new LazyAbortController();
  let cause = 'the client closed its end';
  const exit = () => {
    log.info(`stopped: ${cause}`);
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // The second signal does not wait for responses.
      if (stop.aborted) exit();
      cause = signal;
      stop.abort();
      setTimeout(exit, SHUTDOWN.exitMs).unref();
    });
  }
  await serve(stop);
  // Something may be logged after the last answers.
  await afterAnswers();
  // An open pipe or a file watcher must not keep the process alive.
  exit();
}

/** A person who starts the program in a terminal sees nothing happen: this says what it waits for. */
export function explainTerminal(log: Log): void {
  if (!process.stdin.isTTY) return;
  log.info('waiting for an MCP client to write JSON-RPC lines to stdin; Ctrl+D or Ctrl+C ends it');
  // As `setup` writes it: what the client finds by itself its model should not see twice.
  const command = commandLine(['--skip-own']);
  log.info(`to connect a client, give it this command, for example: claude mcp add skillwire -- ${command}`);
}

// --- internal ---

/** Desktop applications start us with a Node of their own, without asking npm which one we need. */
function isOldNode(): boolean {
  const [major = 0, minor = 0] = process.version.slice(1).split('.').map(Number);
  return major < 20 || (major === 20 && minor < 12);
}

const COLOURS = { error: 'red', warn: 'yellow', info: 'blue', debug: 'gray' } as const satisfies Record<Level, string>;

/** Bytes of log lines that stderr has not taken yet; further lines are dropped until its reader catches up. */
const MAX_UNREAD_LOG = 256 * 1024;

/** Node takes a millisecond to open stderr, and by then a client has usually got its first list. */
const OPEN_AFTER_MS = 50;

/** Lines for information or debugging wait until stderr is opened: a little later, with the first other line, or at the exit. */
function createStderrWriter(): (line: string, level: Level) => void {
  let waiting: string[] | undefined;
  let isOpen = false;
  const write = (line: string) => {
    const { stderr } = process;
    if (stderr.writableLength < MAX_UNREAD_LOG) stderr.write(line);
  };
  const open = () => {
    if (isOpen) return;
    isOpen = true;
    // stderr may be closed, or full because its reader does not read. Neither is a reason to stop.
    process.stderr.on('error', () => {});
    waiting?.forEach(write);
    waiting = undefined;
  };
  return (line, level) => {
    if (level === 'error' || level === 'warn') open();
    if (isOpen) return write(line);
    if (waiting) return void waiting.push(line);
    waiting = [line];
    setTimeout(open, OPEN_AFTER_MS).unref();
    process.on('exit', open);
  };
}
