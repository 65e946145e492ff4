/**
 * Streamable HTTP: every message is a POST to one path, from clients of either era.
 * Owns: which session a POST belongs to, the form of its response, GET streams, DELETE.
 * Leaves alone: access (access.ts), sockets and the end (server.ts), what messages mean (protocol/).
 * Always true:
 * - a reply leaves on the response to its own request, so it never reaches another client;
 * - a message that stands alone leaves nothing behind, and is cancelled when its response closes;
 * - a lost connection cancels nothing in a session.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { KEEP_ALIVE_MS } from '../../limits.ts';
import { type Dispatcher, type EncodedReply, HEADERS, LEGACY_VERSIONS } from '../../protocol/index.ts';
import {
  acceptedBy,
  headerOf,
  isOver,
  Refusal,
  type RequestHandler,
  readBody,
  sendNothing,
  sendReply,
} from './request.ts';
import { createHttpSession, createSessionTable, type HttpSession } from './sessions.ts';
import { type EventStream, openEventStream } from './streams.ts';

/** `openOlder`: takes a GET without a session, by which clients of the older transport begin. */
export function createStreamable(dispatcher: Dispatcher, openOlder: RequestHandler) {
  const table = createSessionTable<HttpSession>();

  const post: RequestHandler = async (request, response) => {
    const text = await readBody(request);
    const accepted = acceptedBy(request);
    if (!accepted.json && !accepted.events) throw new Refusal(406, 'Accept allows neither JSON nor an event stream');
    const incoming = dispatcher.read(text, (name) => headerOf(request, name));
    if (incoming.streams && !accepted.events) throw new Refusal(406, STREAM_NEEDED);
    const httpSession = incoming.session === 'existing' ? find(request) : createHttpSession();
    const { id, session } = httpSession;
    // After a response that was sent whole there is nothing to cancel, and cancelling takes as long as a small call.
    if (incoming.session === 'none') response.on('close', () => response.writableFinished || session.end());
    const answer = createAnswer(response, accepted);
    const reply = (encoded: EncodedReply) => {
      // Only a session whose handshake succeeded is kept.
      if (incoming.session !== 'new' || !session.handshake) return answer.reply(encoded);
      table.add(httpSession);
      answer.reply(encoded, { [HEADERS.session]: id });
    };
    const { notify } = answer;
    await httpSession.inTurn(incoming, (turn) => dispatcher.answer(incoming, session, { reply, notify, turn }));
    answer.finish();
  };

  const get: RequestHandler = (request, response) => {
    if (sessionIdOf(request) === undefined) return openOlder(request, response);
    if (!acceptedBy(request).events) throw new Refusal(406, STREAM_NEEDED);
    const httpSession = find(request);
    const stream = openEventStream(response);
    httpSession.attach(stream);
    response.on('close', () => {
      httpSession.detach(stream);
      table.use(httpSession.id); // The session was in use until now, so its idle time begins now.
    });
  };

  const end: RequestHandler = (request, response) => {
    table.remove(find(request).id);
    sendNothing(response, 200);
  };

  /** The session that the request names; without one, the refusal tells the client to open one. */
  function find(request: IncomingMessage): HttpSession {
    const id = sessionIdOf(request);
    if (id === undefined) throw new Refusal(400, 'Mcp-Session-Id is missing: send initialize first');
    const httpSession = table.use(id);
    if (!httpSession) throw new Refusal(404, 'this session is unknown or over: send initialize again');
    return httpSession;
  }

  return { post, get, end, close: table.closeAll };
}

// --- internal ---

const STREAM_NEEDED = 'Accept must allow text/event-stream';

/** Only legacy versions have sessions. */
function sessionIdOf(request: IncomingMessage): string | undefined {
  const version = headerOf(request, HEADERS.version);
  if (version !== undefined && !LEGACY_VERSIONS.includes(version))
    throw new Refusal(400, 'this MCP-Protocol-Version has neither sessions nor GET streams');
  return headerOf(request, HEADERS.session);
}

/** JSON, or an event stream that ends with the reply, when something comes before the reply or the reply takes long. */
function createAnswer(response: ServerResponse, accepted: ReturnType<typeof acceptedBy>) {
  let stream: EventStream | undefined;
  const open = (headers?: OutgoingHttpHeaders) => {
    if (!isOver(response)) stream ??= openEventStream(response, headers);
    return stream;
  };
  const openLate = setTimeout(() => accepted.events && open(), KEEP_ALIVE_MS).unref();
  return {
    /** Sends a notification before the reply. A client that accepts no streams does not get it. */
    notify(text: string): void {
      if (accepted.events) open()?.send(text);
    },
    reply(reply: EncodedReply, headers?: OutgoingHttpHeaders): void {
      // A stream can only be 200, and every client reads JSON with another status.
      if (stream || (!accepted.json && reply.httpStatus === 200)) open(headers)?.reply(reply);
      else sendReply(response, reply, headers);
    },
    /** Ends the response; without a reply it is 202 or an ended stream. */
    finish(): void {
      clearTimeout(openLate);
      if (stream) stream.end();
      else sendNothing(response, 202);
    },
  };
}
