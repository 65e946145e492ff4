/**
 * Streamable HTTP: every message is a POST to one path, from clients of either era.
 * Owns: which session a POST belongs to, GET streams, DELETE, what the headers say about a message.
 * Leaves alone: access (access.ts), sockets and shutdown (listener.ts), what messages mean (protocol/).
 * Always true:
 * - a reply leaves on the response to its own request, so it never reaches another client;
 * - a message that stands alone leaves nothing behind, and is cancelled when its response closes;
 * - a lost connection cancels nothing in a session.
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
import { accepts, headerOf, useBody } from './requests.ts';
import { refuse, sendNothing } from './responses.ts';
import { type Endpoint, MCP_PATH, type RequestHandler } from './router.ts';
import { createHttpSession, createSessionTable, type HttpSession } from './sessions.ts';
import { createSseEndpoint } from './sse.ts';

export const serveHttp = (handle: Handle, options: ListenOptions) => listen(createHttpEndpoint, handle, options);

export function createHttpEndpoint(handle: Handle, keepAlive: KeepAlive): Endpoint {
  const table = createSessionTable<HttpSession>();
  // A client that begins with GET and names no session uses the older transport.
  const sse = createSseEndpoint(handle, keepAlive);
  keepAlive.add(table.removeIdle);

  const post: RequestHandler = (request, response) =>
    useBody(request, response, (text) => take(text, request, response));

  async function take(text: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const forms = acceptedForms(request.headers.accept);
    if (!forms) return refuse(response, 406, 'Accept allows neither JSON nor an event stream');
    const answer = createPostResponse(response, forms);
    const stopKeepAlive = keepAlive.add(answer.keepAlive);
    let opened: HttpSession | undefined;
    let used: HttpSession | undefined;
    const chooseSession: ChooseSession = (needs) => {
      if (needs.stream && !forms.events) return void refuse(response, 406, 'Accept must allow text/event-stream');
      switch (needs.session) {
        case 'none':
          return createSessionFor(response);
        case 'new':
          opened = createHttpSession();
          return opened.session;
        case 'existing':
          used = find(request, response);
          used?.begin();
          return used?.session;
      }
    };
    const reply: Exchange['reply'] = (json, status) => {
      // Only a session whose handshake succeeded is kept.
      if (!opened?.session.handshake) return answer.reply(json, status);
      const id = table.add(opened);
      if (id === undefined) refuse(response, 503, 'every session is in use', { 'retry-after': '10' });
      else answer.reply(json, status, { [HEADERS.session]: id });
    };
    await handle(chooseSession, text, { ...answer, reply, claims: claimsOf(request) });
    used?.end();
    stopKeepAlive();
    answer.finish();
  }

  /** The session that the request names; without one, the refusal tells the client to open one. */
  function find(request: IncomingMessage, response: ServerResponse): HttpSession | undefined {
    const id = headerOf(request, HEADERS.session);
    const httpSession = id === undefined ? undefined : table.use(id);
    if (id === undefined) refuse(response, 400, 'Mcp-Session-Id is missing: send initialize first');
    else if (!httpSession) refuse(response, 404, 'this session is unknown or over: send initialize again');
    return httpSession;
  }

  const get: RequestHandler = (request, response) => {
    if (!hasLegacyVersion(request)) return refuse(response, 400, 'this MCP-Protocol-Version has no GET streams');
    const id = headerOf(request, HEADERS.session);
    if (id === undefined) return sse.open(request, response);
    if (!accepts(request.headers.accept, 'text/event-stream'))
      return refuse(response, 406, 'Accept must allow text/event-stream');
    const httpSession = find(request, response);
    if (!httpSession) return;
    const stream = openEventStream(response);
    const stopKeepAlive = keepAlive.add(stream.keepAlive);
    httpSession.attach(stream);
    response.on('close', () => {
      stopKeepAlive();
      httpSession.detach(stream);
      table.use(id); // The session was in use until now, so its idle time begins now.
    });
  };

  const end: RequestHandler = (request, response) => {
    if (!hasLegacyVersion(request)) return refuse(response, 400, 'this MCP-Protocol-Version has no sessions');
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
    routes: new Map([...sse.routes, [MCP_PATH, verbs]]),
    sessions: () => table.size + sse.sessions(),
    close() {
      sse.close();
      table.closeAll();
    },
  };
}

// --- internal ---

/** The session of a message that stands alone. Its notifications leave on its own response, so it sends nothing else. */
function createSessionFor(response: ServerResponse): Session {
  const session = createSession(() => {});
  response.on('close', session.end);
  return session;
}

function hasLegacyVersion(request: IncomingMessage): boolean {
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
