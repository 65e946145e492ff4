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
  type ChooseSession,
  createSession,
  decodeHeader,
  type Exchange,
  type Handle,
  HEADERS,
  type HeaderClaims,
  LEGACY_VERSIONS,
  type Session,
} from '../../protocol/index.ts';
import { type KeepAlive, openEventStream } from './event-stream.ts';
import { type ListenOptions, listen } from './listener.ts';
import { acceptedForms, createPostResponse } from './post-response.ts';
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
    const answer = createPostResponse(response, forms);
    const leave = keepAlive.join(answer.keepAlive);
    let opened: HttpSession | undefined;
    let used: HttpSession | undefined;
    const chooseSession: ChooseSession = (needs) => {
      if (needs.stream && !forms.events) return void refuse(response, 406, 'Accept must allow text/event-stream');
      switch (needs.session) {
        case 'none':
          return createSessionOf(response);
        case 'new':
          opened = createHttpSession();
          return opened.session;
        case 'existing':
          used = find(request, response);
          used?.begin();
          return used?.session;
      }
    };
    const reply: Exchange['reply'] = (reply, status) => {
      // Only a session whose handshake succeeded is kept.
      if (!opened?.session.handshake) return answer.reply(reply, status);
      const id = table.add(opened);
      if (id === undefined) refuse(response, 503, 'every session is in use', { 'retry-after': '10' });
      else answer.reply(reply, status, { [HEADERS.session]: id });
    };
    await handle(chooseSession, text, { ...answer, reply, claims: claimsOf(request) });
    used?.end();
    leave();
    answer.finish();
  }

  /** The session that the request names, or an answer that sends the client to open one. */
  function find(request: IncomingMessage, response: ServerResponse): HttpSession | undefined {
    const id = headerOf(request, HEADERS.session);
    const httpSession = id === undefined ? undefined : table.use(id);
    if (id === undefined) refuse(response, 400, 'Mcp-Session-Id is missing: send initialize first');
    else if (!httpSession) refuse(response, 404, 'this session is unknown or over: send initialize again');
    return httpSession;
  }

  const get: RequestHandler = (request, response) => {
    if (!speaksLegacy(request)) return refuse(response, 400, 'this MCP-Protocol-Version has no GET streams');
    const id = headerOf(request, HEADERS.session);
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
    table.remove(headerOf(request, HEADERS.session) ?? '');
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

/** The session of a message that stands alone. Its notifications leave on its own response, which is its only stream. */
function createSessionOf(response: ServerResponse): Session {
  const session = createSession(() => {});
  response.on('close', session.end);
  return session;
}

function speaksLegacy(request: IncomingMessage): boolean {
  const version = headerOf(request, HEADERS.version);
  return version === undefined || LEGACY_VERSIONS.includes(version);
}

function claimsOf(request: IncomingMessage): HeaderClaims {
  return {
    version: headerOf(request, HEADERS.version),
    method: headerOf(request, HEADERS.method),
    name: decodeHeader(headerOf(request, HEADERS.name)),
    param: (header) => decodeHeader(headerOf(request, header.toLowerCase())),
  };
}
