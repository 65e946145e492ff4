/**
 * MCP over a pair of pipes, one message per line.
 * Owns: the bytes. Leaves alone: what they mean (protocol/), which pipes they are (passed in), signals (cli/process.ts).
 * Always true:
 * - only messages are written;
 * - while the output is full, no request is begun and nothing is read, so for a client that does not read no more waits
 *   than the answers to requests that were begun before;
 * - once the input ends or `stop` fires, requests that were read are answered, the answers are flushed, and the promise
 *   settles; it also settles when the client does not read the answers.
 */
import type { Readable, Writable } from 'node:stream';
import {
  createLineSplitter,
  createSession,
  encodeError,
  type Handle,
  idIn,
  invalidRequest,
  parseError,
} from '../protocol/index.ts';

export interface Pipes {
  readonly input: Readable;
  readonly output: Writable;
}

export interface StdioOptions {
  /** Fires when nothing more should be read. */
  readonly stop: AbortSignal;
  /** After the last read: how long the client may take no byte of the answers. */
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
  const session = createSession(writer.send);
  const notify = (text: string, mayDrop: boolean) => {
    if (!mayDrop || !writer.isFull()) writer.send(text);
  };
  const exchange = { reply: writer.send, notify };
  const waiting: string[] = [];
  const inFlight = new Set<Promise<void>>();
  const lines = createLineSplitter({
    line: (text) => void waiting.push(text),
    tooLong: (limit, start, end) =>
      writer.send(encodeError(idIn(start, end), invalidRequest(`a line is over ${limit} bytes`))),
    notText: () => writer.send(encodeError(null, parseError('a line is not UTF-8'))),
  });

  function begin(text: string): Promise<void> {
    const done = handle(session, text, exchange).finally(() => inFlight.delete(done));
    inFlight.add(done);
    return done;
  }
  const beginSome = (most: number) => waiting.splice(0, most).map(begin);
  /** Begins with a few requests, and with more in each turn as long as their answers are small. */
  async function beginInTurns(): Promise<void> {
    let most = LINES_AT_ONCE;
    do {
      await writer.turn();
      const before = writer.total();
      const begun = beginSome(most);
      // Large answers take a moment to make, and only then show whether the client reads them.
      if (waiting.length > 0) await Promise.race([Promise.all(begun), wait(TURN_MS)]);
      most = writer.total() - before > LARGE_TURN ? 1 : Math.min(2 * most, LINES_PER_TURN);
    } while (waiting.length > 0 && !writer.isBroken());
  }
  /** Begins the waiting requests: a few at once, for a client that sends one at a time; many in turns, which takes longer. */
  function beginAll(): Promise<void> | undefined {
    const isBurst = waiting.length > LINES_AT_ONCE || inFlight.size + waiting.length > LINES_PER_TURN;
    if (writer.isFull() || isBurst) return beginInTurns();
    beginSome(LINES_AT_ONCE);
    return undefined;
  }

  const hasEnded = await readAll(input, {
    stop,
    broken: writer.broken,
    stalledMs: lastFlushMs,
    push: lines.push,
    begin: beginAll,
    onEnd: () => writer.breakIfUnread(lastFlushMs),
  });
  // A line that `stop` cut off is not a request.
  if (hasEnded) lines.end();
  await beginAll();
  onLast?.();
  await Promise.race([Promise.all(inFlight), writer.broken]);
  session.end();
  await Promise.race([writer.flush(), writer.broken]);
  writer.close();
}

// --- internal ---

// One chunk can hold a thousand small requests, each with an answer of 20 MB. After a few requests the answers are
// written, which shows how large they are and whether the client reads them.
const LINES_AT_ONCE = 4;
const LINES_PER_TURN = 32;
// Characters. After a turn with more, requests are begun one by one.
const LARGE_TURN = 8 * 1024 * 1024;
// A request that takes longer waits for an upstream server, and the others should not wait with it.
const TURN_MS = 250;

// Characters. Answers that are ready together leave in one write, up to this length: one text can grow only so long.
const MAX_JOINED = 1024 * 1024;

const wait = (milliseconds: number) => new Promise<void>((done) => void setTimeout(done, milliseconds));

// The end of the input is seen only by reading up to it. After a stall this many bytes more are read for that.
const MAX_READ_AHEAD = 1024 * 1024;

interface Reading {
  readonly stop: AbortSignal;
  readonly broken: Promise<void>;
  /** After a pause this long, up to MAX_READ_AHEAD bytes are read. */
  readonly stalledMs: number;
  push(chunk: Uint8Array): void;
  /** Begins the requests that were pushed; gives a promise when that takes longer. */
  begin(): Promise<void> | undefined;
  /** Called when nothing more is read, before the last requests are begun. */
  onEnd(): void;
}

/** Reads the input, and pauses it while requests wait to be begun. True: the input ended by itself. */
function readAll(input: Readable, { stop, broken, stalledMs, push, begin, onEnd }: Reading): Promise<boolean> {
  return new Promise((done) => {
    let isOver = false;
    let begun = Promise.resolve();
    let readAhead: number | undefined;
    const onChunk = (chunk: Uint8Array) => {
      push(chunk);
      if (readAhead !== undefined) {
        readAhead += chunk.length;
        if (readAhead > MAX_READ_AHEAD) input.pause();
        return;
      }
      const beginning = begin();
      // Pause and resume cost a client that sends one request at a time a tenth of its time, so only when needed.
      if (!beginning) return;
      input.pause();
      readAhead = 0;
      const stalled = setTimeout(() => input.resume(), stalledMs);
      begun = beginning.then(() => {
        clearTimeout(stalled);
        readAhead = undefined;
        if (!isOver) input.resume();
      });
    };
    const finish = (hasEnded: boolean) => {
      if (isOver) return;
      isOver = true;
      onEnd();
      input.off('data', onChunk);
      input.pause();
      void begun.then(() => done(hasEnded));
    };
    if (stop.aborted) return finish(false);
    input.on('data', onChunk);
    // An input that breaks has ended: the client that could be told is gone.
    for (const event of ['end', 'close', 'error']) input.once(event, () => finish(true));
    stop.addEventListener('abort', () => finish(false), { once: true });
    void broken.then(() => finish(false));
  });
}

/** Writes lines to the output, and knows whether it is full or broken. */
function createWriter(output: Writable) {
  let pending: string[] = [];
  let size = 0;
  let total = 0;
  let drained: Promise<void> | undefined;
  let onDrain = () => {};
  let writes = 0;
  let isBroken = false;
  let close = () => {};
  const broken = new Promise<void>((done) => {
    close = () => {
      isBroken = true;
      done();
      onDrain();
    };
  });
  output.on('error', close);
  output.once('close', close);
  output.on('drain', () => onDrain());

  function write(): void {
    const text = pending.join('');
    pending = [];
    size = 0;
    if (text === '' || isBroken || !output.writable) return;
    // As bytes: a queue of texts is limited to 2 GB, and past that ends the process.
    if (output.write(Buffer.from(text), () => writes++) || drained) return;
    drained = new Promise((done) => {
      onDrain = () => {
        drained = undefined;
        done();
      };
    });
  }

  return {
    broken,
    isBroken: () => isBroken,
    isFull: () => drained !== undefined,
    /** The characters of all messages so far. */
    total: () => total,
    close: () => close(),
    /** From now on, an output that takes nothing for `patience` milliseconds counts as broken. */
    breakIfUnread(patience: number): void {
      let before = -1;
      const check = setInterval(() => {
        if (output.writableLength > 0 && writes === before) close();
        before = writes;
      }, patience / 2);
      void broken.then(() => clearInterval(check));
    },
    send(text: string): void {
      if (pending.length === 0) void Promise.resolve().then(write);
      pending.push(`${text}\n`);
      size += text.length;
      total += text.length;
      if (size > MAX_JOINED) write();
    },
    /** Settles when the answers of this turn are written and the output takes more. */
    async turn(): Promise<void> {
      await new Promise((done) => setImmediate(done));
      write();
      await drained;
    },
    flush(): Promise<void> {
      write();
      return new Promise((done) => {
        if (output.writable) output.write('', () => done());
        else done();
      });
    },
  };
}
