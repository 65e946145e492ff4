/**
 * Request handlers of small HTTP servers, for tests of the hub's HTTP connections, and a hub with one server behind it.
 * `startUpstreamWeb` (sdk-servers.ts) listens with such a handler.
 */
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { createHub, type HubConfig } from '../../src/hub/index.ts';

export const json = async (request: IncomingMessage) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  return JSON.parse(text === '' ? '{}' : text);
};

/** The least that a modern server must say. */
export async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { id, method } = await json(request);
  respond(response, id, method);
}

export function respond(response: ServerResponse, id: unknown, method: string): void {
  const results: Record<string, object> = {
    'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    'tools/list': { tools: [{ name: 'one', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [] },
  };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...results[method] } }));
}

/** The least that a legacy server with sessions must say; `about` may answer instead. */
export function legacy(about: (method: string, request: IncomingMessage, response: ServerResponse) => boolean) {
  let sessions = 0;
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'l', version: '1' },
    },
    'tools/list': { tools: [{ name: 'one', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'done' }] },
    ping: {},
  };
  return async (request: IncomingMessage, response: ServerResponse) => {
    const { id, method = '' } = await json(request);
    if (about(method, request, response)) return;
    if (id === undefined) return void response.writeHead(request.method === 'GET' ? 405 : 202).end();
    if (method === 'initialize') {
      sessions += 1;
      response.setHeader('mcp-session-id', `session-${sessions}`);
    }
    response.setHeader('content-type', 'application/json');
    const result = results[method];
    const outcome = result ? { result } : { error: { code: -32601, message: 'unknown' } };
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
  };
}

export async function connect(t: TestContext, entry: object, options: Partial<HubConfig> = {}) {
  const hub = createHub({ mcpServers: { up: entry }, ...options });
  t.after(() => hub.close());
  await hub.connect();
  assert.equal(hub.status()[0]?.state, 'ready', JSON.stringify(hub.status()));
  return hub;
}
