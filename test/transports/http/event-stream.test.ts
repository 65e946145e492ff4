import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { EncodedReply } from '../../../src/protocol/index.ts';
import { type EventStream, openEventStream } from '../../../src/transports/http/event-stream.ts';
import { MAX_UNREAD } from '../../../src/transports/http/limits.ts';

/** A stream to a client that has not read anything yet. */
async function start(
  t: TestContext,
  keepAliveMs = 60_000,
): Promise<{ stream: EventStream; response: ServerResponse; client: Socket }> {
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
  return { stream: openEventStream(response, keepAliveMs), response, client };
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
  stream.event('ping', '');
  stream.end();
});

test('a notification after a reply of many megabytes that is not read yet drops no client', async (t) => {
  const { stream, response, client } = await start(t);
  stream.reply(new EncodedReply([Buffer.alloc(4 * MAX_UNREAD, 'x')]));
  stream.send('a notification');
  assert.equal(response.destroyed, false);
  client.resume();
  while (response.writableLength > 0) await new Promise((turn) => setImmediate(turn));
  assert.equal(response.destroyed, false);
});

test('a client that reads nothing between two keep-alives is dropped; one that reads is not', async (t) => {
  const keepAliveMs = 1000;
  t.mock.timers.enable({ apis: ['setInterval'] });
  // Node 20.12 fails when the last timer that it mocks is cleared by its own callback, so there is another one.
  setInterval(() => {}, 1_000_000);
  const { stream, response } = await start(t, keepAliveMs);
  // More than the kernel takes without a reader.
  while (response.writableLength === 0) stream.send('x'.repeat(256 * 1024));
  t.mock.timers.tick(keepAliveMs);
  assert.equal(response.destroyed, false);
  t.mock.timers.tick(keepAliveMs);
  assert.equal(response.destroyed, true);

  const live = await start(t, keepAliveMs);
  while (live.response.writableLength === 0) live.stream.send('x'.repeat(256 * 1024));
  t.mock.timers.tick(keepAliveMs);
  live.client.resume();
  while (live.response.writableLength > 0) await new Promise((turn) => setImmediate(turn));
  t.mock.timers.tick(keepAliveMs);
  t.mock.timers.tick(keepAliveMs);
  assert.equal(live.response.destroyed, false);
});

test('a quiet stream has a comment at every keep-alive, until its end', { timeout: 30_000 }, async (t) => {
  const { stream, client } = await start(t, 5);
  let text = '';
  client.setEncoding('latin1').on('data', (chunk) => (text += chunk));
  client.resume();
  for (let comments = 0; comments < 3; comments = text.split('\r\n:\n\n').length - 1) await once(client, 'data');
  stream.end();
  // The last chunk of the response.
  while (!text.endsWith('\r\n0\r\n\r\n')) await once(client, 'data');
});
