/**
 * MCP over a pair of pipes, one message per line.
 * Owns: the bytes. Leaves alone: what they mean (protocol/), which pipes they are (passed in), signals (cli/process.ts).
 * Always true:
 * - only messages are written;
 * - while the output is full, no request is begun and nothing is read, so for a client that does not read no more waits
 *   than the replies to requests that were begun before;
 * - once the input ends or `stop` fires, requests that were read are answered, the replies are flushed, and the promise
 *   settles; it also settles when the client does not read the replies.
 */
import type { Readable, Writable } from 'node:stream';
import {
  type Cancellation,
  createLineSplitter,
  createSession,
  type EncodedReply,
  errorReply,
  type Handle,
  invalidRequest,
  parseError,
} from '../protocol/index.ts';
import { createWriter } from './stdio-writer.ts';

export interface Pipes {
  readonly input: Readable;
  readonly output: Writable;
}

export interface StdioOptions {
  /** Fires when nothing more should be read. */
  readonly stop: Cancellation;
  /** After the last read: how long the client may take no byte of the replies. */
  readonly lastFlushMs: number;
  /** Called after the last read, before the requests in flight are waited for. */
  readonly onLast?: () => void;
}

export async function serveStdio(
  handle: Handle,
  { input, output }: Pipes,
  { stop, onLast, lastFlushMs }: StdioOptions,
): Promise<void> {
  const writer = createWriter(output);
  const send = (text: string, mayDrop = false) => {
    if (!mayDrop || writer.unread() < MAX_UNREAD) writer.send(text);
  };
  const session = createSession(send);
  let replied = 0;
  const exchange = {
    reply(reply: EncodedReply) {
      replied += reply.length;
      writer.reply(reply);
    },
    notify: send,
  };
  const waiting: string[] = [];
  const inFlight = new Set<Promise<void>>();
  const lines = createLineSplitter({
    line: (text) => void waiting.push(text),
    tooLong: (limit, id) => writer.reply(errorReply(id, invalidRequest(`a line is over ${limit} bytes`))),
    notText: () => writer.reply(errorReply(null, parseError('a line is not UTF-8'))),
  });

  const beginSome = (most: number) =>
    waiting.splice(0, most).map((text) => {
      const done = handle(session, text, exchange).then(() => void inFlight.delete(done));
      inFlight.add(done);
      return done;
    });
  /** How many requests are begun together: a few at first, and more each time as long as their replies are small. */
  let most = LINES_AT_ONCE;
  async function beginAll(): Promise<void> {
    let turnStart = Date.now();
    do {
      // The clock may also have been set back.
      if (Math.abs(Date.now() - turnStart) > LONGEST_TURN_MS) {
        await new Promise((turn) => setImmediate(turn));
        turnStart = Date.now();
      }
      if (writer.isFull()) await writer.drained();
      const before = replied;
      const begun = beginSome(most);
      // Large replies take a moment to make, and only then show whether the client reads them.
      if (waiting.length > 0 || begun.length > LINES_AT_ONCE) await settledWithin(TURN_MS, begun);
      most = replied - before > LARGE_TURN ? 1 : Math.min(2 * most, LINES_PER_TURN);
    } while (waiting.length > 0 && !writer.broken.aborted);
  }
  function begin(): Promise<void> | undefined {
    if (writer.isFull() || waiting.length > LINES_AT_ONCE) return beginAll();
    beginSome(LINES_AT_ONCE);
    return undefined;
  }

  await readAll(input, { push: lines.push, begin, stalledMs: lastFlushMs, until: [stop, writer.broken] });
  writer.breakIfUnread(lastFlushMs);
  // A line that `stop` cut off is not a request.
  if (!stop.aborted) lines.end();
  await beginAll();
  onLast?.();
  await Promise.race([Promise.all(inFlight), writer.whenBroken]);
  session.end();
  await Promise.race([writer.flushed(), writer.whenBroken]);
  writer.close();
}

// --- internal ---

// One chunk can hold a thousand small requests, each with a reply of 20 MB. The replies to a few of them show how large
// they are and whether the client reads them.
const LINES_AT_ONCE = 4;
const LINES_PER_TURN = 16; // The number doubles up to this while replies are small.
// Bytes. After a turn with more, requests are begun one by one.
const LARGE_TURN = 8 * 1024 * 1024;
// Requests that are answered at once are begun one after the other; so often timers, signals and other input get a turn.
const LONGEST_TURN_MS = 3;
// A request that takes longer waits for an upstream server, and the others should not wait with it.
const TURN_MS = 250;
// The end of the input is seen only by reading up to it. After a stall this many bytes more are read for that.
const MAX_READ_AHEAD = 1024 * 1024;

// Bytes. While more waits for the client, progress and log messages are dropped. A client that reads is seldom so late.
const MAX_UNREAD = 512 * 1024;

interface Reading {
  push(chunk: Uint8Array): void;
  /** Begins the requests that were pushed; gives a promise when nothing more should be read until it settles. */
  begin(): Promise<void> | undefined;
  /** After a pause this long, up to MAX_READ_AHEAD bytes are read all the same. */
  readonly stalledMs: number;
  readonly until: readonly Cancellation[];
}

/** Reads the input to its end, or until a signal fires. An input that breaks has ended: its client is gone. */
function readAll(input: Readable, { push, begin, stalledMs, until }: Reading): Promise<void> {
  const isOver = () => until.some((signal) => signal.aborted);
  const resume = () => void (isOver() || input.resume());
  let isPaused = false;
  let ahead = 0;
  const onChunk = (chunk: Uint8Array) => {
    push(chunk);
    ahead += chunk.length;
    if (isPaused && ahead > MAX_READ_AHEAD) input.pause();
    // Pause and resume cost a client that sends one request at a time a tenth of its time, so only when needed.
    const begun = isPaused ? undefined : begin();
    if (!begun) return;
    input.pause();
    isPaused = true;
    ahead = 0;
    const stalled = setTimeout(resume, stalledMs);
    void begun.then(() => {
      clearTimeout(stalled);
      isPaused = false;
      resume();
    });
  };
  return new Promise<void>((done) => {
    const finish = () => {
      input.off('data', onChunk).pause();
      done();
    };
    if (isOver()) return finish();
    input.on('data', onChunk);
    for (const event of ['end', 'close', 'error']) input.once(event, finish);
    for (const signal of until) signal.addEventListener('abort', finish);
  });
}

async function settledWithin(milliseconds: number, promises: readonly Promise<unknown>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((done) => {
    timer = setTimeout(done, milliseconds);
  });
  await Promise.race([Promise.all(promises), late]);
  clearTimeout(timer);
}
