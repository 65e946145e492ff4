/**
 * HTTP+SSE, the transport before streamable HTTP: a GET opens a stream whose first event names the path to POST to.
 * Owns: which stream a POST belongs to, how many requests of one client run at once. Leaves alone: what messages mean.
 * Always true: a session lives exactly as long as its stream, and everything for its client leaves on that stream.
 */
import { randomUUID } from 'node:crypto';
import { MAX_RUNNING, MAX_WAITING } from '../../limits.ts';
import { createSession, type Dispatcher, type Session } from '../../protocol/index.ts';
import { acceptedBy, Refusal, type RequestHandler, readBody, sendNothing, targetOf } from './request.ts';
import { type EventStream, openEventStream } from './streams.ts';

export const MESSAGES_PATH = '/messages';

export function createSse(dispatcher: Dispatcher) {
  const clients = new Map<string, SseClient>();

  const open: RequestHandler = (request, response) => {
    if (!acceptedBy(request).events) throw new Refusal(406, 'Accept must allow text/event-stream');
    const id = randomUUID();
    const stream = openEventStream(response);
    const client: SseClient = { session: createSession(stream.send), stream, running: 0, waiting: [] };
    clients.set(id, client);
    response.on('drain', () => runNext(client));
    response.on('close', () => {
      clients.delete(id);
      client.session.end();
      // Those that wait for a full stream would wait for ever. They are cancelled, so nothing runs.
      for (const start of client.waiting.splice(0)) start();
    });
    stream.send(`${MESSAGES_PATH}?sessionId=${id}`, 'endpoint');
  };

  const post: RequestHandler = async (request, response) => {
    const [, id] = /(?:^|&)sessionId=([^&]*)/.exec(targetOf(request)[1]) ?? [];
    if (id === undefined) throw new Refusal(400, 'sessionId is missing: open a stream first');
    const text = clients.has(id) ? await readBody(request) : '';
    // The stream may have closed while the body was being read.
    const client = clients.get(id);
    if (!client) throw new Refusal(404, 'this session is unknown or over: open a stream again');
    const { session, stream, waiting } = client;
    if (waiting.length >= MAX_WAITING) throw new Refusal(503, 'too many requests wait', { 'retry-after': '1' });
    sendNothing(response, 202);
    const incoming = dispatcher.read(text);
    // Notifications, such as one that cancels a request, and open subscriptions wait for nothing.
    const isLimited = !incoming.streams && incoming.items.some(({ message }) => message.kind === 'request');
    const turn = isLimited ? new Promise<void>((start) => void waiting.push(start)) : undefined;
    runNext(client);
    await dispatcher.answer(incoming, session, { reply: stream.reply, notify: stream.send, turn });
    if (isLimited) client.running--;
    runNext(client);
  };

  return { open, post, close: () => clients.forEach(({ stream }) => void stream.end()) };
}

// --- internal ---

interface SseClient {
  readonly session: Session;
  readonly stream: EventStream;
  running: number;
  /** Each POST is answered before its request runs, so nothing but this limits how many run. */
  readonly waiting: (() => void)[];
}

function runNext(client: SseClient): void {
  const { waiting, stream } = client;
  for (; client.running < MAX_RUNNING && waiting.length > 0 && !stream.isFull(); client.running++) waiting.shift()?.();
}
