/**
 * What every endpoint does with a request before and after it means something: body, media types, plain answers.
 * Owns: the ceiling on a body, UTF-8, status lines. Leaves alone: what the texts say.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import {
  encodeError,
  internalError,
  invalidRequest,
  MAX_LINE,
  parseError,
  type RpcError,
} from '../../protocol/index.ts';
import { outflowOf } from './unsent.ts';

/** The same as for a line on stdio. */
export const MAX_BODY = MAX_LINE;

/** Bodies that are being read or worked on, all together. Eight of the largest; then a client is asked to come again. */
export const MAX_BODIES = 256 * 1024 * 1024;

// Nearly every request is smaller than this, and is not counted: those of all connections come to the same again.
const SMALL_BODY = 64 * 1024;

// What goes out in one piece anyway.
const SMALL_ANSWER = 64 * 1024;

/** How long a client may leave an answer untouched. */
export const UNREAD_MS = 30_000;

export interface Refusal {
  readonly kind: 'refused';
  readonly status: number;
  readonly error: RpcError;
  readonly headers?: OutgoingHttpHeaders;
}

/** Reads a JSON body, no further than it may go, and hands it over; or says why not. */
export async function useBody(
  request: IncomingMessage,
  response: ServerResponse,
  use: (text: string) => void | Promise<void>,
): Promise<void> {
  const claim = createClaim();
  try {
    const body = await readBody(request, claim);
    if (body.kind === 'text') await use(body.text);
    else if (body.kind === 'refused') sendText(response, body.status, encodeError(null, body.error), body.headers);
  } finally {
    claim.release();
  }
}

type Body =
  | { readonly kind: 'text'; readonly text: string }
  | Refusal
  /** The client went away in the middle. */
  | { readonly kind: 'gone' };

/** What one body takes of MAX_BODIES. */
interface Claim {
  /** Whether a body of this size may be held. */
  grow(size: number): boolean;
  release(): void;
}

let held = 0;

function createClaim(): Claim {
  let own = 0;
  const hold = (size: number) => {
    held += size - own;
    own = size;
  };
  return {
    grow(size) {
      if (size <= SMALL_BODY) return true;
      if (held - own + size > MAX_BODIES) return false;
      hold(size);
      return true;
    },
    release: () => hold(0),
  };
}

function readBody(request: IncomingMessage, claim: Claim): Promise<Body> {
  const { headers } = request;
  if (!isJson(headers['content-type'] ?? ''))
    return refusal(415, invalidRequest('Content-Type must be application/json in UTF-8'));
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    return refusal(415, invalidRequest('the body must not be compressed'));
  if (Number(headers['content-length'] ?? 0) > MAX_BODY) return TOO_LONG;
  return new Promise((settle) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isRefused = false;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      const isTooLong = size > MAX_BODY;
      if (!isRefused && !isTooLong && claim.grow(size)) return void chunks.push(chunk);
      // The rest is read and dropped, as long as a request may take: a client that is cut off never sees the refusal.
      isRefused = true;
      chunks.length = 0;
      settle(isTooLong ? TOO_LONG : BUSY);
    });
    request.on('end', () => settle(textOf(chunks)));
    // After 'end' these find the promise settled.
    request.on('error', () => settle(GONE));
    request.on('close', () => settle(GONE));
  });
}

/** Whether the client takes an answer of this type. One that does not say takes all. */
export function accepts(accept: string | undefined, type: string): boolean {
  if (accept === undefined || accept === BOTH) return true;
  return accept.split(',').some((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (parameters.some((one) => /^q=0(\.0*)?$/.test(one))) return false;
    return name === type || name === '*/*' || name === `${type.split('/', 1)[0]}/*`;
  });
}

/** One header as one text. Those that may come once come once: node drops or joins the others. */
export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** A parameter of the query. */
export function queryOf(request: IncomingMessage, name: string): string | undefined {
  const [, query] = (request.url ?? '').split('?', 2);
  return new URLSearchParams(query).get(name) ?? undefined;
}

export function sendText(response: ServerResponse, status: number, text: string, headers?: OutgoingHttpHeaders): void {
  if (response.headersSent || isOver(response)) return;
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  if (text.length <= SMALL_ANSWER) response.end(text);
  else {
    const flow = outflowOf(response);
    flow.write(text);
    flow.end();
  }
  dropIfUnread(response);
}

/** After the end: lets go of a client that takes nothing of the rest for `patience`. */
export function dropIfUnread(response: ServerResponse, patience = UNREAD_MS): void {
  if (response.writableLength === 0) return;
  const flow = outflowOf(response);
  let before = -1;
  const look = setInterval(() => {
    // First: counting what is left is what notices progress.
    const left = flow.unsent();
    if (left > 0 && flow.progress() === before) response.destroy();
    before = flow.progress();
  }, patience / 2).unref();
  response.once('close', () => clearInterval(look));
}

export function sendNothing(response: ServerResponse, status: number, headers?: OutgoingHttpHeaders): void {
  if (response.headersSent || isOver(response)) return;
  response.writeHead(status, { ...headers, 'content-length': 0 });
  response.end();
}

/** Nothing more can be written: it was ended, or its client is gone. (`writable` stays true in either case.) */
export function isOver(response: ServerResponse): boolean {
  return response.writableEnded || response.destroyed;
}

/** Says no, in the words of JSON-RPC so that a client can show why. */
export function refuse(response: ServerResponse, status: number, why: string, headers?: OutgoingHttpHeaders): void {
  sendText(response, status, encodeError(null, invalidRequest(why)), headers);
}

// --- internal ---

const BOTH = 'application/json, text/event-stream';

const GONE: Body = { kind: 'gone' };
const BUSY = refusal(503, internalError('too many large requests at once; try again'), { 'retry-after': '1' });
const TOO_LONG = refusal(413, invalidRequest(`a body is over ${MAX_BODY} bytes`));

/** JSON is UTF-8; a parameter that says nothing else does no harm. */
function isJson(type: string): boolean {
  if (type === 'application/json') return true;
  const [name = '', ...parameters] = type.split(';').map((part) => part.trim().toLowerCase());
  return name === 'application/json' && parameters.every((one) => !/^charset\s*=\s*(?!"?utf-8"?$)/.test(one));
}

function refusal(status: number, error: RpcError, headers: OutgoingHttpHeaders = {}): Promise<Refusal> {
  return Promise.resolve({ kind: 'refused', status, error, headers });
}

function textOf(chunks: readonly Buffer[]): Body | Promise<Body> {
  const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  return isUtf8(bytes) ? { kind: 'text', text: bytes.toString() } : refusal(400, parseError('the body is not UTF-8'));
}
