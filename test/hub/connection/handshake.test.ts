/** Which dialect a server speaks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer, connect, legacy } from '../../harness/http-handlers.ts';
import { eventually } from '../../harness/hub.ts';
import { connectTo, startLegacyWeb } from '../../harness/legacy-web.ts';
import { startUpstreamWeb } from '../../harness/sdk-servers.ts';

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
