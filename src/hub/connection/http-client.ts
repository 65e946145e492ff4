/**
 * HTTP requests to one upstream server: sockets, redirects, credentials, what counts as an error. Leaves alone: what
 * bodies mean (http.ts, sse.ts). `node:http` and not `fetch`, which fails after five minutes without a response.
 * Always true: nothing is sent to another origin than the configured one: no credentials, no session id, no message; a
 * message that is not repeatable is sent once.
 */
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { unescape as decoded } from 'node:querystring';
import { createByteBuffer, decode, RpcError } from '../../protocol/index.ts';
import {
  ANSWERED,
  type HeaderFields,
  HttpError,
  MessageTooLong,
  NotSent,
  type OutgoingMessage,
  REFUSALS,
  UpstreamError,
} from './connection.ts';
import { LINGER_MS, MAX_MESSAGE, MAX_OTHER_BODY, MAX_REDIRECTS } from './limits.ts';

export interface HttpTarget {
  readonly url: URL;
  readonly headers: HeaderFields;
}

export interface HttpRequest {
  readonly verb: 'GET' | 'POST' | 'DELETE';
  /** The configured address unless given. Must be of its origin. */
  readonly url?: URL;
  readonly headers: HeaderFields;
  /** The body, with headers of its own. */
  readonly message?: OutgoingMessage;
  /** Fires when the exchange is no longer needed. */
  readonly signal: AbortSignal;
}

export const JSON_TYPE = 'application/json';
export const EVENT_STREAM_TYPE = 'text/event-stream';

/** `always`: headers of every request. */
export function createHttpClient(target: HttpTarget, always: () => HeaderFields) {
  const isHttps = target.url.protocol === 'https:';
  const agent = isHttps ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const configured = { ...basicAuth(target.url), ...target.headers };

  /** Settles when the headers of the response are there. Rejects with HttpError from status 400 on. */
  async function send(request: HttpRequest): Promise<IncomingMessage> {
    let { url = target.url } = request;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      // Node compares names without case, and the last one counts.
      const headers = { ...configured, ...always(), ...request.message?.headers, ...request.headers };
      const response = await sendOnce({ ...request, headers }, url, agent);
      const { statusCode: status = 0 } = response;
      if (status >= 400) throw await httpError(status, response);
      const { location } = response.headers;
      if (!REDIRECTS.includes(status) || location === undefined) return response;
      void discardBody(response);
      url = redirected(url, location);
    }
    throw new UpstreamError(`redirected more than ${MAX_REDIRECTS} times`);
  }

  return {
    send,
    /** The same for an event stream. Rejects with HttpError when the response is another. */
    async openStream(headers: HeaderFields, signal: AbortSignal): Promise<IncomingMessage> {
      const response = await send({ verb: 'GET', headers: { ...headers, accept: EVENT_STREAM_TYPE }, signal });
      const type = mediaType(response);
      if (type === EVENT_STREAM_TYPE) return response;
      response.destroy();
      throw new HttpError(response.statusCode ?? 0, `the answer is ${type || 'of no type'}, not a stream of events`);
    },
    close: () => agent.destroy(),
  };
}

/** The media type without parameters, in lower case; empty when there is none. */
export function mediaType({ headers }: IncomingMessage): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  return type.trim().toLowerCase();
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
  const timer = setTimeout(() => response.destroy(), LINGER_MS);
  // Too long, too slow or broken: the message has arrived all the same.
  await readBody(response, MAX_OTHER_BODY).catch(() => {});
  clearTimeout(timer);
}

// --- internal ---

function sendOnce(http: HttpRequest, url: URL, agent: HttpAgent | HttpsAgent): Promise<IncomingMessage> {
  const { verb: method, message, signal } = http;
  return new Promise((resolve, reject) => {
    const body = message && { 'content-type': JSON_TYPE, 'content-length': `${Buffer.byteLength(message.text)}` };
    const start = url.protocol === 'https:' ? requestHttps : requestHttp;
    const request = start(url, { method, agent, headers: { ...http.headers, ...body } });
    let timer: NodeJS.Timeout | undefined;
    // Not by the `signal` option, and without an error: either would stay with the socket, which may already be back in
    // the pool, where an error has no listener.
    const abort = () => {
      // The server should end an exchange that is answered, so that the socket can be reused. A response that arrives
      // over SSE leaves the exchange of its request open.
      if (signal.reason === ANSWERED) timer = setTimeout(() => request.destroy(), LINGER_MS).unref();
      else request.destroy();
    };
    signal.addEventListener('abort', abort);
    request.once('close', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      // Has no effect after a response or an error. Without either (status 101, for one) only this event comes.
      reject(new UpstreamError('the server closed the connection without a response'));
    });
    request.once('response', resolve);
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed a kept-alive socket as we used it. It may have read the request, so not every one is repeated.
      const isStale = request.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted;
      if (isStale && isRepeatable(message)) resolve(sendOnce(http, url, agent));
      else reject(readable(error));
    });
    if (signal.aborted) abort();
    request.end(message?.text);
  });
}

// Without 303: it asks for another method, and so for another request.
const REDIRECTS: readonly number[] = [301, 302, 307, 308];

/** Whether sending it twice changes nothing on the server. */
const isRepeatable = ({ id, method = '' }: Partial<OutgoingMessage> = {}) => id === undefined || READS.includes(method);
const READS = 'ping server/discover tools/list resources/list resources/read prompts/list skills/list'.split(' ');

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
  const pair = Buffer.from(`${decoded(username)}:${decoded(password)}`);
  return { authorization: `Basic ${pair.toString('base64')}` };
}

const HINTS: ReadonlyMap<number, string> = new Map([
  [401, ' (it wants authorization: set a header for it in the configuration)'],
  [403, ' (it refuses us: are the headers in the configuration right?)'],
]);

async function httpError(status: number, response: IncomingMessage): Promise<HttpError> {
  const limit = mediaType(response) === JSON_TYPE ? MAX_MESSAGE : MAX_OTHER_BODY;
  const text = await readBody(response, limit).catch(() => '');
  const [message] = [decode(text)].flat();
  const { id = null, outcome } = message?.kind === 'response' ? message : {};
  const error = outcome && 'error' in outcome ? outcome.error : undefined;
  const rpc = error && new RpcError(error.code, error.message, error.data);
  const what = `HTTP ${status}${rpc ? `: ${rpc.message}` : ''}${HINTS.get(status) ?? ''}`;
  return new HttpError(status, what, { text, rpc, id: REFUSALS.includes(status) ? null : id });
}

/** A name with several addresses fails with one error for each, and with a message of its own that is empty. */
function readable(error: NodeJS.ErrnoException): Error {
  const [first = error]: readonly Error[] = error instanceof AggregateError ? error.errors : [];
  return error.code === 'ECONNREFUSED' ? new NotSent(first.message) : first;
}
