/**
 * Responses that are sent whole: JSON, nothing, or a refusal.
 * Owns: status lines and lengths. Leaves alone: event streams (event-stream.ts), what the texts say.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { encodeError, invalidRequest } from '../../protocol/index.ts';
import { SMALL_RESPONSE } from './limits.ts';
import { createSendQueue, isOver } from './send-queue.ts';

export function sendText(response: ServerResponse, status: number, text: string, headers?: OutgoingHttpHeaders): void {
  if (response.headersSent || isOver(response)) return;
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  if (text.length > SMALL_RESPONSE) {
    const queue = createSendQueue(response);
    queue.write(text);
    queue.end();
    return;
  }
  response.end(text);
  if (response.writableLength > 0) createSendQueue(response).dropIfUnread();
}

export function sendNothing(response: ServerResponse, status: number, headers?: OutgoingHttpHeaders): void {
  if (response.headersSent || isOver(response)) return;
  response.writeHead(status, { ...headers, 'content-length': 0 });
  response.end();
}

/** Refuses a request with a JSON-RPC error, so that a client can show the reason. */
export function refuse(response: ServerResponse, status: number, why: string, headers?: OutgoingHttpHeaders): void {
  sendText(response, status, encodeError(null, invalidRequest(why)), headers);
}
