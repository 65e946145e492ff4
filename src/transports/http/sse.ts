/**
 * HTTP+SSE, the transport before streamable HTTP: a GET opens a stream whose first event names the path to POST to.
 * Owns: which stream a POST belongs to. Leaves alone: what messages mean, how many clients there may be and how many
 * requests of one run at once (sessions.ts).
 * Always true: a session lives exactly as long as its stream, and everything for its client leaves on that stream.
 */
import type { Dispatcher } from '../../protocol/index.ts';
import { acceptedBy, Refusal, type RequestHandler, readBody, sendNothing, targetOf } from './request.ts';
import { createHttpSession, createSessionTable, type HttpSession } from './sessions.ts';
import { type EventStream, openEventStream } from './streams.ts';

export const MESSAGES_PATH = '/messages';

export function createSse(dispatcher: Dispatcher) {
  const table = createSessionTable<HttpSession & { readonly stream: EventStream }>();

  const open: RequestHandler = (request, response) => {
    if (!acceptedBy(request).events) throw new Refusal(406, 'Accept must allow text/event-stream');
    const stream = openEventStream(response);
    // Each POST is answered before its request runs, so nothing else keeps requests from filling the stream.
    const client = { ...createHttpSession(() => !stream.isFull()), stream };
    client.attach(stream);
    table.add(client);
    response.on('drain', client.proceed);
    response.on('close', () => table.remove(client.id));
    stream.send(`${MESSAGES_PATH}?sessionId=${client.id}`, 'endpoint');
  };

  const post: RequestHandler = async (request, response) => {
    const [, id] = /(?:^|&)sessionId=([^&]*)/.exec(targetOf(request)[1]) ?? [];
    if (id === undefined) throw new Refusal(400, 'sessionId is missing: open a stream first');
    const text = table.use(id) ? await readBody(request) : '';
    // The stream may have closed while the body was being read.
    const client = table.use(id);
    if (!client) throw new Refusal(404, 'this session is unknown or over: open a stream again');
    const incoming = dispatcher.read(text);
    const { reply, send: notify } = client.stream;
    await client.inTurn(incoming, (turn) => {
      sendNothing(response, 202);
      return dispatcher.answer(incoming, client.session, { reply, notify, turn });
    });
  };

  return { open, post, close: table.closeAll };
}
