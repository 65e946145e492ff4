/** The older HTTP+SSE transport, from the client's side. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHub } from '../../../src/hub/index.ts';
import { eventually } from '../../harness/hub.ts';
import { connectTo, startLegacyWeb, type WebExchange } from '../../harness/legacy-web.ts';
import { startUpstreamWeb } from '../../harness/sdk-servers.ts';

test('an SSE server cannot name an address of another origin', async (t) => {
  const web = await startUpstreamWeb(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('event: endpoint\ndata: http://127.0.0.1:9/messages\n\n');
  });
  const hub = createHub({ mcpServers: { up: { type: 'sse', url: web.url } } });
  t.after(() => hub.close());
  await hub.connect();
  assert.match(hub.status()[0]?.reason ?? '', /names an address of another origin/);
});

test('the media type of an SSE stream is compared without case (11.27)', async (t) => {
  const web = await startUpstreamWeb(t, async (request, response) => {
    if (request.method !== 'GET') return response.writeHead(500).end();
    response.writeHead(200, { 'content-type': 'TEXT/event-stream' });
    return response.write('event: endpoint\ndata: http://127.0.0.1:9/\n\n');
  });
  const hub = createHub({ mcpServers: { up: { type: 'sse', url: web.url } } });
  t.after(() => hub.close());
  await hub.connect();
  assert.match(hub.status()[0]?.reason ?? '', /names an address of another origin/);
});

test('a POST that the server never responds to is closed soon after its response has come by the stream', async (t) => {
  let stream: WebExchange | undefined;
  let open = 0;
  const web = await startLegacyWeb(t, (exchange) => {
    const { verb, method, id, response } = exchange;
    if (verb === 'GET') {
      stream = exchange;
      exchange.stream();
      response.write('event: endpoint\ndata: /mcp\n\n');
      return true;
    }
    open += 1;
    response.once('close', () => {
      open -= 1;
    });
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'l', version: '1' },
      },
      'tools/list': { tools: [{ name: 'one', inputSchema: { type: 'object' } }] },
    };
    if (id !== undefined && method !== '') stream?.event({ id, result: results[method] ?? { content: [] } });
    return true; // The POST itself is never answered.
  });
  const hub = await connectTo(t, { type: 'sse', url: web.url });
  for (let at = 0; at < 20; at += 1) await hub.call('up:one');
  assert.ok(open >= 20);
  // Only notifications/initialized has no response by which it could be known to have arrived.
  await eventually(() => open <= 1, 'the end of the POSTs');
});
