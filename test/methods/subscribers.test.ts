import assert from 'node:assert/strict';
import { renameSync, utimesSync } from 'node:fs';
import { test } from 'node:test';
import type { Refreshed } from '../../src/catalog/registry.ts';
import { subscribableAt } from '../../src/methods/resources.ts';
import { createSubscriber, createSubscribers } from '../../src/methods/subscribers.ts';
import { listenMethod } from '../../src/methods/subscriptions.ts';
import type { Snapshot, Template } from '../../src/model.ts';
import type { Call, Peer } from '../../src/protocol/index.ts';
import { delay } from '../../src/wait.ts';
import { type Answer, modern, startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

test('a file that is only touched or written with the same bytes is no change; one that differs is (11.8)', async (t) => {
  const paths = ['SKILL.md', 'ref/a.md'];
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf'), '.claude/skills/pdf/ref/a.md': 'one' });
  const at = (path: string) => `.claude/skills/pdf/${path}`;
  const program = startProgram(t, { tree, args: ['--refresh-interval', '600000', '--no-watch'] });
  await program.handshake();
  for (const path of paths) await program.request('resources/subscribe', { uri: `skill://claude/pdf/${path}` });
  const notices = () => program.received.filter(({ method }: Answer) => method !== undefined);
  // Revalidates the registry; the look at what is subscribed to follows right after it.
  const refresh = () => program.call('skills.list', {});
  for (const path of paths) utimesSync(tree.at(at(path)), new Date(), new Date());
  await refresh();
  for (const [nth, path] of paths.entries())
    renameSync(tree.write(`copy${nth}`, nth === 0 ? skillText('pdf') : 'one'), tree.at(at(path)));
  await refresh();
  // In one step: a look that comes in the middle of a write sees a change, and rightly.
  renameSync(tree.write('copy2', 'two'), tree.at(at('ref/a.md')));
  await refresh();
  const notice = await program.waitFor(
    ({ method }: Answer) => method === 'notifications/resources/updated',
    'the notice',
  );
  assert.equal(notice.params.uri, 'skill://claude/pdf/ref/a.md');
  assert.equal(notices().length, 1, JSON.stringify(notices()));
});

test('a subscription to many files holds nobody up (11.8)', async (t) => {
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') });
  for (let nth = 0; nth < 200; nth++) tree.write(`.claude/skills/pdf/f${nth}`, Buffer.alloc(900_000, nth));
  const program = startProgram(t, { tree, args: ['--no-refresh'] });
  await program.request('tools/list', modern());
  const uris = Array.from({ length: 200 }, (_, nth) => `skill://claude/pdf/f${nth}`);
  const params = modern({ notifications: { resourceSubscriptions: uris } });
  program.send({ jsonrpc: '2.0', id: 'sub', method: 'subscriptions/listen', params });
  const isBegun = ({ method }: Answer) => method === 'notifications/subscriptions/acknowledged';
  const begin = performance.now();
  let longest = 0;
  while (!program.received.some(isBegun)) {
    const start = performance.now();
    await program.request('server/discover', modern());
    longest = Math.max(longest, performance.now() - start);
  }
  // The slices are of a few milliseconds; without any, one answer would take as long as all the files.
  const all = performance.now() - begin;
  assert.ok(longest < Math.max(all / 3, 300), `${Math.round(longest)} of ${Math.round(all)} ms`);
});

test('a subscription that is cancelled while its files are looked at frees its id at once (11.8)', async (t) => {
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') });
  for (let nth = 0; nth < 100; nth++) tree.write(`.claude/skills/pdf/f${nth}`, Buffer.alloc(1_000_000, nth));
  const program = startProgram(t, { tree, args: ['--no-refresh'] });
  await program.request('tools/list', modern());
  const uris = Array.from({ length: 100 }, (_, nth) => `skill://claude/pdf/f${nth}`);
  const params = modern({ notifications: { resourceSubscriptions: uris } });
  program.send({ jsonrpc: '2.0', id: 'again', method: 'subscriptions/listen', params });
  program.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'again' } });
  await program.request('tools/list', modern());
  program.send({ jsonrpc: '2.0', id: 'again', method: 'tools/list', params: modern() });
  const answer = await program.waitFor(({ id }: Answer) => id === 'again', 'the answer under that id');
  assert.ok(answer.result, JSON.stringify(answer));
  await program.request('resources/read', modern({ uri: 'skill://claude/pdf/f99' }));
  assert.ok(
    !program.received.some(({ method }: Answer) => method !== undefined),
    'nothing is told to who has cancelled',
  );
});

test('spellings of one URI are one resource, looked at once, and templates are matched only at the start', async () => {
  const matched: string[] = [];
  const template = { matches: (uri: string) => matched.push(uri) > 0 } as unknown as Template;
  const looks: string[] = [];
  let versions = 0;
  const version = async (path: string) => {
    looks.push(path);
    return `version ${versions++}`;
  };
  const listed = { skill: { files: { version } } };
  const uris = { roots: new Map([['skill://claude/pdf', listed]]), rootOf: () => undefined, prepare: async () => {} };
  const snapshot = { uris, resources: new Map(), templates: [template] } as unknown as Snapshot;
  const listeners: ((event: Refreshed) => void)[] = [];
  const registry = {
    onRefresh: (hear: (event: Refreshed) => void) => void listeners.push(hear),
    current: () => snapshot,
  };
  const subscribers = createSubscribers(registry, assert.ifError);
  const listen = listenMethod(
    { lookUp: async (look) => look(snapshot), complete: async () => snapshot },
    subscribers,
    [],
  );
  const spelled = ['skill://claude/pdf/%61', 'skill://claude/pdf/a', 'skill://cl%61ude/pdf/a', 'other://x'];
  const told: object[] = [];
  const subscribe = async (id: number, uris: readonly string[]) => {
    const isTold = new Promise<void>((done) => {
      const notify = (method: string, params: object) => {
        told.push({ id, method: method.split('/').at(-1), ...params });
        done();
      };
      const call = { id, cancellation: new AbortController().signal, notify } as unknown as Call;
      void listen.run({ notifications: { resourceSubscriptions: uris } }, call);
    });
    await isTold;
  };
  await subscribe(1, spelled);
  const notifications = { resourceSubscriptions: ['skill://claude/pdf/%61'] };
  const tag = (id: number) => ({ 'io.modelcontextprotocol/subscriptionId': id });
  assert.deepEqual(told.splice(0), [{ id: 1, method: 'acknowledged', _meta: tag(1), notifications }]);
  assert.deepEqual(looks.splice(0), ['a']);
  await subscribe(2, spelled.slice(1));
  assert.deepEqual([told.splice(0).length, looks.splice(0)], [1, ['a']]);
  const change = { added: 0, changed: 0, removed: 0 };
  listeners[0]?.({ before: snapshot, after: snapshot, change, reason: 'test', milliseconds: 1 });
  while (told.length < 2) await new Promise((done) => setImmediate(done));
  const reason = { 'skillwire/reason': 'resource changed (test)' };
  assert.deepEqual(told, [
    { id: 1, method: 'updated', uri: spelled[0], _meta: { ...tag(1), ...reason } },
    { id: 2, method: 'updated', uri: spelled[1], _meta: { ...tag(2), ...reason } },
  ]);
  assert.deepEqual(looks, ['a'], 'once for both');
  assert.deepEqual(matched, ['other://x', 'other://x'], 'once for each subscription');
  subscribers.close();
});

test('a client that subscribes to several spellings of a URI is told once, by the first', async (t) => {
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf'), '.claude/skills/pdf/a': 'one' });
  const program = startProgram(t, { tree, args: ['--refresh-interval', '600000', '--no-watch'] });
  const uris = ['skill://claude/pdf/%61', 'skill://claude/pdf/a'];
  const params = modern({ notifications: { resourceSubscriptions: uris } });
  program.send({ jsonrpc: '2.0', id: 'sub', method: 'subscriptions/listen', params });
  const accepted = await program.waitFor(({ method }: Answer) => /acknowledged/.test(method), 'the acknowledgement');
  assert.deepEqual(accepted.params.notifications.resourceSubscriptions, [uris[0]]);
  for (const text of ['two', 'three']) {
    const before = program.received.length;
    renameSync(tree.write('copy', text), tree.at('.claude/skills/pdf/a'));
    await program.request('tools/call', modern({ name: 'skills.list', arguments: {} }));
    const isNew = (message: Answer) => /updated/.test(message.method) && program.received.indexOf(message) >= before;
    assert.equal((await program.waitFor(isNew, 'the update')).params.uri, uris[0]);
  }
  assert.equal(program.received.filter(({ method }: Answer) => /updated/.test(method)).length, 2);
});

test('a refresh from before a subscription is no change of its resource', async () => {
  const withMemo = (text: string) =>
    ({
      resources: new Map([['memo://one', { text }]]),
      uris: { roots: new Map() },
      templates: [],
    }) as unknown as Snapshot;
  const before = { resources: new Map(), uris: { roots: new Map() }, templates: [] } as unknown as Snapshot;
  let now = withMemo('one');
  const subscribers = createSubscribers({ onRefresh: () => {}, current: () => now }, assert.ifError);
  const told: object[] = [];
  const subscriber = createSubscriber({} as Peer, [], (_method, params) => void told.push(params));
  void subscribers.add(subscriber, new AbortController().signal);
  subscribers.open(subscriber);
  await subscribers.subscribe(subscriber, 'memo://one', Promise.resolve(subscribableAt(now, 'memo://one')));
  const change = { added: 0, changed: 0, removed: 0 };
  subscribers.onRefreshed({ before: undefined, after: before, change, reason: 'start', milliseconds: 1 });
  await delay(50);
  assert.deepEqual(told, []);
  now = withMemo('two');
  subscribers.onRefreshed({ before, after: now, change, reason: 'later', milliseconds: 1 });
  await delay(50);
  assert.deepEqual(told, [{ uri: 'memo://one', _meta: { 'skillwire/reason': 'resource changed (later)' } }]);
  subscribers.close();
});
