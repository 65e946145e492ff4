import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { accepts, sendText, UNREAD_MS } from '../../src/transports/requests.ts';

test('what a client accepts is read off its header', () => {
  const rows: readonly (readonly [string | undefined, string, boolean])[] = [
    [undefined, 'application/json', true],
    ['*/*', 'application/json', true],
    ['application/*', 'application/json', true],
    ['application/json, text/event-stream', 'text/event-stream', true],
    ['text/event-stream,application/json', 'application/json', true],
    ['TEXT/Event-Stream ; q=0.5', 'text/event-stream', true],
    ['application/json', 'text/event-stream', false],
    ['application/json;q=0, */*', 'text/event-stream', true],
    ['text/event-stream;q=0', 'text/event-stream', false],
    ['text/event-stream; q=0.000', 'text/event-stream', false],
    ['text/event-stream;q=0.001', 'text/event-stream', true],
    ['', 'application/json', false],
    ['json', 'application/json', false],
  ];
  for (const [accept, type, expected] of rows) assert.equal(accepts(accept, type), expected, `${accept} for ${type}`);
});

test('an answer that its client does not take has a time to be taken in', async (t) => {
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
  sendText(response, 200, 'x'.repeat(16 * 1024 * 1024));
  assert.equal(response.socket.timeout, UNREAD_MS);
});
