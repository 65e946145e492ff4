/**
 * The bytes of one HTTP response that its client has not taken yet.
 * Owns: how much may wait, for one client and for all of them; dropping clients that do not read. Leaves alone: the text.
 * Always true: at most MAX_UNSENT bytes and one message wait for all clients together. Past that the client that has
 * taken nothing for the longest time is dropped, so a client that reads is never dropped for one that does not.
 */
import type { ServerResponse } from 'node:http';
import { MAX_UNSENT, UNREAD_MS } from './limits.ts';

export interface SendQueue {
  /** Bytes that the system has not taken yet. */
  unsent(): number;
  /** A counter that changes when the client takes some bytes. */
  progress(): number;
  write(text: string): void;
  /** Ends the response after what was written before, and drops the client if it does not read the rest. */
  end(): void;
  /** Drops the client if it takes no byte for `patience` milliseconds while some are unsent. */
  dropIfUnread(patience?: number): void;
}

/** The response was ended or its client is gone. (`writable` stays true in both cases.) */
export const isOver = (response: ServerResponse) => response.writableEnded || response.destroyed;

export function createSendQueue(response: ServerResponse): SendQueue {
  const pieces: Buffer[] = [];
  let queued = 0;
  let counted = 0;
  let progress = 0;
  let isEnding = false;

  function count(unsent: number): void {
    if (counted === 0) queue.since = performance.now();
    if (unsent < counted) {
      progress++;
      queue.since = performance.now();
    }
    total += unsent - counted;
    counted = unsent;
    if (unsent > 0) waiting.add(queue);
    else waiting.delete(queue);
  }

  function pump(): void {
    for (let piece = pieces.shift(); piece; piece = pieces.shift()) {
      queued -= piece.length;
      if (!response.write(piece)) break;
    }
    if (isEnding && pieces.length === 0 && !response.writableEnded) response.end();
    count(queued + response.writableLength);
  }

  function forget(): void {
    pieces.length = 0;
    queued = 0;
    count(0);
  }

  const queue = {
    since: performance.now(),
    unsent() {
      if (!response.destroyed) count(queued + response.writableLength);
      return counted;
    },
    progress: () => progress,
    write(text: string) {
      if (isEnding || isOver(response)) return;
      const added = piecesOf(text);
      const isWaiting = queued > 0;
      pieces.push(...added);
      queued += added.reduce((sum, { length }) => sum + length, 0);
      // While earlier pieces wait, 'drain' pumps.
      if (isWaiting) count(queued + response.writableLength);
      else pump();
      dropSlowest();
    },
    end() {
      if (isOver(response)) return;
      isEnding = true;
      if (pieces.length === 0) pump();
      queue.dropIfUnread();
    },
    dropIfUnread(patience = UNREAD_MS) {
      if (queue.unsent() === 0) return;
      dropSlowest();
      let before = -1;
      const check = setInterval(() => {
        // `unsent` updates `progress`, so it comes first.
        if (queue.unsent() > 0 && progress === before) response.destroy();
        before = progress;
      }, patience / 2).unref();
      response.once('close', () => clearInterval(check));
    },
    drop() {
      forget();
      // Not only the response: behind others on its connection it has no socket yet.
      response.req.socket.destroy();
    },
  };
  response.on('drain', pump);
  response.on('finish', () => count(0));
  response.on('close', forget);
  return queue;
}

// --- internal ---

interface Waiting extends SendQueue {
  /** When the client last took some bytes; before that, when it was first sent some. */
  readonly since: number;
  drop(): void;
}

// The memory is that of the process, so all its listeners share one count.
const waiting = new Set<Waiting>();
let total = 0;

// Characters. Small enough that a slow client is seen to take one every few seconds.
const PIECE = 64 * 1024;

/** Each piece has memory of its own, which is free again as soon as that piece is sent. */
function piecesOf(text: string): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + PIECE;
    // Not between the two halves of a surrogate pair.
    const isHalf = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    const piece = text.slice(at, isHalf ? end - 1 : end);
    pieces.push(Buffer.from(piece));
    at += piece.length;
  }
  return pieces;
}

function dropSlowest(): void {
  if (total <= MAX_UNSENT) return;
  // Clients may have taken bytes since they were last counted.
  for (const queue of waiting) queue.unsent();
  for (const queue of [...waiting].sort((a, b) => a.since - b.since)) {
    if (total <= MAX_UNSENT) return;
    queue.drop();
  }
}
