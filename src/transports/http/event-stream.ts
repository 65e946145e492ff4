/**
 * Event streams (text/event-stream) on an HTTP response, and the timer that keeps quiet ones open.
 * Owns: framing, keep-alive comments, dropping clients that do not read. Leaves alone: the messages.
 * Always true: besides responses, at most MAX_UNREAD bytes and one message wait for the client of one stream. What all
 * wait for together is limited in send-queue.ts.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { MAX_UNREAD } from './limits.ts';
import { createSendQueue, isOver } from './send-queue.ts';

export interface EventStream {
  /** Sends a notification. A client that has not read earlier ones is dropped. */
  send(text: string): void;
  /** Sends a response. Many may be ready before a client that reads could take one, so their size drops no client. */
  reply(text: string): void;
  event(name: string, data: string): void;
  /** Sends a comment, so that no proxy closes a quiet stream; drops a client that takes nothing between two calls. */
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
  const queue = createSendQueue(response);
  let lastProgress = -1;
  // Characters of the responses since the client had last read everything.
  let replied = 0;

  function write(text: string): void {
    if (isOver(response)) return;
    const unsent = queue.unsent();
    if (unsent === 0) replied = 0;
    // A character has at most three bytes.
    if (unsent > MAX_UNREAD + 3 * replied) response.destroy();
    else queue.write(text);
  }

  // The client may wait for the headers before it does anything else.
  response.flushHeaders();
  return {
    send: (text) => write(`event: message\ndata: ${text}\n\n`),
    reply(text) {
      replied += text.length;
      write(`event: message\ndata: ${text}\n\n`);
    },
    event: (name, data) => write(`event: ${name}\ndata: ${data}\n\n`),
    keepAlive() {
      if (isOver(response)) return;
      const isUnread = queue.unsent() > 0;
      if (isUnread && queue.progress() === lastProgress) response.destroy();
      // A client that still reads earlier bytes needs no comment.
      else if (!isUnread) write(':\n\n');
      lastProgress = isUnread ? queue.progress() : -1;
    },
    end: () => queue.end(),
  };
}

/** One timer for all streams and for whatever else must be done now and then. */
export interface KeepAlive {
  /** Gives a function that removes `task` again. */
  add(task: () => void): () => void;
  stop(): void;
}

export function createKeepAlive(milliseconds: number): KeepAlive {
  const tasks = new Set<() => void>();
  const timer = setInterval(() => {
    for (const task of tasks) task();
  }, milliseconds).unref();
  return {
    add(task) {
      tasks.add(task);
      return () => void tasks.delete(task);
    },
    stop: () => clearInterval(timer),
  };
}
