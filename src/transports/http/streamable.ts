/**
 * Streamable HTTP: every message is a POST to one path, from clients of either era.
 * Owns: which session a POST belongs to, GET streams, DELETE, what headers say of a body.
 * Leaves alone: who may come in (doors.ts), sockets and the end of it all (listener.ts), what messages mean (protocol/).
 * Always true:
 * - one client's answers never reach another: an answer leaves on the response of its own request;
 * - a message that stands alone leaves nothing behind, and its response closing cancels it;
 * - a dropped connection cancels nothing in a session.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createSession,
  decode,
  type Exchange,
  type Handle,
  type HeaderClaims,
  LEGACY_VERSIONS,
  scopeOf,
} from '../../protocol/index.ts';
import { type KeepAlive, openEventStream } from './event-stream.ts';
import { type ListenOptions, listen } from './listener.ts';
import { acceptedForms, createPostResponse, type PostResponse } from './post-response.ts';
import { accepts, headerOf, refuse, sendNothing, useBody } from './requests.ts';
import { type Endpoint, MCP_PATH, type RequestHandler } from './router.ts';
import { createHttpSession, type HttpSession } from './session.ts';
import { createSessionTable, SESSION_LIMITS } from './sessions.ts';
import { createSseEndpoint } from './sse.ts';

export const serveHttp = (handle: Handle, options: ListenOptions) => listen(createHttpEndpoint, handle, options);

export function createHttpEndpoint(handle: Handle, keepAlive: KeepAlive): Endpoint {
  const table = createSessionTable<HttpSession>(SESSION_LIMITS);
  // A client that opens with GET and has no session speaks the transport before this one.
  const older = createSseEndpoint(handle, keepAlive);
  keepAlive.join(table.sweep);

  const post: RequestHandler = (request, response) =>
    useBody(request, response, (text) => take(text, request, response));

  async function take(text: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const forms = acceptedForms(request.headers.accept);
    if (!forms) return refuse(response, 406, 'Accept allows neither JSON nor an event stream');
    const claims = claimsOf(request);
    const decoded = decode(text);
    if (!forms.events && 'method' in decoded && decoded.method === STREAM_ONLY)
      return refuse(response, 406, 'Accept must allow text/event-stream');
    const answer = createPostResponse(response, forms);
    const leave = keepAlive.join(answer.keepAlive);
    const exchange = { ...answer, claims };
    switch (scopeOf(decoded, claims)) {
      case 'alone': {
        const session = createSession(TO_NOBODY);
        response.on('close', session.end);
        await handle(session, decoded, exchange);
        break;
      }
      case 'opening': {
        const httpSession = createHttpSession();
        await handle(httpSession.session, decoded, { ...exchange, reply: welcome(httpSession, answer, response) });
        break;
      }
      case 'member': {
        const httpSession = find(request, response);
        if (httpSession) await httpSession.during(handle(httpSession.session, decoded, exchange));
      }
    }
    leave();
    answer.finish();
  }

  /** Answers the first message of a session: only one that has shaken hands is worth remembering. */
  function welcome(httpSession: HttpSession, answer: PostResponse, response: ServerResponse): Exchange['reply'] {
    return (text, status) => {
      if (!httpSession.session.handshake) return answer.reply(text, status);
      const id = table.add(httpSession);
      if (id === undefined) refuse(response, 503, 'every session is in use', { 'retry-after': '10' });
      else answer.reply(text, status, { [SESSION]: id });
    };
  }

  /** The session that the request names, or an answer that sends the client to open one. */
  function find(request: IncomingMessage, response: ServerResponse): HttpSession | undefined {
    const id = headerOf(request, SESSION);
    const httpSession = id === undefined ? undefined : table.use(id);
    if (id === undefined) refuse(response, 400, 'Mcp-Session-Id is missing: send initialize first');
    else if (!httpSession) refuse(response, 404, 'this session is unknown or over: send initialize again');
    return httpSession;
  }

  const get: RequestHandler = (request, response) => {
    if (!speaksLegacy(request)) return refuse(response, 400, 'this MCP-Protocol-Version has no GET streams');
    const id = headerOf(request, SESSION);
    if (id === undefined) return older.open(request, response);
    if (!accepts(request.headers.accept, 'text/event-stream'))
      return refuse(response, 406, 'Accept must allow text/event-stream');
    const httpSession = find(request, response);
    if (!httpSession) return;
    const stream = openEventStream(response);
    const leave = keepAlive.join(stream.keepAlive);
    httpSession.attach(stream);
    response.on('close', () => {
      leave();
      httpSession.detach(stream);
      table.use(id); // It was in use until now, so its idle time begins now.
    });
  };

  const end: RequestHandler = (request, response) => {
    if (!speaksLegacy(request)) return refuse(response, 400, 'this MCP-Protocol-Version has no sessions');
    if (!find(request, response)) return;
    table.remove(headerOf(request, SESSION) ?? '');
    sendNothing(response, 200);
  };

  const verbs = new Map([
    ['POST', post],
    ['GET', get],
    ['DELETE', end],
  ]);
  return {
    routes: new Map([...older.routes, [MCP_PATH, verbs]]),
    sessions: () => table.size + older.sessions(),
    close() {
      older.close();
      for (const httpSession of table.values()) httpSession.leave();
    },
  };
}

// --- internal ---

const SESSION = 'mcp-session-id';
// Its answer comes when it is over; what it is for comes before.
const STREAM_ONLY = 'subscriptions/listen';
const VERSION = 'mcp-protocol-version';

// A message that stands alone gets its notices on its own response; there is no other way to its sender.
const TO_NOBODY = () => {};

function speaksLegacy(request: IncomingMessage): boolean {
  const version = headerOf(request, VERSION);
  return version === undefined || LEGACY_VERSIONS.includes(version);
}

function claimsOf(request: IncomingMessage): HeaderClaims {
  return {
    version: headerOf(request, VERSION),
    method: headerOf(request, 'mcp-method'),
    name: plainOf(headerOf(request, 'mcp-name')),
    param: (header) => plainOf(headerOf(request, header.toLowerCase())),
  };
}

/** A header value as its sender meant it: what does not fit into a header comes as base64 between two marks. */
function plainOf(value: string | undefined): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value ?? '')?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  // Buffer skips what is not base64; a value that does not come back the same was not.
  return bytes.toString('base64') === encoded ? bytes.toString() : undefined;
}
