/**
 * HTTP+SSE, the transport before streamable HTTP: a GET opens a stream whose first event names the path to POST to.
 * Owns: which stream a POST belongs to. Leaves alone: access (access.ts), what messages mean (protocol/).
 * Always true: a session lives exactly as long as its stream, and everything for its client leaves on that stream.
 */
import { randomUUID } from 'node:crypto';
import { createSession, type Handle, type Session } from '../../protocol/index.ts';
import { type EventStream, openEventStream } from './event-stream.ts';
import { MAX_IN_FLIGHT } from './limits.ts';
import { type ListenOptions, listen } from './listener.ts';
import { accepts, useBody } from './requests.ts';
import { refuse, sendNothing } from './responses.ts';
import { type Endpoint, MCP_PATH, type RequestHandler } from './router.ts';

/** This transport alone. */
export const serveSse = (handle: Handle, options: ListenOptions) =>
  listen((...needed) => ({ ...createSseEndpoint(...needed), path: SSE_PATH, noSuchVerb: SSE_ONLY }), handle, options);

export function createSseEndpoint(handle: Handle, keepAliveMs: number): Endpoint & { readonly open: RequestHandler } {
  const sessions = new Map<string, { readonly session: Session; readonly stream: EventStream }>();

  const open: RequestHandler = (request, response) => {
    if (!accepts(request.headers.accept, 'text/event-stream'))
      return refuse(response, 406, 'Accept must allow text/event-stream');
    const id = randomUUID();
    const stream = openEventStream(response, keepAliveMs);
    const session = createSession(stream.send);
    sessions.set(id, { session, stream });
    response.on('close', () => {
      sessions.delete(id);
      session.end();
    });
    stream.event('endpoint', `${MESSAGES_PATH}?sessionId=${id}`);
  };

  const post: RequestHandler = async (request, response) => {
    const [, query] = (request.url ?? '').split('?', 2);
    const id = new URLSearchParams(query).get('sessionId');
    if (id === null) return refuse(response, 400, 'sessionId is missing: open a stream first');
    const found = sessions.get(id);
    if (!found) return refuse(response, 404, OVER);
    const { session, stream } = found;
    await useBody(request, response, async (text) => {
      // The stream may have closed, and other calls begun, while the body was being read.
      if (session.ended.aborted) return refuse(response, 404, OVER);
      if (session.calls.size >= MAX_IN_FLIGHT)
        return refuse(response, 503, 'too much is in flight', { 'retry-after': '1' });
      sendNothing(response, 202);
      await handle(session, text, { reply: stream.reply, notify: stream.send });
    });
  };

  return {
    open,
    routes: new Map([
      [MCP_PATH, new Map([['GET', open]])],
      [SSE_PATH, new Map([['GET', open]])],
      [MESSAGES_PATH, new Map([['POST', post]])],
    ]),
    sessions: () => sessions.size,
    close() {
      for (const { stream } of sessions.values()) stream.end();
    },
  };
}

// --- internal ---

// The path of the oldest servers and of their clients' defaults.
const SSE_PATH = '/sse';
const MESSAGES_PATH = '/messages';

const SSE_ONLY = 'this server speaks HTTP+SSE only, which begins with a GET; --transport http serves POST';

const OVER = 'this session is unknown or over: open a stream again';
