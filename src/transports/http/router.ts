/**
 * From a request to its handler: access, path, verb.
 * Owns: the order of those checks, CORS, health, the log of requests. Leaves alone: who has access (access.ts), the handlers.
 * Always true: no handler runs before the access check; an exception in one is a 500 and a line in the log.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { encode, encodeError, HEADERS, internalError, PARAM_HEADER_PREFIX } from '../../protocol/index.ts';
import { type AccessOptions, createAccess } from './access.ts';
import { MAX_PARAM_HEADERS } from './limits.ts';
import { refuse, sendNothing, sendText } from './responses.ts';

export const MCP_PATH = '/mcp';

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** The handlers of one path by verb. */
export type Verbs = ReadonlyMap<string, RequestHandler>;

export interface Endpoint {
  readonly routes: ReadonlyMap<string, Verbs>;
  sessions(): number;
  /** Ends the sessions and streams that are still open, after the last response. */
  close(): void;
}

/** One request, for the log. */
export interface AccessLogEntry {
  readonly verb: string;
  /** Without the query, which may name a session. */
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  /** The client went away before the response was complete. */
  readonly cut: boolean;
}

export interface Health {
  readonly state: 'starting' | 'ready';
  readonly [fact: string]: unknown;
}

export interface RouterOptions extends AccessOptions {
  /** What `/healthz` shows besides the number of sessions; to an operator with reasons. */
  health(isOperator: boolean): Health;
  /** Whether a request has passed too many hubs: answering it might never end. */
  isLoop?(headers: IncomingHttpHeaders): boolean;
  onAccess?(access: AccessLogEntry): void;
  /** Called for every exception in a handler. */
  onFault(error: unknown): void;
}

export interface Router {
  respond(request: IncomingMessage, response: ServerResponse): void;
  /** Refuses further requests; settles when those in flight are done. */
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
    if (options.onAccess) logAccess(request, response, path, options.onAccess);
    const verdict = access.check(request.headers);
    if (verdict.kind === 'refused') return refuse(response, 403, verdict.why);
    // Before the token: a browser's preflight request carries none.
    if (verdict.origin !== undefined && answerOrigin(verdict.origin, request, response)) return;
    // A load balancer has no token; it gets states and counts, no contents or reasons.
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

/** Proxies may send the whole URL; its host was checked as the Host header. */
function pathOf({ url = '' }: IncomingMessage): string {
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '');
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

const ALLOWED_HEADERS: readonly string[] = [
  'authorization',
  'content-type',
  'accept',
  'last-event-id',
  HEADERS.method,
  HEADERS.name,
  HEADERS.version,
  HEADERS.session,
];
// A tool names the headers that repeat its arguments, so they are allowed by their form.
const PARAM_HEADER = new RegExp(`^${PARAM_HEADER_PREFIX}[\\w!#$%&'*+.^\`|~-]{1,128}$`, 'i');

/** The headers that repeat arguments, among those that a browser asks to send. */
function paramHeadersIn({ headers }: IncomingMessage): readonly string[] {
  const asked = (headers['access-control-request-headers'] ?? '').split(',').map((name) => name.trim());
  return asked.filter((name) => PARAM_HEADER.test(name)).slice(0, MAX_PARAM_HEADERS);
}

/** Lets pages of an allowed origin read the responses. True when the request was a preflight and is answered. */
function answerOrigin(origin: string, request: IncomingMessage, response: ServerResponse): boolean {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', `${HEADERS.session}, www-authenticate`);
  response.setHeader('vary', 'origin, access-control-request-headers');
  if (request.method !== 'OPTIONS') return false;
  sendNothing(response, 200, {
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-allow-headers': [...ALLOWED_HEADERS, ...paramHeadersIn(request)].join(', '),
    'access-control-max-age': '600',
  });
  return true;
}

function logAccess(
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
