/**
 * MCP over a pair of pipes, one message per line.
 * Owns: the bytes. Leaves alone: what they mean (protocol/), which pipes they are (passed in), signals (cli.ts).
 * Always true:
 * - nothing but messages is written;
 * - while the output is full nothing more is begun or read, so a client that does not listen cannot make us hold
 *   more than the answers to what was begun before;
 * - once the input ends or `stop` fires, what was asked is answered, flushed, and the promise settles; it does so too
 *   when nobody takes the answers.
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
  /** Fires when no more should be read. */
  readonly stop: AbortSignal;
  /** Called when nothing more will be read, before what is in flight is waited for. */
  readonly onLast?: () => void;
  readonly lastFlushMs?: number;
}

// Nobody asks any more, and nobody has taken a byte of what is left to say for so long.
export const LAST_FLUSH_MS = 10_000;

export async function serveStdio(
  handle: Handle,
  { input, output }: Pipes,
  { stop, onLast, lastFlushMs = LAST_FLUSH_MS }: StdioOptions,
): Promise<void> {
  const outlet = createOutlet(output);
  const session = createSession(outlet.send);
  const notify = (text: string, mayDrop: boolean) => {
    if (!mayDrop || !outlet.isFull()) outlet.send(text);
  };
  const exchange = { reply: outlet.send, notify };
  const waiting: string[] = [];
  const inFlight = new Set<Promise<void>>();
  const lines = createLineSplitter({
    line: (text) => void waiting.push(text),
    tooLong: (limit, start, end) =>
      outlet.send(encodeError(idIn(start, end), invalidRequest(`a line is over ${limit} bytes`))),
    notText: () => outlet.send(encodeError(null, parseError('a line is not UTF-8'))),
  });

  function begin(text: string): Promise<void> {
    const done = handle(session, text, exchange).finally(() => inFlight.delete(done));
    inFlight.add(done);
    return done;
  }
  const beginSome = () => waiting.splice(0, LINES_PER_TURN).map(begin);
  async function workInTurns(): Promise<void> {
    do {
      await outlet.turn();
      const begun = beginSome();
      // Large answers take a moment to make, and show only then whether anybody takes them.
      if (waiting.length > 0) await Promise.race([Promise.all(begun), wait(TURN_MS)]);
    } while (waiting.length > 0 && !outlet.isBroken());
  }
  /** Begins what waits: at once, as for a client with one request at a time, or gives a promise when it takes longer. */
  function work(): Promise<void> | undefined {
    if (outlet.isFull() || inFlight.size + waiting.length > LINES_PER_TURN) return workInTurns();
    beginSome();
    return undefined;
  }

  const take = (chunk: Uint8Array) => {
    lines.push(chunk);
    return work();
  };
  const onEnd = () => outlet.breakIfUnread(lastFlushMs);
  const ended = await readAll(input, { stop, broken: outlet.broken, onEnd }, take);
  // A line that was cut off by `stop` was never asked.
  if (ended) lines.end();
  await work();
  onLast?.();
  await Promise.race([Promise.all(inFlight), outlet.broken]);
  session.end();
  await Promise.race([outlet.flush(), outlet.broken]);
  outlet.close();
}

// --- internal ---

// One read brings a thousand small requests, and each may be answered with a megabyte. After these few the answers
// leave, and we learn whether anybody takes them.
const LINES_PER_TURN = 32;
// What takes longer waits for another server, and others should not wait for it.
const TURN_MS = 250;

// More than this does not wait for what else may be ready: one text can grow only so long.
const MOST_PENDING = 1024 * 1024;

const wait = (milliseconds: number) => new Promise<void>((done) => void setTimeout(done, milliseconds));

interface Ends {
  readonly stop: AbortSignal;
  readonly broken: Promise<void>;
  /** Called when nothing more is read, before the last chunk is dealt with. */
  onEnd(): void;
}

/** Hands over every chunk, each when the last is dealt with; gives whether it was the input that ended. */
function readAll(
  input: Readable,
  { stop, broken, onEnd }: Ends,
  take: (chunk: Uint8Array) => Promise<void> | undefined,
): Promise<boolean> {
  return new Promise((done) => {
    let over = false;
    let taken = Promise.resolve();
    const onChunk = (chunk: Uint8Array) => {
      const rest = take(chunk);
      // Only when there is need: to pause and resume costs a client that sends one request at a time a tenth of its time.
      if (!rest) return;
      input.pause();
      taken = rest.then(() => {
        if (!over) input.resume();
      });
    };
    const finish = (ended: boolean) => {
      if (over) return;
      over = true;
      onEnd();
      input.off('data', onChunk);
      input.pause();
      void taken.then(() => done(ended));
    };
    if (stop.aborted) return finish(false);
    input.on('data', onChunk);
    // A broken input is an ended one: there is nobody to report it to.
    for (const event of ['end', 'close', 'error']) input.once(event, () => finish(true));
    stop.addEventListener('abort', () => finish(false), { once: true });
    void broken.then(() => finish(false));
  });
}

function createOutlet(output: Writable) {
  let pending: string[] = [];
  let size = 0;
  let room: Promise<void> | undefined;
  let makeRoom = () => {};
  let taken = 0;
  let isBroken = false;
  let end = () => {};
  const broken = new Promise<void>((done) => {
    end = () => {
      isBroken = true;
      done();
      makeRoom();
    };
  });
  output.on('error', end);
  output.once('close', end);
  output.on('drain', () => makeRoom());

  function write(): void {
    const text = pending.join('');
    pending = [];
    size = 0;
    if (text === '' || isBroken || !output.writable) return;
    // As bytes: a queue of texts may only come to 2 GB, and would then end the program.
    if (output.write(Buffer.from(text), () => taken++) || room) return;
    room = new Promise((done) => {
      makeRoom = () => {
        room = undefined;
        done();
      };
    });
  }

  return {
    broken,
    isBroken: () => isBroken,
    close: () => end(),
    /** From now on an output that takes nothing for so long counts as broken. */
    breakIfUnread(patience: number): void {
      let before = -1;
      const look = setInterval(() => {
        if (output.writableLength > 0 && taken === before) end();
        before = taken;
      }, patience / 2);
      void broken.then(() => clearInterval(look));
    },
    isFull: () => room !== undefined,
    // Answers that are ready together leave in one write.
    send(text: string): void {
      if (pending.length === 0) void Promise.resolve().then(write);
      pending.push(`${text}\n`);
      size += text.length;
      if (size > MOST_PENDING) write();
    },
    /** Settles when the answers of this turn are written and the output takes more. */
    async turn(): Promise<void> {
      await new Promise((done) => setImmediate(done));
      write();
      await room;
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
