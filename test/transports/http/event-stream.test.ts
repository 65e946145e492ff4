import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createKeepAlive, type EventStream, openEventStream } from '../../../src/transports/http/event-stream.ts';
import { MAX_UNREAD } from '../../../src/transports/http/limits.ts';

/** A stream to a client that has not read anything yet. */
async function start(t: TestContext): Promise<{ stream: EventStream; response: ServerResponse; client: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address && typeof address === 'object');
  const client = connect(address.port, '127.0.0.1').pause();
  t.after(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  client.on('error', () => {}); // Some are dropped.
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [, response] = await once(server, 'request');
  return { stream: openEventStream(response), response, client };
}

test('a client that does not read is dropped before much more than the limit waits for it', async (t) => {
  const { stream, response } = await start(t);
  const message = JSON.stringify('x'.repeat(64 * 1024));
  let most = 0;
  for (let sent = 0; !response.destroyed; sent++) {
    assert.ok(sent < 1000, 'it was never dropped');
    stream.send(message);
    most = Math.max(most, response.writableLength);
    await new Promise((turn) => setImmediate(turn));
  }
  assert.ok(most <= MAX_UNREAD + 2 * message.length, `${most} bytes were held`);
  // Calls after that do nothing.
  stream.send('more');
  stream.keepAlive();
  stream.end();
});

test('a client that reads nothing between two keep-alives is dropped; one that reads is not', async (t) => {
  const { stream, response, client } = await start(t);
  // More than the kernel takes without a reader.
  while (response.writableLength === 0) stream.send('x'.repeat(256 * 1024));
  stream.keepAlive();
  assert.equal(response.destroyed, false);
  stream.keepAlive();
  assert.equal(response.destroyed, true);

  const live = await start(t);
  while (live.response.writableLength === 0) live.stream.send('x'.repeat(256 * 1024));
  live.stream.keepAlive();
  live.client.resume();
  while (live.response.writableLength > 0) await new Promise((turn) => setImmediate(turn));
  live.stream.keepAlive();
  live.stream.keepAlive();
  assert.equal(live.response.destroyed, false);
  client.destroy();
});

test('one timer calls every task until it is removed', async (t) => {
  const keepAlive = createKeepAlive(5);
  // The timer does not keep the process alive, so the test does.
  const alive = setInterval(() => {}, 1000);
  t.after(() => clearInterval(alive));
  const calls: string[] = [];
  const remove = keepAlive.add(() => calls.push('a'));
  await new Promise<void>((done) => keepAlive.add(() => (calls.push('b') > 3 ? done() : undefined)));
  assert.deepEqual(calls.slice(0, 4), ['a', 'b', 'a', 'b']);
  remove();
  calls.length = 0;
  await new Promise<void>((done) => keepAlive.add(done));
  assert.ok(!calls.includes('a'));
  keepAlive.stop();
});
