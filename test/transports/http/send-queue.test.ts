import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createSendQueue } from '../../../src/transports/http/send-queue.ts';

test('a client that reads nothing of its response is dropped', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address && typeof address === 'object');
  const client = connect(address.port, '127.0.0.1').pause();
  t.after(() => {
    client.destroy();
    server.close();
  });
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [, response] = await once(server, 'request');
  // More than the kernel takes without a reader.
  response.end('x'.repeat(16 * 1024 * 1024));
  createSendQueue(response, 50);
  await once(response, 'close');
  assert.equal(response.destroyed, true);
});
