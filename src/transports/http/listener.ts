/**
 * A listening HTTP server around an endpoint: from bind to the last answer.
 * Owns: the port, sockets and their limits, the end. Leaves alone: what becomes of a request (router.ts).
 * Always true: after `close` no new work begins, and what was begun is answered. Until it is, whoever comes is told
 * that the server is stopping: a balancer then goes elsewhere, where a refused connection would be an error to a client.
 */
import { lookup } from 'node:dns/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Handle } from '../../protocol/index.ts';
import { findAccessFault } from './access.ts';
import { createKeepAlive, type KeepAlive } from './event-stream.ts';
import { createRouter, type Endpoint, MCP_PATH, type RouterOptions } from './router.ts';

export interface ListenOptions extends RouterOptions {
  readonly port: number;
  /** Listen beyond loopback without a token. */
  readonly noAuth: boolean;
  readonly limits?: Limits;
  /** A server that listens already, from `bind`. */
  readonly server?: Server;
  /** Called when no new work begins, before what is in flight is waited for: ends what would never end by itself. */
  onLast(): void;
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Answers what was asked, ends every stream, and settles when the last connection is closed. */
  close(): Promise<void>;
}

/** Something outside keeps us from listening; the message is for the person who started us. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** What one connection may cost. Headers are small and a body is read at once; nobody honest needs longer. */
export const LIMITS = {
  headerBytes: 16 * 1024,
  headersMs: 10_000,
  requestMs: 30_000,
  // Longer than the minute for which load balancers keep theirs, so that they, not we, close first.
  keepAliveMs: 65_000,
  connections: 4096,
  // Proxies close a silent connection after 30 to 60 seconds.
  beatMs: 15_000,
  // Whoever sends SIGTERM usually sends SIGKILL after five to ten seconds.
  lastAnswersMs: 2500,
  // How often a client that is slower than the limits above is looked for.
  lookMs: 5000,
};
export type Limits = Readonly<typeof LIMITS>;

export async function listen(
  createEndpoint: (handle: Handle, keepAlive: KeepAlive) => Endpoint,
  handle: Handle,
  options: ListenOptions,
): Promise<Listening> {
  const fault = findAccessFault(options);
  if (fault !== undefined) throw new ListenError(fault);
  const { host, limits = LIMITS, onLast } = options;
  const server = options.server ?? (await bind(options));
  const keepAlive = createKeepAlive(limits.beatMs);
  const endpoint = createEndpoint(handle, keepAlive);
  const router = createRouter(endpoint, options);
  const silent = new Set<Socket>();
  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', (request, response) => {
    silent.delete(request.socket);
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
    const enough = startTimer(limits.lastAnswersMs);
    const drained = router.drain();
    onLast();
    await Promise.race([drained, enough.over]);
    const closed = new Promise<void>((done) => server.close(() => done()));
    // Node counts a connection that has asked nothing yet as a busy one.
    for (const socket of silent) socket.destroy();
    endpoint.close();
    keepAlive.stop();
    // Connections close as they fall idle, and this looks only once.
    const idle = setInterval(() => server.closeIdleConnections(), 20);
    await Promise.race([closed, enough.over]);
    server.closeAllConnections();
    await closed;
    clearInterval(idle);
    enough.clear();
  }
}

/** A host that does not exist is a fault of its own, not an open door. */
export async function findHost(host: string): Promise<void> {
  try {
    await lookup(host);
  } catch {
    throw new ListenError(`cannot listen on ${host}: no such host`);
  }
}

/** Takes the port, so that a failure to is known before anything else is begun. */
export function bind({
  host,
  port,
  limits = LIMITS,
}: Pick<ListenOptions, 'host' | 'port' | 'limits'>): Promise<Server> {
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.lookMs,
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

function startTimer(milliseconds: number): { readonly over: Promise<void>; clear(): void } {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((done) => {
    timer = setTimeout(done, milliseconds);
  });
  return { over, clear: () => clearTimeout(timer) };
}

const BIND_ERRORS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the port is in use; choose another with --port'],
  ['EACCES', 'this port needs more rights'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
  ['ENOTFOUND', 'no such host'],
  ['EAI_AGAIN', 'the host name cannot be looked up'],
]);
