/**
 * A connection to a child process: one message per line on its stdin and stdout.
 * Owns: the pipes, and the reason for the end of a program. Leaves alone: how it is started and ended (process.ts).
 * Always true: once `close` has settled, no process of the server is left.
 */
import type { ChildProcessWithoutNullStreams as Child } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Environment } from '../config.ts';
import { DRAIN_MS, MAX_PRINTED, MAX_PRINTED_LINES, TURN_BYTES } from '../limits.ts';
import { createLineSplitter, type LineEvents, MAX_LINE } from '../protocol/index.ts';
import { type Connection, type ConnectionOwner, UpstreamError } from './connection.ts';
import type { StdioTarget } from './entries.ts';
import { startProcess } from './process.ts';

/** Lines on the server's stderr are logged. Throws an Error when no process can be made. */
export function openStdio(target: StdioTarget, owner: ConnectionOwner, env: Environment, hops: number): Connection {
  const { child, end } = startProcess(target, env, hops);
  const quotePrinted = readStderr(child.stderr, owner);
  readLines(child.stdout, MAX_LINE, {
    line: messagesOf(owner),
    tooLong: (limit) => owner.dropped(new UpstreamError(`a message over ${limit} bytes was dropped`)),
    notText: () => owner.log('a line on its stdout is not UTF-8'),
  });
  void endOf(child, target).then((how) => owner.closed(new UpstreamError(how + quotePrinted())));
  /** Messages of one turn leave in one write, because a write costs more than the rest of a call. */
  let waiting = '';
  const write = () => {
    child.stdin.write(waiting);
    waiting = '';
  };
  return {
    async send({ text }) {
      if (child.stdin.writableLength > MAX_LINE)
        throw new UpstreamError(`the server does not read what it is sent (over ${MAX_LINE} bytes wait for it)`);
      if (waiting === '') queueMicrotask(write);
      waiting += `${text}\n`;
    },
    close: end,
  };
}

// --- internal ---

/**
 * Gives a function that quotes the last lines, for a reason. Lines are kept whole or not at all: secrets are removed from
 * the reason later, and a part of one would not be found.
 */
function readStderr(stderr: Readable, owner: ConnectionOwner): () => string {
  const lines: string[] = [];
  const keep = (line: string) => {
    owner.log(line);
    lines.push(line.trim());
    if (lines.length > MAX_PRINTED_LINES) lines.shift();
  };
  const end = readLines(stderr, MAX_PRINTED, {
    line: keep,
    tooLong: (limit) => keep(`(a line over ${limit} bytes)`),
    notText: () => keep('(a line that is not UTF-8)'),
  });
  return () => {
    end();
    while (lines.join('\n').length > MAX_PRINTED) lines.shift();
    return lines.length === 0 ? '' : `; its stderr says: ${lines.join('\n')}`;
  };
}

/** Takes the lines of stdout, and passes on those that may be messages: many servers print logs there by mistake. */
function messagesOf(owner: ConnectionOwner): (line: string) => void {
  let isReported = false;
  return (line) => {
    // Without parsing it: to parse what is not JSON is slow. A batch begins with a bracket and a brace, `[INFO]` does not.
    if (/^\s*(?:\[\s*)?\{/.test(line) && line.includes('"jsonrpc"')) return owner.text(line);
    // Said once, and the line is not quoted: it may hold part of a secret, which would not be found.
    if (!isReported) owner.log('prints lines on stdout that are not JSON-RPC');
    isReported = true;
  };
}

/** Settles with the reason when the process has ended or could not be started. */
function endOf(child: Child, { command, cwd }: StdioTarget): Promise<string> {
  return new Promise((done) => {
    // A server that has closed a pipe cannot be used. When it has exited, `exit` says more.
    const pipeClosed = (name: string) => setTimeout(() => done(`the server closed its ${name}`), DRAIN_MS).unref();
    child.stdin.on('error', () => pipeClosed('stdin'));
    child.stdout.once('end', () => pipeClosed('stdout'));
    child.once('error', (error) => {
      // The system says only that something is missing.
      const isMissing = 'code' in error && error.code === 'ENOENT';
      done(`cannot be started: ${isMissing ? `"${command}" was not found, or ${cwd} was not` : error.message}`);
    });
    child.once('exit', (code, signal) => {
      const finish = () => done(signal === null ? `exited with code ${code}` : `ended by ${signal}`);
      // At `close` everything is read. It may never come: a grandchild may keep the pipes open.
      child.once('close', finish);
      setTimeout(finish, DRAIN_MS).unref();
    });
  });
}

/** Gives a function that takes what is left as a line, when nothing more is expected. */
function readLines(stream: Readable, limit: number, events: LineEvents): () => void {
  const lines = createLineSplitter(events, limit);
  // Everything else has its turn between two parts of a chunk: a program may print without end.
  const take = (chunk: Buffer): void => {
    lines.push(chunk.subarray(0, TURN_BYTES));
    if (chunk.length <= TURN_BYTES) return void stream.resume();
    stream.pause();
    setImmediate(take, chunk.subarray(TURN_BYTES));
  };
  stream.on('data', take);
  stream.on('error', () => {}); // The exit of the process is what counts.
  return lines.end;
}
