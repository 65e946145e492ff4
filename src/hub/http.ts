/**
 * One HTTP request to an upstream server, redirects followed.
 * Owns: redirects, who is shown credentials, what counts as an error. Leaves alone: what bodies mean (http-wire.ts).
 * Always true:
 * - the configured headers, which may be secrets, go to the configured origin and to no other;
 * - what may have side effects is sent once.
 *
 * `node:http` and not `fetch`: fetch gives up on an answer after five minutes of silence, which is a long call's right.
 */
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { decode, RpcError } from '../protocol/index.ts';
import { createHold } from './hold.ts';
import { type HeaderFields, HttpError, MessageTooLong, UpstreamError } from './wire.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  /** What the protocol says. */
  readonly headers: HeaderFields;
  /** What only this origin may see, because it said so itself: a session. */
  readonly bound?: { readonly origin: string; readonly headers: HeaderFields } | undefined;
  readonly body?: string;
  /** Nothing happens twice when it arrives twice. */
  readonly repeatable: boolean;
  readonly signal: AbortSignal;
}

export interface HttpReply {
  /** Its body is not yet read. */
  readonly response: IncomingMessage;
  /** Who answered in the end, behind all redirects. */
  readonly origin: string;
}

export interface HttpClient {
  /** Rejects with an HttpError when the status is 400 or more. */
  send(request: HttpRequest): Promise<HttpReply>;
  close(): void;
}

/** `credentials`: the headers from the configuration. `common`: what every request says, to whomever it goes. */
export function createHttpClient(home: URL, credentials: HeaderFields, common: () => HeaderFields): HttpClient {
  const agents = { 'http:': new HttpAgent({ keepAlive: true }), 'https:': new HttpsAgent({ keepAlive: true }) };

  function once({ method, url, headers, bound, body, signal }: HttpRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const isTls = url.protocol === 'https:';
      const own = url.origin === home.origin ? { ...basicAuth(home), ...credentials } : {};
      const said = { ...common(), ...headers, ...(url.origin === bound?.origin ? bound.headers : {}) };
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const request = (isTls ? requestHttps : requestHttp)(url, {
        method,
        agent: isTls ? agents['https:'] : agents['http:'],
        headers: { ...lowerCased(own), ...lowerCased(said), ...length },
      });
      // Not as its own `signal` option, and without an error: either would stick to the connection, which may already
      // be back in the pool, where nobody listens for errors.
      const abort = () => request.destroy();
      signal.addEventListener('abort', abort);
      request.once('close', () => signal.removeEventListener('abort', abort));
      request.once('response', resolve);
      request.on('error', (error) => reject(Object.assign(error, { stale: request.reusedSocket })));
      if (signal.aborted) abort();
      request.end(body);
    });
  }

  async function send(request: HttpRequest): Promise<HttpReply> {
    let { url } = request;
    for (let hops = 0; hops <= MOST_REDIRECTS; hops += 1) {
      const attempt = () => once({ ...request, url });
      const response = await (request.repeatable ? again(attempt) : attempt());
      const { statusCode: status = 0 } = response;
      if (status >= 400) throw await errorFrom(status, response);
      const { location } = response.headers;
      if (!REDIRECTS.includes(status) || location === undefined) return { response, origin: url.origin };
      response.resume();
      url = redirected(url, location);
    }
    throw new UpstreamError(`redirected more than ${MOST_REDIRECTS} times`);
  }

  return {
    async send(request) {
      try {
        return await send(request);
      } catch (error) {
        throw readable(error);
      }
    },
    close() {
      agents['http:'].destroy();
      agents['https:'].destroy();
    },
  };
}

/** Reads a whole body. One of more than `limit` bytes is left there and then, with MessageTooLong. */
export async function readBody(response: IncomingMessage, limit: number): Promise<string> {
  const body = createHold();
  // Leaving the loop early ends the connection.
  for await (const chunk of response) {
    if (body.size() + chunk.length > limit) throw new MessageTooLong(limit);
    body.add(chunk);
  }
  return new TextDecoder().decode(body.take());
}

// --- internal ---

const MOST_REDIRECTS = 5;
// 303 is not among them: it asks for another method, and another method is another request.
const REDIRECTS: readonly number[] = [301, 302, 307, 308];
const MAX_ERROR_BODY = 64 * 1024;

/**
 * A kept-alive connection may be closed by the server just as we use it. Most likely nothing was read then, but nobody
 * knows: the server may as well have broken off in the middle of the work.
 */
async function again<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    const stale = error instanceof Error && 'stale' in error && error.stale === true;
    if (!stale || !('code' in error) || error.code !== 'ECONNRESET') throw error;
    return attempt();
  }
}

function redirected(from: URL, location: string): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (!to || !['http:', 'https:'].includes(to.protocol))
    throw new UpstreamError('redirected to what is no HTTP address');
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw new UpstreamError(`redirected from https to http (${to.host}), which is refused`);
  return to;
}

function basicAuth({ username, password }: URL): HeaderFields {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function lowerCased(headers: HeaderFields): HeaderFields {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

async function errorFrom(status: number, response: IncomingMessage): Promise<HttpError> {
  const body = await readBody(response, MAX_ERROR_BODY).catch(() => '');
  const decoded = decode(body);
  const message = 'kind' in decoded && decoded.kind === 'response' ? decoded.outcome : undefined;
  const rpc =
    message && 'error' in message
      ? new RpcError(message.error.code, message.error.message, message.error.data)
      : undefined;
  const hint = HINTS.get(status) ?? '';
  const isAnswer = 'kind' in decoded && decoded.kind === 'response' && decoded.id !== null;
  return new HttpError(status, `HTTP ${status}${rpc ? `: ${rpc.message}` : ''}${hint}`, { rpc, isAnswer });
}

const HINTS: ReadonlyMap<number, string> = new Map([
  [401, ' (it wants authorization: set a header for it in the configuration)'],
  [403, ' (it refuses us: are the headers in the configuration right?)'],
]);

/** Connecting to a name with several addresses fails with several errors and an empty message. */
function readable(error: unknown): unknown {
  if (!(error instanceof AggregateError) || error.message !== '') return error;
  const [first] = error.errors;
  return first instanceof Error ? first : error;
}
