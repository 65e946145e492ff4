/**
 * Event streams (text/event-stream) on an HTTP response.
 * Owns: framing, keep-alive comments, dropping clients that do not read. Leaves alone: the messages.
 * Always true: besides replies, at most MAX_UNREAD bytes and one message wait for the client of one stream.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { KEEP_ALIVE_MS, MAX_UNREAD } from '../../limits.ts';
import type { EncodedReply } from '../../protocol/index.ts';
import { isOver } from './request.ts';

export type EventStream = ReturnType<typeof openEventStream>;

/** Answers with 200 and an open stream. */
export function openEventStream(response: ServerResponse, headers?: OutgoingHttpHeaders) {
  // Bytes of the replies since the client had last read everything.
  let replied = 0;

  function write(pieces: readonly (Uint8Array | string)[], replyLength = 0): void {
    if (isOver(response)) return;
    const unread = response.writableLength;
    if (unread === 0) replied = 0;
    if (unread > MAX_UNREAD + replied) return void response.destroy();
    replied += replyLength;
    for (const piece of pieces) response.write(piece);
  }

  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Tells nginx not to collect events before it passes them on.
    'x-accel-buffering': 'no',
  });
  // The client may wait for the headers before it does anything else.
  response.flushHeaders();
  // Proxies close a quiet stream. While bytes wait for the client, a comment would add nothing.
  const timer = setInterval(() => response.writableLength === 0 && write([':\n\n']), KEEP_ALIVE_MS).unref();
  response.on('close', () => clearInterval(timer));
  // When nothing, not even a comment, could be sent for this long, Node closes the connection.
  response.setTimeout(2 * KEEP_ALIVE_MS);
  return {
    /** Sends a notification, or another event. A client that has not read earlier ones is dropped. */
    send: (text: string, event = 'message') => write([`event: ${event}\ndata: ${text}\n\n`]),
    /** Several replies may be ready before a client that reads could take one, so their size drops no client. */
    reply: ({ pieces, length }: EncodedReply) => write(['event: message\ndata: ', ...pieces, '\n\n'], length),
    /** So much waits for the client that no further request of it should run. */
    isFull: () => response.writableLength > MAX_UNREAD,
    end: () => void (isOver(response) || response.end()),
  };
}
