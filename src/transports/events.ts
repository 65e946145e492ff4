/**
 * Event streams (text/event-stream) on an HTTP response.
 * Owns: framing, keeping quiet streams alive, letting go of readers that do not read. Leaves alone: what is said.
 * Always true: a stream holds at most MAX_UNREAD bytes and one message that its reader has not taken.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { dropIfUnread, isOver } from './requests.ts';

// A reader this far behind is not reading. It is the size of the largest message we take, so a slow one may have one waiting.
export const MAX_UNREAD = 4 * 1024 * 1024;

export interface EventStream {
  /** A JSON-RPC message. */
  send(text: string): void;
  event(name: string, data: string): void;
  /** A comment: tells everyone in between, and us, that the line still works. */
  beat(): void;
  end(): void;
}

/** Answers with 200 and an open stream. */
export function openEventStream(response: ServerResponse, headers?: OutgoingHttpHeaders): EventStream {
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Tells nginx not to collect events before it passes them on.
    'x-accel-buffering': 'no',
  });
  let unreadAtLastBeat = false;

  function write(text: string): void {
    if (isOver(response)) return;
    if (response.writableLength > MAX_UNREAD) response.destroy();
    else response.write(text);
  }

  // The client may wait for the headers before it does anything else.
  response.flushHeaders();
  return {
    send: (text) => write(`event: message\ndata: ${text}\n\n`),
    event: (name, data) => write(`event: ${name}\ndata: ${data}\n\n`),
    beat() {
      // Not a byte of what was pending has moved since the last beat: nobody is there.
      if (isOver(response)) return;
      const unread = response.writableLength > 0;
      if (unread && unreadAtLastBeat) response.destroy();
      else write(':\n\n');
      unreadAtLastBeat = unread;
    },
    end() {
      if (isOver(response)) return;
      response.end();
      dropIfUnread(response);
    },
  };
}

/** One clock for everything that must show life now and then. */
export interface Pulse {
  /** Gives what ends it. */
  join(beat: () => void): () => void;
  stop(): void;
}

export function createPulse(milliseconds: number): Pulse {
  const beats = new Set<() => void>();
  const timer = setInterval(() => {
    for (const beat of beats) beat();
  }, milliseconds).unref();
  return {
    join(beat) {
      beats.add(beat);
      return () => void beats.delete(beat);
    },
    stop: () => clearInterval(timer),
  };
}
