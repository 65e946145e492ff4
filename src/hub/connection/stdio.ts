/**
 * A connection to a child process: one message per line on its stdin and stdout.
 * Owns: the child process, from its start to its end. Leaves alone: its command line (command.ts), signals (process.ts).
 * Always true: the child leads a process group of its own, so that its children end with it; once `close` has settled no
 * process is left.
 */
import { type ChildProcessWithoutNullStreams as Child, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { messageOf } from '../../log.ts';
import { createLineSplitter, type LineEvents } from '../../protocol/index.ts';
import { SHUTDOWN } from '../../shutdown.ts';
import { delay, monotonicMs } from '../../wait.ts';
import { commandLine } from './command.ts';
import {
  type Connection,
  type ConnectionEvents,
  type HubContext,
  MessageTooLong,
  ServerExit,
  UpstreamError,
} from './connection.ts';
import { DRAIN_MS, MAX_MESSAGE, MAX_STDERR_LINE, MAX_UNREAD, PIPE_CLOSED_MS } from './limits.ts';
import { createPrinted } from './printed.ts';

export interface StdioTarget {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

type StdioContext = Pick<HubContext, 'platform' | 'env' | 'processGroups'>;

/** Lines on the server's stderr are reported by `events.debug`. Throws when no process can be made. */
export function openStdioConnection(target: StdioTarget, events: ConnectionEvents, context: StdioContext): Connection {
  const child = start(target, context);
  const { stdin, pid } = child;
  const endGroup = pid === undefined ? undefined : context.processGroups.guard(pid);
  const printed = readOutput(child, events);
  const ended = endOf(child, target, printed).then(events.closed);

  // Messages of one turn leave in one write, which takes longer than all else that a call costs.
  let waiting = '';
  let written: Promise<void> | undefined;
  const write = () =>
    new Promise<void>((done) =>
      queueMicrotask(() => {
        stdin.write(waiting, () => done());
        [waiting, written] = ['', undefined];
      }),
    );

  return {
    streamPerRequest: false,
    send({ text }) {
      if (stdin.writableLength + waiting.length > MAX_UNREAD) {
        const why = `the server does not read what it is sent (over ${MAX_UNREAD} bytes wait for it)`;
        return Promise.reject(new UpstreamError(why));
      }
      waiting += `${text}\n`;
      written ??= write();
      return written;
    },
    printed,
    async close() {
      await endGroup?.(() => {
        stdin.end();
        return Promise.race([ended, delay(SHUTDOWN.upstreamExitMs)]);
      });
    },
  };
}

// --- internal ---

function start(target: StdioTarget, { env, platform }: StdioContext): Child {
  const lookup = { ...env, ...target.env };
  const { command, args, verbatim } = commandLine(target.command, target.args, lookup, platform, target.cwd);
  try {
    const child = spawn(command, args, {
      cwd: target.cwd,
      env: target.env,
      detached: platform !== 'win32',
      windowsHide: true,
      windowsVerbatimArguments: verbatim,
    });
    // When we are out of file descriptors, Node returns a child without pipes, and an error that says the same.
    if (child.stdin && child.stdout) return child;
    child.on('error', () => {});
    throw new Error('there are no file descriptors left for it');
  } catch (error) {
    throw new UpstreamError(`cannot be started: ${messageOf(error)}`);
  }
}

/** Hands over every message. Gives a function that says what was printed besides, for a reason. */
function readOutput({ stdout, stderr }: Child, events: ConnectionEvents): () => string {
  const [onStderr, onStdout] = [createPrinted(), createPrinted()];
  const ends = [
    readLines(stderr, MAX_STDERR_LINE, {
      line(text) {
        onStderr.add(text);
        events.debug(text);
      },
      tooLong: (limit) => events.debug(`(a line over ${limit} bytes)`),
      notText: () => events.debug('(a line that is not UTF-8)'),
    }),
    readLines(stdout, MAX_MESSAGE, {
      line(text) {
        if (!isMessage(text)) onStdout.add(text);
        events.text(text);
      },
      tooLong: (limit, id) => events.lost(new MessageTooLong(limit), id),
      // Most likely a log line. A response in another encoding is used as it is over HTTP, with replacement characters.
      notText(text) {
        events.debug('a line on its stdout is not UTF-8');
        events.text(text);
      },
    }),
  ];
  return () => {
    // A line may be the last one without a line break.
    for (const end of ends) end();
    const [told, stray] = [onStderr.tellingLine(), onStdout.tellingLine()];
    const says = told === undefined ? '' : `; its stderr says: ${told}`;
    return stray === undefined ? says : `${says}; its stdout, which is for MCP alone, says: ${stray}`;
  };
}

/** Settles with the reason when the process has ended or could not be started. */
function endOf(child: Child, { command, cwd }: StdioTarget, printed: () => string): Promise<Error> {
  return new Promise((done) => {
    // A server that has closed a pipe cannot be used. When it has exited, `exit` says more.
    const pipeClosed = (name: string) =>
      setTimeout(() => done(new UpstreamError(`the server closed its ${name}${printed()}`)), PIPE_CLOSED_MS).unref();
    child.stdin.on('error', () => pipeClosed('stdin'));
    child.stdout.once('end', () => pipeClosed('stdout'));
    child.once('error', (error) => {
      done(new UpstreamError(`cannot be started: ${whyNotStarted(error, command, cwd)}`));
    });
    child.once('exit', (code, signal) => {
      const how = signal === null ? `exited with code ${code}` : `ended by ${signal}`;
      const finish = () => done(new ServerExit(how + printed()));
      // At `close` everything is read. It may never come: a grandchild may keep the pipes open.
      child.once('close', finish);
      setTimeout(finish, DRAIN_MS);
    });
  });
}

/** The system says only that one of them is missing, or may not be used. */
function whyNotStarted(error: Error, command: string, cwd: string): string {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' && !existsSync(cwd)) return `its working directory ${cwd} does not exist`;
  if (code === 'ENOENT')
    return `"${command}" was not found${/[\\/]/.test(command) ? '' : ' in PATH; try its absolute path'}`;
  return code === 'EACCES' ? `"${command}" may not be executed, or ${cwd} not be entered` : error.message;
}

/** Cheap, for it is asked of every line: the key is at the start of most messages. */
const isMessage = (text: string) => /^\s*[[{]/.test(text) && text.includes('"jsonrpc"');

// A chunk of 64 KiB may be 64 Ki lines, which take a tenth of a second.
const PIECE_BYTES = 4096;
const TURN_MS = 2; // After this other work has its turn.

/** Gives a function that takes what is left as a line, when nothing more is expected. */
function readLines(stream: Readable, limit: number, events: LineEvents): () => void {
  const lines = createLineSplitter(events, limit);
  const take = (chunk: Buffer) => {
    const until = monotonicMs() + TURN_MS;
    let at = 0;
    for (; at < chunk.length && monotonicMs() < until; at += PIECE_BYTES)
      lines.push(chunk.subarray(at, at + PIECE_BYTES));
    if (at >= chunk.length) return void stream.resume();
    stream.pause();
    setImmediate(take, chunk.subarray(at));
  };
  stream.on('data', take);
  stream.on('error', () => {}); // The exit of the process is what counts.
  return lines.end;
}
