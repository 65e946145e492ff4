/**
 * A connection over the older HTTP+SSE transport: one event stream brings every message, and its first event names the
 * address that messages are posted to.
 * Always true: nothing is posted to another origin than the configured one; when the stream ends, the connection ends.
 */
import { asError } from '../../log.ts';
import { type Connection, type ConnectionEvents, type HeaderFields, UpstreamError } from './connection.ts';
import { readEvents, START } from './event-stream.ts';
import { createHttpClient, discardBody, type HttpTarget } from './http-client.ts';
import { REPLY_MS } from './limits.ts';

export function openSseConnection(
  target: HttpTarget,
  events: ConnectionEvents,
  always: () => HeaderFields,
): Connection {
  const client = createHttpClient(target, always);
  const end = new AbortController();
  let setAddress = (_url: URL) => {};
  /** Messages that are sent before the address is known wait for it. */
  const address = new Promise<URL>((resolve) => {
    setAddress = resolve;
  });

  async function read(): Promise<never> {
    const response = await client.openStream({}, end.signal);
    await readEvents(response, START, (data, type) =>
      type === 'endpoint' ? setAddress(addressIn(data, target.url)) : events.text(data),
    );
    throw new UpstreamError('the server closed the stream');
  }

  function close(): void {
    end.abort();
    client.close();
  }

  read().catch((error: unknown) => {
    close();
    events.closed(asError(error));
  });

  return {
    streamPerRequest: false,
    /** The server's response comes by the stream; the one to this POST says only that the message has arrived. */
    async send(message, over = () => AbortSignal.timeout(REPLY_MS)) {
      const signal = over();
      const url = await address;
      return discardBody(await client.send({ verb: 'POST', url, headers: {}, message, signal }));
    },
    close: async () => close(),
  };
}

// --- internal ---

function addressIn(text: string, own: URL): URL {
  const named = URL.canParse(text, own.href) ? new URL(text, own) : undefined;
  if (named?.origin !== own.origin) throw new UpstreamError('the server names an address of another origin');
  return named;
}
