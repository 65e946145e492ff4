import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KEEP_ALIVE_MS } from '../../../src/limits.ts';
import * as http from '../../harness/http.ts';
import { mockTimers } from '../../harness/timers.ts';

const { ask, legacy, modern, openSession, openStream, startHttp } = http;
const STREAM = 'text/event-stream';
const v999 = { 'mcp-protocol-version': 'v999' };

test('a legacy client opens a session, uses it, and ends it with its stream; another id is unknown', async (t) => {
  const { url } = await startHttp(t);
  const session = await openSession(url);
  const statusOf = async (options: http.Ask, more: object = {}) =>
    (await ask(url, { ...options, headers: { ...session, ...more } })).status;
  const { status, text } = await ask(url, { ...legacy('echo', { text: 'é' }, 7), headers: session });
  assert.deepEqual([status, text], [200, '{"jsonrpc":"2.0","id":7,"result":{"text":"é"}}']);
  assert.equal(await statusOf(legacy('echo'), { 'mcp-session-id': `${session['mcp-session-id']}x` }), 404);
  for (const verb of ['GET', 'DELETE']) assert.equal(await statusOf({ verb }, v999), 400, verb);
  const stream = await openStream(t, url, { headers: session });
  assert.equal(await statusOf({ verb: 'DELETE' }, { 'mcp-protocol-version': '2025-11-25' }), 200);
  assert.equal(await stream.ended, true);
  for (const again of [legacy('echo'), { verb: 'DELETE' }, { verb: 'GET' }]) assert.equal(await statusOf(again), 404);
});

test('a message that stands alone needs no session and opens none; its errors have their own status', async (t) => {
  const { url } = await startHttp(t);
  const { body, headers } = modern('echo');
  const rows: readonly (readonly [string, http.Ask, number, number | undefined])[] = [
    ['a session that is not needed', { body, headers: { ...headers, 'mcp-session-id': 'x' } }, 200, undefined],
    ['a version header and no _meta', { ...legacy('echo'), headers: v999 }, 400, -32602],
    ['no headers', { body }, 400, -32020],
    ['an unknown version', modern('no/such', 'v999'), 400, -32022],
    ['an unknown method', modern('no/such'), 404, -32601],
    ['an unknown method in a session', { ...legacy('no/such'), headers: await openSession(url) }, 200, -32601],
  ];
  for (const [what, options, status, code] of rows) {
    const reply = await ask(url, options);
    assert.deepEqual([reply.status, reply.json.error?.code, reply.json.id], [status, code, 1], what);
    assert.equal(reply.headers['mcp-session-id'], undefined, what);
  }
});

test('a notification before the reply makes the response a stream that ends with the reply', async (t) => {
  const { url, called } = await startHttp(t);
  const answerTo = async (accept: string) => {
    const { headers, body } = modern('wait');
    const asking = ask(url, { body, headers: { ...headers, accept } });
    const { call, answer } = await called();
    call.notify('notifications/progress', { message: 'half' });
    answer('whole');
    return asking;
  };
  assert.match((await answerTo('*/*')).text, /^event: message\ndata: .*half.*\n\nevent: message\ndata: .*whole.*\n\n$/);
  assert.match((await answerTo('application/json')).text, /^\{.*whole.*\}$/);
  const { headers, json } = await ask(url, { ...http.hello, headers: { accept: STREAM } });
  assert.deepEqual([headers['content-type'], json.result.protocolVersion], [STREAM, '2025-11-25']);
  assert.equal(headers['mcp-session-id']?.length, 36);
});

test('the response to a long call becomes a stream, so that no proxy closes the connection', async (t) => {
  const { url, called } = await startHttp(t);
  mockTimers(t, 'setTimeout');
  const asking = openStream(t, url, modern('wait'));
  const { answer } = await called();
  t.mock.timers.tick(KEEP_ALIVE_MS);
  const stream = await asking;
  assert.equal(stream.headers['content-type'], STREAM);
  answer('at last');
  assert.equal((await stream.message()).result.text, 'at last');
  assert.equal(await stream.ended, true);
});

test('closing the response cancels a modern call, and no call of a session; that takes a notification', async (t) => {
  const { url, called } = await startHttp(t);
  const closeResponse = async (options: http.Ask) => {
    const asking = openStream(t, url, options);
    const { call } = await called();
    call.notify('notifications/progress', {});
    (await asking).close();
    return call.cancellation();
  };
  const alone = await closeResponse(modern('wait'));
  await http.eventually(() => alone.aborted, 'the modern call is cancelled');
  const headers = await openSession(url);
  const inSession = await closeResponse({ ...legacy('wait'), headers });
  // The next request shows that the server has seen the connection close and still knows the call.
  assert.match((await ask(url, { ...legacy('wait'), headers })).json.error.message, /still in flight/);
  const asking = ask(url, { ...legacy('wait', {}, 2), headers });
  await called();
  for (const requestId of [1, 2]) await ask(url, { ...legacy('notifications/cancelled', { requestId }), headers });
  const { status, text } = await asking;
  assert.deepEqual([status, text, inSession.aborted], [202, '', true]);
});
