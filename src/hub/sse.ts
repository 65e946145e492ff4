/**
 * A connection over the older HTTP+SSE transport: one event stream brings every message, and its first event names the
 * address that messages are posted to.
 * Always true: nothing is posted to another origin than the configured one; when the stream ends, the connection ends.
 */
import { REPLY_MS } from '../limits.ts';
import { type Connection, type ConnectionOwner, UpstreamError } from './connection.ts';
import { readEvents, START } from './event-stream.ts';
import { createHttp, discard, type HttpTarget } from './http.ts';

export function openSse(target: HttpTarget, owner: ConnectionOwner): Connection {
  const http = createHttp(target, owner);
  /** Messages that are sent before the address is known wait for it. */
  const address = new Promise<URL>((found) => {
    read(found).catch(owner.closed);
  });

  async function read(found: (address: URL) => void): Promise<never> {
    const receive = (data: string, type: string) => {
      if (type !== 'endpoint') return owner.text(data);
      const named = URL.canParse(data, target.url) ? new URL(data, target.url) : undefined;
      // Only the configuration decides who gets our messages.
      if (named?.origin === new URL(target.url).origin) found(named);
      else throw new UpstreamError('the server names an address of another origin');
    };
    // There is no other stream for what comes after an event that is too long.
    await readEvents(await http.openStream({}), receive, START, owner.dropped);
    throw new UpstreamError('the server closed the stream');
  }

  return {
    /** The server's answer comes by the stream; the response to this POST only says that the message has arrived. */
    async send({ text: body }) {
      const url = await address;
      const signal = AbortSignal.timeout(REPLY_MS);
      try {
        discard(await http.send({ verb: 'POST', url, body, signal }));
      } catch (error) {
        // Some servers leave the POST open. They have the message.
        if (!signal.aborted) throw error;
      }
    },
    close: async () => http.close(),
  };
}
