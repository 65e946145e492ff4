/**
 * The bytes of one HTTP response that its client has not taken yet.
 * Owns: how much may wait, for one client and for all of them; dropping clients that do not read. Leaves alone: the text.
 * Always true: at most MAX_UNSENT bytes and one message wait for all clients together. Past that the client that has
 * taken nothing for the longest time is dropped, so a client that reads is never dropped for one that does not.
 */
import type { ServerResponse } from 'node:http';
import { MAX_UNSENT, UNREAD_MS } from './limits.ts';

/** Bytes. Small enough that a slow client is seen to take one every few seconds. */
export const PIECE = 64 * 1024;

/** The response was ended or its client is gone. (`writable` stays true in both cases.) */
export const isOver = (response: ServerResponse) => response.writableEnded || response.destroyed;

type SendQueue = ReturnType<typeof createSendQueue>;

/**
 * A client that takes nothing between two checks is dropped if bytes wait for it. `onQuiet`: called when none wait.
 * The response may have been written to before.
 */
export function createSendQueue(response: ServerResponse, checkMs = UNREAD_MS / 2, onQuiet = () => {}) {
  const pieces: Uint8Array[] = [];
  let queued = 0;
  let counted = 0;
  let isEnding = false;
  let checkedSince = 0;

  function count(unsent: number): void {
    if (counted === 0 || unsent < counted) queue.since = performance.now();
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
    queue.unsent();
  }

  function forget(): void {
    clearInterval(timer);
    pieces.length = 0;
    queued = 0;
    count(0);
  }

  function check(): void {
    // `unsent` updates `since`, so it comes first; what `onQuiet` writes waits from now on, so it comes last.
    const unsent = queue.unsent();
    const isStuck = unsent > 0 && queue.since === checkedSince;
    checkedSince = queue.since;
    if (isStuck) queue.drop();
    else if (unsent === 0) onQuiet();
  }

  const queue = {
    /** When the client last took some bytes; before that, when it was first sent some. */
    since: performance.now(),
    /** Bytes that the system has not taken yet. */
    unsent(): number {
      if (!response.destroyed) count(queued + response.writableLength);
      return counted;
    },
    write(added: readonly Uint8Array[]): void {
      if (isEnding || isOver(response)) return;
      const isWaiting = queued > 0;
      for (const piece of added) {
        for (let at = 0; at < piece.length; at += PIECE) pieces.push(piece.subarray(at, at + PIECE));
        queued += piece.length;
      }
      // While earlier pieces wait, 'drain' pumps.
      if (isWaiting) queue.unsent();
      else pump();
      dropSlowest();
    },
    /** Ends the response after what was written before. */
    end(): void {
      if (isOver(response)) return;
      isEnding = true;
      if (pieces.length === 0) pump();
    },
    drop(): void {
      forget();
      response.destroy();
      // Behind other responses on its connection, this one has no socket yet.
      response.req.socket.destroy();
    },
  };
  const timer = setInterval(check, checkMs).unref();
  response.on('drain', pump);
  response.on('finish', () => count(0));
  response.on('close', forget);
  queue.unsent();
  dropSlowest();
  return queue;
}

// --- internal ---

// The memory is that of the process, so all its listeners share one count.
const waiting = new Set<SendQueue>();
let total = 0;

function dropSlowest(): void {
  if (total <= MAX_UNSENT) return;
  // Clients may have taken bytes since they were last counted.
  for (const queue of waiting) queue.unsent();
  for (const queue of [...waiting].sort((a, b) => a.since - b.since)) {
    if (total <= MAX_UNSENT) return;
    queue.drop();
  }
}
