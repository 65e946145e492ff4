/**
 * The built program over HTTP: both eras, many clients at once and under load, access, hostile requests, behind nginx, and
 * its end. The details of the transport are in test/transports/http.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as StreamableV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { type Ask, ask, eventually, hello, legacy, openSession, openStream } from '../harness/http.ts';
import { fileOf, upstream } from '../harness/hub.ts';
import { type Answer, modern, startProgram, startWeb } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const SKILLS = 50;
const nameOf = (at: number) => `skill-${at % SKILLS}`;
const many = (t: TestContext) => {
  const files = Array.from({ length: SKILLS }, (_, at) => [`skills/${nameOf(at)}/SKILL.md`, skillText(nameOf(at))]);
  return makeTree(t, Object.fromEntries(files));
};
const one = (t: TestContext) => makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') });

/** A request of a modern client, with the headers that repeat its body. */
function modernAsk(method: string, params: Answer = {}): Ask {
  const name = params.name ?? params.uri;
  const named = name === undefined ? {} : { 'mcp-name': name };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...named };
  return { headers, body: { jsonrpc: '2.0', id: 1, method, params: modern(params) } };
}
const LISTEN = modernAsk('subscriptions/listen', { notifications: { toolsListChanged: true } });
const load = (name: string) => ({ name: 'skill', arguments: { name } });

function assertLoaded({ status, json }: { status: number; json: Answer }, name: string): void {
  assert.equal(status, 200);
  assert.ok(json.result.content[0].text.startsWith(`Loading: ${name}\n`), name);
}

/** Does something `count` times, a few at a time. */
async function inParallel<T>(count: number, work: (at: number) => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  let next = 0;
  const line = async () => {
    for (let at = next++; at < count; at = next++) results[at] = await work(at);
  };
  await Promise.all(Array.from({ length: 50 }, line));
  return results;
}

// Some of them wait for most of their time, so they run side by side.
describe('over HTTP', { concurrency: 3 }, () => {
  test('200 clients at once, of both eras, get their own answers under equal ids, and are each told of a change', async (t) => {
    const tree = many(t);
    const { url } = await startWeb(t, { tree });
    const sessions = await inParallel(100, async () => {
      const headers = await openSession(url);
      return { headers, stream: await openStream(t, url, { headers }) };
    });
    const subscriptions = await inParallel(100, () => openStream(t, url, LISTEN));
    for (const stream of subscriptions)
      assert.equal((await stream.message()).method, 'notifications/subscriptions/acknowledged');
    const answers = await Promise.all(
      sessions.flatMap(({ headers }, at) => [
        ask(url, { ...legacy('tools/call', load(nameOf(at)), 7), headers }),
        ask(url, modernAsk('tools/call', load(nameOf(at)))),
      ]),
    );
    for (const [at, answer] of answers.entries()) assertLoaded(answer, nameOf(Math.floor(at / 2)));
    tree.write('skills/new/SKILL.md', skillText('new'));
    for (const stream of [...sessions.map((session) => session.stream), ...subscriptions])
      assert.equal((await stream.message()).method, 'notifications/tools/list_changed');
  });

  test('a thousand requests and abandoned sessions, with long texts, are answered within a small heap', async (t) => {
    const { url, program } = await startWeb(t, { tree: many(t), env: { NODE_OPTIONS: '--max-old-space-size=64' } });
    const first = await openSession(url);
    const calls = Array.from({ length: 1000 }, (_, at) => ask(url, modernAsk('tools/call', load(nameOf(at)))));
    for (const [at, answer] of (await Promise.all(calls)).entries()) assertLoaded(answer, nameOf(at));
    // The idlest goes when there are a thousand; what a client says of itself is not kept whole.
    const long = 'x'.repeat(1_500_000);
    const clientInfo = { name: 'test', version: long };
    const params = { protocolVersion: '2025-11-25', clientInfo, capabilities: { long } };
    for (let at = 0; at < 30; at++) assert.equal((await ask(url, legacy('initialize', params))).status, 200);
    const last = await openSession(url);
    await inParallel(999, async () => assert.equal((await ask(url, hello)).status, 200));
    const statuses = await Promise.all([first, last].map((headers) => ask(url, { ...legacy('ping'), headers })));
    const found = statuses.map(({ status }) => status);
    assert.deepEqual(found, [404, 200]);
    assert.equal(program.child.exitCode, null);
  });

  test('clients that read nothing, or send half a body, harm none that reads', async (t) => {
    const tree = one(t);
    tree.write('skills/pdf/big.txt', 'x'.repeat(12 * 1024 * 1024));
    const { url, program } = await startWeb(t, { tree });
    const big = modernAsk('resources/read', { uri: 'skill://custom/pdf/big.txt' });
    const post = (headers: Ask['headers']) => {
      const standard = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const asking = request(url, { method: 'POST', headers: { ...standard, ...headers }, agent: false });
      t.after(() => asking.destroy());
      return asking.on('error', () => {});
    };
    const deaf = Array.from({ length: 10 }, async () => {
      const [answer] = await once(post(big.headers).end(JSON.stringify(big.body)), 'response');
      return answer as IncomingMessage;
    });
    const answers = await Promise.all(deaf);
    for (let at = 0; at < 10; at++)
      post({ 'content-length': 16 * 1024 * 1024 }).write(Buffer.alloc(4 * 1024 * 1024, ' '));
    const whole = await ask(url, big);
    assert.equal(whole.json.result.contents[0].text.length, 12 * 1024 * 1024);
    assertLoaded(await ask(url, modernAsk('tools/call', load('pdf'))), 'pdf');
    // One that begins to read after all gets the whole answer.
    let bytes = 0;
    for await (const chunk of answers[0] ?? []) bytes += chunk.length;
    assert.ok(bytes > 12 * 1024 * 1024);
    const began = performance.now();
    program.child.kill('SIGTERM');
    assert.equal(await program.exit(), 0);
    assert.ok(performance.now() - began < 11_000);
  });

  test('odd session ids are unknown sessions', async (t) => {
    const { url, at } = await startWeb(t, { tree: one(t) });
    const { 'mcp-session-id': right } = await openSession(url);
    const wrong = ['', ' ', '__proto__', 'constructor', right.toUpperCase(), `${right}x`, right.slice(0, -1)];
    for (const id of [...wrong, `${right},${right}`, 'x'.repeat(8000)]) {
      const { status } = await ask(url, { ...legacy('ping'), headers: { 'mcp-session-id': id } });
      assert.equal(status, 404, id);
      assert.equal((await ask(at(`/messages?sessionId=${encodeURIComponent(id)}`), hello)).status, 404, id);
    }
    assert.equal((await ask(url, { ...legacy('ping'), headers: { 'mcp-session-id': right } })).status, 200);
  });

  const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"';
  const BODIES: readonly (readonly [what: string, body: string | Buffer, status: number])[] = [
    ['a response that no request waits for', '{"jsonrpc":"2.0","id":1,"result":{}}', 202],
    ['keys of every object', `${PING},"params":{"__proto__":{"x":1},"constructor":1}}`, 200],
    ['deep nesting', `${PING},"params":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`, 200],
    ['a method that every object has', '{"jsonrpc":"2.0","id":1,"method":"__proto__"}', 200],
    [
      'a tool that every object has',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"__proto__"}}',
      200,
    ],
    ['an id of 5,000 characters', `{"jsonrpc":"2.0","id":"${'i'.repeat(5000)}","method":"ping"}`, 200],
    ['a batch of 1,000', `[${`${PING}},`.repeat(1000)}1]`, 400],
    ['no JSON', '{', 400],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 400],
    ['17 MiB', ' '.repeat(17 * 1024 * 1024), 413],
  ];
  test('whatever a body holds, it is answered, and so is the next request', async (t) => {
    const { url, program } = await startWeb(t, { tree: one(t) });
    const headers = await openSession(url);
    for (const [what, raw, status] of BODIES) {
      assert.equal((await ask(url, { headers, raw })).status, status, what);
      assert.equal((await ask(url, { ...legacy('ping'), headers })).status, 200, what);
    }
    // Bytes that are no HTTP at all.
    for (const bytes of [
      '',
      '\0\xff\x16\x03\x01',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'GET /mcp HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
    ]) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket
        .on('error', () => {})
        .resume()
        .end(bytes, 'latin1');
      await once(socket, 'close');
      assert.equal((await ask(url, hello)).status, 200);
    }
    assert.doesNotMatch(program.stderr(), /error/);
  });

  test('access is what the options say: token, Host, Origin, and no port for others by mistake', async (t) => {
    const args = ['--allow-host', 'skills.test', '--allow-origin', 'https://app.test'];
    const { url, at } = await startWeb(t, { tree: one(t), args, env: { SKILLWIRE_TOKEN: 'tok-1234' } });
    const right = { authorization: 'Bearer tok-1234' };
    const rows: readonly (readonly [headers: Record<string, string>, status: number])[] = [
      [right, 200],
      [{}, 401],
      [{ authorization: 'Bearer tok-123' }, 401],
      [{ ...right, host: 'skills.test' }, 200],
      [{ ...right, host: 'evil.test' }, 403],
      [{ ...right, origin: 'https://app.test' }, 200],
      [{ ...right, origin: 'https://app.test.evil' }, 403],
    ];
    for (const [headers, status] of rows)
      assert.equal((await ask(url, { ...hello, headers })).status, status, JSON.stringify(headers));
    assert.equal((await ask(at('/healthz'))).status, 200, 'health needs no token');
    const open = ['--transport', 'http', '--host', '0.0.0.0', '--port', '0'];
    const refused = startProgram(t, { tree: makeTree(t), args: open });
    assert.equal(await refused.exit(), 2);
    assert.match(refused.stderr(), /0\.0\.0\.0 lets others in: set SKILLWIRE_TOKEN, or say --no-auth/);
  });

  test('SIGTERM: health is 503, new requests too, what is in flight is answered, streams end, exit 0', async (t) => {
    const tree = one(t);
    tree.write('home/.kode.json', fileOf({ up: upstream() }));
    const { url, at, program } = await startWeb(t, { tree, args: ['--hub'] });
    await program.waitForStderr(/server up: ready/);
    const headers = await openSession(url);
    const streams = [await openStream(t, url, { headers }), await openStream(t, at('/sse'))];
    const listening = await openStream(t, url, LISTEN);
    await listening.message();
    const slow = { name: 'up:slow', arguments: { ms: 1000 } };
    const calls = [ask(url, { ...legacy('tools/call', slow), headers }), ask(url, modernAsk('tools/call', slow))];
    await ask(url, { ...legacy('tools/call', { name: 'up:pid' }), headers }); // Behind them: they have been read.
    const began = performance.now();
    program.child.kill('SIGTERM');
    let health = 200;
    while (health === 200) health = (await ask(at('/healthz'))).status;
    assert.equal(health, 503);
    assert.equal((await ask(url, hello)).status, 503);
    for (const { json } of await Promise.all(calls)) assert.equal(json.result.content[0].text, 'slow is done');
    assert.equal((await listening.message()).result.resultType, 'complete');
    assert.deepEqual(await Promise.all([...streams, listening].map(({ ended }) => ended)), [true, true, true]);
    assert.equal(await program.exit(), 0);
    assert.ok(performance.now() - began < 5000);
    assert.match(program.stderr(), /\nskillwire: stopped: SIGTERM\n$/);
  });
});

// --- behind nginx ---

// Debian puts it where only root looks.
const NGINX = ['nginx', '/usr/sbin/nginx'].find((path) => !spawnSync(path, ['-v']).error);
const skip = NGINX === undefined && 'nginx is not installed';

test('behind nginx: any of several servers answers a modern client, one of them a session, and events pass', {
  skip,
}, async (t) => {
  const tree = one(t);
  const [first, second] = await Promise.all([startWeb(t, { tree }), startWeb(t, { tree })]);
  const url = await startNginx(t, tree, [first.url, second.url]);
  const lists = await Promise.all(Array.from({ length: 20 }, () => ask(url, modernAsk('tools/list'))));
  assert.deepEqual([...new Set(lists.map(({ status }) => status))], [200]);
  assert.equal(new Set(lists.map(({ text }) => text)).size, 1, 'equal trees give equal bytes');
  const stream = await openStream(t, url, LISTEN);
  assert.match((await stream.message()).method, /acknowledged$/);
  for (const [name, transport] of [
    ['stream', new StreamableV1(new URL(url))],
    ['sse', new SseV1(new URL('/sse', url))],
  ] as const) {
    const client = new ClientV1({ name: 'tour', version: '1' });
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
    await client.connect(transport as Parameters<ClientV1['connect']>[0]);
    for (let round = 0; round < 8; round++) assert.notEqual((await client.callTool(load('pdf'))).isError, true);
    tree.write(`skills/${name}/SKILL.md`, skillText(name));
    assert.equal((await stream.message()).method, 'notifications/tools/list_changed');
    await eventually(() => changes > 0, 'the notification');
    await client.close();
  }
  stream.close();
  const client = new Client({ name: 'tour', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  // The client notices nothing when one of the servers ends.
  first.program.child.kill('SIGTERM');
  assert.equal(await first.program.exit(), 0);
  for (let round = 0; round < 6; round++) assert.notEqual((await client.callTool(load('pdf'))).isError, true);
  await client.close();
});

/** In front of the given servers; a client with a session stays with one of them. Gives the URL. */
async function startNginx(t: TestContext, tree: Tree, servers: readonly string[]): Promise<string> {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as { port: number };
  free.close();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${tree.at(name)};`,
  );
  const hosts = servers.map((url) => `server ${new URL(url).host};`).join(' ');
  const config = tree.write(
    'nginx.conf',
    `daemon off; pid ${tree.at('nginx.pid')}; error_log ${tree.at('nginx.log')}; events {}
http {
  ${temporary.join(' ')} access_log off;
  map $http_mcp_protocol_version $skillwire { 2026-07-28 any; default sticky; }
  upstream any { ${hosts} }
  upstream sticky { ip_hash; ${hosts} }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://$skillwire;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host localhost;
    }
  }
}
`,
  );
  const child = spawn(NGINX ?? '', ['-c', config, '-e', tree.at('nginx.log')], { stdio: 'ignore' });
  const ended = once(child, 'close');
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  for (const url = `http://127.0.0.1:${port}/mcp`; ; ) {
    const reply = await ask(new URL('/healthz', url).href).catch(() => undefined);
    if (reply?.status === 200) return url;
    assert.equal(child.exitCode, null, 'nginx ended');
    await new Promise((again) => setTimeout(again, 20));
  }
}
