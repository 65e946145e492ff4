import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { KEEP_ALIVE_MS, MAX_UNREAD } from '../../../src/limits.ts';
import { EncodedReply } from '../../../src/protocol/index.ts';
import { openEventStream } from '../../../src/transports/http/streams.ts';
import { eventually } from '../../harness/http.ts';
import { mockTimers } from '../../harness/timers.ts';

/** A stream to a client that does not read. */
async function start(t: TestContext) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('latin1');
  t.after(() => server.close().closeAllConnections());
  client.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'); // Some are dropped.
  const [, response] = await once(server, 'request');
  /** The client reads from now on; gives what it has read. */
  const read = () => {
    let text = '';
    client.on('data', (chunk) => (text += chunk));
    return () => text;
  };
  return { stream: openEventStream(response), response, read };
}

test('a client that reads its replies late is kept; one that does not read is dropped before much more than the limit waits', async (t) => {
  const { stream, response, read } = await start(t);
  for (let at = 0; at < 3; at++) stream.reply(new EncodedReply([Buffer.alloc(2 * MAX_UNREAD, 'x')]));
  stream.send('a notification');
  assert.deepEqual([response.destroyed, stream.isFull()], [false, true]);
  read();
  await eventually(() => !stream.isFull(), 'all is read');
  assert.equal(response.destroyed, false);
  const deaf = await start(t);
  const message = 'x'.repeat(64 * 1024);
  let most = 0;
  for (let sent = 0; !deaf.response.destroyed; sent++) {
    assert.ok(sent < 1000, 'it was never dropped');
    deaf.stream.send(message);
    most = Math.max(most, deaf.response.writableLength);
    await new Promise((turn) => setImmediate(turn));
  }
  assert.ok(most <= MAX_UNREAD + 2 * message.length, `${most} bytes were held`);
});

test('a quiet stream has a comment at every keep-alive, until its end', async (t) => {
  mockTimers(t, 'setInterval');
  setInterval(() => {}, 1_000_000); // Node 20.12 fails when its last mocked timer is cleared in its own callback.
  const { stream, response, read } = await start(t);
  const text = read();
  // Node closes a connection on which nothing moved in two of these times.
  assert.equal(response.socket.timeout, 2 * KEEP_ALIVE_MS);
  for (let comments = 1; comments < 4; comments++) {
    t.mock.timers.tick(KEEP_ALIVE_MS);
    await eventually(() => text().split('\r\n:\n\n').length > comments, 'a comment');
  }
  stream.end();
  await eventually(() => text().endsWith('\r\n0\r\n\r\n'), 'the last chunk of the response');
  assert.match(text(), /content-type: text\/event-stream\r\ncache-control: no-store\r\nx-accel-buffering: no\r\n/);
});
