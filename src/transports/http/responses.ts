/**
 * Responses that are sent whole: JSON, nothing, or a refusal.
 * Owns: status lines and lengths. Leaves alone: event streams (event-stream.ts), what the texts say.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type EncodedReply, errorReply, invalidRequest } from '../../protocol/index.ts';
import { createSendQueue, isOver, PIECE } from './send-queue.ts';

export function sendReply(response: ServerResponse, reply: EncodedReply, headers?: OutgoingHttpHeaders): void {
  if (response.headersSent || isOver(response)) return;
  const { pieces, length, httpStatus } = reply;
  response.writeHead(httpStatus, { 'content-type': 'application/json', 'content-length': length, ...headers });
  if (length > PIECE) {
    const queue = createSendQueue(response);
    queue.write(pieces);
    queue.end();
    return;
  }
  // Node collects them, with the head, for one system call. Copying them into one piece first takes longer.
  for (const piece of pieces) response.write(piece);
  response.end();
  if (response.writableLength > 0) createSendQueue(response);
}

export function sendNothing(response: ServerResponse, status: number, headers?: OutgoingHttpHeaders): void {
  if (response.headersSent || isOver(response)) return;
  response.writeHead(status, { ...headers, 'content-length': 0 });
  response.end();
}

/** Refuses a request with a JSON-RPC error, so that a client can show the reason. */
export function refuse(response: ServerResponse, status: number, why: string, headers?: OutgoingHttpHeaders): void {
  sendReply(response, errorReply(null, invalidRequest(why), status), headers);
}
