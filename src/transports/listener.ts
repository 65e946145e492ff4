/**
 * A listening HTTP server around an endpoint: from bind to the last answer.
 * Owns: sockets and their limits, the way from path and verb to what answers, health, the end.
 * Leaves alone: who may come in (doors.ts), what a path does (http.ts, sse.ts).
 * Always true: nothing is reached before the doors have let it in; after `close` no new work begins, and what was
 * begun is answered.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { encodeError, type Handle, internalError } from '../protocol/index.ts';
import { createDoors, type DoorOptions, findOpenDoor } from './doors.ts';
import { createPulse, type Pulse } from './events.ts';
import { refuse, sendNothing, sendText } from './requests.ts';

export const MCP_PATH = '/mcp';

export type Respond = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** Path, then verb. */
export type Routes = ReadonlyMap<string, ReadonlyMap<string, Respond>>;

export interface Endpoint {
  readonly routes: Routes;
  sessions(): number;
  /** Ends what is still open. All that was asked has been answered. */
  close(): void;
}

/** One request, for a log. */
export interface Access {
  readonly verb: string;
  /** Without the query, which may name a session. */
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  /** The client went away before the answer was complete. */
  readonly cut: boolean;
}

export interface ListenOptions extends DoorOptions {
  readonly port: number;
  /** Listen beyond loopback without a token. */
  readonly noAuth: boolean;
  readonly limits?: Limits;
  /** A server that listens already, from `bind`. */
  readonly server?: Server;
  /** What `/healthz` says besides what it knows itself. */
  health(): Health;
  onAccess?(access: Access): void;
  /** Told of every failure that is our fault. */
  onFault(error: unknown): void;
  /** Called when no new work begins, before what is in flight is waited for: ends what would never end by itself. */
  onLast(): void;
}

export interface Health {
  readonly state: 'starting' | 'ready';
  readonly [fact: string]: unknown;
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
  createEndpoint: (handle: Handle, pulse: Pulse) => Endpoint,
  handle: Handle,
  options: ListenOptions,
): Promise<Listening> {
  const openDoor = findOpenDoor(options);
  if (openDoor !== undefined) throw new ListenError(openDoor);
  const { limits = LIMITS } = options;
  const doors = createDoors(options);
  const pulse = createPulse(limits.beatMs);
  const endpoint = createEndpoint(handle, pulse);
  const inFlight = new Set<Promise<void>>();
  let stopping = false;

  const showHealth: Respond = (_request, response) => {
    const { state, ...facts } = options.health();
    const now = stopping ? 'stopping' : state;
    const text = JSON.stringify({ state: now, ...facts, sessions: endpoint.sessions() });
    sendText(response, now === 'ready' ? 200 : 503, text, { 'cache-control': 'no-store' });
  };
  const healthVerbs = new Map([['GET', showHealth]]);

  const route = (verbs: ReadonlyMap<string, Respond>, request: IncomingMessage, response: ServerResponse) => {
    const run = verbs.get(request.method ?? '');
    if (!run) return refuse(response, 405, 'this verb is not served here', { allow: [...verbs.keys()].join(', ') });
    const done = attempt(run, request, response).finally(() => inFlight.delete(done));
    inFlight.add(done);
  };

  async function attempt(run: Respond, request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await run(request, response);
    } catch (error) {
      options.onFault(error);
      if (response.headersSent) response.destroy();
      else sendText(response, 500, encodeError(null, internalError('see the log of the server')));
    }
  }

  const respond = (request: IncomingMessage, response: ServerResponse) => {
    const path = pathOf(request);
    if (options.onAccess) watch(request, response, path, options.onAccess);
    const verdict = doors.admit(request.headers);
    if (verdict.kind === 'stranger') return refuse(response, 403, verdict.why);
    // Before the token: a browser asks what it may send before it sends one.
    if (verdict.origin !== undefined && share(verdict.origin, request, response)) return;
    // A load balancer asks for health and has no token; it learns counts, not contents.
    if (path === HEALTH_PATH) return route(healthVerbs, request, response);
    const challenge = doors.challenge(request.headers);
    if (challenge !== undefined)
      return refuse(response, 401, 'a valid token is required', { 'www-authenticate': challenge });
    if (stopping) return refuse(response, 503, 'this server is stopping', { connection: 'close' });
    const verbs = endpoint.routes.get(path);
    if (!verbs) return refuse(response, 404, `there is nothing here; the endpoint is ${MCP_PATH}`);
    route(verbs, request, response);
  };

  const server = options.server ?? (await bind(options));
  server.on('request', respond);
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}${MCP_PATH}`,
    port,
    async close() {
      stopping = true;
      const closed = new Promise<void>((done) => server.close(() => done()));
      const enough = setTimeout(() => server.closeAllConnections(), limits.lastAnswersMs);
      options.onLast();
      await Promise.race([Promise.all(inFlight), closed]);
      endpoint.close();
      pulse.stop();
      // Connections close as they fall idle, and this looks only once.
      const idle = setInterval(() => server.closeIdleConnections(), 20);
      await closed;
      clearInterval(idle);
      clearTimeout(enough);
    },
  };
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

const HEALTH_PATH = '/healthz';

function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** Lets pages of an allowed origin read our answers; whether that was all that was asked. */
function share(origin: string, request: IncomingMessage, response: ServerResponse): boolean {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', 'mcp-session-id, www-authenticate');
  response.setHeader('vary', 'origin');
  if (request.method !== 'OPTIONS') return false;
  sendNothing(response, 200, {
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-allow-headers':
      'authorization, content-type, accept, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id',
    'access-control-max-age': '600',
  });
  return true;
}

function watch(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  onAccess: (access: Access) => void,
): void {
  const start = performance.now();
  response.on('close', () => {
    const ms = Math.round((performance.now() - start) * 10) / 10;
    const { statusCode: status, writableFinished } = response;
    onAccess({ verb: request.method ?? '', path, status, ms, cut: !writableFinished });
  });
}

const BIND_ERRORS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the port is in use; choose another with --port'],
  ['EACCES', 'this port needs more rights'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
  ['ENOTFOUND', 'no such host'],
  ['EAI_AGAIN', 'the host name cannot be looked up'],
]);
