/**
 * A legacy MCP server over HTTP, in this process, that records every request and misbehaves where a test wants it to;
 * and a hub (as a library) connected to it. For servers that behave well see sdk-servers.ts.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { createHub, type Hub, type HubConfig } from '../../src/hub/index.ts';
import type { Answer, Json } from './program.ts';
import { startUpstreamWeb, type WebUpstream } from './sdk-servers.ts';

export interface WebExchange {
  readonly verb: string;
  /** Empty for GET, DELETE and responses. */
  readonly method: string;
  readonly id: string | number | undefined;
  readonly params: Answer;
  readonly session: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** One JSON body, whatever the status. */
  json(status: number, body: object, headers?: Readonly<Record<string, string>>): void;
  /** Opens a stream of events. */
  stream(): void;
  /** One event on it. */
  event(message: object, id?: string): void;
}

export interface LegacyWeb extends WebUpstream {
  /** Everything that came, in order. */
  readonly exchanges: readonly WebExchange[];
  count(method: string): number;
  readonly server: Server;
  stop(): Promise<void>;
}

export const TOOL = { name: 'one', inputSchema: { type: 'object' } };

/** `about` returns true for an exchange that it has answered itself; the rest gets a good answer from `results`. */
export async function startLegacyWeb(
  t: TestContext,
  about: (exchange: WebExchange, web: LegacyWeb) => boolean | Promise<boolean> = () => false,
  results: Readonly<Record<string, object>> = {},
  port = 0,
): Promise<LegacyWeb> {
  const exchanges: WebExchange[] = [];
  let sessions = 0;
  const known: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'l', version: '1' },
    },
    'tools/list': { tools: [TOOL] },
    'tools/call': { content: [{ type: 'text', text: 'done' }] },
    ping: {},
    ...results,
  };
  const started = await startUpstreamWeb(
    t,
    async (request, response) => {
      const exchange = await exchangeOf(request, response);
      exchanges.push(exchange);
      if (await about(exchange, web)) return;
      const { id, method, verb, json } = exchange;
      if (id === undefined || method === '') return void response.writeHead(verb === 'GET' ? 405 : 202).end();
      const result = known[method];
      if (!result) return json(200, { id, error: { code: -32601, message: `unknown ${method}` } });
      const named = method === 'initialize' ? { 'mcp-session-id': `session-${++sessions}` } : {};
      return json(200, { id, result }, named);
    },
    port,
  );
  const web: LegacyWeb = {
    ...started,
    exchanges,
    count: (method) => exchanges.filter((one) => one.method === method).length,
  };
  return web;
}

/** A hub in front of one server, which is ready. */
export async function connectTo(t: TestContext, entry: object, options: Partial<HubConfig> = {}): Promise<Hub> {
  const hub = createHub({ mcpServers: { up: entry }, ...options });
  t.after(() => hub.close());
  await hub.connect();
  const [status] = hub.status();
  if (status?.state !== 'ready') throw new Error(`not ready: ${JSON.stringify(status)}`);
  return hub;
}

async function exchangeOf(request: IncomingMessage, response: ServerResponse): Promise<WebExchange> {
  let text = '';
  for await (const chunk of request) text += chunk;
  const { id, method = '', params = {} } = text === '' ? ({} as Json) : JSON.parse(text);
  const write = (message: object) => JSON.stringify({ jsonrpc: '2.0', ...message });
  return {
    verb: request.method ?? '',
    method,
    id,
    params,
    session: String(request.headers['mcp-session-id'] ?? ''),
    request,
    response,
    json: (status, body, headers = {}) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(write(body)),
    stream: () => response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
    event: (message, mark) =>
      void response.write(`${mark === undefined ? '' : `id: ${mark}\n`}data: ${write(message)}\n\n`),
  };
}
