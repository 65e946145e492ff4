/**
 * What a request says: its body, headers, query and accepted types.
 * Owns: the limits on bodies, UTF-8. Leaves alone: what the body means, where it goes.
 * Always true: all bodies in memory together are within MAX_BODIES, small ones excepted.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { encodeError, internalError, invalidRequest, parseError, type RpcError } from '../../protocol/index.ts';
import { MAX_BODIES, MAX_BODY, SMALL_BODY } from './limits.ts';
import { sendText } from './responses.ts';

/** Reads a JSON body and passes its text to `use`; a body that is refused is answered here. */
export async function useBody(
  request: IncomingMessage,
  response: ServerResponse,
  use: (text: string) => void | Promise<void>,
): Promise<void> {
  const reservation = createReservation();
  try {
    const body = await readBody(request, reservation);
    if (body.kind === 'text') await use(body.text);
    else if (body.kind === 'refused') sendText(response, body.status, encodeError(null, body.error), body.headers);
  } finally {
    reservation.release();
  }
}

/** Whether the client accepts a response of this type. A client without an Accept header accepts every type. */
export function accepts(accept: string | undefined, type: string): boolean {
  if (accept === undefined || accept === BOTH) return true;
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

/** A parameter of the query. */
export function queryOf(request: IncomingMessage, name: string): string | undefined {
  const [, query] = (request.url ?? '').split('?', 2);
  return new URLSearchParams(query).get(name) ?? undefined;
}

// --- internal ---

// What most clients send; it is known without parsing.
const BOTH = 'application/json, text/event-stream';

type Body =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly error: RpcError;
      readonly headers?: OutgoingHttpHeaders;
    }
  /** The client went away before the body was complete. */
  | { readonly kind: 'gone' };

const GONE: Body = { kind: 'gone' };
const BUSY = refused(503, internalError('too many large requests at once; try again'), { 'retry-after': '1' });
const TOO_LONG = refused(413, invalidRequest(`a body is over ${MAX_BODY} bytes`));
const NOT_JSON = refused(415, invalidRequest('Content-Type must be application/json in UTF-8'));
const COMPRESSED = refused(415, invalidRequest('the body must not be compressed'));
const NOT_UTF8 = refused(400, parseError('the body is not UTF-8'));

function refused(status: number, error: RpcError, headers: OutgoingHttpHeaders = {}): Body {
  return { kind: 'refused', status, error, headers };
}

function readBody(request: IncomingMessage, reservation: Reservation): Body | Promise<Body> {
  const { headers } = request;
  if (!isJson(headers['content-type'] ?? '')) return NOT_JSON;
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') return COMPRESSED;
  if (Number(headers['content-length'] ?? 0) > MAX_BODY) return TOO_LONG;
  return new Promise((settle) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isRefused = false;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      const isTooLong = size > MAX_BODY;
      if (!isRefused && !isTooLong && reservation.grow(size)) return void chunks.push(chunk);
      // The rest is read and dropped within the time for a request: a client that is cut off never sees the refusal.
      isRefused = true;
      chunks.length = 0;
      settle(isTooLong ? TOO_LONG : BUSY);
    });
    request.on('end', () => settle(textOf(chunks)));
    // After 'end' the promise is settled, and these change nothing.
    request.on('error', () => settle(GONE));
    request.on('close', () => settle(GONE));
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
  return isUtf8(bytes) ? { kind: 'text', text: bytes.toString() } : NOT_UTF8;
}

/** The part of MAX_BODIES that one body takes. */
interface Reservation {
  /** Whether a body of this size may be kept in memory. */
  grow(size: number): boolean;
  release(): void;
}

// The memory is that of the process, so all its listeners share one count.
let reserved = 0;

function createReservation(): Reservation {
  let own = 0;
  const set = (size: number) => {
    reserved += size - own;
    own = size;
  };
  return {
    grow(size) {
      if (size <= SMALL_BODY) return true;
      if (reserved - own + size > MAX_BODIES) return false;
      set(size);
      return true;
    },
    release: () => set(0),
  };
}
