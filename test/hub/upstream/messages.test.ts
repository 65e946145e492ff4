/** Log messages of upstream servers: who gets which, and that no server can send more than the limits allow. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MAX_MESSAGE_DATA, MAX_MESSAGES_PER_SECOND } from '../../../src/hub/upstream/limits.ts';
import { createMessages } from '../../../src/hub/upstream/messages.ts';
import { eventually, startHub, upstream } from '../../harness/hub.ts';
import { startLegacyWeb } from '../../harness/legacy-web.ts';
import { type Answer, type Json, modern, type Program } from '../../harness/program.ts';
import { makeTree } from '../../harness/tree.ts';
import { ask, modernHeaders, openSession, openStream, startWeb } from '../../harness/web.ts';

const MESSAGE = 'notifications/message';
const info = { level: 'info', logger: 'db', data: { rows: [1, '\u001b[31m\u200b'] } };
const debug = { level: 'debug', data: 'quiet' };
const messagesIn = (program: Program) => program.received.filter(({ method }) => method === MESSAGE);
const dataIn = (program: Program) => messagesIn(program).map(({ params }) => params.data);

/** A modern call of the tool `log` that asks for messages from a level on, or for none. */
function modernCall(name: string, args: Json, level?: string): Json {
  const { _meta, ...params } = modern({ name, arguments: args });
  const asked = level === undefined ? {} : { 'io.modelcontextprotocol/logLevel': level };
  return { ...params, _meta: { ...(_meta as object), ...asked } };
}

for (const server of ['legacy', 'modern']) {
  test(`a legacy client gets the messages of a ${server} server once it has set a level, and from that level on`, async (t) => {
    const hub = await startHub(t, { up: upstream('log', server) });
    await hub.waitForTools((names) => names.includes('up:log'), 'its tools');
    await hub.call('up:log', { messages: [info] });
    assert.deepEqual(messagesIn(hub), [], 'not asked for');
    await hub.request('logging/setLevel', { level: 'info' });
    await hub.call('up:log', { messages: [debug, info, { level: 'error', data: 'bad' }] });
    assert.deepEqual(
      messagesIn(hub).map(({ params }) => params),
      [
        { level: 'info', logger: 'up:db', data: info.data },
        { level: 'error', logger: 'up', data: 'bad' },
      ],
    );
    await hub.request('logging/setLevel', { level: 'error' });
    await hub.call('up:log', { messages: [info] });
    assert.equal(messagesIn(hub).length, 2);
  });

  test(`a modern client gets the messages of its call to a ${server} server, before the answer, if it asked for them`, async (t) => {
    const hub = await startHub(t, { up: upstream('log', server) });
    await hub.waitForTools((names) => names.includes('up:log'), 'its tools');
    await hub.request('tools/call', modernCall('up:log', { messages: [info] }));
    assert.deepEqual(messagesIn(hub), []);
    const { id } = await hub.request('tools/call', modernCall('up:log', { messages: [debug, info] }, 'info'));
    assert.deepEqual(dataIn(hub), [info.data]);
    const order = hub.received.map((message: Answer) => message.method ?? message.id);
    assert.ok(order.indexOf(MESSAGE) < order.indexOf(id), 'before the answer');
    await hub.call('up:log', { messages: [info], later: true });
    await hub.call('up:log', { messages: [], ms: 200 });
    assert.equal(messagesIn(hub).length, 1, 'none that belong to no call of its');
  });
}

test('a modern server gets the level in each request, a legacy one once, and none that nobody wants', async (t) => {
  const tree = makeTree(t);
  const journals = ['old', 'new'].map((name) => tree.write(`${name}.log`, ''));
  const [old, recent] = journals.map((path) => upstream('log', `journal=${path}`));
  const hub = await startHub(t, { old, new: { ...recent, args: [...(recent?.args ?? []), 'modern'] } }, { tree });
  await hub.waitForTools((names) => names.includes('old:log') && names.includes('new:log'), 'both');
  const levelsOf = () => journals.map((path) => readFileSync(path, 'utf8').match(/\w*[lL]evel":"\w+"/g) ?? []);
  await hub.call('old:log', {});
  await hub.call('new:log', {});
  assert.deepEqual(levelsOf(), [[], []]);
  for (const level of ['error', 'info', 'error', 'info'])
    for (const name of ['old', 'new']) await hub.request('tools/call', modernCall(`${name}:log`, {}, level));
  assert.deepEqual(levelsOf(), [
    ['level":"error"', 'level":"info"'],
    ['error', 'info', 'error', 'info'].map((level) => `logLevel":"${level}"`),
  ]);
  await hub.request('logging/setLevel', { level: 'debug' });
  await eventually(() => levelsOf()[0]?.at(-1) === 'level":"debug"', 'the level');
});

test('a server that connects again is told the level again', async (t) => {
  const tree = makeTree(t);
  const journal = tree.write('journal', '');
  const hub = await startHub(t, { up: upstream('log', `journal=${journal}`) }, { tree });
  await hub.waitForTools((names) => names.includes('up:log'), 'its tools');
  await hub.request('logging/setLevel', { level: 'notice' });
  const told = () => (readFileSync(journal, 'utf8').match(/logging\/setLevel \{"level":"notice"\}/g) ?? []).length;
  await eventually(() => told() === 1, 'the level');
  await hub.call('up:crash', {});
  await eventually(() => told() === 2, 'the level again');
});

test('a server that does not answer to a level delays a call a little, and only the first', async (t) => {
  const hub = await startHub(t, { up: upstream('log', 'deaf-to-levels') });
  await hub.waitForTools((names) => names.includes('up:log'), 'its tools');
  await hub.request('tools/call', modernCall('up:log', { messages: [info] }, 'info'));
  const began = performance.now();
  await hub.request('tools/call', modernCall('up:log', { messages: [info] }, 'info'));
  assert.ok(performance.now() - began < 2000);
  assert.equal(messagesIn(hub).length, 2);
});

test('messages without a valid level are left out, and one without data has null', async (t) => {
  const hub = await startHub(t, { up: upstream('log') });
  await hub.waitForTools((names) => names.includes('up:log'), 'its tools');
  await hub.request('logging/setLevel', { level: 'debug' });
  const messages = [{ data: 1 }, { level: 'warn', data: 2 }, { level: 7 }, { level: 'info', logger: 5 }];
  await hub.call('up:log', { messages });
  assert.deepEqual(
    messagesIn(hub).map(({ params }) => params),
    [{ level: 'info', logger: 'up', data: null }],
  );
});

test('a server that floods is cut off for a second, with a word about it; other servers are heard', async (t) => {
  const hub = await startHub(t, { loud: upstream('log'), calm: upstream('log') });
  await hub.waitForTools((names) => names.includes('loud:log') && names.includes('calm:log'), 'both');
  await hub.request('logging/setLevel', { level: 'info' });
  const big = { level: 'error', data: 'x'.repeat(20_000) };
  const began = performance.now();
  // Few of them are big: what a slow client has not read yet is bounded, and beyond that messages are dropped.
  const small = Array.from({ length: 9 }, () => ({ level: 'error', data: 'x' }));
  await hub.call('loud:log', { messages: [debug, big, ...small], times: 400 });
  const seconds = 2 + (performance.now() - began) / 1000;
  const got = messagesIn(hub).length;
  assert.ok(got >= MAX_MESSAGES_PER_SECOND && got <= seconds * MAX_MESSAGES_PER_SECOND, `${got} messages`);
  assert.match(String(dataIn(hub)), /further log messages are left out: over 50 in a second/);
  for (const { params } of messagesIn(hub)) assert.ok(params.data.length <= MAX_MESSAGE_DATA);
  await hub.call('calm:log', { messages: [info] });
  assert.deepEqual(messagesIn(hub).at(-1).params.data, info.data);
});

test('a client that does not read is not sent message upon message', async (t) => {
  const tree = makeTree(t);
  const journal = tree.write('journal', '');
  const hub = await startHub(t, { up: upstream('log', `journal=${journal}`) }, { tree });
  await hub.waitForTools((names) => names.includes('up:log'), 'its tools');
  await hub.request('logging/setLevel', { level: 'info' });
  hub.child.stdout.pause();
  const messages = [{ level: 'error', data: 'x'.repeat(16_000) }];
  const params = { name: 'up:log', arguments: { messages, times: 100, rounds: 6, ms: 500 } };
  hub.send({ jsonrpc: '2.0', id: 'log', method: 'tools/call', params });
  await eventually(() => /log is done/.test(readFileSync(journal, 'utf8')), 'the end of it');
  hub.child.stdout.resume();
  await hub.waitFor(({ id }) => id === 'log', 'the answer');
  assert.ok(messagesIn(hub).length < 60, `${messagesIn(hub).length} messages waited`);
});

test('messages within the limits are as the server sent them; what is longer is cut to text', () => {
  const message = createMessages('up');
  assert.deepEqual(message({ ...info, extra: 1 }, 'debug'), { ...info, logger: 'up:db' });
  assert.equal(message(info, undefined), undefined);
  assert.equal(message(info, 'error'), undefined);
  const deep = { list: Array.from({ length: 10_000 }, (_, at) => at) };
  const cutOff = message({ level: 'info', logger: 'l'.repeat(10_000), data: deep }, 'info');
  assert.ok(typeof cutOff?.data === 'string' && cutOff.data.length === MAX_MESSAGE_DATA);
  assert.ok(cutOff.data.startsWith('{"list":[0,1,2'));
  assert.equal(cutOff.logger.length, 'up:'.length + 256);
});

test('over HTTP a message leaves on the stream of its call alone, and never on a subscription', async (t) => {
  const tree = makeTree(t);
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: { up: upstream('log', 'modern') } }));
  const { url, program } = await startWeb(t, { tree, args: ['--hub', '--no-default-dirs', '--no-plugins'] });
  await program.waitForStderr(/server up: ready/);
  const listen = modernCall('', {}, 'debug');
  const subscription = await openStream(t, url, {
    headers: modernHeaders('subscriptions/listen'),
    body: {
      jsonrpc: '2.0',
      id: 'sub',
      method: 'subscriptions/listen',
      params: { _meta: listen._meta, notifications: { toolsListChanged: true } },
    },
  });
  assert.match((await subscription.message()).method, /acknowledged/);
  const legacy = await openSession(url);
  const standing = await openStream(t, url, { headers: { 'mcp-session-id': legacy } });
  const setLevel = { jsonrpc: '2.0', id: 2, method: 'logging/setLevel', params: { level: 'debug' } };
  await ask(url, { headers: { 'mcp-session-id': legacy }, body: setLevel });
  const call = async (level?: string) => {
    const params = modernCall('up:log', { messages: [info] }, level);
    const headers = modernHeaders('tools/call', 'up:log');
    return ask(url, { headers, body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } });
  };
  const asked = await call('info');
  assert.equal(asked.headers['content-type'], 'text/event-stream');
  assert.equal(asked.text.split(MESSAGE).length, 2);
  assert.ok(asked.json.result);
  assert.equal((await call('error')).headers['content-type'], 'application/json');
  // A change of the list is told; a message, had one been sent there, would have come first.
  const grow = { ...modernCall('up:grow', { name: 'grown' }) };
  const headers = modernHeaders('tools/call', 'up:grow');
  await ask(url, { headers, body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: grow } });
  assert.match((await subscription.message()).method, /tools\/list_changed/);
  assert.match((await standing.message()).method, /tools\/list_changed/);
});

test('of two sessions over HTTP each gets messages from its own level on', async (t) => {
  const tree = makeTree(t);
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: { up: upstream('log') } }));
  const { url, program } = await startWeb(t, { tree, args: ['--hub', '--no-default-dirs', '--no-plugins'] });
  await program.waitForStderr(/server up: ready/);
  const open = async (level: string) => {
    const headers = { 'mcp-session-id': await openSession(url) };
    const stream = await openStream(t, url, { headers });
    const post = (method: string, params: object) =>
      ask(url, { headers, body: { jsonrpc: '2.0', id: 2, method, params } });
    await post('logging/setLevel', { level });
    return { stream, post };
  };
  const [verbose, terse] = [await open('debug'), await open('error')];
  const messages = [debug, { level: 'error', data: 'bad' }];
  await verbose.post('tools/call', { name: 'up:log', arguments: { messages, later: true } });
  assert.equal((await verbose.stream.message()).params.data, 'quiet');
  assert.equal((await verbose.stream.message()).params.data, 'bad');
  assert.equal((await terse.stream.message()).params.data, 'bad');
});

test('a log level that could not be set is set with the next call', async (t) => {
  let sets = 0;
  const web = await startLegacyWeb(
    t,
    ({ method, response }) => {
      if (method !== 'logging/setLevel') return false;
      sets += 1;
      if (sets === 1) response.writeHead(503).end();
      return sets === 1;
    },
    {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, logging: {} },
        serverInfo: { name: 'l', version: '1' },
      },
      'logging/setLevel': {},
    },
  );
  const hub = await startHub(t, { up: { type: 'http', url: web.url } });
  await hub.waitForTools((names) => names.includes('up:one'), 'its tools');
  for (let call = 0; call < 3; call++) await hub.request('tools/call', modernCall('up:one', {}, 'info'));
  assert.equal(sets, 2);
});
