/**
 * Event streams (text/event-stream) on an HTTP response.
 * Owns: framing, keep-alive comments, dropping clients that do not read. Leaves alone: the messages.
 * Always true: besides responses, at most MAX_UNREAD bytes and one message wait for the client of one stream. What all
 * wait for together is limited in send-queue.ts.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { EncodedReply } from '../../protocol/index.ts';
import { MAX_UNREAD } from './limits.ts';
import { createSendQueue, isOver } from './send-queue.ts';

export interface EventStream {
  /** Sends a notification. A client that has not read earlier ones is dropped; before that, `mayDrop` ones are. */
  send(text: string, mayDrop?: boolean): void;
  /** Many replies may be ready before a client that reads could take one, so their size drops no client. */
  reply(reply: EncodedReply): void;
  event(name: string, data: string): void;
  end(): void;
}

/** Answers with 200 and an open stream. A comment every `keepAliveMs` keeps proxies from closing a quiet one. */
export function openEventStream(
  response: ServerResponse,
  keepAliveMs: number,
  headers?: OutgoingHttpHeaders,
): EventStream {
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Tells nginx not to collect events before it passes them on.
    'x-accel-buffering': 'no',
  });
  const queue = createSendQueue(response, keepAliveMs, () => write([COMMENT]));
  // Bytes of the replies since the client had last read everything.
  let replied = 0;

  /** `reply`: how many of the bytes are those of a reply. */
  function write(pieces: readonly Uint8Array[], reply = 0): void {
    if (isOver(response)) return;
    const unsent = queue.unsent();
    if (unsent === 0) replied = 0;
    if (unsent > MAX_UNREAD + replied) return void queue.drop();
    replied += reply;
    queue.write(pieces);
  }
  const event = (name: string, data: string) => write([Buffer.from(`event: ${name}\ndata: ${data}\n\n`)]);

  // The client may wait for the headers before it does anything else.
  response.flushHeaders();
  return {
    send(text, mayDrop = false) {
      if (!mayDrop || queue.unsent() <= MAX_UNREAD / 2) event('message', text);
    },
    reply: ({ pieces, length }) => write([MESSAGE_START, ...pieces, EVENT_END], length),
    event,
    end: queue.end,
  };
}

// --- internal ---

const MESSAGE_START = Buffer.from('event: message\ndata: ');
const EVENT_END = Buffer.from('\n\n');
const COMMENT = Buffer.from(':\n\n');
