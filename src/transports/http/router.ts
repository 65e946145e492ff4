/**
 * From a request to its handler: access, path, verb.
 * Owns: the order of those checks, CORS, health, the log of requests. Leaves alone: who has access (access.ts), the handlers.
 * Always true: no handler runs before the access check; an exception in one is a 500 and a line in the log.
 */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { EncodedReply, encode, errorReply, HEADERS, internalError, PARAM_HEADER_PREFIX } from '../../protocol/index.ts';
import { type AccessOptions, createAccess } from './access.ts';
import { MAX_PARAM_HEADERS } from './limits.ts';
import { refuse, sendNothing, sendReply } from './responses.ts';

export const MCP_PATH = '/mcp';

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** The handlers of one path by verb. */
type Verbs = ReadonlyMap<string, RequestHandler>;

export interface Endpoint {
  readonly routes: ReadonlyMap<string, Verbs>;
  /** Where clients begin, unless it is MCP_PATH. */
  readonly path?: string;
  /** Said to a verb that a path does not have. */
  readonly noSuchVerb?: string;
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

interface Health {
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

export function createRouter(endpoint: Endpoint, options: RouterOptions) {
  const { path = MCP_PATH, noSuchVerb = 'this verb is not served here' } = endpoint;
  const access = createAccess(options);
  let inFlight = 0;
  let stopping = false;
  let onIdle = () => {};

  const showHealth: RequestHandler = (request, response) => {
    const { state, ...facts } = options.health(access.isOperator(request.headers));
    const now = stopping ? 'stopping' : state;
    const text = Buffer.from(encode({ state: now, ...facts, sessions: endpoint.sessions() }));
    sendReply(response, new EncodedReply([text], now === 'ready' ? 200 : 503), { 'cache-control': 'no-store' });
  };
  const routes = new Map([...endpoint.routes, [HEALTH_PATH, new Map([['GET', showHealth]])]]);

  const respond = (request: IncomingMessage, response: ServerResponse) => {
    const asked = pathOf(request);
    if (options.onAccess) logAccess(request, response, asked, options.onAccess);
    const verdict = access.check(request.headers);
    if (verdict.kind === 'refused') return refuse(response, 403, verdict.why);
    // Before the token: a browser's preflight request carries none.
    if (verdict.origin !== undefined && answerOrigin(verdict.origin, request, response)) return;
    // A load balancer has no token; it gets states and counts, no contents or reasons.
    const refusal = asked === HEALTH_PATH ? undefined : findRefusal(request.headers);
    if (refusal) return refuse(response, ...refusal);
    const verbs = routes.get(asked);
    if (!verbs) return refuse(response, 404, `there is nothing here; the endpoint is ${path}`);
    const handler = verbs.get(request.method ?? '');
    if (!handler) return refuse(response, 405, noSuchVerb, { allow: [...verbs.keys()].join(', ') });
    void attempt(handler, request, response);
  };

  /** The status, reason and headers to refuse a request with. */
  function findRefusal(headers: IncomingHttpHeaders): readonly [number, string, OutgoingHttpHeaders?] | undefined {
    const challenge = access.challenge(headers);
    if (challenge !== undefined) return [401, 'a valid token is required', { 'www-authenticate': challenge }];
    if (stopping) return [503, 'this server is stopping', { connection: 'close' }];
    return options.isLoop?.(headers) ? [508, LOOP] : undefined;
  }

  async function attempt(handler: RequestHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
    inFlight++;
    try {
      await handler(request, response);
    } catch (error) {
      options.onFault(error);
      if (response.headersSent) response.destroy();
      else sendReply(response, errorReply(null, internalError('see the log of the server'), 500));
    } finally {
      inFlight--;
      if (inFlight === 0) onIdle();
    }
  }

  return {
    respond,
    /** Refuses further requests; settles when those in flight are done. */
    drain(): Promise<void> {
      stopping = true;
      return new Promise((done) => {
        if (inFlight === 0) done();
        else onIdle = done;
      });
    },
  };
}

// --- internal ---

const HEALTH_PATH = '/healthz';
const LOOP = 'the request has passed too many hubs; one of them is probably configured to use itself';

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
