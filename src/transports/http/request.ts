/**
 * What an HTTP request says, and responses that are sent whole.
 * Owns: target, accepted types, the limit of a body. Leaves alone: what a body means, event streams (streams.ts).
 * Always true: the rest of a body that is refused is read and dropped, so that its client sees the refusal and the
 * connection goes on.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { CODE, type EncodedReply, MAX_LINE, RpcError } from '../../protocol/index.ts';

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** Thrown to refuse a request with a status. Its body is a JSON-RPC error, so that a client can show the reason. */
export class Refusal extends RpcError {
  readonly headers: OutgoingHttpHeaders;

  constructor(status: number, why: string, headers: OutgoingHttpHeaders = {}, code: number = CODE.request) {
    super(code, why, undefined, status);
    this.headers = headers;
  }
}

/** Path and query. Proxies may send the whole URL; its host was checked as the Host header. */
export function targetOf({ url = '' }: IncomingMessage): readonly [path: string, query: string] {
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '');
  const mark = target.indexOf('?');
  return mark === -1 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
}

/** One header as one text: Node joins or drops repeated ones. */
export const headerOf = ({ headers }: IncomingMessage, name: string) => headers[name.toLowerCase()]?.toString();

/** The forms of a response that the client accepts; all of them if it has no Accept header. */
export const acceptedBy = ({ headers: { accept = '*/*' } }: IncomingMessage) => ({
  json: /(?:^|,)\s*(?:application\/json|application\/\*|\*\/\*)\s*(?:[;,]|$)/i.test(accept),
  events: /(?:^|,)\s*(?:text\/event-stream|text\/\*|\*\/\*)\s*(?:[;,]|$)/i.test(accept),
});

/** The text of a JSON body. */
export function readBody(request: IncomingMessage): Promise<string> {
  const { 'content-type': type = '', 'content-length': length = 0 } = request.headers;
  if (!/^application\/json\s*(?:;|$)/i.test(type)) throw new Refusal(415, 'Content-Type must be application/json');
  if (Number(length) > MAX_LINE) throw tooLong();
  return new Promise((done, fail) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_LINE) return void chunks.push(chunk);
      chunks.length = 0;
      fail(tooLong());
    });
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      if (isUtf8(bytes)) done(bytes.toString());
      else fail(new Refusal(400, 'the body is not UTF-8', {}, CODE.parse));
    });
    // The client went away. After 'end' this changes nothing.
    request.on('close', () => request.complete || fail(new Refusal(400, 'the body is incomplete')));
  });
}

/** The response was ended or its client is gone. (`writable` stays true in both cases.) */
export const isOver = (response: ServerResponse) => response.writableEnded || response.destroyed;

export function sendReply(response: ServerResponse, reply: EncodedReply, headers?: OutgoingHttpHeaders): void {
  if (response.headersSent || isOver(response)) return;
  const { pieces, length, httpStatus } = reply;
  response.writeHead(httpStatus, { 'content-type': 'application/json', 'content-length': length, ...headers });
  // Node collects them, with the head, for one system call. Copying them into one piece first takes longer.
  for (const piece of pieces) response.write(piece);
  response.end();
}

export function sendNothing(response: ServerResponse, status: number): void {
  if (!response.headersSent && !isOver(response)) response.writeHead(status, { 'content-length': 0 }).end();
}

// --- internal ---

const tooLong = () => new Refusal(413, `a body is over ${MAX_LINE} bytes`);
