/** HTTP requests to upstream servers: redirects, origins, errors. */
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { createHub } from '../../../src/hub/index.ts';
import { answer, connect, legacy } from '../../harness/http-handlers.ts';
import { eventually } from '../../harness/hub.ts';
import { connectTo, startLegacyWeb } from '../../harness/legacy-web.ts';
import { startUpstreamWeb } from '../../harness/sdk-servers.ts';

const DONE = { content: [{ type: 'text', text: 'done' }] };

test('headers from the configuration are sent after a redirect within the origin', async (t) => {
  const first = await startUpstreamWeb(t, (request, response) => {
    if (request.url === '/moved') return answer(request, response);
    return response.writeHead(307, { location: '/moved' }).end();
  });
  const headers = { Authorization: 'Bearer s3cr3t', 'X-Key': 's3cr3t' };
  const hub = createHub({ mcpServers: { up: { url: first.url.replace('//', '//me:s3cr3t@'), headers } } });
  t.after(() => hub.close());
  await hub.connect();
  assert.deepEqual(
    hub.tools().map(({ name }) => name),
    ['up:one'],
  );
  assert.ok(first.seen.every((seen) => seen.authorization === 'Bearer s3cr3t' && seen['x-key'] === 's3cr3t'));
});

test('headers that are ours are sent once, whatever the configuration says in another spelling', async (t) => {
  const web = await startLegacyWeb(t);
  const headers = { 'MCP-Session-Id': 'configured', 'Content-Type': 'text/plain', ACCEPT: 'text/plain' };
  const hub = await connectTo(t, { url: web.url, headers });
  assert.deepEqual(await hub.call('up:one'), DONE);
  const { rawHeaders } = web.exchanges.find(({ method }) => method === 'tools/call')?.request ?? assert.fail();
  const sent = (name: string) =>
    rawHeaders.filter((_, at) => rawHeaders[at - 1]?.toLowerCase() === name && at % 2 === 1);
  assert.deepEqual(sent('mcp-session-id'), ['session-1']);
  assert.deepEqual(sent('content-type'), ['application/json']);
  assert.deepEqual(sent('accept'), ['application/json, text/event-stream']);
});

test('a call is sent once, even when the server closes the connection', async (t) => {
  let calls = 0;
  const web = await startUpstreamWeb(
    t,
    legacy((method, request) => {
      if (method !== 'tools/call') return false;
      calls += 1;
      request.socket.destroy();
      return true;
    }),
  );
  const hub = await connect(t, { url: web.url });
  await assert.rejects(hub.call('up:one'), /socket hang up|ECONNRESET/);
  assert.equal(calls, 1);
});

test('neither a session nor a call is shown to another origin than the configured one', async (t) => {
  const other = await startUpstreamWeb(
    t,
    legacy(() => false),
  );
  const web = await startUpstreamWeb(
    t,
    legacy((method, _request, response) => {
      if (method !== 'tools/call') return false;
      response.writeHead(307, { location: other.url }).end();
      return true;
    }),
  );
  const hub = await connect(t, { url: web.url });
  await assert.rejects(hub.call('up:one'), /redirected to another origin/);
  assert.ok(web.seen.some((seen) => seen['mcp-session-id'] === 'session-1'));
  assert.equal(other.seen.length, 0);
});

for (const [name, handler, reason] of [
  ['answers 401', (_q, r) => r.writeHead(401).end(), /HTTP 401 \(it wants authorization/],
  [
    'answers HTML',
    (_q, r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    /the answer is text\/html, not JSON/,
  ],
  ['redirects for ever', (q, r) => r.writeHead(307, { location: q.url }).end(), /redirected more than 5 times/],
  ['redirects to a file', (_q, r) => r.writeHead(307, { location: 'file:///etc/passwd' }).end(), /not an HTTP address/],
  ['hangs up', (q) => q.socket.destroy(), /socket hang up|ECONNRESET/],
] as const satisfies readonly (readonly [string, (q: IncomingMessage, r: ServerResponse) => unknown, RegExp])[]) {
  test(`a web server that ${name} fails with that reason`, async (t) => {
    const web = await startUpstreamWeb(t, handler);
    const hub = createHub({ mcpServers: { up: { type: 'http', url: web.url } } });
    t.after(() => hub.close());
    await hub.connect();
    const [status] = hub.status();
    assert.equal(status?.state, 'failed');
    assert.match(status?.reason ?? '', reason);
  });
}

test('a redirect to another origin is not followed, with or without credentials (10.21)', async (t) => {
  const other = await startLegacyWeb(t);
  const web = await startUpstreamWeb(t, (_request, response) => response.writeHead(307, { location: other.url }).end());
  const hub = createHub({ mcpServers: { up: { url: web.url, headers: { 'X-Key': 's3cr3t' } } } });
  t.after(() => hub.close());
  await hub.connect();
  assert.match(
    hub.status()[0]?.reason ?? '',
    /redirected to another origin \(http:\/\/127.0.0.1:\d+\), which is not followed/,
  );
  assert.equal(other.seen.length, 0);
});

test('a redirect within the origin is followed, method and body kept, and the call runs once (10.21)', async (t) => {
  const web = await startLegacyWeb(t, ({ request, response }) => {
    if (request.url !== '/mcp') return false;
    response.writeHead(308, { location: '/moved' }).end();
    return true;
  });
  const hub = await connectTo(t, { url: web.url, headers: { 'X-Key': 's3cr3t' } });
  assert.deepEqual(await hub.call('up:one'), DONE);
  const calls = web.exchanges.filter(({ method }) => method === 'tools/call');
  assert.deepEqual(
    calls.map(({ request: { url, method, headers } }) => [url, method, headers['x-key']]),
    [
      ['/mcp', 'POST', 's3cr3t'],
      ['/moved', 'POST', 's3cr3t'],
    ],
  );
});

test('the body of a redirect is not read without end', async (t) => {
  let open = 0;
  const web = await startLegacyWeb(t, ({ request, response, method }) => {
    if (method !== 'notifications/initialized' || request.url !== '/mcp') return false;
    open += 1;
    response.writeHead(307, { location: '/moved' });
    const timer = setInterval(() => response.write('x'.repeat(10_000)), 10);
    response.once('close', () => {
      open -= 1;
      clearInterval(timer);
    });
    return true;
  });
  await connectTo(t, { url: web.url });
  await eventually(() => web.exchanges.some(({ request }) => request.url === '/moved'), 'the redirected notification');
  await eventually(() => open === 0, 'the end of the redirect');
});

test('status 101 is an error: the call fails at once, and the hub can be closed', async (t) => {
  const web = await startLegacyWeb(t, ({ method, verb, response }) => {
    if (method !== 'tools/call' && verb !== 'DELETE') return false;
    response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    return true;
  });
  const hub = await connectTo(t, { url: web.url });
  await assert.rejects(hub.call('up:one'), /closed the connection without a response/);
  await hub.close();
});
