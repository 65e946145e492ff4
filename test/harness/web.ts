/**
 * The built program as an HTTP server (`startWeb`), and plain requests to it (`ask` for a whole answer, `openStream` for
 * one that is read as it comes), with every header and status visible.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { createServer } from 'node:net';
import type { TestContext } from 'node:test';
import { type Answer, type Program, type ProgramOptions, startProgram } from './program.ts';
import { createQueue } from './queue.ts';

export interface WebProgram {
  readonly program: Program;
  /** The MCP endpoint. */
  readonly url: string;
  at(path: string): string;
}

export async function startWeb(
  t: TestContext,
  { transport = 'http', args = [], ...rest }: ProgramOptions & { readonly transport?: 'http' | 'sse' },
): Promise<WebProgram> {
  const program = startProgram(t, { ...rest, args: ['--transport', transport, '--port', '0', ...args] });
  const line = await program.waitForStderr(/listening on (\S+)/);
  const url = line.replace('listening on ', '');
  return { program, url, at: (path) => new URL(path, url).href };
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  assert.ok(address && typeof address === 'object');
  return address.port;
}

export interface Ask {
  readonly verb?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: unknown;
  /** What to send when it is not JSON. */
  readonly raw?: string | Buffer;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body parsed; the last event when it was a stream. */
  readonly json: Answer;
}

/** One request and its whole answer. */
export async function ask(url: string, options: Ask = {}): Promise<Reply> {
  const { response, sent } = await send(url, options);
  const timer = setTimeout(() => response.destroy(new Error(`no end of the answer came from ${url}`)), PATIENCE_MS);
  response.once('close', () => clearTimeout(timer));
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  // An answer may come before all of the question has gone out.
  await sent;
  const { statusCode: status = 0, headers } = response;
  const last = /^data: (.*)$/m.exec(text.split('\n\n').findLast((part) => part.includes('data: ')) ?? '')?.[1];
  const parse = () => {
    const json = headers['content-type'] === 'text/event-stream' ? last : text;
    return json === undefined || json === '' ? undefined : JSON.parse(json);
  };
  return { status, headers, text, json: parse() };
}

interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

export interface Stream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The next event; rejects when the stream ends first. */
  next(): Promise<StreamEvent>;
  /** The data of the next event, parsed. */
  message(): Promise<Answer>;
  /** Every event from now on, until the stream ends. */
  events(): AsyncIterable<StreamEvent>;
  /** The whole of an answer that is no stream. */
  body(): Promise<string>;
  /** Settles when the stream is over; whether it ended as it should. */
  readonly ended: Promise<boolean>;
  close(): void;
}

/** One request whose answer is read as it comes. */
export async function openStream(t: TestContext, url: string, options: Ask = {}): Promise<Stream> {
  const { response } = await send(url, options);
  t.after(() => response.destroy());
  const events = createQueue<StreamEvent>(`an event from ${url}`);
  let text = '';
  const ended = new Promise<boolean>((done) => {
    response.on('close', () => {
      events.end();
      done(response.complete);
    });
    response.on('error', () => {}); // 'close' follows.
  });
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const [, event] = /^event: (.*)$/m.exec(part) ?? [];
      const [, data] = /^data: (.*)$/m.exec(part) ?? [];
      if (event === undefined || data === undefined) continue; // A comment.
      events.put({ event, data });
    }
  });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    next: events.take,
    message: async () => JSON.parse((await events.take()).data),
    async *events() {
      const next = () => events.take().catch(ignore);
      for (let event = await next(); event; event = await next()) yield event;
    },
    async body() {
      await ended;
      return text;
    },
    ended,
    close: () => response.destroy(),
  };
}

/** The headers that a modern request carries beside its body. */
export function modernHeaders(method: string, name?: string): OutgoingHttpHeaders {
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  };
}

/** Opens a legacy session and gives its id. */
export async function openSession(url: string, headers: OutgoingHttpHeaders = {}, client = 'test'): Promise<string> {
  const { headers: got, json } = await ask(url, { headers, body: initialize(client) });
  assert.equal(json.result.protocolVersion, '2025-11-25');
  const id = got['mcp-session-id'];
  assert.ok(typeof id === 'string');
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
  const { status } = await ask(url, { headers: { ...headers, 'mcp-session-id': id }, body: initialized });
  assert.equal(status, 202);
  return id;
}

export function initialize(client = 'test', version = '2025-11-25'): Answer {
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: client, version: '1' } };
  return { jsonrpc: '2.0', id: 1, method: 'initialize', params };
}

// --- internal ---

// As long as for the program on its pipes.
const PATIENCE_MS = 30_000;

// The end of a stream, to one who reads on until it comes.
const ignore = () => undefined;

interface Sent {
  readonly response: IncomingMessage;
  readonly sent: Promise<void>;
}

function send(url: string, { verb, headers = {}, body, raw }: Ask): Promise<Sent> {
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const standard = { accept: 'application/json, text/event-stream' };
  const typed = content === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((done, fail) => {
    const call = request(url, {
      method: verb ?? (content === undefined ? 'GET' : 'POST'),
      headers: { ...standard, ...typed, ...headers },
    });
    const sent = new Promise<void>((over) => call.once('finish', over).once('close', over));
    call.on('response', (response) => done({ response, sent }));
    call.on('error', fail);
    call.end(content);
  });
}
