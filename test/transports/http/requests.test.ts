import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { accepts, useBody } from '../../../src/transports/http/requests.ts';
import { createHttpEndpoint } from '../../../src/transports/http/streamable.ts';

/** A request whose body has not arrived yet. */
function makePost() {
  const request = Object.assign(new IncomingMessage(new Socket()), { method: 'POST' });
  request.headers = { 'content-type': 'application/json' };
  return { request, response: new ServerResponse(request) };
}

function arrive(request: IncomingMessage): void {
  request.push('{}');
  request.push(null);
}

test('the accepted types are read from the Accept header', () => {
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

test('all bodies that have arrived are read before the first request is answered', async () => {
  const events: string[] = [];
  const posts = [makePost(), makePost()];
  const used = posts.map(({ request, response }) => useBody(request, response, () => void events.push('use')));
  for (const { request } of posts) {
    request.on('end', () => events.push('read'));
    arrive(request);
  }
  await Promise.all(used);
  assert.deepEqual(events, ['read', 'read', 'use', 'use']);
});

test('a message that stands alone is not run when its client is gone before its turn', async (t) => {
  const sessions: unknown[] = [];
  const endpoint = createHttpEndpoint(async (choose) => {
    sessions.push(typeof choose === 'function' ? choose({ session: 'none', stream: false }) : choose);
  }, 60_000);
  t.after(() => endpoint.close());
  const { request, response } = makePost();
  request.on('end', () => request.socket.destroy());
  arrive(request);
  await endpoint.routes.get('/mcp')?.get('POST')?.(request, response);
  assert.deepEqual(sessions, [undefined]);
});
