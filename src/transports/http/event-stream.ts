/**
 * Event streams (text/event-stream) on an HTTP response.
 * Owns: framing, keeping quiet streams alive, letting go of readers that do not read. Leaves alone: what is said.
 * Always true: a stream holds at most MAX_UNREAD bytes and one message that its reader has not taken.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { dropIfUnread, isOver } from './requests.ts';
import { outflowOf } from './unsent.ts';

// A reader this far behind is not reading. Notices are small; an answer may be larger, and is then the only thing waiting.
export const MAX_UNREAD = 4 * 1024 * 1024;

export interface EventStream {
  /** A JSON-RPC message. */
  send(text: string): void;
  event(name: string, data: string): void;
  /** A comment: tells everyone in between, and us, that the line still works. */
  keepAlive(): void;
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
  const flow = outflowOf(response);
  let progressAtLastBeat = -1;

  function write(text: string): void {
    if (isOver(response)) return;
    if (flow.unsent() > MAX_UNREAD) response.destroy();
    else flow.write(text);
  }

  // The client may wait for the headers before it does anything else.
  response.flushHeaders();
  return {
    send: (text) => write(`event: message\ndata: ${text}\n\n`),
    event: (name, data) => write(`event: ${name}\ndata: ${data}\n\n`),
    keepAlive() {
      // Not a byte of what was pending has moved since the last beat: nobody is there.
      if (isOver(response)) return;
      const unread = flow.unsent() > 0;
      if (unread && flow.progress() === progressAtLastBeat) response.destroy();
      // A reader that is busy with what was sent before has its sign of life.
      else if (!unread) write(':\n\n');
      progressAtLastBeat = unread ? flow.progress() : -1;
    },
    end() {
      if (isOver(response)) return;
      flow.end();
      dropIfUnread(response);
    },
  };
}

/** One clock for everything that must show life now and then. */
export interface KeepAlive {
  /** Gives what ends it. */
  join(keepAlive: () => void): () => void;
  stop(): void;
}

export function createKeepAlive(milliseconds: number): KeepAlive {
  const beats = new Set<() => void>();
  const timer = setInterval(() => {
    for (const keepAlive of beats) keepAlive();
  }, milliseconds).unref();
  return {
    join(keepAlive) {
      beats.add(keepAlive);
      return () => void beats.delete(keepAlive);
    },
    stop: () => clearInterval(timer),
  };
}
