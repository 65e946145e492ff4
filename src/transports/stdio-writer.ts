/**
 * Writes lines to a pipe; those of one turn of the event loop leave together.
 * Owns: when bytes are written, and noticing that the client is gone or does not read. Leaves alone: what is written and
 * when nothing more is begun (stdio.ts).
 */
import type { Writable } from 'node:stream';
import { type EncodedReply, LazyAbortController } from '../protocol/index.ts';

export function createWriter(output: Writable) {
  let taken = 0;
  let turn: Uint8Array[] = [];
  let turnBytes = 0;
  const life = new LazyAbortController();
  const close = () => life.abort();
  const whenBroken = new Promise<void>((done) => life.addEventListener('abort', done));
  output.on('error', close);
  output.once('close', close);
  const countTaken = () => void taken++;

  function write(pieces: readonly Uint8Array[]): void {
    if (turn.length === 0) setImmediate(flush);
    for (const piece of pieces) {
      turn.push(piece);
      turnBytes += piece.length;
    }
    turn.push(NEWLINE);
    turnBytes += NEWLINE.length;
    if (turnBytes > LARGE_WRITE) flush();
  }

  function flush(): void {
    const [pieces, bytes] = [turn, turnBytes];
    turn = [];
    turnBytes = 0;
    if (pieces.length === 0 || life.aborted || !output.writable) return;
    const chunks = joinShort(pieces, bytes);
    // Only for several: a corked output makes a list of what it writes.
    if (chunks.length > 1) output.cork();
    for (const chunk of chunks) output.write(chunk, countTaken);
    if (chunks.length > 1) output.uncork();
  }

  return {
    /** Fires when the client is gone, or does not read. */
    broken: life,
    whenBroken,
    close,
    isFull: () => output.writableNeedDrain,
    /** Bytes that the output has not taken yet. */
    unread: () => output.writableLength + turnBytes,
    /** From now on, an output that takes nothing for `patience` milliseconds counts as broken. */
    breakIfUnread(patience: number): void {
      let before = -1;
      const check = setInterval(() => {
        if (output.writableLength > 0 && taken === before) close();
        before = taken;
      }, patience / 2);
      void whenBroken.then(() => clearInterval(check));
    },
    send: (text: string) => write([Buffer.from(text)]),
    reply: ({ pieces }: EncodedReply) => write(pieces),
    /** Settles when the replies of this turn are written and the output takes more. */
    async drained(): Promise<void> {
      flush();
      if (output.writableNeedDrain) await Promise.race([new Promise((done) => output.once('drain', done)), whenBroken]);
    },
    /** Settles when everything is written. */
    flushed(): Promise<void> {
      flush();
      return new Promise((done) => (output.writable ? output.write('', () => done()) : done()));
    },
  };
}

// --- internal ---

const NEWLINE = Buffer.from('\n');
// Bytes. To copy a longer piece takes more time than to give the system one piece more.
const LONG_PIECE = 4 * 1024;
// Bytes. Less than this is written in one piece, because writing several takes Node longer than to copy them.
const SMALL_WRITE = 16 * 1024;
// Bytes. The system takes about so many at once; there is no gain in collecting more.
const LARGE_WRITE = 128 * 1024;

/** Long pieces as they are, short ones copied together: a system call with many pieces takes longer. */
function joinShort(pieces: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  if (bytes < SMALL_WRITE) return [Buffer.concat(pieces, bytes)];
  const chunks: Uint8Array[] = [];
  let short: Uint8Array[] = [];
  const join = () => {
    if (short.length > 0) chunks.push(Buffer.concat(short));
    short = [];
  };
  for (const piece of pieces) {
    if (piece.length < LONG_PIECE) short.push(piece);
    else {
      join();
      chunks.push(piece);
    }
  }
  join();
  return chunks;
}
