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
  createEndpoint: (handle: Handle, keepAliveMs: number) => Endpoint,
  handle: Handle,
  options: ListenOptions,
): Promise<Listening> {
  const fault = findAccessFault(options);
  if (fault !== undefined) throw new ListenError(fault);
  const { host, limits = LIMITS, lastResponsesMs, onLast } = options;
  const server = options.server ?? (await bind(options));
  const endpoint = createEndpoint(handle, limits.streamKeepAliveMs);
  const router = createRouter(endpoint, options);
  /** The open connections, each with its requests that are not answered. */
  const connections = new Map<Socket, Set<ServerResponse>>();
  server.on('connection', (socket) => {
    const unanswered = new Set<ServerResponse>();
    connections.set(socket, unanswered);
    socket.once('close', () => {
      connections.delete(socket);
      // Node tells only the response whose turn it is on the connection.
      for (const response of unanswered) if (response.socket !== socket) response.emit('close');
    });
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    const unanswered = connections.get(socket);
    if (unanswered && unanswered.size >= MAX_PIPELINED) return void socket.destroy();
    unanswered?.add(response);
    response.on('close', () => unanswered?.delete(response));
    router.respond(request, response);
  });
  const { port } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}${endpoint.path ?? MCP_PATH}`,
    port,
    close: () => (closing ??= close()),
  };

  async function close(): Promise<void> {
    const timeout = new Promise<void>((done) => void setTimeout(done, lastResponsesMs).unref());
    const drained = router.drain();
    onLast();
    await Promise.race([drained, timeout]);
    const closed = new Promise<void>((done) => server.close(() => done()));
    endpoint.close();
    // Node's own call for this leaves out connections without any request yet. They become idle one after the other.
    const closeIdle = setInterval(() => {
      for (const [socket, unanswered] of connections) if (unanswered.size === 0) socket.destroy();
    }, 20);
    await Promise.race([closed, timeout]);
    server.closeAllConnections();
    await closed;
    clearInterval(closeIdle);
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
