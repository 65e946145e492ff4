import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { REQUEST_CHECK_MS, REQUEST_MS } from '../../../src/limits.ts';
import { ask, eventually, hello, modern, openStream, startHttp } from '../../harness/http.ts';

const PAGE = 'https://app.example.com';
const TOKEN = { authorization: 'Bearer s3cret' };

test('access is checked before every path and verb, and only a page of an allowed origin gets CORS headers', async (t) => {
  const { url, at } = await startHttp(t, { token: 's3cret', allowOrigins: [PAGE] });
  for (const path of ['/mcp', '/sse', '/messages?sessionId=x', '/', '/healthz']) {
    for (const verb of ['GET', 'POST', 'DELETE', 'OPTIONS', 'PUT']) {
      for (const headers of [{ host: 'evil.example.com' }, { origin: 'http://evil.example.com' }])
        assert.equal((await ask(at(path), { verb, headers })).status, 403, `${verb} ${path}`);
      const { status, headers } = await ask(at(path), { verb });
      const expected = path === '/healthz' ? [200, undefined] : [401, 'Bearer realm="skillwire"'];
      assert.deepEqual([status, headers['www-authenticate']], expected, `${verb} ${path}`);
    }
  }
  const pages = [
    ['the preflight', { verb: 'OPTIONS', headers: { origin: PAGE } }, 200, PAGE],
    ['a refusal', { ...hello, headers: { origin: PAGE } }, 401, PAGE],
    ['an answer', { ...hello, headers: { ...TOKEN, origin: PAGE } }, 200, PAGE],
    ['an answer to a local page', { ...hello, headers: { ...TOKEN, origin: 'http://localhost:1' } }, 200, undefined],
  ] as const;
  for (const [what, options, expected, origin] of pages) {
    const { status, headers } = await ask(url, options);
    assert.deepEqual([status, headers['access-control-allow-origin']], [expected, origin], what);
  }
});

test('both transports are one server; the word chooses the address that is announced', async (t) => {
  for (const announce of ['http', 'sse'] as const) {
    const { url, at } = await startHttp(t, { announce });
    assert.equal(new URL(url).pathname, announce === 'sse' ? '/sse' : '/mcp');
    assert.equal((await ask(at('/mcp'), hello)).status, 200);
    assert.equal((await (await openStream(t, at('/mcp'))).next()).event, 'endpoint');
    assert.equal((await ask(at('/sse'), hello)).headers.allow, 'GET');
    assert.equal((await ask(at('/mcp'), { verb: 'PUT' })).headers.allow, 'GET, POST, DELETE');
    assert.equal((await ask(at('/mcp/'), hello)).status, 404);
  }
});

test('health is the state and nothing else: 503 before it is ready and while it stops; a fault is a 500', async (t) => {
  let isReady = () => false;
  const { at, url, called, close, faults } = await startHttp(t, { isReady: () => isReady() });
  const health = async () => {
    const { status, text } = await ask(at('/healthz'));
    return `${status} ${text}`;
  };
  assert.equal(await health(), '503 {"state":"starting"}');
  isReady = () => assert.fail('broken');
  assert.match(await health(), /^500 .*see the log/);
  assert.match(String(faults), /broken/);
  isReady = () => true;
  assert.equal(await health(), '200 {"state":"ready"}');
  const asking = ask(url, modern('wait'));
  const { answer } = await called();
  const closed = close();
  assert.equal(await health(), '503 {"state":"stopping"}');
  const refused = await ask(url, hello);
  assert.deepEqual([refused.status, refused.headers.connection], [503, 'close']);
  answer('done');
  assert.equal((await asking).json.result.text, 'done');
  await closed;
  await assert.rejects(ask(url, hello), /ECONNREFUSED|hang up|ECONNRESET/);
});

test('closing takes no longer than it may, whatever a peer does', async (t) => {
  const { url, called, close, port } = await startHttp(t, { lastMs: 100 });
  const lost = assert.rejects(ask(url, modern('wait')), /socket hang up|ECONNRESET/);
  await called();
  const half = connect(port, '127.0.0.1').on('error', () => {});
  half.write(post('Content-Length: 9', '{'));
  await close();
  await lost;
});

test('requests behind another on one connection wait for their turn, and never run when it is lost', async (t) => {
  const { port, called, url } = await startHttp(t);
  const { headers = {}, body } = modern('wait');
  const content = JSON.stringify(body);
  const lines = Object.entries({ ...headers, 'content-length': content.length }).map((line) => line.join(': '));
  const socket = connect(port, '127.0.0.1').resume();
  socket.write(post(lines.join('\r\n'), content).repeat(3));
  (await called()).answer('first');
  const second = await called();
  socket.destroy();
  await eventually(() => second.call.cancellation().aborted, 'the second is cancelled');
  const other = ask(url, modern('wait'));
  (await called()).answer('not the third, which would have come before this one');
  assert.match((await other).json.result.text, /^not the third/);
});

function post(lines: string, body = ''): string {
  return `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${lines}\r\n\r\n${body}`;
}

const RAW: readonly (readonly [string, string | Buffer, RegExp])[] = [
  ['nothing', '', /^$/],
  ['bytes', Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 197) % 256)), /^HTTP\/1.1 400 /],
  ['two lengths', post('Content-Length: 1\r\nContent-Length: 2', '{}'), /^HTTP\/1.1 400 /],
  ['a length and chunks', post('Content-Length: 2\r\nTransfer-Encoding: chunked', '0\r\n\r\n'), /^HTTP\/1.1 400 /],
  ['a body cut short', post('Content-Length: 100', '{"jsonrpc"'), /^$|^HTTP\/1.1 400 /],
  ['two hosts', post('Host: evil.example.com\r\nContent-Length: 0'), /^HTTP\/1.1 40[03] /],
  ['a whole URL', 'GET http://evil.example.com/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n', /^HTTP\/1.1 200 /],
  ['a tunnel', 'CONNECT evil.example.com:443 HTTP/1.1\r\nHost: localhost\r\n\r\n', /^$/],
  ['long headers', post(`X: ${'x'.repeat(16 * 1024)}`), /^HTTP\/1.1 431 /],
  ['many at once', post('Content-Length: 2', '{}').repeat(100), /^(?:HTTP\/1.1 400 (?:.|\s)*?){100}$/],
];

test('bytes that are not a request do no harm', async (t) => {
  const { port, url, faults } = await startHttp(t);
  for (const [what, bytes, expected] of RAW) {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    let text = '';
    socket.on('data', (chunk) => (text += chunk)).on('error', () => {}); // 'close' follows.
    socket.end(bytes);
    await once(socket, 'close');
    assert.match(text, expected, what);
    assert.equal((await ask(url, hello)).status, 200, what);
  }
  assert.deepEqual(faults, []);
});

test('the time for a request and the time between two checks of it are under 30 seconds', () => {
  assert.ok(REQUEST_MS + REQUEST_CHECK_MS < 30_000);
});
