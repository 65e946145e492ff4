import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { accepts, dropIfUnread } from '../../../src/transports/http/requests.ts';

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

test('a client that takes nothing of its answer is let go', async (t) => {
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
  dropIfUnread(response, 100);
  await once(response, 'close');
  assert.equal(response.destroyed, true);
});
