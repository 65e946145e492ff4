/**
 * A connection over streamable HTTP: one POST per message, answered by a JSON body or an event stream.
 * Owns: sockets, HTTP errors, the session id, response streams. Leaves alone: the format of event streams
 * (event-stream.ts), when a session is opened again (client.ts). `node:http` and not `fetch`, which fails after five
 * minutes without a response.
 * Always true: nothing is sent to another origin than the configured one: no credentials, no session id, no message; a
 * message is sent once; a stream that ends before its answer is taken up again, when the server gave event ids.
 */
import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { IDLE_SOCKET_MS, LINGER_MS, REPLY_MS } from '../limits.ts';
import { messageOf } from '../log.ts';
import { CODE, decode, HEADERS, type Id, MAX_LINE, RpcError } from '../protocol/index.ts';
import {
  type Connection,
  type ConnectionOwner,
  type HeaderFields,
  HttpError,
  type OutgoingMessage,
  pause,
  SessionLost,
  UpstreamError,
} from './connection.ts';
import type { Target } from './entries.ts';
import { readEvents, START } from './event-stream.ts';

export type HttpTarget = Pick<Extract<Target, { kind: 'http' }>, 'url' | 'headers'>;

interface HttpRequest {
  readonly verb: 'GET' | 'POST' | 'DELETE';
  /** The configured address unless given; of the same origin. */
  readonly url?: URL;
  readonly headers?: HeaderFields;
  readonly body?: string;
  /** Fires when the exchange is no longer needed. Without it, the end of the connection ends the exchange. */
  readonly signal?: AbortSignal | undefined;
}

export function openHttp(target: HttpTarget, owner: ConnectionOwner): Connection {
  const http = createHttp(target, owner);
  /** The requests that are under way. */
  const exchanges = new Map<Id, AbortController>();
  let session: HeaderFields = {};

  async function post({ text: body, method, headers }: OutgoingMessage, signal: AbortSignal) {
    const own = method === 'initialize' ? {} : session;
    const accept = `${JSON_TYPE}, ${EVENT_STREAM_TYPE}`;
    try {
      return await http.send({ verb: 'POST', headers: { ...headers, ...own, accept }, body, signal });
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      const { status, rpc } = error;
      // The specification says 404 for a session that is unknown; many servers say 400. Either may be about the message.
      const isLost = HEADERS.session in own && (status === 404 || status === 400) && rpc?.code !== CODE.method;
      if (isLost) throw new SessionLost(error);
      // The status of a refused handshake may mean the older transport, whatever the body says.
      throw method === 'initialize' ? error : (rpc ?? error);
    }
  }

  async function receive(response: IncomingMessage, { method }: OutgoingMessage, id: Id, signal: AbortSignal) {
    const { [HEADERS.session]: sessionId } = response.headers;
    if (method === 'initialize') session = typeof sessionId === 'string' ? { [HEADERS.session]: sessionId } : {};
    const type = mediaType(response);
    if (type === EVENT_STREAM_TYPE) return receiveEvents(response, id, signal);
    const body = await readBody(response);
    if (type !== JSON_TYPE) throw new UpstreamError(`the answer is ${type || 'of no type'}, not JSON`);
    owner.text(body);
    // The body is not quoted: it may hold part of a secret, which would not be found in it.
    if (owner.isPending(id))
      throw new UpstreamError(`the body of ${body.length} characters does not answer the request`);
  }

  /** Reads the stream of one request, and takes it up again where it ended, until the request is answered. */
  async function receiveEvents(first: IncomingMessage, id: Id, signal: AbortSignal): Promise<void> {
    const broken = (error: unknown) => {
      throw new UpstreamError(`the stream of the answer broke and could not be resumed: ${messageOf(error)}`);
    };
    let last = START;
    for (let stream = first; ; ) {
      let timer: NodeJS.Timeout | undefined;
      const receiveOne = (data: string) => {
        owner.text(data);
        if (!owner.isPending(id)) timer ??= setTimeout(() => stream.destroy(), LINGER_MS).unref();
      };
      last = await readEvents(stream, receiveOne, last).finally(() => clearTimeout(timer));
      if (!owner.isPending(id)) return;
      if (last.eventId === undefined) throw new UpstreamError('the stream ended without an answer');
      await pause(last.retry, signal);
      if (!owner.isPending(id)) return;
      stream = await http.openStream({ ...session, 'last-event-id': last.eventId }, signal).catch(broken);
    }
  }

  return {
    async send(message) {
      const { id } = message;
      if (id === undefined) return discard(await post(message, AbortSignal.timeout(REPLY_MS)));
      const exchange = new AbortController();
      exchanges.set(id, exchange);
      try {
        await receive(await post(message, exchange.signal), message, id, exchange.signal);
      } finally {
        exchanges.delete(id);
      }
    },
    drop: (id) => exchanges.get(id)?.abort(),
    async listen(opened) {
      try {
        const stream = await http.openStream(session);
        opened();
        await readEvents(stream, owner.text);
        return true;
      } catch (error) {
        // Not by 405 alone: some servers have something else there.
        if (error instanceof HttpError && (error.status < 400 || error.status === 405)) return false;
        throw error;
      }
    },
    async close() {
      if (HEADERS.session in session)
        await http.send({ verb: 'DELETE', headers: session, signal: AbortSignal.timeout(LINGER_MS) }).then(
          (response) => response.destroy(),
          (error: unknown) => owner.log(`the session was not ended: ${messageOf(error)}`),
        );
      http.close();
    },
  };
}

/** HTTP requests to one server, for both transports. */
export function createHttp(target: HttpTarget, owner: ConnectionOwner) {
  const own = new URL(target.url);
  const options = { keepAlive: true, timeout: IDLE_SOCKET_MS };
  const agent = own.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
  // Its user and password; also for an address that the server names.
  const { auth = null } = urlToHttpOptions(own);

  /** Settles when the headers of the response are there. Rejects with HttpError when they say that it is none. */
  async function send(request: HttpRequest): Promise<IncomingMessage> {
    const type = request.body !== undefined && { 'content-type': JSON_TYPE };
    // Node compares names without case, and the last one counts.
    const headers = { ...target.headers, ...owner.headers(), ...request.headers, ...type };
    const response = await exchange(request.url ?? own, { ...request, headers }, { agent, auth });
    const { statusCode: status = 0 } = response;
    // A redirect is not followed: only the configuration decides who gets our messages. The error says where it leads.
    if (status >= 300) throw await httpErrorOf(status, response);
    return response;
  }

  return {
    send,
    /** Rejects with HttpError when there is no event stream. */
    async openStream(headers: HeaderFields, signal?: AbortSignal): Promise<IncomingMessage> {
      const response = await send({ verb: 'GET', headers: { ...headers, accept: EVENT_STREAM_TYPE }, signal });
      const type = mediaType(response);
      if (type === EVENT_STREAM_TYPE) return response;
      response.destroy();
      throw new HttpError(response.statusCode ?? 0, `the answer is ${type || 'of no type'}, not a stream of events`);
    },
    /** Ends every exchange. */
    close: () => agent.destroy(),
  };
}

/** Ignores a body. It is read, so that the socket can be used again. */
export function discard(response: IncomingMessage): void {
  response.on('error', () => {}).resume(); // The message has arrived all the same.
}

// --- internal ---

const JSON_TYPE = 'application/json';
const EVENT_STREAM_TYPE = 'text/event-stream';

/** Settles with the response, whatever its status is. */
function exchange(url: URL, { verb, headers, body, signal }: HttpRequest, options: RequestOptions) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const start = url.protocol === 'https:' ? requestHttps : requestHttp;
    const request = start(url, { ...options, method: verb, headers });
    // Not by the `signal` option: its error would stay with the socket, which may already be used by another request.
    const abort = () => void request.destroy();
    signal?.addEventListener('abort', abort);
    request.once('response', resolve);
    // A name with several addresses fails with one error for each, and with an empty message of its own.
    request.on('error', (error) => reject(error instanceof AggregateError ? error.errors[0] : error));
    request.once('close', () => {
      signal?.removeEventListener('abort', abort);
      reject(new UpstreamError('the server closed the connection without a response'));
    });
    if (signal?.aborted) abort();
    request.end(body);
  });
}

/** The media type without parameters, in lower case; empty when there is none. */
const mediaType = ({ headers }: IncomingMessage) => /^[^;\s]*/.exec(headers['content-type'] ?? '')?.[0].toLowerCase();

/** At too many bytes it closes the socket and throws. */
async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.length;
    // Leaving the loop closes the socket.
    if (size > MAX_LINE) throw new UpstreamError(`a message over ${MAX_LINE} bytes was dropped`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

async function httpErrorOf(status: number, response: IncomingMessage): Promise<HttpError> {
  const text = await readBody(response).catch(() => '');
  const [message] = [decode(text)].flat();
  const error = message?.kind === 'response' && 'error' in message.outcome ? message.outcome.error : undefined;
  // A refusal of our authorization is about this client, and not the answer to a message.
  const isRefusal = status === 401 || status === 403;
  const rpc = error && !isRefusal ? new RpcError(error.code, error.message, error.data) : undefined;
  const [location] = response.headers.location?.split('?', 1) ?? [];
  const redirection = location === undefined ? '' : ` (it leads to ${location}: set that as its url)`;
  const hint = isRefusal ? ' (are the headers in its entry right?)' : redirection;
  const id = message?.kind === 'response' ? message.id : null;
  return new HttpError(status, `HTTP ${status}${error ? `: ${error.message}` : ''}${hint}`, rpc, id);
}
