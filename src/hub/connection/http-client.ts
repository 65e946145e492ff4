/**
 * One HTTP request to an upstream server. Redirects within its origin are followed.
 * Owns: redirects, what counts as an error. Leaves alone: what bodies mean (http-wire.ts).
 * Always true:
 * - nothing is sent to another origin than the configured one: neither credentials, nor sessions, nor messages;
 * - what may have side effects is sent once.
 *
 * `node:http` and not `fetch`: fetch gives up on an answer after five minutes of silence, which is a long call's right.
 */
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { messageOf } from '../../log.ts';
import { createByteBuffer, decode, type Id, type Response, RpcError } from '../../protocol/index.ts';
import { cut } from '../../text.ts';
import { type HeaderFields, HttpError, MAX_MESSAGE, MessageTooLong, NotSent, UpstreamError } from './connection.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  /** What the protocol says. */
  readonly headers: HeaderFields;
  readonly body?: string;
  /** Nothing happens twice when it arrives twice. */
  readonly repeatable: boolean;
  readonly signal: AbortSignal;
}

export interface HttpClient {
  /**
   * Settles with the answer, its body not yet read. Rejects with an HttpError when the status is 400 or more, with
   * NotSent when nobody listens there.
   */
  send(request: HttpRequest): Promise<IncomingMessage>;
  close(): void;
}

/** `credentials`: the headers from the configuration. `common`: what every request says. */
export function createHttpClient(home: URL, credentials: HeaderFields, common: () => HeaderFields): HttpClient {
  const agents = { 'http:': new HttpAgent({ keepAlive: true }), 'https:': new HttpsAgent({ keepAlive: true }) };

  function once({ method, url, headers, body, signal }: HttpRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      if (url.origin !== home.origin) throw new UpstreamError(`${url.origin} is not the origin of the configuration`);
      const isTls = url.protocol === 'https:';
      const own = { ...basicAuth(home), ...credentials };
      const said = { ...common(), ...headers };
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

  async function send(request: HttpRequest): Promise<IncomingMessage> {
    let { url } = request;
    for (let hops = 0; hops <= MOST_REDIRECTS; hops += 1) {
      const attempt = () => once({ ...request, url });
      const response = await (request.repeatable ? again(attempt) : attempt());
      const { statusCode: status = 0 } = response;
      if (status >= 400) throw await errorFrom(status, response);
      const { location } = response.headers;
      if (!REDIRECTS.includes(status) || location === undefined) return response;
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

/** The media type of a body, as types are compared: in lower case and without parameters. Empty: it has none. */
export function mediaType({ headers }: IncomingMessage): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  return type.trim().toLowerCase();
}

/**
 * The body of an HTTP error, if it is an answer to the request of that id: then it is one, whatever the status says.
 * Refusals of who we are stay HTTP errors: they concern every request alike.
 */
export function answerIn(error: unknown, id: Id | undefined): string | undefined {
  if (!(error instanceof HttpError) || id === undefined || REFUSALS.includes(error.status)) return undefined;
  return error.answered.includes(id) ? error.body : undefined;
}

// 508: too many hubs stand in front of the server (see hops.ts).
export const REFUSALS: readonly number[] = [401, 403, 508];

/** Reads a whole body. One of more than `limit` bytes is left there and then, with MessageTooLong. */
export async function readBody(response: IncomingMessage, limit: number): Promise<string> {
  const body = createByteBuffer();
  // Leaving the loop early ends the connection.
  for await (const chunk of response) {
    if (body.size() + chunk.length > limit) throw new MessageTooLong(limit);
    body.add(chunk);
  }
  return new TextDecoder().decode(body.take());
}

/** Lets go of a body that nobody waits for. A short one is read to its end, so that the connection can be used again. */
export async function takeReceipt(response: IncomingMessage): Promise<void> {
  const timer = setTimeout(() => response.destroy(), RECEIPT_MS);
  try {
    await readBody(response, LONGEST_RECEIPT);
  } catch {
    // Too long, too slow or broken off: the message has arrived all the same.
  } finally {
    clearTimeout(timer);
  }
}

// --- internal ---

// What is said to a notice is nothing, or a word for people.
const LONGEST_RECEIPT = 64 * 1024;
const RECEIPT_MS = 2000;

const MOST_REDIRECTS = 5;
// 303 is not among them: it asks for another method, and another method is another request.
const REDIRECTS: readonly number[] = [301, 302, 307, 308];
// A page that says what went wrong. JSON may be the answer itself and has the limit of one.
const MAX_ERROR_BODY = 64 * 1024;
// Shown to people only after secrets were blotted out, and cut once more then.
const LONGEST_REASON = 4096;

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
  // The configuration says who is trusted with what is sent; a server cannot pass that on.
  if (to.origin !== from.origin)
    throw new UpstreamError(
      `redirected to another origin (${to.origin}), which is not followed: set its address instead`,
    );
  return to;
}

function basicAuth({ username, password }: URL): HeaderFields {
  if (username === '' && password === '') return {};
  const pair = `${decoded(username)}:${decoded(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** People write a percent sign into an address and mean it. */
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

async function errorFrom(status: number, response: IncomingMessage): Promise<HttpError> {
  const limit = mediaType(response) === 'application/json' ? MAX_MESSAGE : MAX_ERROR_BODY;
  const body = await readBody(response, limit).catch(() => '');
  const responses = responsesIn(body);
  const errors = responses.flatMap(({ outcome }) => ('error' in outcome ? [outcome.error] : []));
  const [rpc] = errors.map(({ code, message, data }) => new RpcError(code, message, data));
  const answered = responses.flatMap(({ id }) => (id === null ? [] : [id]));
  const said = rpc ? `: ${cut(rpc.message, LONGEST_REASON)}` : '';
  return new HttpError(status, `HTTP ${status}${said}${HINTS.get(status) ?? ''}`, { rpc, answered, body });
}

function responsesIn(body: string): readonly Response[] {
  const decoded = decode(body);
  return [decoded].flat().filter((one) => one.kind === 'response');
}

const HINTS: ReadonlyMap<number, string> = new Map([
  [401, ' (it wants authorization: set a header for it in the configuration)'],
  [403, ' (it refuses us: are the headers in the configuration right?)'],
]);

/**
 * Connecting to a name with several addresses fails with several errors and an empty message. Where all of them refuse,
 * nobody listens, so what was to be sent has reached nobody.
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
