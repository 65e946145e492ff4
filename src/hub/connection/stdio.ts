/**
 * A connection to a child process: one message per line on its stdin and stdout.
 * Owns: the child process, from its start to its end. Leaves alone: its command line (command.ts), signals (process.ts).
 * Always true:
 * - the child leads a process group of its own, so that its children end with it;
 * - closing ends its stdin first and sends signals later; once `close` has settled no process is left.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { messageOf } from '../../log.ts';
import { createLineSplitter, idIn, type LineEvents } from '../../protocol/index.ts';
import { SHUTDOWN } from '../../shutdown.ts';
import { cut } from '../../text.ts';
import { delay } from '../../wait.ts';
import type { Redact } from '../config/redact.ts';
import { commandLine, type Environment } from './command.ts';
import { type Connection, type ConnectionEvents, MessageTooLong, ServerExit, UpstreamError } from './connection.ts';
import { DRAIN_MS, MAX_LAST_LINE, MAX_MESSAGE, MAX_STDERR_LINE, MAX_UNREAD, PIPE_CLOSED_MS } from './limits.ts';
import type { ProcessGroups } from './process.ts';

export interface StdioTarget {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface StdioContext {
  readonly platform: NodeJS.Platform;
  /** Where a command is looked up. */
  readonly env: Environment;
  readonly processGroups: ProcessGroups;
  readonly redact: Redact;
  /** Receives each line that the server writes to stderr. */
  stderr(line: string): void;
}

export function openStdioConnection(target: StdioTarget, events: ConnectionEvents, context: StdioContext): Connection {
  let child: ChildProcessWithoutNullStreams;
  try {
    child = start(target, context);
  } catch (error) {
    return failedConnection(new UpstreamError(`cannot be started: ${messageOf(error)}`), events);
  }
  // When we are out of file descriptors, Node returns a child without pipes.
  if (!child.stdin || !child.stdout) {
    child.on('error', () => {}); // It says the same.
    return failedConnection(new UpstreamError('cannot be started: there are no file descriptors left for it'), events);
  }
  const { stdin, stdout, pid } = child;
  const group = pid === undefined ? undefined : context.processGroups.guard(pid);
  const lastLine = readStderr(child, context);
  let isClosed = false;
  const ended = endOf(child, target, lastLine).then((error) => {
    if (!isClosed) events.closed(error);
    isClosed = true;
  });
  readLines(stdout, MAX_MESSAGE, {
    line: events.text,
    tooLong(limit, start, end) {
      const id = idIn(start, end);
      if (id === null) events.lost(new MessageTooLong(limit));
      else events.undelivered(id, new MessageTooLong(limit));
    },
    // Most likely a log line. A response in another encoding is used as it is over HTTP, with replacement characters.
    notText(text) {
      events.debug('a line on its stdout is not UTF-8');
      events.text(text);
    },
  });

  return {
    streamPerRequest: false,
    send({ text, id }) {
      if (stdin.writableLength <= MAX_UNREAD) stdin.write(`${text}\n`);
      else if (id !== undefined) setImmediate(() => events.undelivered(id, new UpstreamError(UNREAD)));
    },
    reply: (text) => new Promise((done) => void stdin.write(`${text}\n`, () => done())),
    setVersion() {},
    answered() {},
    cancel() {},
    listen() {}, // Notifications arrive on stdout.
    async close() {
      isClosed = true;
      group?.record();
      stdin.end();
      if (!group) return;
      await Promise.race([ended, delay(SHUTDOWN.upstreamExitMs)]);
      await group.end();
    },
  };
}

// --- internal ---

const UNREAD = `the server does not read what it is sent (over ${MAX_UNREAD} bytes wait for it)`;

function start(target: StdioTarget, { env, platform }: StdioContext): ChildProcessWithoutNullStreams {
  const lookup = { ...env, ...target.env };
  const { command, args, verbatim } = commandLine(target.command, target.args, lookup, platform, target.cwd);
  return spawn(command, args, {
    cwd: target.cwd,
    env: target.env,
    detached: platform !== 'win32',
    windowsHide: true,
    windowsVerbatimArguments: verbatim,
  });
}

function failedConnection(error: Error, events: ConnectionEvents): Connection {
  setImmediate(() => events.closed(error));
  const nothing = () => {};
  const none = async () => {};
  return {
    streamPerRequest: false,
    send: nothing,
    reply: none,
    setVersion: nothing,
    answered: nothing,
    cancel: nothing,
    listen: nothing,
    close: none,
  };
}

/** Settles with the reason when the process has ended or could not be started. */
function endOf(child: ChildProcess, { command, cwd }: StdioTarget, lastLine: () => string): Promise<Error> {
  return new Promise((done) => {
    // A server that has closed a pipe cannot be used. When it has exited, `exit` says more.
    const pipeClosed = (name: string) =>
      setTimeout(() => done(new UpstreamError(`the server closed its ${name}`)), PIPE_CLOSED_MS).unref();
    child.stdin?.on('error', () => pipeClosed('stdin'));
    child.stdout?.once('end', () => pipeClosed('stdout'));
    child.once('error', (error) => {
      const isMissing = 'code' in error && error.code === 'ENOENT';
      const why = isMissing
        ? `"${command}" was not found (or its working directory ${cwd} does not exist)`
        : error.message;
      done(new UpstreamError(`cannot be started: ${why}`));
    });
    // `exit` and not `close`: a grandchild may keep the pipes open.
    child.once('exit', (code, signal) => {
      const how = signal === null ? `exited with code ${code}` : `ended by ${signal}`;
      setTimeout(() => {
        const line = lastLine();
        done(new ServerExit(line === '' ? how : `${how}; last on its stderr: ${line}`));
      }, DRAIN_MS);
    });
  });
}

/** Returns a function that gives the last line on stderr. */
function readStderr({ stderr }: ChildProcess, context: StdioContext): () => string {
  let last = '';
  if (stderr)
    readLines(stderr, MAX_STDERR_LINE, {
      line(text) {
        last = text.trim();
        context.stderr(text);
      },
      tooLong: (limit) => context.stderr(`(a line over ${limit} bytes)`),
      notText: () => context.stderr('(a line that is not UTF-8)'),
    });
  // Redacted first: part of a secret would not be found.
  return () => cut(context.redact(last), MAX_LAST_LINE);
}

// A chunk of 64 KiB may be 64 Ki lines, which take a tenth of a second. After 2 ms other work has its turn.
const PIECE_BYTES = 4096;
const TURN_MS = 2;

function readLines(stream: Readable, limit: number, events: LineEvents): void {
  const lines = createLineSplitter(events, limit);
  const take = (chunk: Buffer) => {
    const until = performance.now() + TURN_MS;
    let at = 0;
    for (; at < chunk.length && performance.now() < until; at += PIECE_BYTES)
      lines.push(chunk.subarray(at, at + PIECE_BYTES));
    if (at < chunk.length) setImmediate(take, chunk.subarray(at));
    else stream.resume();
  };
  stream.on('data', (chunk: Buffer) => {
    stream.pause();
    take(chunk);
  });
  stream.on('error', () => {}); // The exit of the process is what counts.
}
