/**
 * From a request to what answers it: doors, path, verb.
 * Owns: the order of those checks, health, the log of requests. Leaves alone: who may come in (doors.ts), what a path does.
 * Always true: nothing is reached before the doors have let it in; a failure of ours is a 500 and a line in the log.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { encode, encodeError, internalError } from '../../protocol/index.ts';
import { type AccessOptions, createAccess } from './access.ts';
import { refuse, sendNothing, sendText } from './requests.ts';

export const MCP_PATH = '/mcp';

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** What a path does with each verb it knows. */
export type Verbs = ReadonlyMap<string, RequestHandler>;

export interface Endpoint {
  readonly routes: ReadonlyMap<string, Verbs>;
  sessions(): number;
  /** Ends what is still open. All that was asked has been answered. */
  close(): void;
}

/** One request, for a log. */
export interface AccessLogEntry {
  readonly verb: string;
  /** Without the query, which may name a session. */
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  /** The client went away before the answer was complete. */
  readonly cut: boolean;
}

export interface Health {
  readonly state: 'starting' | 'ready';
  readonly [fact: string]: unknown;
}

export interface RouterOptions extends AccessOptions {
  /** What `/healthz` says besides what it knows itself; to an operator also why something is as it is. */
  health(isOperator: boolean): Health;
  /** Whether a request has passed too many hubs: answering it might never end. */
  isLoop?(headers: IncomingHttpHeaders): boolean;
  onAccess?(access: AccessLogEntry): void;
  /** Told of every failure that is our fault. */
  onFault(error: unknown): void;
}

export interface Router {
  respond(request: IncomingMessage, response: ServerResponse): void;
  /** Takes no more work; settles when what was begun is done. */
  drain(): Promise<void>;
}

export function createRouter(endpoint: Endpoint, options: RouterOptions): Router {
  const access = createAccess(options);
  const inFlight = new Set<Promise<void>>();
  let stopping = false;

  const showHealth: RequestHandler = (request, response) => {
    const { state, ...facts } = options.health(access.isOperator(request.headers));
    const now = stopping ? 'stopping' : state;
    const text = encode({ state: now, ...facts, sessions: endpoint.sessions() });
    sendText(response, now === 'ready' ? 200 : 503, text, { 'cache-control': 'no-store' });
  };
  const health: Verbs = new Map([['GET', showHealth]]);

  const respond = (request: IncomingMessage, response: ServerResponse) => {
    const path = pathOf(request);
    if (options.onAccess) watch(request, response, path, options.onAccess);
    const verdict = access.admit(request.headers);
    if (verdict.kind === 'stranger') return refuse(response, 403, verdict.why);
    // Before the token: a browser asks what it may send before it sends one.
    if (verdict.origin !== undefined && share(verdict.origin, request, response)) return;
    // A load balancer asks for health and has no token; it learns states and counts, not contents or reasons.
    if (path === HEALTH_PATH) return run(health, request, response);
    const challenge = access.challenge(request.headers);
    if (challenge !== undefined)
      return refuse(response, 401, 'a valid token is required', { 'www-authenticate': challenge });
    if (stopping) return refuse(response, 503, 'this server is stopping', { connection: 'close' });
    if (options.isLoop?.(request.headers))
      return refuse(
        response,
        508,
        'the request has passed too many hubs; one of them is probably configured to use itself',
      );
    const verbs = endpoint.routes.get(path);
    if (!verbs) return refuse(response, 404, `there is nothing here; the endpoint is ${MCP_PATH}`);
    run(verbs, request, response);
  };

  const run = (verbs: Verbs, request: IncomingMessage, response: ServerResponse) => {
    const verb = verbs.get(request.method ?? '');
    if (!verb) return refuse(response, 405, 'this verb is not served here', { allow: [...verbs.keys()].join(', ') });
    const done = attempt(verb, request, response).finally(() => inFlight.delete(done));
    inFlight.add(done);
  };

  async function attempt(verb: RequestHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await verb(request, response);
    } catch (error) {
      options.onFault(error);
      if (response.headersSent) response.destroy();
      else sendText(response, 500, encodeError(null, internalError('see the log of the server')));
    }
  }

  return {
    respond,
    async drain() {
      stopping = true;
      await Promise.all(inFlight);
    },
  };
}

// --- internal ---

const HEALTH_PATH = '/healthz';

/** Proxies may ask with the whole URL; which host it names was judged by the Host header. */
function pathOf({ url = '' }: IncomingMessage): string {
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '');
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

const HEADERS: readonly string[] = [
  'authorization',
  'content-type',
  'accept',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
];
// A tool names the headers that repeat its arguments, so they are allowed by their shape. Few tools have one.
const PARAM_HEADER = /^mcp-param-[\w!#$%&'*+.^`|~-]{1,128}$/i;
export const MAX_PARAM_HEADERS = 64;

/** Those among the headers that a browser asks to send. */
function paramHeadersIn({ headers }: IncomingMessage): readonly string[] {
  const asked = (headers['access-control-request-headers'] ?? '').split(',').map((name) => name.trim());
  return asked.filter((name) => PARAM_HEADER.test(name)).slice(0, MAX_PARAM_HEADERS);
}

/** Lets pages of an allowed origin read our answers; whether that was all that was asked. */
function share(origin: string, request: IncomingMessage, response: ServerResponse): boolean {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', 'mcp-session-id, www-authenticate');
  response.setHeader('vary', 'origin, access-control-request-headers');
  if (request.method !== 'OPTIONS') return false;
  sendNothing(response, 200, {
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-allow-headers': [...HEADERS, ...paramHeadersIn(request)].join(', '),
    'access-control-max-age': '600',
  });
  return true;
}

function watch(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  onAccess: (access: AccessLogEntry) => void,
): void {
  const start = performance.now();
  response.on('close', () => {
    const ms = Math.round((performance.now() - start) * 10) / 10;
    const { statusCode: status, writableFinished } = response;
    onAccess({ verb: request.method ?? '', path, status, ms, cut: !writableFinished });
  });
}
