import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingsFrom } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { createServer } from '../src/server.ts';
import { createSkillwire } from '../src/skillwire.ts';
import { createPeer } from './harness/peer.ts';
import { makeTree, skillText } from './harness/tree.ts';

const SHAKE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

test('handshakes are answered before anything is loaded; other messages wait, and keep their order', async (t) => {
  const tree = makeTree(t, { 'skills/one/SKILL.md': skillText('one') });
  const lines: string[] = [];
  const log = createLog((line) => void lines.push(line), 'info');
  const settings = settingsFrom({ skillDirs: [tree.at('skills')], scanDefaultDirs: false, skipPlugins: true, log });
  const server = createServer(settings, []);
  t.after(() => server.end());
  const peer = createPeer(server.handle);
  const all = [
    peer.send({ jsonrpc: '2.0', id: 'list', method: 'tools/list' }),
    peer.send({ jsonrpc: '2.0', id: 'shake', method: 'initialize', params: SHAKE }),
    peer.send({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    peer.send({ jsonrpc: '2.0', id: 'gone', method: 'skills/list' }),
    peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'gone' } }),
    peer.send({ jsonrpc: '2.0', id: 'unknown', method: 'no/such' }),
    peer.send([]),
    peer.sendRaw('{'),
    peer.send({ jsonrpc: '2.0', id: 'ping', method: 'ping' }),
  ];
  await Promise.all([all[1], all[8]]);
  assert.deepEqual(
    peer.received.map(({ id }) => id),
    ['shake', 'ping'],
  );
  assert.equal(server.registry.current(), undefined);
  assert.ok(!lines.some((line) => line.includes('scanning')));
  assert.equal(server.health(true).state, 'starting');
  // No further request will come; those that wait are answered all the same.
  server.stop(false);
  await Promise.all(all);
  const rest = peer.received.slice(2);
  assert.deepEqual(rest.map(({ id, error }) => [id, error?.code]).toSorted(), [
    [null, -32600],
    [null, -32700],
    ['list', undefined],
    ['unknown', -32601],
  ]);
  assert.match(JSON.stringify(rest), /<name>one<\/name>/);
  assert.equal(server.health(true).tools, 4);
});

test('what waits for a client that has left meanwhile is not begun', async (t) => {
  const server = createServer(settingsFrom({ scanDefaultDirs: false, skipPlugins: true }), []);
  t.after(() => server.end());
  const peer = createPeer(server.handle);
  const waiting = peer.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  peer.session.end();
  await waiting;
  assert.deepEqual(peer.received, []);
  server.stop(true);
});

test('an embedder may use and close a server at once', async (t) => {
  const tree = makeTree(t, { 'skills/one/SKILL.md': skillText('one') });
  const options = { skillDirs: [tree.at('skills')], scanDefaultDirs: false, skipPlugins: true, home: tree.at('.') };
  const used = createSkillwire(options);
  const [snapshot, problems, called] = await Promise.all([
    used.registry.refresh('test'),
    used.examine(),
    createPeer(used.handle).call('skill', { name: 'one' }),
  ]);
  assert.deepEqual(
    snapshot.names.listed.map(({ id }) => id),
    ['one'],
  );
  assert.deepEqual(problems, []);
  assert.match(called, /^Loading: one/);
  await used.close();
  await createSkillwire({ ...options, hub: true }).close();
});
