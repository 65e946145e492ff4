/**
 * Streamable HTTP: every message is a POST to one path, from clients of either era.
 * Owns: which session a POST belongs to, JSON or event stream as its answer, GET streams, DELETE.
 * Leaves alone: who may come in (doors.ts), sockets and the end of it all (listener.ts), what messages mean (protocol/).
 * Always true:
 * - one client's answers never reach another: an answer leaves on the response of its own request;
 * - a message that stands alone leaves nothing behind, and its response closing cancels it;
 * - a dropped connection cancels nothing in a session.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import {
  type Claims,
  createSession,
  type Decoded,
  decode,
  encodeError,
  type Handle,
  LEGACY_VERSIONS,
  type Session,
  standingOf,
} from '../protocol/index.ts';
import { type EventStream, openEventStream, type Pulse } from './events.ts';
import { type Endpoint, type ListenOptions, listen, MCP_PATH, type Respond } from './listener.ts';
import { accepts, headerOf, isOver, readBody, refuse, sendNothing, sendText } from './requests.ts';
import { createSessionTable, SESSION_LIMITS, type Tenant } from './sessions.ts';
import { createSseEndpoint } from './sse.ts';

export const serveHttp = (handle: Handle, options: ListenOptions) => listen(createHttpEndpoint, handle, options);

export function createHttpEndpoint(handle: Handle, pulse: Pulse): Endpoint {
  const table = createSessionTable<Member>(SESSION_LIMITS);
  // A client that opens with GET and has no session speaks the transport before this one.
  const older = createSseEndpoint(handle, pulse);
  pulse.join(table.sweep);

  async function post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (body.kind === 'gone') return;
    if (body.kind === 'refused') return sendText(response, body.status, encodeError(null, body.error), body.headers);
    const { accept } = request.headers;
    const forms = { json: accepts(accept, 'application/json'), events: accepts(accept, 'text/event-stream') };
    if (!forms.json && !forms.events) return refuse(response, 406, 'Accept allows neither JSON nor an event stream');
    const claims = claimsOf(request);
    const decoded = decode(body.text);
    const answer = createAnswer(response, forms);
    const leave = pulse.join(answer.beat);
    switch (standingOf(decoded, claims)) {
      case 'alone':
        await visit(decoded, response, { ...answer, claims });
        break;
      case 'opening':
        await open(decoded, response, answer, claims);
        break;
      case 'member':
        await take(decoded, request, response, { ...answer, claims });
    }
    leave();
    answer.finish();
  }

  async function visit(decoded: Decoded, response: ServerResponse, exchange: Parameters<Handle>[2]): Promise<void> {
    const session = createSession(TO_NOBODY);
    response.on('close', session.end);
    await handle(session, decoded, exchange);
  }

  async function open(decoded: Decoded, response: ServerResponse, answer: Answer, claims: Claims): Promise<void> {
    if (!table.makeRoom()) return refuse(response, 503, 'every session is in use', { 'retry-after': '10' });
    const member = createMember();
    await handle(member.session, decoded, {
      ...answer,
      claims,
      reply(text, status) {
        // Only a handshake that succeeded is worth remembering.
        const headers = member.session.handshake ? { 'mcp-session-id': table.add(member) } : {};
        answer.reply(text, status, headers);
      },
    });
  }

  async function take(
    decoded: Decoded,
    request: IncomingMessage,
    response: ServerResponse,
    exchange: Parameters<Handle>[2],
  ): Promise<void> {
    const member = find(request, response);
    if (!member) return;
    member.enter();
    await handle(member.session, decoded, exchange);
    member.exit();
  }

  /** The session that the request names, or an answer that sends the client to open one. */
  function find(request: IncomingMessage, response: ServerResponse): Member | undefined {
    const id = headerOf(request, SESSION);
    const member = id === undefined ? undefined : table.use(id);
    if (id === undefined) refuse(response, 400, 'Mcp-Session-Id is missing: send initialize first');
    else if (!member) refuse(response, 404, 'this session is unknown or over: send initialize again');
    return member;
  }

  const get: Respond = (request, response) => {
    if (!speaksLegacy(request)) return refuse(response, 400, 'this MCP-Protocol-Version has no GET streams');
    const id = headerOf(request, SESSION);
    if (id === undefined) return older.open(request, response);
    if (!accepts(request.headers.accept, 'text/event-stream'))
      return refuse(response, 406, 'Accept must allow text/event-stream');
    const member = find(request, response);
    if (!member) return;
    const stream = openEventStream(response);
    const leave = pulse.join(stream.beat);
    member.attach(stream);
    response.on('close', () => {
      leave();
      member.detach(stream);
      table.use(id); // It was in use until now, so its idle time begins now.
    });
  };

  const end: Respond = (request, response) => {
    if (!speaksLegacy(request)) return refuse(response, 400, 'this MCP-Protocol-Version has no sessions');
    if (!find(request, response)) return;
    table.remove(headerOf(request, SESSION) ?? '');
    sendNothing(response, 200);
  };

  return {
    routes: new Map([
      [
        MCP_PATH,
        new Map([
          ['POST', post],
          ['GET', get],
          ['DELETE', end],
        ] as const),
      ],
      ...[...older.routes].filter(([path]) => path !== MCP_PATH),
    ]),
    sessions: () => table.size + older.sessions(),
    close() {
      older.close();
      for (const member of table.values()) member.leave();
    },
  };
}

// --- internal ---

const SESSION = 'mcp-session-id';

// A message that stands alone gets its notices on its own response; there is no other way to its sender.
const TO_NOBODY = () => {};

interface Answer {
  reply(text: string, status: number, headers?: OutgoingHttpHeaders): void;
  notify(text: string): void;
  /** Shows life to a client whose answer takes long. */
  beat(): void;
  /** Nothing more will come. */
  finish(): void;
}

/** JSON, as long as there is nothing to say before the answer; otherwise an event stream that ends with the answer. */
function createAnswer(
  response: ServerResponse,
  { json, events }: { readonly json: boolean; readonly events: boolean },
): Answer {
  let stream: EventStream | undefined;
  const open = (headers?: OutgoingHttpHeaders) => {
    stream ??= openEventStream(response, headers);
    return stream;
  };
  return {
    reply(text, status, headers) {
      if (isOver(response)) return;
      // A status other than 200 says more than a stream could, and every client reads JSON with it.
      if (!stream && (json || status !== 200)) return sendText(response, status, text, headers);
      open(headers).send(text);
      open().end();
    },
    notify(text) {
      if (events && !isOver(response)) open().send(text);
    },
    beat() {
      if (events && !isOver(response)) open().beat();
    },
    finish() {
      if (stream) stream.end();
      else sendNothing(response, 202);
    },
  };
}

/** One legacy client. */
interface Member extends Tenant {
  readonly session: Session;
  enter(): void;
  exit(): void;
  attach(stream: EventStream): void;
  detach(stream: EventStream): void;
}

// A client opens its stream a moment after the handshake, and again after a dropped line: notices wait this many deep.
export const MAX_WAITING = 16;
// One is usual, two while a dropped line has not been noticed.
export const MAX_STREAMS = 4;

function createMember(): Member {
  const streams: EventStream[] = [];
  const waiting: string[] = [];
  let inside = 0;
  const session = createSession((text) => {
    // To one stream only: the newest is the one that surely has a reader.
    const stream = streams.at(-1);
    if (stream) return stream.send(text);
    waiting.push(text);
    if (waiting.length > MAX_WAITING) waiting.shift();
  });
  return {
    session,
    isBusy: () => inside > 0 || streams.length > 0,
    enter: () => void inside++,
    exit: () => void inside--,
    attach(stream) {
      streams.push(stream);
      for (const text of waiting.splice(0)) stream.send(text);
      if (streams.length > MAX_STREAMS) streams.shift()?.end();
    },
    detach(stream) {
      const at = streams.indexOf(stream);
      if (at !== -1) streams.splice(at, 1);
    },
    leave() {
      session.end();
      for (const stream of streams.splice(0)) stream.end();
    },
  };
}

function speaksLegacy(request: IncomingMessage): boolean {
  const version = headerOf(request, VERSION);
  return version === undefined || LEGACY_VERSIONS.includes(version);
}

const VERSION = 'mcp-protocol-version';

function claimsOf(request: IncomingMessage): Claims {
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
