/**
 * A listening HTTP server around an endpoint, from bind to the last response.
 * Owns: the port, sockets and their limits, shutdown. Leaves alone: what a request does (router.ts).
 * Always true: after `close` no request is begun, and those in flight are answered. Until they are, new requests get 503,
 * which sends a load balancer elsewhere; a refused connection would be an error for the client.
 */
import { lookup } from 'node:dns/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Handle } from '../../protocol/index.ts';
import { findAccessFault } from './access.ts';
import { createKeepAlive, type KeepAlive } from './event-stream.ts';
import { LIMITS, type Limits, MAX_PIPELINED } from './limits.ts';
import { createRouter, type Endpoint, MCP_PATH, type RouterOptions } from './router.ts';

export interface ListenOptions extends RouterOptions {
  readonly port: number;
  /** Listen beyond loopback without a token. */
  readonly noAuth: boolean;
  readonly limits?: Limits;
  /** A server that listens already, from `bind`. */
  readonly server?: Server;
  /** How long `close` waits for responses before it closes their connections. */
  readonly lastResponsesMs: number;
  /** Called by `close` before it waits for the requests in flight: must end those that never end by themselves. */
  onLast(): void;
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Answers the requests in flight, ends every stream, and settles when the last connection is closed. */
  close(): Promise<void>;
}

/** The system refuses to let this server listen; the message is for the person who started it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

export async function listen(
  createEndpoint: (handle: Handle, keepAlive: KeepAlive) => Endpoint,
  handle: Handle,
  options: ListenOptions,
): Promise<Listening> {
  const fault = findAccessFault(options);
  if (fault !== undefined) throw new ListenError(fault);
  const { host, limits = LIMITS, lastResponsesMs, onLast } = options;
  const server = options.server ?? (await bind(options));
  const keepAlive = createKeepAlive(limits.streamKeepAliveMs);
  const endpoint = createEndpoint(handle, keepAlive);
  const router = createRouter(endpoint, options);
  const unused = new Set<Socket>();
  const unanswered = new WeakMap<Socket, Set<ServerResponse>>();
  server.on('connection', (socket) => {
    const responses = new Set<ServerResponse>();
    unused.add(socket);
    unanswered.set(socket, responses);
    socket.once('close', () => {
      unused.delete(socket);
      // Node tells only the response whose turn it is on the connection.
      for (const response of responses) if (response.socket !== socket) response.emit('close');
    });
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    const responses = unanswered.get(socket);
    unused.delete(socket);
    if (responses && responses.size >= MAX_PIPELINED) return void socket.destroy();
    responses?.add(response);
    response.once('close', () => responses?.delete(response));
    router.respond(request, response);
  });
  const { port } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}${MCP_PATH}`,
    port,
    close: () => (closing ??= close()),
  };

  async function close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((done) => {
      timer = setTimeout(done, lastResponsesMs);
    });
    const drained = router.drain();
    onLast();
    await Promise.race([drained, timeout]);
    const closed = new Promise<void>((done) => server.close(() => done()));
    // Node counts a connection without any request yet as busy.
    for (const socket of unused) socket.destroy();
    endpoint.close();
    keepAlive.stop();
    // Connections become idle one after the other, and one call closes only those that are idle now.
    const closeIdle = setInterval(() => server.closeIdleConnections(), 20);
    await Promise.race([closed, timeout]);
    server.closeAllConnections();
    await closed;
    clearInterval(closeIdle);
    clearTimeout(timer);
  }
}

/** Throws when the host does not exist: otherwise the missing token of a misspelt host would be reported first. */
export async function findHost(host: string): Promise<void> {
  try {
    await lookup(host);
  } catch {
    throw new ListenError(`cannot listen on ${host}: no such host`);
  }
}

/** Takes the port, so that a failure is known before anything else is started. */
export function bind({
  host,
  port,
  limits = LIMITS,
}: Pick<ListenOptions, 'host' | 'port' | 'limits'>): Promise<Server> {
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleConnectionMs,
    connectionsCheckingInterval: limits.checkMs,
  });
  server.maxConnections = limits.connections;
  return new Promise((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = BIND_ERRORS.get(error.code ?? '') ?? error.message;
      fail(new ListenError(`cannot listen on ${host}:${port}: ${why}`));
    });
    server.listen({ host, port }, () => done(server));
  });
}

// --- internal ---

const BIND_ERRORS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the port is in use; choose another with --port'],
  ['EACCES', 'this port needs more rights'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
  ['ENOTFOUND', 'no such host'],
  ['EAI_AGAIN', 'the host name cannot be looked up'],
]);
