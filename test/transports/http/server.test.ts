import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { REQUEST_CHECK_MS, REQUEST_MS } from '../../../src/limits.ts';
import { ask, eventually, hello, legacy, modern, openSession, startHttp } from '../../harness/http.ts';

const PAGE = 'https://app.example.com';
const post = (lines: string, body: string) =>
  `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${lines}\r\n\r\n${body}`;

test('access is checked before every path and verb, and a page of an allowed origin sees the refusal', async (t) => {
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
  // Neither the preflight nor a refusal has a token; the page must be able to read both.
  for (const [verb, expected] of Object.entries({ OPTIONS: 200, POST: 401 })) {
    const { status, headers } = await ask(url, { verb, headers: { origin: PAGE } });
    assert.deepEqual([status, headers['access-control-allow-origin']], [expected, PAGE], verb);
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
  const asking = ask(url, { ...legacy('wait'), headers: await openSession(url) });
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
  const { url, called, close } = await startHttp(t, { lastMs: 100 });
  const lost = assert.rejects(ask(url, modern('wait')), /socket hang up|ECONNRESET/);
  await called();
  const half = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  half.write(post('Content-Length: 9', '{'));
  await close();
  await lost;
});

test('requests behind another on one connection wait for their turn, and never run when it is lost', async (t) => {
  const { called, url } = await startHttp(t);
  const { headers = {}, body } = modern('wait');
  const content = JSON.stringify(body);
  const lines = Object.entries({ ...headers, 'content-length': content.length }).map((line) => line.join(': '));
  const socket = connect(Number(new URL(url).port), '127.0.0.1').resume();
  socket.write(post(lines.join('\r\n'), content).repeat(3));
  (await called()).answer('first');
  const second = await called();
  socket.destroy();
  await eventually(() => second.call.cancellation().aborted, 'the second is cancelled');
  const other = ask(url, modern('wait'));
  (await called()).answer('not the third, which would have come before this one');
  assert.match((await other).json.result.text, /^not the third/);
});

test('thousands of requests in one piece are all answered, and so is what comes after them', async (t) => {
  const { url } = await startHttp(t);
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
  let text = '';
  socket.on('data', (more: string) => (text += more));
  for (const round of [1, 2]) {
    socket.write('GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(4000));
    await eventually(() => text.split('HTTP/1.1 404').length > 4000 * round, `the answers of round ${round}`);
  }
  socket.destroy();
});

test('the time for a request and the time between two checks of it are under 30 seconds', () => {
  assert.ok(REQUEST_MS + REQUEST_CHECK_MS < 30_000);
});
