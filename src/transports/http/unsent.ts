/**
 * Bytes on their way to HTTP clients, handed to the system in pieces so that one sees whether a client takes them.
 * Owns: what is not yet sent, of one client and of all together. Leaves alone: what is said, and to whom.
 * Always true: all clients together have at most MAX_UNSENT bytes and one message waiting; past that the client that
 * has taken nothing for the longest time is dropped. One that reads is never dropped for one that does not.
 */
import type { ServerResponse } from 'node:http';

/** A dozen of the largest answers. The memory is that of the process, so it is one limit for all its listeners. */
export const MAX_UNSENT = 256 * 1024 * 1024;

export interface Outflow {
  /** Bytes that the system has not taken yet. */
  unsent(): number;
  /** Changes whenever some have been taken. */
  progress(): number;
  write(text: string): void;
  /** After what was written before. Nothing can be written any more. */
  end(): void;
}

/** The one outflow of a response. */
export function outflowOf(response: ServerResponse): Outflow {
  const known = outflows.get(response);
  if (known) return known;
  const made = createOutflow(response);
  outflows.set(response, made);
  return made;
}

// --- internal ---

interface Waiting extends Outflow {
  /** When the client last took something; when it was first given something, before that. */
  readonly since: number;
  drop(): void;
}

// Characters. Small enough that a slow client is seen to take something every few seconds.
const PIECE = 64 * 1024;

const outflows = new WeakMap<ServerResponse, Outflow>();
const waiting = new Set<Waiting>();
let total = 0;

function createOutflow(response: ServerResponse): Outflow {
  const queue: Buffer[] = [];
  let queued = 0;
  let counted = 0;
  let progress = 0;
  let isEnding = false;

  function count(now: number): void {
    if (counted === 0) flow.since = performance.now();
    if (now < counted) {
      progress++;
      flow.since = performance.now();
    }
    total += now - counted;
    counted = now;
    if (now > 0) waiting.add(flow);
    else waiting.delete(flow);
  }

  function pump(): void {
    for (let piece = queue.shift(); piece; piece = queue.shift()) {
      queued -= piece.length;
      if (!response.write(piece)) break;
    }
    if (isEnding && queue.length === 0 && !response.writableEnded) response.end();
    count(queued + response.writableLength);
  }

  function forget(): void {
    queue.length = 0;
    queued = 0;
    count(0);
  }

  const isGone = () => response.destroyed || response.writableEnded;
  const flow = {
    since: performance.now(),
    unsent() {
      if (!response.destroyed) count(queued + response.writableLength);
      return counted;
    },
    progress: () => progress,
    write(text: string) {
      if (isEnding || isGone()) return;
      const pieces = piecesOf(text);
      queue.push(...pieces);
      // What waits for the client to take something is pumped when it has.
      const isWaiting = queued > 0;
      queued += pieces.reduce((sum, { length }) => sum + length, 0);
      if (isWaiting) count(queued + response.writableLength);
      else pump();
      relieve();
    },
    end() {
      isEnding = true;
      if (queue.length === 0 && !isGone()) pump();
    },
    drop() {
      forget();
      response.destroy();
    },
  };
  response.on('drain', pump);
  response.on('finish', () => count(0));
  response.on('close', forget);
  return flow;
}

/** Each in memory of its own, which is free again as soon as that piece has been sent. */
function piecesOf(text: string): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + PIECE;
    // Not between the two halves of a character.
    const isHalf = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    const piece = text.slice(at, isHalf ? end - 1 : end);
    pieces.push(Buffer.from(piece));
    at += piece.length;
  }
  return pieces;
}

function relieve(): void {
  if (total <= MAX_UNSENT) return;
  // What was taken since is counted now.
  for (const flow of waiting) flow.unsent();
  if (total <= MAX_UNSENT) return;
  for (const flow of [...waiting].sort((a, b) => a.since - b.since)) {
    flow.drop();
    if (total <= MAX_UNSENT) return;
  }
}
