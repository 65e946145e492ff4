/**
 * What a request says: its body, headers and accepted types.
 * Owns: the limits on bodies, UTF-8. Leaves alone: what the body means, where it goes.
 * Always true: all bodies in memory together are within MAX_BODIES, small ones excepted.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type EncodedReply, errorReply, internalError, invalidRequest, parseError } from '../../protocol/index.ts';
import { MAX_BODIES, MAX_BODY, SMALL_BODY } from './limits.ts';
import { sendReply } from './responses.ts';

/** Reads a JSON body and passes its text to `use`; a body that is refused is answered here. */
export async function useBody(
  request: IncomingMessage,
  response: ServerResponse,
  use: (text: string) => void | Promise<void>,
): Promise<void> {
  const held = { bytes: 0 };
  try {
    const body = await readBody(request, held);
    // A refusal does not wait for the turn: what it held of MAX_BODIES is free for the bodies that are still being read.
    if (typeof body === 'string') await nextTurn().then(() => use(body));
    else if (body) sendReply(response, body, body === BUSY ? { 'retry-after': '1' } : {});
  } finally {
    reserved -= held.bytes;
  }
}

/** Whether the client accepts a response of this type. A client without an Accept header accepts every type. */
export function accepts(accept: string | undefined, type: string): boolean {
  if (accept === undefined) return true;
  return accept.split(',').some((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (parameters.some((one) => /^q=0(\.0*)?$/.test(one))) return false;
    return name === type || name === '*/*' || name === `${type.split('/', 1)[0]}/*`;
  });
}

/** One header as one text: Node joins or drops repeated ones. */
export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

// --- internal ---

const BUSY = errorReply(null, internalError('too many large requests at once; try again'), 503);
const TOO_LONG = errorReply(null, invalidRequest(`a body is over ${MAX_BODY} bytes`), 413);
const NOT_JSON = errorReply(null, invalidRequest('Content-Type must be application/json in UTF-8'), 415);
const COMPRESSED = errorReply(null, invalidRequest('the body must not be compressed'), 415);
const NOT_UTF8 = errorReply(null, parseError('the body is not UTF-8'));

// Bytes of MAX_BODIES. The memory is that of the process, so all its listeners share one count.
let reserved = 0;

/**
 * Settles when everything that has arrived by now is read. Requests that arrive together are then answered together: a
 * burst of responses wakes a waiting client once, and one response between two reads wakes it each time (measured: half of
 * the CPU time of a call on 32 connections).
 */
const nextTurn = () => (turn ??= new Promise((done) => void setImmediate(endTurn, done)));
let turn: Promise<void> | undefined;

function endTurn(done: () => void): void {
  turn = undefined;
  done();
}

/** Text, a refusal, or undefined: the client went away before the body was complete. `held`: what it takes of `reserved`. */
type Body = string | EncodedReply | undefined;

function readBody(request: IncomingMessage, held: { bytes: number }): Body | Promise<Body> {
  const { headers } = request;
  if (!isJson(headers['content-type'] ?? '')) return NOT_JSON;
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') return COMPRESSED;
  if (Number(headers['content-length'] ?? 0) > MAX_BODY) return TOO_LONG;
  return new Promise((settle) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let refusal: EncodedReply | undefined;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      const more = size > SMALL_BODY ? size - held.bytes : 0;
      if (size > MAX_BODY) refusal ??= TOO_LONG;
      else if (reserved + more > MAX_BODIES) refusal ??= BUSY;
      if (!refusal) {
        held.bytes += more;
        reserved += more;
        return void chunks.push(chunk);
      }
      // The rest is read and dropped within the time for a request: a client that is cut off never sees the refusal.
      chunks.length = 0;
      settle(refusal);
    });
    request.on('end', () => settle(textOf(chunks)));
    // After 'end' the promise is settled, and these change nothing.
    request.on('error', () => settle(undefined));
    request.on('close', () => settle(undefined));
  });
}

/** JSON is UTF-8; a parameter that names no other character set is ignored. */
function isJson(type: string): boolean {
  if (type === 'application/json') return true;
  const [name = '', ...parameters] = type.split(';').map((part) => part.trim().toLowerCase());
  return name === 'application/json' && parameters.every((one) => !/^charset\s*=\s*(?!"?utf-8"?$)/.test(one));
}

function textOf(chunks: readonly Buffer[]): Body {
  const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  return isUtf8(bytes) ? bytes.toString() : NOT_UTF8;
}
