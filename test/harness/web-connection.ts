/**
 * Connections for transcripts (transcript.ts) over streamable HTTP and over HTTP+SSE: each text is a POST, and what the
 * server says comes from responses and streams.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import type { TestContext } from 'node:test';
import type { Answer } from './program.ts';
import { createQueue } from './queue.ts';
import type { Connect, Connection } from './transcript.ts';
import type { Tree } from './tree.ts';
import { openStream, type Stream, startWeb, type WebProgram } from './web.ts';

/** Every text a POST, in order; what a session is told without asking comes on its GET stream. */
export const connectHttp: Connect = async (t, tree) => {
  const { program, url } = await start(t, tree, 'http');
  const inbox = createInbox();
  const streams = new Map<unknown, Stream>();
  let session: OutgoingHttpHeaders = {};

  async function post(text: string): Promise<void> {
    const message = parse(text);
    // Over HTTP one stops a stream by hanging up.
    const stopped = message?.method === 'notifications/cancelled' && streams.get(message.params?.requestId);
    if (stopped) return stopped.close();
    const stream = await openStream(t, url, { raw: text, headers: { ...session, ...headersOf(message) } });
    const id = stream.headers['mcp-session-id'];
    if (typeof id === 'string') session = { 'mcp-session-id': id };
    if (stream.headers['content-type'] !== 'text/event-stream') return inbox.put(await stream.body());
    streams.set(message.id, stream);
    inbox.follow(stream);
  }

  let last = Promise.resolve();
  return connectionOf(program, inbox, (text) => {
    last = last.then(() => post(text));
    if (parse(text)?.method === 'notifications/initialized') {
      last = last.then(async () => inbox.follow(await openStream(t, url, { headers: session })));
    }
    return last;
  });
};

/** One stream for everything that comes, POSTs for everything that goes. */
export const connectSse: Connect = async (t, tree) => {
  const { program, url, at } = await start(t, tree, 'sse');
  const inbox = createInbox();
  const stream = await openStream(t, url);
  const { data } = await stream.next();
  inbox.follow(stream);
  let last = Promise.resolve();
  return connectionOf(program, inbox, (text) => {
    last = last.then(async () => void (await openStream(t, at(data), { raw: text })));
    return last;
  });
};

// --- internal ---

function start(t: TestContext, tree: Tree, transport: 'http' | 'sse'): Promise<WebProgram> {
  return startWeb(t, { tree, transport, args: ['--refresh-interval', '500'] });
}

interface Inbox {
  put(text: string): void;
  follow(stream: Stream): void;
  take(): Promise<unknown>;
  /** Waits until every followed stream has ended; the messages that were not taken. */
  rest(): Promise<readonly unknown[]>;
}

function createInbox(): Inbox {
  const messages = createQueue<unknown>('a message');
  const followed: Promise<void>[] = [];
  const put = (text: string) => {
    if (text !== '') messages.put(JSON.parse(text));
  };
  return {
    put,
    follow(stream) {
      const read = async () => {
        for await (const { data } of stream.events()) put(data);
      };
      followed.push(read());
    },
    take: messages.take,
    async rest() {
      await Promise.all(followed);
      return messages.items;
    },
  };
}

function connectionOf(
  { child, exit }: WebProgram['program'],
  inbox: Inbox,
  post: (text: string) => Promise<void>,
): Connection {
  let last = Promise.resolve();
  return {
    send(text) {
      last = post(text);
      last.catch(() => {}); // Seen by `close`.
    },
    receive: inbox.take,
    stop: () => void child.kill('SIGTERM'),
    async close() {
      await last;
      child.kill('SIGTERM');
      await exit();
      return inbox.rest();
    },
  };
}

function parse(text: string): Answer {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Some texts are sent because they are no JSON.
  }
}

const VERSION = 'io.modelcontextprotocol/protocolVersion';

const isModern = (message: Answer) => message?.params?._meta?.[VERSION] !== undefined;

/** What a modern client repeats of its body beside it. */
function headersOf(message: Answer): OutgoingHttpHeaders {
  if (!isModern(message)) return {};
  const name = message.params.name ?? message.params.uri;
  return {
    'mcp-protocol-version': String(message.params._meta[VERSION]),
    'mcp-method': String(message.method),
    ...(typeof name === 'string' ? { 'mcp-name': `=?base64?${Buffer.from(name).toString('base64')}?=` } : {}),
  };
}
