/** What is particular to the older HTTP+SSE transport; whole exchanges are in test/program (seed-004, hub-life). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openClient } from '../../src/hub/client.ts';
import * as harness from '../harness/connections.ts';
import { DONE, eventually, sseServer, startWeb, type WebExchange } from '../harness/connections.ts';

const sse = ({ href: url }: URL) => ({ kind: 'sse', url, headers: {} }) as const;

test('a POST that is left open delays no answer; a call is cancelled by a notification; the stream is all', async (t) => {
  const server = sseServer('/messages', ({ id, response }) => void (id === undefined && response.writeHead(202).end()));
  const web = await startWeb(t, (one) => one.method === 'wait' || server.about(one));
  const client = await harness.connect(t, sse(web.url));
  assert.deepEqual(await client.request('tools/call', {}, { timeout: 5000 }), DONE);
  await assert.rejects(client.request('wait', {}, { timeout: 100 }), /no answer to wait within 100 ms/);
  await eventually(() => web.count('notifications/cancelled') === 1, 'the notification');
  server.stream()?.response.end();
  await eventually(() => client.end.aborted, 'its end');
  assert.equal(client.end.reason.message, 'the server closed the stream');
});

const REFUSED: readonly (readonly [what: string, about: (exchange: WebExchange) => unknown, reason: RegExp])[] = [
  ['names another origin', ({ event }) => event('event: endpoint\ndata: http://127.0.0.1:9/\n\n'), /another origin/],
  ['has no stream', ({ response }) => response.writeHead(404).end(), /^HTTP 404$/],
  ['answers JSON', ({ json }) => json(200, {}), /the answer is application\/json, not a stream of events/],
];
for (const [what, about, reason] of REFUSED)
  test(`a server that ${what} fails with that reason`, async (t) => {
    const web = await startWeb(t, (exchange) => Boolean(about(exchange) ?? true));
    await assert.rejects(openClient(sse(web.url), harness.contextWith()), { message: reason });
  });
