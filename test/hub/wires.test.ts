/** The parts between a server and the hub: events, headers, waiting, redirects, and the library's own face. */
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { createEventStreamParser, type StreamEvent } from '../../src/hub/connection/event-stream.ts';
import { findParamHeaders, paramHeaders } from '../../src/hub/connection/param-headers.ts';
import { createHub, type HubConfig } from '../../src/hub/index.ts';
import { eventually, fixture, upstream } from '../harness/hub.ts';
import { startUpstreamWeb } from '../harness/sdk-servers.ts';

function parse(text: string, cut: number) {
  const seen: (StreamEvent | string)[] = [];
  const parser = createEventStreamParser(
    {
      event: (event) => void seen.push(event),
      id: (id) => void seen.push(`id ${id}`),
      retry: (wait) => void seen.push(`retry ${wait}`),
    },
    100,
  );
  const bytes = Buffer.from(text);
  try {
    for (let at = 0; at < bytes.length; at += cut) parser.push(bytes.subarray(at, at + cut));
  } catch (error) {
    seen.push(String(error));
  }
  return seen;
}

const TOO_LONG = 'MessageTooLong: a message over 100 bytes was dropped';

test('an event stream reads the same however it is cut', () => {
  const rows: readonly (readonly [text: string, seen: readonly unknown[]])[] = [
    ['data: a\n\n', [{ type: 'message', data: 'a' }]],
    ['data:a\r\ndata: b\r\n\r\n', [{ type: 'message', data: 'a\nb' }]],
    [
      'event: endpoint\rdata: /x\r\rdata: y\n\n',
      [
        { type: 'endpoint', data: '/x' },
        { type: 'message', data: 'y' },
      ],
    ],
    [': comment\nid: 7\nretry: 500\ndata:\n\n', ['retry 500', 'id 7', { type: 'message', data: '' }]],
    ['id: 7\n\nid: 8\ndata: never ended', ['id 7']],
    ['data: a\r\n: b\r\n\r\ndata: c\n\r\n', ['a', 'c'].map((data) => ({ type: 'message', data }))],
    ['data\ndata: b\ndata:\n\n', [{ type: 'message', data: '\nb\n' }]],
    ['event: x\n\ndata:  y:z\n\n', [{ type: 'message', data: ' y:z' }]],
    ['\ufeffdata: a\n\n', [{ type: 'message', data: 'a' }]],
    ['retry: soon\nid: a\0b\nnonsense\n\ndata: ü🙂\n\n', [{ type: 'message', data: 'ü🙂' }]],
    [`${': x\n'.repeat(100)}data: a\n\n`, [{ type: 'message', data: 'a' }]],
    [`data: a\n\ndata: ${'x'.repeat(200)}\n\ndata: b\n\n`, [{ type: 'message', data: 'a' }, TOO_LONG]],
    [`${'data: x\n'.repeat(20)}\ndata: b\n\n`, [TOO_LONG]],
    [`data: ${'x'.repeat(94)}\n\n`, [{ type: 'message', data: 'x'.repeat(94) }]],
    ['data: never ended', []],
  ];
  for (const [text, seen] of rows) for (const cut of [1, 2, 3, 1000]) assert.deepEqual(parse(text, cut), seen, text);
});

test('what a stream costs grows with its bytes alone, whatever they are', () => {
  const millions = (piece: string) => Buffer.from(piece.repeat(Math.ceil(4_000_000 / piece.length)));
  const began = performance.now();
  for (const piece of ['\n', '\r\n', ':\n', 'data\n', 'id:1\n\n', 'x']) {
    const parser = createEventStreamParser({ event() {}, id() {}, retry() {} }, 32 * 1024 * 1024);
    const bytes = millions(piece);
    for (let at = 0; at < bytes.length; at += 1000) parser.push(bytes.subarray(at, at + 1000));
  }
  // A tenth of this on a quiet machine.
  assert.ok(performance.now() - began < 20_000);
});

test('arguments are repeated in headers only where a sound annotation asks for it', () => {
  const schema = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
  const text = (header: unknown) => ({ type: 'string', 'x-mcp-header': header });
  const sound = findParamHeaders(
    schema({ a: text('Region'), deep: schema({ b: { type: 'integer', 'x-mcp-header': 'Depth' } }) }),
  );
  assert.ok(sound.kind === 'sound');
  assert.deepEqual(paramHeaders(sound.headers, { a: 'eu', deep: { b: 3 }, c: 1 }), {
    'Mcp-Param-Region': 'eu',
    'Mcp-Param-Depth': '3',
  });
  assert.deepEqual(paramHeaders(sound.headers, { a: null }), {});
  const unsound: readonly object[] = [
    schema({ a: text('') }),
    schema({ a: text(1) }),
    schema({ a: text('a b') }),
    schema({ a: text('X'), b: text('x') }),
    schema({ a: { type: 'number', 'x-mcp-header': 'N' } }),
    schema({ a: { type: 'array', items: text('I') } }),
    schema({ a: { oneOf: [text('O')] } }),
    schema({}, { $defs: { d: text('D') } }),
  ];
  for (const one of unsound) assert.equal(findParamHeaders(one).kind, 'unsound', JSON.stringify(one));
  // Each name was once compared with all before it.
  const many = Array.from({ length: 6000 }, (_, at) => [`p${at}`, text(`H${at}${'x'.repeat(80)}`)]);
  const began = performance.now();
  assert.equal(findParamHeaders(schema(Object.fromEntries(many))).kind, 'sound');
  assert.ok(performance.now() - began < 2000);
  assert.equal(findParamHeaders(schema({ a: { type: 'string', default: { 'x-mcp-header': 'data' } } })).kind, 'sound');
});

const json = async (request: IncomingMessage) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  return JSON.parse(text === '' ? '{}' : text);
};

/** The least that a modern server must say. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { id, method } = await json(request);
  respond(response, id, method);
}

function respond(response: ServerResponse, id: unknown, method: string): void {
  const results: Record<string, object> = {
    'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    'tools/list': { tools: [{ name: 'one', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [] },
  };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...results[method] } }));
}

test('headers from the configuration go along with a redirect within the origin', async (t) => {
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

/** The least that a legacy server with sessions must say; `about` may answer instead. */
function legacy(about: (method: string, request: IncomingMessage, response: ServerResponse) => boolean) {
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

async function connect(t: TestContext, entry: object, options: Partial<HubConfig> = {}) {
  const hub = createHub({ mcpServers: { up: entry }, ...options });
  t.after(() => hub.close());
  await hub.connect();
  assert.equal(hub.status()[0]?.state, 'ready', JSON.stringify(hub.status()));
  return hub;
}

test('a call is sent once, even when the server hangs up on it', async (t) => {
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

test('a health check that is refused is a failed one', async (t) => {
  const web = await startUpstreamWeb(
    t,
    legacy((method, _request, response) => {
      if (method !== 'ping') return false;
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end('{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"who are you?"}}');
      return true;
    }),
  );
  const hub = await connect(t, { url: web.url }, { healthInterval: 50 });
  await eventually(() => /health check failed: HTTP 400/.test(hub.status()[0]?.reason ?? ''), 'the failure');
});

test('the standing stream is opened again after a failure, and the list read again behind the gap', async (t) => {
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

test('a standing stream with a message too long to hold is left, and not taken up where that would come again', async (t) => {
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

test('a stream that is taken up again leaves the server a moment, even one that wants none', async (t) => {
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

test('a server that comes back speaking otherwise is understood again', async (t) => {
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

test('a call that finds nobody there waits until its server is back', async (t) => {
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

test('a server that announces nothing is asked for tools all the same', async (t) => {
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

test('an SSE server may not send what we post to another origin', async (t) => {
  const web = await startUpstreamWeb(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('event: endpoint\ndata: http://127.0.0.1:9/messages\n\n');
  });
  const hub = createHub({ mcpServers: { up: { type: 'sse', url: web.url } } });
  t.after(() => hub.close());
  await hub.connect();
  assert.match(hub.status()[0]?.reason ?? '', /names an address of another origin/);
});

test('skillwire/hub alone connects, lists, calls, reads, tells of changes and ends', async (t) => {
  const resources = [{ uri: 'file:///a', name: 'a', text: 'of a' }];
  const hub = createHub({
    mcpServers: {
      one: upstream(`resources=${JSON.stringify(resources)}`),
      two: fixture('sdk-v1'),
      bad: { command: 7 },
    },
  });
  t.after(() => hub.close());
  await hub.connect();
  assert.deepEqual(
    hub.status().map(({ name, state }) => [name, state]),
    [
      ['bad', 'failed'],
      ['one', 'ready'],
      ['two', 'ready'],
    ],
  );
  assert.equal(hub.status()[0]?.reason, 'command must be text');
  const progress: unknown[] = [];
  const result = await hub.call(
    'one:slow',
    { ms: 20, steps: 2 },
    { onProgress: ({ progress: at }) => void progress.push(at) },
  );
  assert.deepEqual(result.content, [{ type: 'text', text: 'slow is done' }]);
  assert.deepEqual(progress, [1, 2]);
  assert.deepEqual(
    hub.resources().map(({ uri }) => uri),
    ['file:///a'],
  );
  assert.deepEqual(await hub.read('file:///a'), { contents: [{ uri: 'file:///a', text: 'of a' }] });
  await assert.rejects(hub.call('one:refuse'), { code: -32099, message: 'refused by the server' });
  await assert.rejects(hub.call('no:tool'), /no tool is called "no:tool"/);
  // Without an environment of its own a hub has ours.
  const { content } = await hub.call('one:env', { name: 'PATH' });
  assert.deepEqual(content, [{ type: 'text', text: process.env.PATH }]);
  const changed = new Promise((done) => hub.on('change', done));
  await hub.call('one:grow', { name: 'more' });
  assert.equal(await changed, 'one');
  assert.ok(hub.tools().some(({ name }) => name === 'one:more'));
  await hub.close();
  assert.deepEqual(hub.tools(), []);
});

test("the SDK's server-everything works behind the hub", async (t) => {
  const { createRequire } = await import('node:module');
  const entry = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  const hub = createHub({ mcpServers: { every: { command: process.execPath, args: [entry] } }, env: process.env });
  t.after(() => hub.close());
  await hub.connect();
  assert.equal(hub.status()[0]?.state, 'ready', JSON.stringify(hub.status()));
  assert.ok(hub.tools().length > 5 && hub.resources().length > 0);
  const echoed = await hub.call('every:echo', { message: 'hi' });
  assert.match(JSON.stringify(echoed.content), /hi/);
  const image = await hub.call('every:get-tiny-image', {});
  assert.ok(JSON.stringify(image).includes('"image/png"'));
});
