/** Servers over HTTP that answer oddly, ask without end or are busy: what becomes of their calls and their lists. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_REPLIES_AT_ONCE } from '../../../src/hub/connection/limits.ts';
import { createHub } from '../../../src/hub/index.ts';
import { eventually, startHub, upstream } from '../../harness/hub.ts';
import { connectTo, startLegacyWeb, TOOL, type WebExchange } from '../../harness/legacy-web.ts';
import { startUpstreamWeb } from '../../harness/sdk-servers.ts';

const DONE = { content: [{ type: 'text', text: 'done' }] };
const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));
const RESOURCES = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, resources: {} },
  serverInfo: { name: 'l', version: '1' },
};

for (const [what, refuse] of [
  ['404 and -32601', ({ id, json }) => json(404, { id, error: { code: -32601, message: 'unknown' } })],
  ['400 to nobody', ({ json }) => json(400, { id: null, error: { code: -32600, message: 'bad' } })],
  ['404 and no word', ({ response }) => response.writeHead(404).end()],
] as const satisfies readonly (readonly [string, (exchange: WebExchange) => unknown])[]) {
  for (const method of ['resources/templates/list', 'resources/list']) {
    test(`a server that answers ${method} with ${what} is ready all the same (11.19)`, async (t) => {
      const web = await startLegacyWeb(
        t,
        (exchange) => {
          if (exchange.method !== method) return false;
          refuse(exchange);
          return true;
        },
        { initialize: RESOURCES, 'resources/list': { resources: [] } },
      );
      const hub = await connectTo(t, { url: web.url });
      assert.deepEqual(await hub.call('up:one'), DONE);
      assert.equal(web.count('initialize'), 1);
    });
  }
}

test('a body that bears our id is the answer, whatever the HTTP status says (11.19)', async (t) => {
  const web = await startLegacyWeb(t, ({ method, id, json }) => {
    if (method === 'tools/call') json(500, { id, result: DONE });
    return method === 'tools/call';
  });
  const hub = await connectTo(t, { url: web.url });
  assert.deepEqual(await hub.call('up:one'), DONE);
});

test('every message after initialize names the protocol version: answers of ours and DELETE too (11.20)', async (t) => {
  const web = await startLegacyWeb(t, (exchange) => {
    const { method, verb, stream, event, request } = exchange;
    if (method !== 'initialize' && method !== 'server/discover')
      assert.equal(request.headers['mcp-protocol-version'], '2025-11-25', `${verb} ${method}`);
    if (verb !== 'GET') return false;
    stream();
    event({ id: 'theirs', method: 'ping' });
    event({ id: 'roots', method: 'roots/list' });
    return true;
  });
  const hub = await connectTo(t, { url: web.url });
  const answers = () => web.exchanges.filter(({ verb, method }) => verb === 'POST' && method === '');
  await eventually(() => answers().length === 2, 'both answers');
  await hub.close();
  assert.deepEqual(
    web.exchanges.filter(({ verb }) => verb === 'DELETE').map((one) => one.request.headers['mcp-protocol-version']),
    ['2025-11-25'],
  );
  for (const { request } of answers()) assert.equal(request.headers['mcp-protocol-version'], '2025-11-25');
});

test('a session id on the answer to server/discover is not sent with initialize (11.27)', async (t) => {
  const web = await startLegacyWeb(t, ({ method, id, json }) => {
    if (method !== 'server/discover') return false;
    json(200, { id, error: { code: -32601, message: 'unknown' } }, { 'mcp-session-id': 'of-the-question' });
    return true;
  });
  const hub = await connectTo(t, { url: web.url });
  await hub.call('up:one');
  const shown = web.exchanges.map(({ method, session }) => [method, session]).filter(([method]) => method !== '');
  assert.deepEqual(shown, [
    ['server/discover', ''],
    ['initialize', ''],
    ['notifications/initialized', 'session-1'],
    ['tools/list', 'session-1'],
    ['tools/call', 'session-1'],
  ]);
});

test('media types are compared without case (11.27)', async (t) => {
  const web = await startLegacyWeb(t, ({ method, verb, id, response, event }) => {
    if (method === 'tools/call') {
      response.writeHead(200, { 'content-type': 'Text/Event-Stream; charset=UTF-8' });
      event({ id, result: DONE });
      response.end();
      return true;
    }
    if (verb !== 'POST' || id === undefined || method !== 'tools/list') return false;
    response.writeHead(200, { 'content-type': 'Application/JSON; charset=UTF-8' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [TOOL] } }));
    return true;
  });
  const hub = await connectTo(t, { url: web.url });
  assert.deepEqual(await hub.call('up:one'), DONE);
});

test('a stream of the older SSE is known by its type in any case (11.27)', async (t) => {
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

for (const [what, end] of [
  ['closed at once', ({ response }) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end()],
  ['204', ({ response }) => response.writeHead(204).end()],
  ['JSON', ({ json }) => json(200, {})],
] as const satisfies readonly (readonly [string, (exchange: WebExchange) => unknown])[]) {
  test(`a standing stream that is ${what} does not cause a look at the lists every second (11.24)`, async (t) => {
    const web = await startLegacyWeb(t, (exchange) => {
      if (exchange.verb === 'GET') end(exchange);
      return exchange.verb === 'GET';
    });
    await connectTo(t, { url: web.url });
    await wait(3600);
    assert.ok(web.count('tools/list') <= 2, `${web.count('tools/list')} lists`);
    assert.ok(web.exchanges.filter(({ verb }) => verb === 'GET').length <= 2);
  });
}

test('a subscription that ends at once is not taken up every second (11.24)', async (t) => {
  let listens = 0;
  let lists = 0;
  const web = await startUpstreamWeb(t, async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { id, method } = JSON.parse(text);
    if (method === 'subscriptions/listen') listens += 1;
    if (method === 'tools/list') lists += 1;
    const results: Record<string, object> = {
      'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: true } } },
      'tools/list': { tools: [TOOL] },
      'subscriptions/listen': {},
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...results[method] } }));
  });
  await connectTo(t, { url: web.url });
  await wait(4500);
  assert.ok(listens >= 2 && listens <= 3, `${listens} subscriptions`);
  assert.ok(lists <= 3, `${lists} lists`);
});

for (const type of ['http', 'sse']) {
  test(`a server over ${type} that asks without end and takes no answer holds few requests open, and is left (10.6)`, async (t) => {
    let open = 0;
    let most = 0;
    let flood = (_count: number) => {};
    const web = await startLegacyWeb(t, ({ verb, method, id, response, stream, event, json }) => {
      if (verb === 'GET') {
        stream();
        if (type === 'sse') response.write('event: endpoint\ndata: /mcp\n\n');
        flood = (count) => {
          for (let at = 0; at < count; at += 1) event({ id: `ping-${at}`, method: 'ping' });
        };
        sse = { event };
        return true;
      }
      if (method === '' && verb === 'POST') {
        open += 1;
        most = Math.max(most, open);
        response.once('close', () => {
          open -= 1;
        });
        return true; // Never answered.
      }
      if (type === 'http') return false;
      if (id !== undefined && method !== '') {
        const result: Record<string, object> = {
          initialize: { ...RESOURCES, capabilities: { tools: {} } },
          'tools/list': { tools: [TOOL] },
        };
        sse?.event({ id, result: result[method] ?? {} });
      }
      json(202, {});
      return true;
    });
    let sse: Pick<WebExchange, 'event'> | undefined;
    const hub = await connectTo(t, { type, url: web.url });
    await eventually(() => web.exchanges.some(({ verb }) => verb === 'GET'), 'the stream');
    // A few first: all at once may be too many before the first answer has gone out.
    flood(MAX_REPLIES_AT_ONCE);
    await eventually(() => most >= 1, 'the first answers');
    flood(3000);
    await eventually(
      () => hub.status()[0]?.reason?.includes('sends more requests than it accepts') ?? false,
      'the end of it',
    );
    assert.ok(most <= MAX_REPLIES_AT_ONCE, `${most} open at once`);
    await eventually(() => open === 0, 'none of them to stay');
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

test('a server that is busy with a call is not given up for a missed ping (11.17)', async (t) => {
  let isBusy = false;
  const web = await startLegacyWeb(t, async ({ method, id, json }) => {
    if (method === 'ping') return isBusy;
    if (method !== 'tools/call') return false;
    isBusy = true;
    await wait(800);
    isBusy = false;
    json(200, { id, result: DONE });
    return true;
  });
  const hub = await connectTo(t, { url: web.url }, { healthInterval: 100 });
  assert.deepEqual(await hub.call('up:one'), DONE);
  assert.ok(web.count('ping') >= 2);
  assert.equal(web.count('initialize'), 1);
  assert.equal(hub.status()[0]?.state, 'ready');
});

test('a child that is busy with a call is not given up for a missed ping (11.17)', async (t) => {
  const hub = await startHub(t, { one: upstream('busy') }, { args: ['--health-interval', '200'] });
  await hub.waitForTools((names) => names.includes('one:busy'), 'its tools');
  assert.equal((await hub.call('one:busy', { ms: 1500 })).content[0].text, 'was busy');
  assert.doesNotMatch(hub.stderr(), /disconnected/);
});

test('a call to a server that is silent ends with its own time limit, and the server is given up then (11.17)', async (t) => {
  const deaf = { ...upstream('deaf-after-start'), timeout: 700 };
  const hub = await startHub(t, { one: deaf }, { args: ['--health-interval', '100'] });
  await hub.waitForTools((names) => names.includes('one:echo'), 'its tools');
  const { content } = await hub.call('one:echo', {});
  assert.match(content[0].text, /no answer to tools\/call within 700 ms/);
  await hub.waitForStderr(/server one: disconnected: health check failed/);
});

test('a server that says 429 to a ping is alive (11.17)', async (t) => {
  const web = await startLegacyWeb(t, ({ method, response }) => {
    if (method === 'ping') response.writeHead(429).end();
    return method === 'ping';
  });
  const hub = await connectTo(t, { url: web.url }, { healthInterval: 50 });
  await eventually(() => web.count('ping') >= 4, 'some pings');
  assert.equal(hub.status()[0]?.state, 'ready');
  assert.equal(web.count('initialize'), 1);
});

test('marks of a stream that no header can hold are no marks, and others are given back as they came (11.16)', async (t) => {
  for (const [mark, given] of [
    ['7', '7'],
    ['ü', Buffer.from('ü').toString('latin1')],
    ['x'.repeat(100_000), undefined],
    ['a\u0001b', undefined],
  ] as const) {
    const marks: unknown[] = [];
    let asked: WebExchange['id'];
    const web = await startLegacyWeb(t, ({ method, verb, id, request, response, stream, event }) => {
      const behind = request.headers['last-event-id'];
      if (method !== 'tools/call' && (verb !== 'GET' || behind === undefined)) return false;
      stream();
      if (verb === 'GET') {
        marks.push(behind);
        event({ id: asked, result: DONE });
      } else {
        asked = id;
        response.write(`id: ${mark}\nretry: 0\ndata:\n\n`);
      }
      response.end();
      return true;
    });
    const hub = await connectTo(t, { url: web.url });
    const outcome = await hub.call('up:one').catch(String);
    if (given === undefined) assert.match(String(outcome), /ended without an answer/);
    else assert.deepEqual(outcome, DONE);
    assert.deepEqual(marks, given === undefined ? [] : [given]);
    assert.equal(web.count('tools/call'), 1);
  }
});

test('a list that is refused with 429 is kept, and looked at again later (11.17)', async (t) => {
  let isLimited = false;
  const web = await startLegacyWeb(t, ({ method, verb, stream, event, response }) => {
    if (verb === 'GET') {
      stream();
      setTimeout(() => {
        isLimited = true;
        event({ method: 'notifications/tools/list_changed' });
      }, 50);
      return true;
    }
    if (method !== 'tools/list' || !isLimited) return false;
    response.writeHead(429).end();
    return true;
  });
  const hub = await connectTo(t, { url: web.url });
  await eventually(() => web.count('tools/list') === 2, 'the second list');
  await wait(100);
  assert.equal(hub.tools().length, 1);
  assert.equal(hub.status()[0]?.state, 'ready');
});
