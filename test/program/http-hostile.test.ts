/** What no client should send, sent to the port: the server answers or hangs up, and serves the next one. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { makeTree, skillText } from '../harness/tree.ts';
import { ask, initialize, openSession, startWeb } from '../harness/web.ts';

const start = (t: TestContext) => startWeb(t, { tree: makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') }) });

const head = (lines: readonly string[], body = '') =>
  `${['POST /mcp HTTP/1.1', 'Host: localhost', ...lines].join('\r\n')}\r\n\r\n${body}`;
const json = 'Content-Type: application/json';

const RAW: readonly (readonly [string, string | Buffer])[] = [
  ['nothing', ''],
  ['bytes', Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 197) % 256))],
  ['TLS', Buffer.from('16030100f1010000ed0303', 'hex')],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['two lengths', head([json, 'Content-Length: 1', 'Content-Length: 2'], '{}')],
  ['a length and chunks', head([json, 'Content-Length: 2', 'Transfer-Encoding: chunked'], '0\r\n\r\n')],
  ['a negative length', head([json, 'Content-Length: -1'])],
  ['a broken chunk', head([json, 'Transfer-Encoding: chunked'], 'zz\r\n')],
  ['a body cut short', head([json, 'Content-Length: 100'], '{"jsonrpc"')],
  ['a header with a line break', head(['X: a\nMcp-Session-Id: b', 'Content-Length: 0'])],
  ['two hosts', head(['Host: evil.example.com', 'Content-Length: 0'])],
  ['a path with a zero', 'GET /mcp\0 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['a path upwards', 'GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['a whole URL', 'GET http://evil.example.com/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['a tunnel', 'CONNECT evil.example.com:443 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['an upgrade', 'GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ['a thousand headers', head(Array.from({ length: 1000 }, (_, at) => `X${at}: y`))],
  ['many at once', head([json, 'Content-Length: 2'], '{}').repeat(100)],
];

test('bytes that are not an HTTP request do no harm', async (t) => {
  const { url, program } = await start(t);
  for (const [what, bytes] of RAW) {
    await t.test(what, async () => {
      await send(url, bytes);
      assert.equal((await ask(url, { body: initialize() })).status, 200);
      assert.doesNotMatch(program.stderr(), /error/);
    });
  }
});

test('odd session ids are unknown sessions', async (t) => {
  const { url, at } = await start(t);
  const right = await openSession(url);
  const odd = [
    '',
    ' ',
    '__proto__',
    'constructor',
    right.toUpperCase(),
    `${right}x`,
    right.slice(0, -1),
    `${right},${right}`,
    'x'.repeat(8000),
  ];
  for (const id of odd) {
    const reply = await ask(url, {
      headers: { 'mcp-session-id': id },
      body: { jsonrpc: '2.0', id: 1, method: 'ping' },
    });
    assert.equal(reply.status, 404, id);
    const older = await ask(at(`/messages?sessionId=${encodeURIComponent(id)}`), { body: initialize() });
    assert.equal(older.status, 404, id);
  }
});

test('responses that no request waits for, deep nesting and hostile keys are answered like anything else', async (t) => {
  const { url } = await start(t);
  const headers = { 'mcp-session-id': await openSession(url) };
  const rows: readonly (readonly [string, number])[] = [
    ['{"jsonrpc":"2.0","id":1,"result":{}}', 202],
    [`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{"x":1},"constructor":1}}`, 200],
    [`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`, 400],
    [`{"jsonrpc":"2.0","id":1,"method":"__proto__"}`, 200],
    [`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"__proto__"}}`, 200],
    [`[${'{"jsonrpc":"2.0","id":1,"method":"ping"},'.repeat(1000)}1]`, 400],
  ];
  for (const [raw, status] of rows) assert.equal((await ask(url, { headers, raw })).status, status, raw.slice(0, 80));
});

/** Sends the bytes, closes this side, and waits until the other side has. */
function send(url: string, bytes: string | Buffer): Promise<void> {
  return new Promise((done) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {}); // 'close' follows.
    socket.on('close', () => done());
    socket.resume().end(bytes);
  });
}
