/**
 * The HTTP server over the real protocol with a few methods of its own (`startHttp`), and plain requests to it: `ask` for
 * a whole answer, `openStream` for one that is read as it comes.
 */
import assert from 'node:assert/strict';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import type { TestContext } from 'node:test';
import * as protocol from '../../src/protocol/index.ts';
import { type HttpOptions, serveHttp } from '../../src/transports/http/server.ts';
import { eventually } from './connections.ts';

export { eventually };

export async function startHttp(t: TestContext, options: Partial<HttpOptions> = {}) {
  const calls = createQueue<{ readonly call: protocol.Call; answer(text: string): void }>();
  const sessions = createQueue<protocol.Session>();
  const faults: unknown[] = [];
  let onLast = () => {};
  const methods: readonly protocol.Method[] = [
    { name: 'echo', run: ({ text }) => ({ text }) },
    {
      name: 'wait', // Ends when the test says so, or when it is cancelled.
      run: (_, call) =>
        new Promise((done) => {
          call.cancellation().addEventListener('abort', () => done({}));
          calls.put({ call, answer: (text) => done({ text }) });
        }),
    },
    {
      name: 'subscriptions/listen',
      streams: true,
      run: (_, { notify }) =>
        new Promise((done) => {
          notify('notifications/subscriptions/acknowledged', {});
          onLast = () => done({ over: true });
        }),
    },
    {
      name: 'initialize',
      run({ protocolVersion: version }, { session }) {
        session.handshake = { client: undefined, version: String(version), anyStructure: false };
        return { protocolVersion: version };
      },
    },
  ];
  const notifications: readonly protocol.NotificationHandler[] = [
    { name: 'notifications/initialized', run: (_, session) => sessions.put(session) },
    { name: 'notifications/cancelled', run: ({ requestId }, session) => protocol.cancel(session, Number(requestId)) },
  ];
  const table = { methods, notifications };
  const eras = [protocol.modernEra(table, { name: 'test', version: '1' }), protocol.legacyEra(table)];
  const dispatcher = protocol.createDispatcher(eras, (_method, error) => faults.push(error));
  const server = await serveHttp(dispatcher, {
    ...{ host: '127.0.0.1', port: 0, allowHosts: [], allowOrigins: [], noAuth: false, announce: 'http' },
    ...{ isReady: () => true, onFault: (error) => faults.push(error), lastMs: 10_000, onLast: () => onLast() },
    ...options,
  });
  t.after(() => server.close());
  const at = (path: string) => new URL(path, server.url).href;
  /** `called`: the next call of `wait`. `initialized`: the session of a client that has sent this notification. */
  return { ...server, at, called: calls.take, initialized: sessions.take, faults };
}

export interface Ask {
  readonly verb?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: unknown;
  /** What to send when it is not JSON. */
  readonly raw?: string | Buffer;
}

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer is what it asserts.
type Answer = any;

/** `json`: the body parsed; the last event when it was a stream. */
export async function ask(url: string, options: Ask = {}) {
  const response = await send(url, options);
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  const { statusCode: status = 0, headers } = response;
  const isStream = headers['content-type'] === 'text/event-stream';
  const json: Answer = text === '' ? undefined : JSON.parse(isStream ? (eventsIn(text).at(-1)?.data ?? '') : text);
  return { status, headers, text, json };
}

/** `onData`: is handed the data of each event, or the whole body if it is no stream; else the stream keeps its events. */
export async function openStream(t: TestContext, url: string, options: Ask = {}, onData?: (data: string) => void) {
  const response = await send(url, options);
  t.after(() => response.destroy());
  const { headers } = response;
  const events = createQueue<{ readonly event: string; readonly data: string }>();
  const put = onData ? ({ data }: { readonly data: string }) => onData(data) : events.put;
  let text = '';
  response.on('error', () => {}); // 'close' follows.
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (headers['content-type'] !== 'text/event-stream' || !text.endsWith('\n\n')) return;
    eventsIn(text).forEach(put);
    text = '';
  });
  return {
    headers,
    next: events.take,
    message: async (): Promise<Answer> => JSON.parse((await events.take()).data),
    /** Settles when the stream is over; whether it ended as it should. */
    ended: new Promise<boolean>((done) =>
      response.on('close', () => {
        if (text !== '') onData?.(text);
        done(response.complete);
      }),
    ),
    close: () => response.destroy(),
  };
}

export function legacy(method: string, params: object = {}, id = 1): Ask {
  return { body: { jsonrpc: '2.0', ...(method.startsWith('notifications/') ? {} : { id }), method, params } };
}

/** With the headers that repeat the body. */
export function modern(method: string, version = '2026-07-28', params: { readonly name?: string } = {}): Ask {
  const _meta = { [protocol.META.version]: version, [protocol.META.capabilities]: {} };
  const named = params.name === undefined ? {} : { 'mcp-name': params.name };
  const headers = { 'mcp-protocol-version': version, 'mcp-method': method, ...named };
  return { ...legacy(method, { ...params, _meta }), headers };
}

export const hello = legacy('initialize', { protocolVersion: '2025-11-25', capabilities: {} });

/** Opens a legacy session and gives the header that names it. */
export async function openSession(url: string): Promise<{ readonly 'mcp-session-id': string }> {
  const headers = { 'mcp-session-id': String((await ask(url, hello)).headers['mcp-session-id']) };
  assert.equal((await ask(url, { ...legacy('notifications/initialized'), headers })).status, 202);
  return headers;
}

// --- internal ---

function createQueue<T>() {
  const items: T[] = [];
  return {
    put: (item: T) => void items.push(item),
    async take(): Promise<T> {
      await eventually(() => items.length > 0, 'something that was waited for');
      return items.shift() as T;
    },
  };
}

const eventsIn = (text: string) =>
  [...text.matchAll(/^event: (.*)\ndata: (.*)\n\n/gm)].map(([, event = '', data = '']) => ({ event, data }));

function send(url: string, { verb, headers, body, raw }: Ask): Promise<IncomingMessage> {
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const standard = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const method = verb ?? (content === undefined ? 'GET' : 'POST');
  return new Promise((done, fail) => {
    request(url, { method, headers: { ...standard, ...headers } }, done)
      .on('error', fail)
      .end(content);
  });
}
