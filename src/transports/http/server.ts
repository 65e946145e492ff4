/**
 * The listening HTTP server, from the first request to the last response.
 * Owns: the port, the order of checks before a handler, health, the end. Leaves alone: who has access (access.ts), what
 * the handlers do (streamable.ts, sse.ts).
 * Always true: no handler runs before the access check; after `close` no request is begun, and those in flight are
 * answered. Until they are, new ones get 503, which sends a load balancer elsewhere; a refused connection would not.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import * as limits from '../../limits.ts';
import { type Dispatcher, EncodedReply, encode, errorReply, internalError } from '../../protocol/index.ts';
import { type AccessOptions, createAccess } from './access.ts';
import { Refusal, type RequestHandler, sendNothing, sendReply, targetOf } from './request.ts';
import { createSse, MESSAGES_PATH } from './sse.ts';
import { createStreamable } from './streamable.ts';

export interface HttpOptions extends AccessOptions {
  readonly port: number;
  /** Which address `url` has: that of streamable HTTP or that of HTTP+SSE. Both are always served. */
  readonly announce: 'http' | 'sse';
  /** Whether `/healthz` is 200. */
  isReady(): boolean;
  /** Called for every exception in a handler. */
  onFault(error: unknown): void;
  /** How long `close` may take. */
  readonly lastMs: number;
  /** Called by `close` before it waits for the requests in flight: must end those that never end by themselves. */
  onLast?(): void;
}

export interface Listening {
  readonly url: string;
  /** Answers the requests in flight, ends every stream, and settles when the last connection is closed. */
  close(): Promise<void>;
}

/** Throws an Error for the person who started it: when others would be let in by mistake, or the port is taken. */
export async function serveHttp(dispatcher: Dispatcher, options: HttpOptions): Promise<Listening> {
  const { host, lastMs } = options;
  const sse = createSse(dispatcher);
  const streamable = createStreamable(dispatcher, sse.open);
  const handlers = new Map<string, RequestHandler>([
    [`POST ${MCP_PATH}`, streamable.post],
    [`GET ${MCP_PATH}`, streamable.get],
    [`DELETE ${MCP_PATH}`, streamable.end],
    [`GET ${SSE_PATH}`, sse.open],
    [`POST ${MESSAGES_PATH}`, sse.post],
  ]);
  const { respond, state } = createRouter(options, handlers);
  const server = createServer({
    requestTimeout: limits.REQUEST_MS, // Of the headers too.
    connectionsCheckingInterval: limits.REQUEST_CHECK_MS,
    keepAliveTimeout: limits.IDLE_CONNECTION_MS,
  });
  /** For each connection, how many requests are behind the one that it is busy with. */
  const behind = new WeakMap<Socket, number>();
  server.on('request', (request, response) => {
    const { socket } = request;
    if (response.socket !== null) return void respond(request, response);
    // It waits for its turn: before that its response has no socket, and would not notice that the connection is lost.
    const count = (behind.get(socket) ?? 0) + 1;
    behind.set(socket, count);
    // Not at once, because Node reads on after each request that it has parsed; and only while others wait, who resume it.
    setImmediate(() => (behind.get(socket) ?? 0) >= limits.MAX_WAITING && socket.pause());
    response.once('socket', () => {
      behind.set(socket, (behind.get(socket) ?? 1) - 1);
      socket.resume();
      void respond(request, response);
    });
  });
  await once(server.listen({ host, port: options.port }), 'listening').catch((error: Error) => {
    throw new Error(`cannot listen on ${host}:${options.port}: ${error.message}; choose another with --port or --host`);
  });
  const { port } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    const deadline = Date.now() + lastMs;
    const until = async (isDone: () => boolean) => {
      while (!isDone() && Date.now() < deadline) await delay(20);
    };
    state.isStopping = true;
    options.onLast?.();
    await until(() => state.unanswered === 0);
    sse.close();
    streamable.close();
    await until(() => state.unsent === 0);
    // What is open now is idle or late.
    server.closeAllConnections();
    await new Promise((done) => void server.close(done));
  }

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}${ANNOUNCED[options.announce]}`,
    close: () => (closing ??= close()),
  };
}

// --- internal ---

const MCP_PATH = '/mcp';
// The path of the oldest servers and of their clients' defaults.
const SSE_PATH = '/sse';
const ANNOUNCED = { http: MCP_PATH, sse: SSE_PATH };

function createRouter(options: HttpOptions, handlers: ReadonlyMap<string, RequestHandler>) {
  const access = createAccess(options);
  // Unsent is a response that the system has not taken whole: closing its connection would cut it.
  const state = { isStopping: false, unanswered: 0, unsent: 0 };

  function showHealth(response: ServerResponse): void {
    const health = state.isStopping ? 'stopping' : options.isReady() ? 'ready' : 'starting';
    const reply = new EncodedReply([Buffer.from(encode({ state: health }))], health === 'ready' ? 200 : 503);
    sendReply(response, reply, { 'cache-control': 'no-store' });
  }

  function route(request: IncomingMessage, response: ServerResponse): void | Promise<void> {
    const { method = '', headers } = request;
    const [path] = targetOf(request);
    const cors = access.checkNames(headers);
    cors?.forEach((value, name) => void response.setHeader(name, value));
    // Before the token: neither a browser's preflight request nor a load balancer has one.
    if (cors && method === 'OPTIONS') return sendNothing(response, 200);
    if (path === '/healthz') return showHealth(response);
    access.checkToken(headers);
    if (state.isStopping) throw new Refusal(503, 'this server is stopping', { connection: 'close' });
    const handler = handlers.get(`${method} ${path}`);
    if (handler) return handler(request, response);
    const allow = ['GET', 'POST', 'DELETE'].filter((verb) => handlers.has(`${verb} ${path}`)).join(', ');
    if (allow !== '') throw new Refusal(405, 'this verb is not served here', { allow });
    throw new Refusal(404, `there is nothing here; the endpoint is ${ANNOUNCED[options.announce]}`);
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    state.unanswered++;
    state.unsent++;
    response.on('close', () => state.unsent--);
    try {
      await route(request, response);
    } catch (error) {
      if (error instanceof Refusal)
        return sendReply(response, errorReply(null, error, error.httpStatus), error.headers);
      options.onFault(error);
      if (response.headersSent) response.destroy();
      else sendReply(response, errorReply(null, internalError('see the log of the server'), 500));
    } finally {
      state.unanswered--;
    }
  }

  return { respond, state };
}
