/** Subscriptions to resources of upstream servers: they reach the server, and its updates reach the subscribers. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { MAX_FOLLOWED } from '../../../src/hub/upstream/limits.ts';
import type { UpstreamSession } from '../../../src/hub/upstream/session.ts';
import { createUpdates } from '../../../src/hub/upstream/updates.ts';
import { eventually, type HubProgram, scripted, startHub, upstream } from '../../harness/hub.ts';
import { type Answer, type Json, modern, type Program } from '../../harness/program.ts';
import { makeTree } from '../../harness/tree.ts';
import { ask, modernHeaders, openSession, openStream, startWeb } from '../../harness/web.ts';

const UPDATED = 'notifications/resources/updated';
const RESOURCES = `resources=${JSON.stringify(['file:///a', 'file:///b'].map((uri) => ({ uri, name: uri, text: 'x' })))}`;
const TEMPLATES = `templates=${JSON.stringify([{ uriTemplate: 'note://{id}', name: 'n' }])}`;
const library = (...traits: string[]) => upstream('subscribe', RESOURCES, TEMPLATES, ...traits);
const updatesIn = (program: Program) =>
  program.received.filter(({ method }) => method === UPDATED).map(({ params }) => params);
const urisIn = (program: Program) => updatesIn(program).map(({ uri }) => uri);

async function start(t: TestContext, ...traits: string[]): Promise<HubProgram> {
  const hub = await startHub(t, { up: library(...traits) });
  await hub.waitForTools((names) => names.includes('up:touch'), 'its tools');
  return hub;
}

/** Announces an update, and gives what the server says is subscribed to. */
const touch = async (hub: Program, uri: string, more: Json = {}): Promise<readonly string[]> =>
  JSON.parse((await hub.call('up:touch', { uri, ...more })).content[0].text);

/** Opens a modern subscription and gives the resources that were accepted. */
async function listen(hub: Program, id: string, uris: readonly string[]): Promise<readonly string[] | undefined> {
  const params = modern({ notifications: { resourceSubscriptions: uris } });
  hub.send({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params });
  const isIt = ({ method, params: told }: Answer) =>
    /acknowledged/.test(method) && told._meta['io.modelcontextprotocol/subscriptionId'] === id;
  return (await hub.waitFor(isIt, 'the acknowledgement')).params.notifications.resourceSubscriptions;
}

const cancel = (hub: Program, requestId: string) =>
  hub.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });

for (const server of ['legacy', 'modern']) {
  test(`a legacy client is told of updates of the resources of a ${server} server that it subscribed to, and of no others`, async (t) => {
    const hub = await start(t, server);
    assert.deepEqual((await hub.request('resources/subscribe', { uri: 'file:///a' })).result, {});
    assert.deepEqual((await hub.request('resources/subscribe', { uri: 'note://7' })).result, {});
    assert.deepEqual(await touch(hub, 'file:///b'), ['file:///a', 'note://7']);
    await touch(hub, 'file:///a');
    await hub.waitFor(() => urisIn(hub).includes('file:///a'), 'the update');
    await touch(hub, 'note://7');
    await hub.waitFor(() => urisIn(hub).includes('note://7'), 'the update of a resource that only a template has');
    assert.deepEqual(urisIn(hub), ['file:///a', 'note://7']);
    await hub.request('resources/unsubscribe', { uri: 'file:///a' });
    await hub.request('resources/unsubscribe', { uri: 'note://7' });
    await untilSubscribed(hub, []);
  });

  test(`a modern client gets updates of a ${server} server, each subscription its own copy, and none after its end`, async (t) => {
    const hub = await start(t, server);
    assert.deepEqual(await listen(hub, 'one', ['file:///a', 'file:///b', 'file:///none']), ['file:///a', 'file:///b']);
    assert.deepEqual(await listen(hub, 'two', ['file:///a']), ['file:///a']);
    assert.deepEqual(new Set(await touch(hub, 'file:///a')), new Set(['file:///a', 'file:///b']));
    await hub.waitFor(() => updatesIn(hub).length === 2, 'both copies');
    assert.deepEqual(
      updatesIn(hub).map(({ uri, _meta }) => [uri, _meta['io.modelcontextprotocol/subscriptionId']]),
      [
        ['file:///a', 'one'],
        ['file:///a', 'two'],
      ],
    );
    cancel(hub, 'one');
    await untilSubscribed(hub, ['file:///a']);
    await touch(hub, 'file:///a');
    await hub.waitFor(() => updatesIn(hub).length === 3, 'the copy of the other');
    assert.equal(updatesIn(hub)[2]._meta['io.modelcontextprotocol/subscriptionId'], 'two');
    cancel(hub, 'two');
    await untilSubscribed(hub, []);
  });

  test(`a resource that a ${server} server refuses is refused; the others are not`, async (t) => {
    const hub = await start(t, server, 'refuses=file:///b,note://no');
    const { error } = await hub.request('resources/subscribe', { uri: 'file:///b' });
    assert.equal(error.code, -32602);
    assert.match(error.message, /file:\/\/\/b: cannot be subscribed to: /);
    assert.deepEqual(await listen(hub, 'one', ['note://no', 'file:///a', 'file:///b']), ['file:///a']);
    assert.deepEqual(await touch(hub, 'file:///a'), ['file:///a']);
  });

  test(`after a ${server} server was away, it is subscribed to again and subscribers are told to look again`, async (t) => {
    const hub = await start(t, server);
    await hub.request('resources/subscribe', { uri: 'file:///a' });
    await hub.call('up:crash', {});
    await hub.waitFor(() => urisIn(hub).length > 0, 'what may have been lost');
    await untilSubscribed(hub, ['file:///a']);
    const before = urisIn(hub).length;
    await touch(hub, 'file:///a');
    await hub.waitFor(() => urisIn(hub).length > before, 'an update of the new process');
  });
}

async function untilSubscribed(hub: Program, uris: readonly string[]): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (let now = await touch(hub, 'x'); JSON.stringify(now) !== JSON.stringify(uris); now = await touch(hub, 'x'))
    assert.ok(Date.now() < deadline, `${now} are subscribed to`);
}

test('a server without subscriptions is not asked, and the client is told so', async (t) => {
  const tree = makeTree(t);
  const journal = tree.write('journal', '');
  const hub = await startHub(t, { up: upstream(RESOURCES, TEMPLATES, `journal=${journal}`) }, { tree });
  await hub.waitForTools((names) => names.includes('up:echo'), 'its tools');
  for (const uri of ['file:///a', 'note://7']) {
    const { error } = await hub.request('resources/subscribe', { uri });
    assert.match(error.message, /cannot be subscribed to: its server does not announce changes/);
  }
  assert.equal(await listen(hub, 'one', ['file:///a', 'note://7']), undefined);
  assert.doesNotMatch(readFileSync(journal, 'utf8'), /subscribe|listen.*resourceSubscriptions/);
});

test('a resource under another URI is announced by the URI that the client knows', async (t) => {
  const tree = makeTree(t);
  const hub = await startHub(t, { one: library(), up: library() }, { tree });
  await hub.waitForTools((names) => names.includes('one:touch') && names.includes('up:touch'), 'both');
  const uri = `mcp://up/${encodeURIComponent('file:///a')}`;
  assert.ok((await hub.request('resources/subscribe', { uri })).result);
  assert.deepEqual(await touch(hub, 'file:///a'), ['file:///a']);
  await hub.waitFor(() => urisIn(hub).length > 0, 'the update');
  assert.deepEqual(urisIn(hub), [uri]);
});

test('an update below a resource is one of the resource; what was not subscribed to is not passed on', async (t) => {
  const hub = await start(t, 'touches-all');
  await hub.request('resources/subscribe', { uri: 'file:///a' });
  for (const as of ['file:///b', 'file:///ab', 'file:///a/b']) await touch(hub, 'file:///a', { as });
  await hub.waitFor(() => urisIn(hub).length > 0, 'the update');
  assert.deepEqual(urisIn(hub), ['file:///a']);
  assert.match(updatesIn(hub)[0]._meta['skillwire/reason'], /announced by its server/);
});

test('a server that announces updates without end causes two notifications in a second', async (t) => {
  const hub = await start(t);
  await hub.request('resources/subscribe', { uri: 'file:///a' });
  const began = performance.now();
  await touch(hub, 'file:///a', { times: 50_000 });
  await touch(hub, 'file:///a');
  const most = 3 + (performance.now() - began) / 500;
  assert.ok(urisIn(hub).length <= most, `${urisIn(hub).length} notifications`);
});

test('a subscription that a modern server ends is opened again, and subscribers are told to look again', async (t) => {
  const hub = await start(t, 'modern', 'drops-subscriptions');
  await hub.request('resources/subscribe', { uri: 'file:///a' });
  await hub.waitFor(() => urisIn(hub).length > 0, 'what may have been lost');
  await untilSubscribed(hub, ['file:///a']);
});

test('a server that does not answer to a subscription delays it a little; its updates are passed on', async (t) => {
  const hub = await start(t, 'deaf-to-subscriptions');
  const began = performance.now();
  const uris = ['file:///a', 'file:///b', 'note://1', 'note://2', 'note://3'];
  assert.deepEqual(await listen(hub, 'one', uris), uris);
  assert.ok(performance.now() - began < 8000, 'not one wait after the other');
  await touch(hub, 'file:///a');
  await hub.waitFor(() => urisIn(hub).length > 0, 'the update');
});

test('a server whose entry is edited is subscribed to again; one that is removed ends in an update', async (t) => {
  const tree = makeTree(t);
  const hub = await startHub(t, { up: library() }, { tree, args: ['--refresh-interval', '300'] });
  await hub.waitForTools((names) => names.includes('up:touch'), 'its tools');
  await hub.request('resources/subscribe', { uri: 'file:///a' });
  const write = (mcpServers: object) => tree.write('home/.kode.json', JSON.stringify({ mcpServers }));
  write({ up: { ...library(), timeout: 5000 } });
  await hub.waitFor(() => urisIn(hub).length > 0, 'what may have been lost');
  await hub.waitForTools((names) => names.includes('up:touch'), 'its tools again');
  await untilSubscribed(hub, ['file:///a']);
  const before = urisIn(hub).length;
  write({});
  await hub.waitFor(() => urisIn(hub).length > before, 'the end of the resource');
});

test('a session over HTTP that ends leaves no subscription behind', async (t) => {
  const tree = makeTree(t);
  const journal = tree.write('journal', '');
  const servers = { up: library(`journal=${journal}`) };
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: servers }));
  const { url, program } = await startWeb(t, { tree, args: ['--hub', '--no-default-dirs', '--no-plugins'] });
  await program.waitForStderr(/server up: ready/);
  const headers = { 'mcp-session-id': await openSession(url) };
  const standing = await openStream(t, url, { headers });
  const post = (method: string, params: object) =>
    ask(url, { headers, body: { jsonrpc: '2.0', id: 2, method, params } });
  assert.deepEqual((await post('resources/subscribe', { uri: 'file:///a' })).json.result, {});
  const params = modern({ notifications: { resourceSubscriptions: ['file:///a'] } });
  const stream = await openStream(t, url, {
    headers: modernHeaders('subscriptions/listen'),
    body: { jsonrpc: '2.0', id: 'sub', method: 'subscriptions/listen', params },
  });
  assert.match((await stream.message()).method, /acknowledged/);
  await post('tools/call', { name: 'up:touch', arguments: { uri: 'file:///a' } });
  assert.equal((await standing.message()).params.uri, 'file:///a');
  assert.equal((await stream.message()).params.uri, 'file:///a');
  const count = (word: string) => readFileSync(journal, 'utf8').split(`resources/${word} `).length - 1;
  assert.deepEqual([count('subscribe'), count('unsubscribe')], [1, 0], 'once for both');
  await ask(url, { verb: 'DELETE', headers });
  stream.close();
  await eventually(() => count('unsubscribe') === 1, 'the end of the subscription');
});

test('the number of resources that are followed is limited, and each ends with its last follower', async () => {
  const sent: string[] = [];
  const updates = createUpdates(() => {});
  const request = async (method: string, { uri }: Answer) => {
    sent.push(`${method} ${uri}`);
    return {};
  };
  updates.resume({ mcp: { capabilities: new Set(['resources.subscribe']), request } } as unknown as UpstreamSession);
  const [first, second] = [new AbortController(), new AbortController()];
  for (let nth = 0; nth < MAX_FOLLOWED; nth += 1) await updates.follow(`x:${nth}`, () => {}, first.signal);
  await updates.follow('x:0', () => {}, second.signal);
  await assert.rejects(
    updates.follow('x:more', () => {}, second.signal),
    /over 1000 resources of its server/,
  );
  assert.equal(sent.splice(0).length, MAX_FOLLOWED);
  first.abort();
  await eventually(() => sent.length === MAX_FOLLOWED - 1, 'the ends');
  assert.ok(!sent.includes('resources/unsubscribe x:0'));
  second.abort();
  await eventually(() => sent.includes('resources/unsubscribe x:0'), 'the end of the last');
  await updates.follow('x:0', () => {}, AbortSignal.abort());
  await eventually(
    () => sent.at(-1) === 'resources/unsubscribe x:0' && sent.at(-2) === 'resources/subscribe x:0',
    'both',
  );
});

test('a subscription that a server accepts late is not taken back', async (t) => {
  const tree = makeTree(t);
  const up = scripted(tree, 'up', {
    capabilities: { tools: {}, resources: { subscribe: true } },
    answers: {
      'tools/list': { tools: [{ name: 'one', inputSchema: { type: 'object' } }] },
      'resources/list': { resources: [{ uri: 'file:///a', name: 'a' }] },
      'resources/subscribe': {},
    },
    delay: { 'resources/subscribe': 4000 },
  });
  const hub = await startHub(t, { up: up.entry }, { tree });
  await hub.waitForTools((names) => names.includes('up:one'), 'its tools');
  assert.deepEqual((await hub.request('resources/subscribe', { uri: 'file:///a' })).result, {});
  await new Promise((done) => setTimeout(done, 1500));
  assert.equal(up.count('resources/subscribe'), 1);
  assert.equal(up.count('notifications/cancelled'), 0);
});
