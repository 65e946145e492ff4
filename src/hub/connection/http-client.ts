/**
 * HTTP requests to one upstream server.
 * Owns: sockets, redirects, credentials, what counts as an error. Leaves alone: what bodies mean (http.ts, sse.ts).
 * Always true:
 * - nothing is sent to another origin than the configured one: no credentials, no session id, no message;
 * - a request that is not repeatable is sent once.
 *
 * `node:http` and not `fetch`: fetch fails after five minutes without a response, and a call may take longer.
 */
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { messageOf } from '../../log.ts';
import { createByteBuffer, decode, type Id, type Response, RpcError } from '../../protocol/index.ts';
import type { Redact } from '../config/redact.ts';
import { type HeaderFields, HttpError, MessageTooLong, NotSent, UpstreamError } from './connection.ts';
import { MAX_ERROR_BODY, MAX_MESSAGE, MAX_REASON, MAX_RECEIPT, MAX_REDIRECTS, RECEIPT_MS } from './limits.ts';

export interface HttpTarget {
  readonly url: URL;
  /** Headers from the configuration. */
  readonly headers: HeaderFields;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The configured address unless given. Must be of its origin. */
  readonly url?: URL;
  readonly headers: HeaderFields;
  readonly body?: string;
  /** Sending it twice does no harm. */
  readonly repeatable: boolean;
  readonly signal: AbortSignal;
}

export interface HttpClient {
  /** Settles when the headers of the response are there. Rejects with HttpError from status 400 on. */
  send(request: HttpRequest): Promise<IncomingMessage>;
  close(): void;
}

export const JSON_TYPE = 'application/json';
export const EVENT_STREAM_TYPE = 'text/event-stream';

/** Statuses that concern this client and not one message. 508: too many hubs in a row (see hops.ts). */
export const REFUSALS: readonly number[] = [401, 403, 508];

export interface HttpContext {
  readonly redact: Redact;
  /** Headers of every request. */
  headers(): HeaderFields;
}

export function createHttpClient(target: HttpTarget, context: HttpContext): HttpClient {
  const isTls = target.url.protocol === 'https:';
  const agent = isTls ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const configured = lowerCased({ ...basicAuth(target.url), ...target.headers });

  function sendOnce({ method, headers, body, signal }: HttpRequest, url: URL): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const all = { ...configured, ...lowerCased({ ...context.headers(), ...headers }), ...length };
      const request = (isTls ? requestHttps : requestHttp)(url, { method, agent, headers: all });
      // Not by the `signal` option, and without an error: either would stay with the socket, which may already be back
      // in the pool, where an error has no listener.
      const abort = () => request.destroy();
      signal.addEventListener('abort', abort);
      request.once('close', () => {
        signal.removeEventListener('abort', abort);
        // Has no effect after a response or an error. Without either (status 101, for one) only this event comes.
        reject(new UpstreamError('the server closed the connection without a response'));
      });
      request.once('response', resolve);
      request.on('error', (error) => reject(Object.assign(error, { stale: request.reusedSocket })));
      if (signal.aborted) abort();
      request.end(body);
    });
  }

  async function follow(request: HttpRequest): Promise<IncomingMessage> {
    let { url = target.url } = request;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await sendOnce(request, url).catch((error: unknown) => {
        if (request.repeatable && isStale(error)) return sendOnce(request, url);
        throw error;
      });
      const { statusCode: status = 0 } = response;
      if (status >= 400) throw await httpError(status, response, context.redact);
      const { location } = response.headers;
      if (!REDIRECTS.includes(status) || location === undefined) return response;
      void discardBody(response);
      url = redirected(url, location);
    }
    throw new UpstreamError(`redirected more than ${MAX_REDIRECTS} times`);
  }

  return {
    async send(request) {
      try {
        return await follow(request);
      } catch (error) {
        throw readable(error);
      }
    },
    close: () => agent.destroy(),
  };
}

/** The media type without parameters, in lower case; empty when there is none. */
export function mediaType({ headers }: IncomingMessage): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  return type.trim().toLowerCase();
}

/** The response itself if it is an event stream; any other is destroyed. */
export function expectEventStream(response: IncomingMessage): IncomingMessage {
  const type = mediaType(response);
  if (type === EVENT_STREAM_TYPE) return response;
  response.destroy();
  throw new NotEventStream(`the answer is ${type || 'of no type'}, not a stream of events`);
}

export class NotEventStream extends UpstreamError {
  override readonly name = 'NotEventStream';
}

/**
 * The body of an HTTP error if it is the JSON-RPC response to the request with that id: then the status does not matter.
 * Refusals stay HTTP errors.
 */
export function responseIn(error: unknown, id: Id | undefined): string | undefined {
  if (!(error instanceof HttpError) || id === undefined || REFUSALS.includes(error.status)) return undefined;
  return error.answered.includes(id) ? error.body : undefined;
}

/** Reads a whole body. At more than `limit` bytes it closes the socket and throws MessageTooLong. */
export async function readBody(response: IncomingMessage, limit: number): Promise<string> {
  const body = createByteBuffer();
  // Leaving the loop early closes the socket.
  for await (const chunk of response) {
    if (body.size() + chunk.length > limit) throw new MessageTooLong(limit);
    body.add(chunk);
  }
  return new TextDecoder().decode(body.take());
}

/** Reads and ignores a body. A short one is read to its end, so that the socket can be reused. */
export async function discardBody(response: IncomingMessage): Promise<void> {
  const timer = setTimeout(() => response.destroy(), RECEIPT_MS);
  try {
    await readBody(response, MAX_RECEIPT);
  } catch {
    // Too long, too slow or broken: the message has arrived all the same.
  } finally {
    clearTimeout(timer);
  }
}

// --- internal ---

// Without 303: it asks for another method, and so for another request.
const REDIRECTS: readonly number[] = [301, 302, 307, 308];

/** A kept-alive socket that the server closed as we used it. The request may have been read, so only repeatable ones are repeated. */
function isStale(error: unknown): boolean {
  if (!(error instanceof Error) || !('stale' in error && 'code' in error)) return false;
  return error.stale === true && error.code === 'ECONNRESET';
}

/** Only the configuration decides which origin gets our messages; a server cannot hand that on. */
function redirected(from: URL, location: string): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (!to || !['http:', 'https:'].includes(to.protocol))
    throw new UpstreamError('redirected to something that is not an HTTP address');
  if (to.origin === from.origin) return to;
  throw new UpstreamError(
    `redirected to another origin (${to.origin}), which is not followed: set its address instead`,
  );
}

function basicAuth({ username, password }: URL): HeaderFields {
  if (username === '' && password === '') return {};
  const pair = `${decoded(username)}:${decoded(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** A bare percent sign in an address stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function lowerCased(headers: HeaderFields): HeaderFields {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

const HINTS: ReadonlyMap<number, string> = new Map([
  [401, ' (it wants authorization: set a header for it in the configuration)'],
  [403, ' (it refuses us: are the headers in the configuration right?)'],
]);

async function httpError(status: number, response: IncomingMessage, redact: Redact): Promise<HttpError> {
  const limit = mediaType(response) === JSON_TYPE ? MAX_MESSAGE : MAX_ERROR_BODY;
  const body = await readBody(response, limit).catch(() => '');
  const responses = [decode(body)].flat().filter((one): one is Response => one.kind === 'response');
  const [error] = responses.flatMap(({ outcome }) => ('error' in outcome ? [outcome.error] : []));
  const rpc = error && new RpcError(error.code, error.message, error.data);
  const answered = responses.flatMap(({ id }) => id ?? []);
  const reason = rpc ? `: ${redact(rpc.message, MAX_REASON)}` : '';
  return new HttpError(status, `HTTP ${status}${reason}${HINTS.get(status) ?? ''}`, { rpc, answered, body });
}

/**
 * A name with several addresses fails with several errors and an empty message. Where every address refuses the
 * connection, the message has not reached any server.
 */
function readable(error: unknown): unknown {
  const all: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  const [first] = all;
  const found = error instanceof AggregateError && error.message === '' && first instanceof Error ? first : error;
  return all.length > 0 && all.every(isRefused) ? new NotSent(messageOf(found)) : found;
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}
