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
  response.writeHead(httpStatus, { ...headers, 'content-type': 'application/json', 'content-length': length });
  if (length > PIECE) {
    const queue = createSendQueue(response);
    queue.write(pieces);
    queue.end();
    return;
  }
  // Copied into one piece, which costs less than a larger system call.
  response.end(Buffer.concat(pieces, length));
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
