import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { settingsFrom } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import type { Source } from '../src/model.ts';
import { createServer } from '../src/server.ts';
import { createSkillwire } from '../src/skillwire.ts';
import { eventually } from './harness/hub.ts';
import { createGate, createPeer, type Peer } from './harness/peer.ts';
import { makeTree, skillText } from './harness/tree.ts';

const SHAKE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

test('handshakes and errors are answered before anything is loaded; other requests wait', async (t) => {
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
  await Promise.all(all.filter((_, at) => at !== 0 && at !== 3));
  assert.deepEqual(peer.received.map(({ id, error }) => [id, error?.code]).toSorted(), [
    [null, -32600],
    [null, -32700],
    ['ping', undefined],
    ['shake', undefined],
    ['unknown', -32601],
  ]);
  assert.equal(server.registry.current(), undefined);
  assert.ok(!lines.some((line) => line.includes('scanning')));
  assert.equal(server.health(true).state, 'starting');
  // No further request will come; those that wait are answered all the same.
  server.stop(false);
  await Promise.all(all);
  const rest = peer.received.slice(5);
  assert.deepEqual(
    rest.map(({ id }) => id),
    ['list'],
  );
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

const tool = (name: string) => ({ name, inputSchema: { type: 'object' }, run: () => ({ content: [] }) });
const ALONE = { scanDefaultDirs: false, skipPlugins: true, autoRefresh: false };

/** A client of a server that has one source besides the skills; `changed` is what the source calls after a change. */
function serve(t: TestContext, load: Source['load']): { readonly peer: Peer; changed(): void } {
  let changed: (reason: string) => void = () => {};
  const onChange = (listener: typeof changed) => {
    changed = listener;
  };
  const skillwire = createSkillwire({ ...ALONE, sources: [{ name: 'test', load, onChange }] });
  t.after(() => skillwire.close());
  return { peer: createPeer(skillwire.handle), changed: () => changed('test') };
}

async function shakeHands(peer: Peer): Promise<void> {
  await peer.request('initialize', SHAKE);
  void peer.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
}

const isTold = ({ received }: Peer) => received.some(({ method }) => method === 'notifications/tools/list_changed');

test('a change right after the first list, before everything is loaded, is announced', async (t) => {
  const tools = [tool('one')];
  const { peer, changed } = serve(t, async () => ({ tools: [...tools] }));
  await shakeHands(peer);
  const { result } = await peer.request('tools/list');
  assert.ok(result.tools.some(({ name }: { name: string }) => name === 'one'));
  tools.push(tool('two'));
  changed();
  await eventually(() => isTold(peer), 'the notification');
});

test('while the first scan takes long, a request that waits for it can be cancelled', async (t) => {
  const gate = createGate();
  const { peer } = serve(t, () => gate.pass().then(() => ({})));
  const waiting = peer.send({ jsonrpc: '2.0', id: 'list', method: 'tools/list' });
  await peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'list' } });
  gate.open();
  await waiting;
  assert.deepEqual(peer.received, []);
});

test('while the first scan takes long, what does not need it is answered', async (t) => {
  const gate = createGate();
  const { peer } = serve(t, () => gate.pass().then(() => ({})));
  const list = peer.request('tools/list');
  assert.deepEqual((await peer.request('resources/unsubscribe', { uri: 'x' })).result, {});
  assert.equal(peer.received.length, 1);
  gate.open();
  assert.ok((await list).result);
});

test('a change during the first scan is announced, also when a request loads everything before its end', async (t) => {
  const gate = createGate();
  let loads = 0;
  const { peer, changed } = serve(t, async () => {
    if (++loads > 1) return { tools: [tool('one'), tool('two')] };
    await gate.pass();
    changed();
    return { tools: [tool('one')] };
  });
  await shakeHands(peer);
  assert.deepEqual((await peer.request('resources/unsubscribe', { uri: 'x' })).result, {});
  const list = peer.request('tools/list');
  gate.open();
  assert.ok(!JSON.stringify((await list).result).includes('"two"'));
  await eventually(() => isTold(peer), 'the notification');
});

test('a first scan that never ends delays neither the end of the input nor a confirmed handshake over HTTP', async (t) => {
  const skillwire = createSkillwire({ ...ALONE, sources: [{ name: 'never', load: () => new Promise(() => {}) }] });
  t.after(() => skillwire.close());
  const peer = createPeer(skillwire.handle);
  await peer.request('initialize', SHAKE);
  const confirmation = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  // As the HTTP transport does, which chooses a session for each message.
  await skillwire.handle(() => peer.session, confirmation, { reply() {}, notify() {} });
  const server = createServer(settingsFrom({ scanDefaultDirs: false, skipPlugins: true }), [
    { name: 'never', load: () => new Promise(() => {}) },
  ]);
  t.after(() => server.end());
  const other = createPeer(server.handle);
  const waiting = other.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  server.stop(false);
  await waiting;
});

test('messages of the start keep their order: an id may be used again after its request was cancelled', async (t) => {
  for (const method of ['tools/list', 'resources/list']) {
    const skillwire = createSkillwire(ALONE);
    t.after(() => skillwire.close());
    const peer = createPeer(skillwire.handle);
    await Promise.all([
      peer.send({ jsonrpc: '2.0', id: 5, method }),
      peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } }),
      peer.send({ jsonrpc: '2.0', id: 5, method: 'tools/list' }),
    ]);
    assert.deepEqual(
      peer.received.map(({ id, result }) => [id, Array.isArray(result?.tools)]),
      [[5, true]],
    );
  }
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
