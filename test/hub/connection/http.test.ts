/** Streamable HTTP, from the client's side: sessions, response streams, the stream for notifications. */
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { connect, json, legacy, respond } from '../../harness/http-handlers.ts';
import { eventually } from '../../harness/hub.ts';
import { connectTo, startLegacyWeb, TOOL, type WebExchange } from '../../harness/legacy-web.ts';
import { startUpstreamWeb } from '../../harness/sdk-servers.ts';

const DONE = { content: [{ type: 'text', text: 'done' }] };

const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));

const RESOURCES = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, resources: {} },
  serverInfo: { name: 'l', version: '1' },
};

for (const [what, text] of [
  ['an answer to somebody else', '{"jsonrpc":"2.0","id":"other","result":{}}'],
  ['an error for nobody', '{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"x"}}'],
  ['no JSON at all', 'garbage'],
] as const) {
  test(`a call that gets ${what} fails at once`, async (t) => {
    const web = await startUpstreamWeb(
      t,
      legacy((method, _request, response) => {
        if (method !== 'tools/call') return false;
        response.writeHead(200, { 'content-type': 'application/json' }).end(text);
        return true;
      }),
    );
    const hub = await connect(t, { url: web.url });
    const error = await hub.call('up:one').catch(String);
    const what = `(application/json, ${text.length} characters)`;
    assert.equal(error, `UpstreamError: the body does not respond to the request ${what}`);
  });
}

for (const status of [400, 404]) {
  test(`a session that is forgotten with ${status} is replaced at once, again and again`, async (t) => {
    let forgotten = '';
    const web = await startUpstreamWeb(
      t,
      legacy((method, request, response) => {
        const session = String(request.headers['mcp-session-id'] ?? '');
        if (method === 'initialize' || session !== forgotten) return false;
        const error = { code: -32000, message: 'no such session' };
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
        return true;
      }),
    );
    const hub = await connect(t, { url: web.url });
    // With pauses in between, the last of these would wait for minutes.
    for (let at = 1; at <= 8; at += 1) {
      forgotten = `session-${at}`;
      const { content } = await hub.call('up:one');
      assert.deepEqual(content, [{ type: 'text', text: 'done' }]);
    }
  });
}

test('the stream for notifications is opened again after a failure, and lists are read again', async (t) => {
  let opened = 0;
  let listed = 0;
  const web = await startUpstreamWeb(
    t,
    legacy((method, request, response) => {
      if (method === 'tools/list') listed += 1;
      if (request.method !== 'GET') return false;
      opened += 1;
      if (opened === 1) response.writeHead(502).end();
      else response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      return true;
    }),
  );
  await connect(t, { url: web.url });
  await eventually(() => opened === 2 && listed === 2, 'the second list');
});

test('a stream for notifications with a message over the limit is closed, and not resumed at that message', async (t) => {
  const marks: unknown[] = [];
  let hungUp = false;
  let listed = 0;
  const web = await startUpstreamWeb(
    t,
    legacy((method, request, response) => {
      if (method === 'tools/list') listed += 1;
      if (request.method !== 'GET') return false;
      marks.push(request.headers['last-event-id']);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      if (marks.length === 1) response.end('id: 1\ndata:\n\n');
      if (marks.length !== 2) return true;
      response.once('close', () => {
        hungUp = true;
      });
      response.write(`data: ${'x'.repeat(33 * 1024 * 1024)}`);
      return true;
    }),
  );
  await connect(t, { url: web.url });
  await eventually(() => hungUp && marks.length === 3 && listed === 2, 'the second list', 30_000);
  assert.deepEqual(marks, [undefined, '1', undefined]);
});

test('a stream is resumed after a short wait, even when the server asks for none', async (t) => {
  const RESUMED = 5;
  let left = RESUMED;
  let asked: unknown;
  const web = await startUpstreamWeb(t, async (request, response) => {
    const { id, method } = await json(request);
    if (method !== 'tools/call' && request.headers['last-event-id'] === undefined) return respond(response, id, method);
    asked ??= id;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const answered = `data: ${JSON.stringify({ jsonrpc: '2.0', id: asked, result: { content: [] } })}\n\n`;
    left -= 1;
    return response.end(`id: 1\nretry: 0\ndata:\n\n${left < 0 ? answered : ''}`);
  });
  const hub = await connect(t, { url: web.url });
  const began = performance.now();
  assert.deepEqual(await hub.call('up:one'), { content: [] });
  assert.ok(performance.now() - began >= RESUMED * 90);
});

test('a call in flight over HTTP fails when the hub is closed', async (t) => {
  let arrive = () => {};
  const arrived = new Promise<void>((done) => {
    arrive = done;
  });
  const web = await startUpstreamWeb(
    t,
    legacy((method) => {
      if (method === 'tools/call') arrive();
      return method === 'tools/call';
    }),
  );
  const hub = await connect(t, { url: web.url });
  const call = assert.rejects(hub.call('up:one'), /the hub was closed/);
  await arrived;
  await hub.close();
  await call;
});

test('many calls at once over HTTP cause no warning about listeners', async (t) => {
  const many = 20;
  const warnings: string[] = [];
  const note = (warning: Error) => void warnings.push(String(warning));
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  const web = await startLegacyWeb(t, async ({ method }, { count }) => {
    if (method === 'tools/call') await eventually(() => count(method) === many, 'all of them');
    return false;
  });
  const hub = await connectTo(t, { url: web.url });
  const results = await Promise.all(Array.from({ length: many }, () => hub.call('up:one')));
  assert.deepEqual(results, Array(many).fill(DONE));
  assert.deepEqual(warnings, []);
});

test('a call whose connection is refused waits until its server is back', async (t) => {
  const respond = legacy(() => false);
  const handler = (request: IncomingMessage, response: ServerResponse) => {
    // A connection that is kept would be cut, and what went into it is not sent again.
    response.setHeader('connection', 'close');
    return respond(request, response);
  };
  const web = await startUpstreamWeb(t, handler);
  const hub = await connect(t, { url: web.url });
  await web.stop();
  const call = hub.call('up:one');
  await Promise.race([call, eventually(() => hub.status()[0]?.state !== 'ready', 'the hub to notice')]);
  await startUpstreamWeb(t, handler, Number(new URL(web.url).port));
  assert.deepEqual(await call, { content: [{ type: 'text', text: 'done' }] });
});

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

test('a body with our id is the response, whatever the HTTP status is (11.19)', async (t) => {
  const web = await startLegacyWeb(t, ({ method, id, json }) => {
    if (method === 'tools/call') json(500, { id, result: DONE });
    return method === 'tools/call';
  });
  const hub = await connectTo(t, { url: web.url });
  assert.deepEqual(await hub.call('up:one'), DONE);
});

test('every message after initialize names the protocol version: our responses and DELETE too (11.20)', async (t) => {
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

test('a session id from the response to server/discover is not sent with initialize (11.27)', async (t) => {
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

for (const [what, end] of [
  ['closed at once', ({ response }) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end()],
  ['204', ({ response }) => response.writeHead(204).end()],
  ['JSON', ({ json }) => json(200, {})],
] as const satisfies readonly (readonly [string, (exchange: WebExchange) => unknown])[]) {
  test(`a stream for notifications that is ${what} does not cause a listing every second (11.24)`, async (t) => {
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

test('event ids that no header can hold are ignored, and others are sent back unchanged (11.16)', async (t) => {
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
