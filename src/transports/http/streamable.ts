/**
 * Streamable HTTP: every message is a POST to one path, from clients of either era.
 * Owns: which session a POST belongs to, the form of its response, GET streams, DELETE.
 * Leaves alone: access (access.ts), sockets and shutdown (listener.ts), what messages mean (protocol/).
 * Always true:
 * - a reply leaves on the response to its own request, so it never reaches another client;
 * - a message that stands alone leaves nothing behind, and is cancelled when its response closes;
 * - a lost connection cancels nothing in a session.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import {
  type ChooseSession,
  createSession,
  type EncodedReply,
  type Handle,
  HEADERS,
  LEGACY_VERSIONS,
  type Session,
} from '../../protocol/index.ts';
import { type EventStream, openEventStream } from './event-stream.ts';
import { type ListenOptions, listen } from './listener.ts';
import { accepts, headerOf, useBody } from './requests.ts';
import { refuse, sendNothing, sendReply } from './responses.ts';
import { type Endpoint, MCP_PATH, type RequestHandler } from './router.ts';
import { isOver } from './send-queue.ts';
import { createHttpSession, createSessionTable, type HttpSession } from './sessions.ts';
import { createSseEndpoint } from './sse.ts';

export const serveHttp = (handle: Handle, options: ListenOptions) => listen(createHttpEndpoint, handle, options);

export function createHttpEndpoint(handle: Handle, keepAliveMs: number): Endpoint {
  const table = createSessionTable<HttpSession>();
  const expiry = setInterval(table.removeIdle, keepAliveMs).unref();
  // A client that begins with GET and names no session uses the older transport.
  const sse = createSseEndpoint(handle, keepAliveMs);

  const post: RequestHandler = (request, response) =>
    useBody(request, response, (text) => take(text, request, response));

  async function take(text: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { accept } = request.headers;
    const forms = { json: accepts(accept, 'application/json'), events: accepts(accept, 'text/event-stream') };
    if (!forms.json && !forms.events) return refuse(response, 406, 'Accept allows neither JSON nor an event stream');
    const answer = createPostResponse(response, forms, keepAliveMs);
    let opened: HttpSession | undefined;
    let used: HttpSession | undefined;
    const chooseSession: ChooseSession = ({ session, stream }) => {
      if (stream && !forms.events) return void refuse(response, 406, 'Accept must allow text/event-stream');
      if (session === 'none') return createSessionFor(request, response);
      opened = session === 'new' ? createHttpSession() : undefined;
      used = opened ?? find(request, response);
      used?.begin();
      return used?.session;
    };
    const reply = (encoded: EncodedReply) => {
      // Only a session whose handshake succeeded is kept.
      if (!opened?.session.handshake) return answer.reply(encoded);
      const id = table.add(opened);
      if (id === undefined) refuse(response, 503, 'every session is in use', { 'retry-after': '10' });
      else answer.reply(encoded, { [HEADERS.session]: id });
    };
    const readHeader = (name: string) => headerOf(request, name.toLowerCase());
    await handle(chooseSession, text, { reply, notify: answer.notify, readHeader });
    used?.end();
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
    const stream = openEventStream(response, keepAliveMs);
    httpSession.attach(stream);
    response.on('close', () => {
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
      clearInterval(expiry);
      sse.close();
      table.closeAll();
    },
  };
}

// --- internal ---

/** JSON, or an event stream that ends with the reply, when something comes before the reply or the reply takes long. */
function createPostResponse(
  response: ServerResponse,
  forms: { readonly json: boolean; readonly events: boolean },
  keepAliveMs: number,
) {
  let stream: EventStream | undefined;
  const open = (headers?: OutgoingHttpHeaders) => {
    if (!isOver(response)) stream ??= openEventStream(response, keepAliveMs, headers);
    return stream;
  };
  const openLate = setTimeout(() => forms.events && open(), keepAliveMs).unref();
  return {
    reply(reply: EncodedReply, headers?: OutgoingHttpHeaders): void {
      // A stream can only be 200, and every client reads JSON with another status.
      if (stream || (!forms.json && reply.httpStatus === 200)) open(headers)?.reply(reply);
      else sendReply(response, reply, headers);
    },
    /** Sends a notification before the reply. A client that accepts no streams does not get it. */
    notify(text: string, mayDrop: boolean): void {
      if (forms.events) open()?.send(text, mayDrop);
    },
    /** Ends the response; without a reply it is 202 or an ended stream. */
    finish(): void {
      clearTimeout(openLate);
      if (stream) stream.end();
      else sendNothing(response, 202);
    },
  };
}

/**
 * The session of a message that stands alone; undefined when its client is gone already. Its notifications leave on its
 * own response, so it sends nothing else.
 */
function createSessionFor(request: IncomingMessage, response: ServerResponse): Session | undefined {
  if (request.socket.destroyed) return undefined;
  const session = createSession(() => {});
  response.on('close', session.end);
  return session;
}

function hasLegacyVersion(request: IncomingMessage): boolean {
  const version = headerOf(request, HEADERS.version);
  return version === undefined || LEGACY_VERSIONS.includes(version);
}
