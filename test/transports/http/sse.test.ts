import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { MAX_RUNNING, MAX_WAITING } from '../../../src/limits.ts';
import { ask, eventually, hello, legacy, openStream, startHttp } from '../../harness/http.ts';

async function start(t: TestContext) {
  const server = await startHttp(t, { announce: 'sse' });
  const stream = await openStream(t, server.url);
  const { data } = await stream.next();
  return { ...server, stream, messages: server.at(data) };
}

test('a session ends with its stream: its calls are cancelled, and its path is 404', async (t) => {
  const { at, stream, messages, called } = await start(t);
  await ask(messages, legacy('wait'));
  const { call } = await called();
  // A POST whose body ends after the stream begins no request.
  const late = request(messages, { method: 'POST', headers: { 'content-type': 'application/json' } });
  late.flushHeaders();
  await ask(at('/healthz'));
  stream.close();
  await eventually(() => call.cancellation().aborted, 'the call is cancelled');
  late.end(JSON.stringify(hello.body));
  const [response] = await once(late, 'response');
  assert.equal(response.resume().statusCode, 404);
  for (const path of [messages, at('/messages?sessionId=')]) assert.equal((await ask(path, hello)).status, 404, path);
  assert.equal((await ask(at('/messages?x=1'), hello)).status, 400);
});

test('so many requests of one client run at once; others wait and can be cancelled; too many are refused', async (t) => {
  const { stream, messages, called, close } = await start(t);
  const post = async (id: number) => (await ask(messages, legacy('wait', {}, id))).status;
  for (let id = 0; id < MAX_RUNNING + MAX_WAITING; id++) assert.equal(await post(id), 202);
  assert.equal(await post(-1), 503);
  for (let id = 0; id < MAX_RUNNING; id++) {
    const { call, answer } = await called();
    assert.equal(call.id, id);
    if (id === 0) answer('room for one');
  }
  assert.equal((await called()).call.id, MAX_RUNNING);
  for (const requestId of [MAX_RUNNING + 1, 1]) await ask(messages, legacy('notifications/cancelled', { requestId }));
  assert.equal((await called()).call.id, MAX_RUNNING + 2);
  stream.close();
  const began = performance.now();
  await close();
  assert.ok(performance.now() - began < 5000, 'those that waited are still waited for');
});
