/**
 * A child process as a wire: a message per line on its stdin and stdout.
 * Owns: the process and its polite end. Leaves alone: what is said (link.ts), how it is started (launch.ts).
 * Always true:
 * - it never runs in a shell; it has a process group of its own, so that its own children end with it;
 * - it is asked first, by closing its stdin, and made to second (reaper.ts); once `close` has settled nothing of it is left.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { messageOf } from '../../log.ts';
import { createLineSplitter } from '../../protocol/index.ts';
import type { Redact } from '../config/redact.ts';
import {
  type Connection,
  type ConnectionEvents,
  FLOODED,
  MAX_MESSAGE,
  MessageTooLong,
  type OutgoingMessage,
  ServerExit,
  UpstreamError,
} from './connection.ts';
import { type Environment, launchOf } from './launch.ts';
import type { ProcessGroups } from './process-groups.ts';

export interface StdioTarget {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface StdioHost {
  readonly platform: NodeJS.Platform;
  /** Where a command is looked up. */
  readonly env: Environment;
  readonly processGroups: ProcessGroups;
  readonly redact: Redact;
  /** Milliseconds that a server may ask and not read; a minute unless given. */
  readonly stuckAfter?: number;
  /** One line that the server wrote to stderr. */
  stderr(line: string): void;
}

export function openStdioConnection(target: StdioTarget, events: ConnectionEvents, host: StdioHost): Connection {
  const { command, args, verbatim } = launchOf(
    target.command,
    target.args,
    { ...host.env, ...target.env },
    host.platform,
    target.cwd,
  );
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(command, args, {
      cwd: target.cwd,
      env: target.env,
      detached: host.platform !== 'win32',
      windowsHide: true,
      windowsVerbatimArguments: verbatim,
    });
  } catch (error) {
    return brokenConnection(new UpstreamError(`cannot be started: ${messageOf(error)}`), events);
  }
  // Out of file descriptors it comes without pipes.
  if (!child.stdin || !child.stdout) return brokenConnection(new UpstreamError(NO_PIPES), events, child);
  const { pid } = child;
  const guarded = pid === undefined ? undefined : host.processGroups.guard(pid);
  const said = captureStderr(child, host);
  let over = false;
  const close = (error: Error) => {
    if (!over) events.closed(error);
    over = true;
  };
  const sender = createSender(child.stdin, events, close, host.stuckAfter ?? STUCK_MS);
  const ended = new Promise<void>((done) => {
    const end = (error: Error) => {
      done();
      close(error);
    };
    child.once('error', (error) => end(new UpstreamError(`cannot be started: ${startFault(error, target)}`)));
    // `exit` and not `close`: a grandchild may hold the pipes open for ever.
    child.once('exit', (code, signal) => {
      const how = signal === null ? `exited with code ${code}` : `ended by ${signal}`;
      setTimeout(() => end(new ServerExit(how + lastWords(said()))), DRAIN_MS);
    });
  });

  const lines = createLineSplitter(
    {
      line: events.text,
      tooLong: (limit) => events.lost(new MessageTooLong(limit)),
      // JSON-RPC is UTF-8, so this was no answer to anybody; most likely it is what the server prints for people.
      notText: () => events.debug('a line on its stdout is not UTF-8'),
    },
    MAX_MESSAGE,
  );
  takeFairly(child.stdout, lines.push);
  child.stdout.on('error', () => {}); // Its end is told by `exit`.
  child.stdin.on('error', () => {}); // A server that no longer reads is about to exit, or its time limits tell.

  return {
    ownStreams: false,
    send: (message) => sender.send(message),
    done: () => {},
    drop: () => {},
    listen: () => {}, // The pipe brings everything.
    async close() {
      over = true;
      sender.close();
      guarded?.look();
      child.stdin.end();
      if (!guarded) return;
      await Promise.race([ended, wait(PATIENCE_MS)]);
      await guarded.end();
    },
  };
}

/** Bytes of answers to a server's own questions that wait for it to read: thousands of them. Further ones are dropped. */
export const MAX_REPLIES_WAITING = 1024 * 1024;
/** Bytes of anything that waits for it to read: two of the largest messages. Further requests fail at once. */
export const MAX_WAITING = 2 * MAX_MESSAGE;

// --- internal ---

// A server that is busy reads nothing, but it asks nothing either.
const STUCK_MS = 60_000;

// How long a server has to go by itself. Whoever ends us usually waits five to ten seconds for all of it.
const PATIENCE_MS = 1000;
// What was written just before the exit is still on its way through the pipe.
const DRAIN_MS = 20;
const MAX_STDERR_LINE = 8 * 1024;
const LONGEST_LAST_WORDS = 300;

function wait(milliseconds: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, milliseconds));
}

const NO_PIPES = 'cannot be started: there are no file descriptors left for it';

function brokenConnection(error: Error, events: ConnectionEvents, child?: ChildProcess): Connection {
  child?.on('error', () => {}); // It says the same.
  setImmediate(() => events.closed(error));
  return { ownStreams: false, send() {}, done() {}, drop() {}, listen() {}, async close() {} };
}

/** What a server does not read stays with us, so there is a limit to it. */
function createSender(stdin: Writable, events: ConnectionEvents, close: (error: Error) => void, stuckAfter: number) {
  let stuck: NodeJS.Timeout | undefined;
  const giveUp = () => close(new UpstreamError(FLOODED));

  function moved(): void {
    clearTimeout(stuck);
    stuck = undefined;
  }

  return {
    send({ text, id, isReply = false }: OutgoingMessage): void {
      const waiting = stdin.writableLength;
      if (isReply && waiting + text.length > MAX_REPLIES_WAITING) {
        if (waiting > 0) stuck ??= setTimeout(giveUp, stuckAfter);
        return;
      }
      if (waiting <= MAX_WAITING) stdin.write(`${text}\n`, moved);
      else if (id !== undefined) setImmediate(() => events.undelivered(id, new UpstreamError(UNREAD)));
    },
    close: moved,
  };
}

const UNREAD = `the server does not read what it is sent (over ${MAX_WAITING} bytes wait for it)`;

/** Hands lines over as they come and remembers the last one that said something. */
function captureStderr(child: ChildProcess, { stderr: report, redact }: StdioHost): () => string {
  let last = '';
  const lines = createLineSplitter(
    {
      line(text) {
        last = text.trim();
        report(text);
      },
      tooLong: (limit) => report(`(a line over ${limit} bytes)`),
      notText: () => report('(a line that is not UTF-8)'),
    },
    MAX_STDERR_LINE,
  );
  if (child.stderr) takeFairly(child.stderr, lines.push);
  child.stderr?.on('error', () => {}); // Its end is told by `exit`.
  // In this order: half a secret is no longer found.
  return () => redact(last).slice(0, LONGEST_LAST_WORDS);
}

/** Hands on what a stream brings, piece by piece; when that takes long, everybody else gets a turn in between. */
function takeFairly(stream: Readable, take: (piece: Uint8Array) => void): void {
  let rest: Buffer | undefined;

  function work(chunk: Buffer): void {
    const until = performance.now() + LONG_MS;
    let at = 0;
    while (at < chunk.length && performance.now() < until) {
      take(chunk.subarray(at, at + PIECE));
      at += PIECE;
    }
    rest = at < chunk.length ? chunk.subarray(at) : undefined;
  }
  function goOn(): void {
    if (rest) work(rest);
    if (rest) setImmediate(goOn);
    else stream.resume();
  }

  stream.on('data', (chunk: Buffer) => {
    work(chunk);
    if (!rest) return;
    stream.pause();
    setImmediate(goOn);
  });
}

// A chunk of nothing but line ends takes a tenth of a second.
const PIECE = 4096;
const LONG_MS = 2;

const lastWords = (line: string) => (line === '' ? '' : `; last on its stderr: ${line}`);

function startFault(error: Error, { command, cwd }: StdioTarget): string {
  const missing = 'code' in error && error.code === 'ENOENT';
  return missing ? `"${command}" was not found (or its working directory ${cwd} does not exist)` : error.message;
}
