/** Subscriptions of clients that have gone. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { createSkillwire } from '../../src/index.ts';
import { createPeer } from '../harness/peer.ts';
import { makeTree, skillText } from '../harness/tree.ts';
import { openStream, startWeb } from '../harness/web.ts';

const URI = 'skill://custom/pdf/SKILL.md';

test('a POST whose SSE stream has closed begins no request (10.13)', async (t) => {
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
  const { at } = await startWeb(t, { tree, transport: 'sse' });
  const stream = await openStream(t, at('/mcp'), { verb: 'GET', headers: { accept: 'text/event-stream' } });
  const { data: path } = await stream.next();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: URI } });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const post = request(at(path), { method: 'POST', headers });
  const status = new Promise((done) => post.on('response', (response) => done(response.resume().statusCode)));
  post.write(body.slice(0, 10));
  // The first half has been taken when the answer to a later request is there.
  await openStream(t, at('/healthz'), { verb: 'GET' });
  stream.close();
  await new Promise((done) => setTimeout(done, 200));
  post.end(body.slice(10));
  assert.equal(await status, 404);
});

test('a subscription of a session that has ended is not followed (10.13)', async (t) => {
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf', 'old') });
  const skillwire = createSkillwire({ cwd: tree.path, home: tree.at('home'), skipPlugins: true, autoRefresh: false });
  t.after(() => skillwire.close());
  const [gone, here] = [createPeer(skillwire.handle), createPeer(skillwire.handle)];
  const subscribe = { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: URI } };
  gone.session.end();
  await gone.send(subscribe);
  await here.send(subscribe);
  tree.write('skills/pdf/SKILL.md', skillText('pdf', 'new and longer'));
  const told = () => here.received.some(({ method }) => method === 'notifications/resources/updated');
  for (let tries = 0; tries < 100 && !told(); tries++) {
    await skillwire.registry.refresh('test');
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.ok(told());
  assert.ok(!gone.received.some(({ method }) => method === 'notifications/resources/updated'));
});
