/** Which dialect a server speaks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer, connect, legacy } from '../../harness/http-handlers.ts';
import { eventually, fixture, scripted } from '../../harness/hub.ts';
import { connectTo, startLegacyWeb } from '../../harness/legacy-web.ts';
import { startUpstreamWeb } from '../../harness/sdk-servers.ts';
import { makeTree } from '../../harness/tree.ts';

test('a server that comes back with another dialect is understood', async (t) => {
  let isNew = false;
  const old = legacy(() => false);
  const web = await startUpstreamWeb(t, (request, response) => {
    if (!isNew) return old(request, response);
    if (request.headers['mcp-method'] !== undefined) return answer(request, response);
    return response.writeHead(404).end();
  });
  const hub = await connect(t, { url: web.url });
  isNew = true;
  await hub.call('up:one').catch(() => {});
  await eventually(() => hub.status()[0]?.protocol === '2026-07-28', 'the new way of speaking');
});

test('a server without capabilities is asked for tools all the same', async (t) => {
  const web = await startUpstreamWeb(
    t,
    legacy((method, _request, response) => {
      if (method !== 'initialize') return false;
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'l', version: '1' } };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 2, result }));
      return true;
    }),
  );
  const hub = await connect(t, { url: web.url });
  assert.equal(hub.tools().length, 1);
});

test('the handshake that is not chosen has no effect: a late response sets neither version nor session', async (t) => {
  const web = await startLegacyWeb(t, async ({ method, id, json, verb, stream, event }) => {
    if (verb === 'GET') {
      stream();
      setTimeout(() => event({ id: 'theirs', method: 'ping' }), 3000);
      return true;
    }
    if (method !== 'server/discover') return false;
    await new Promise((done) => setTimeout(done, 4500));
    json(200, { id, result: { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } });
    return true;
  });
  await connectTo(t, { url: web.url });
  const reply = () => web.exchanges.find(({ verb, method }) => verb === 'POST' && method === '');
  await eventually(() => reply() !== undefined, 'our response to its ping');
  assert.equal(reply()?.request.headers['mcp-protocol-version'], '2025-11-25');
  assert.equal(web.count('notifications/cancelled'), 0);
});

test('a server that takes seconds to start speaks the dialect that it was asked for first', async (t) => {
  const { command, args } = fixture('sdk-v2');
  const slow = { command: 'sh', args: ['-c', 'sleep 4; exec "$0" "$@"', command, ...args] };
  const hub = await connect(t, slow);
  assert.equal(hub.status()[0]?.protocol, '2026-07-28');
  // It says which dialect its side of the connection has.
  assert.deepEqual(await hub.call('up:echo', { text: 'hi' }), { content: [{ type: 'text', text: 'modern hi' }] });
});

test('a server that answers both handshakes late is spoken to as in the later one', async (t) => {
  const discovered = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
  const tools = [{ name: 'one', inputSchema: { type: 'object' } }];
  const { entry } = scripted(makeTree(t), 'both', {
    answers: { 'server/discover': discovered, 'tools/list': { tools } },
    delay: { 'server/discover': 4500, initialize: 2500 },
  });
  const hub = await connect(t, entry);
  assert.equal(hub.status()[0]?.protocol, '2025-11-25');
});

test('a server that answers server/discover late, and initialize never, is used without waiting for its whole timeout', async (t) => {
  const tools = [{ name: 'one', inputSchema: { type: 'object' } }];
  const { entry } = scripted(makeTree(t), 'late', {
    modern: true,
    capabilities: { tools: {} },
    answers: { 'tools/list': { tools } },
    silent: ['initialize'],
    delay: { 'server/discover': 4000 },
  });
  const began = performance.now();
  const hub = await connect(t, entry);
  assert.equal(hub.status()[0]?.protocol, '2026-07-28');
  assert.ok(performance.now() - began < 20_000);
});

test('a server whose later versions we do not speak is sent initialize', async (t) => {
  const discovered = { supportedVersions: ['2099-01-01'], capabilities: { tools: {} } };
  const tools = [{ name: 'one', inputSchema: { type: 'object' } }];
  const { entry } = scripted(makeTree(t), 'later', {
    answers: { 'server/discover': discovered, 'tools/list': { tools } },
  });
  const hub = await connect(t, entry);
  assert.equal(hub.status()[0]?.protocol, '2025-11-25');
});

test('a server that drops the connection at server/discover is sent initialize', async (t) => {
  const web = await startLegacyWeb(t, ({ method, request }) => {
    if (method === 'server/discover') request.socket.destroy();
    return method === 'server/discover';
  });
  await connectTo(t, { url: web.url });
  assert.equal(web.count('initialize'), 1);
});
