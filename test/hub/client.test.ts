/** JSON-RPC with one server: what a request goes through, and how a client begins and ends. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openClient } from '../../src/hub/client.ts';
import { MAX_LINE, type Params } from '../../src/protocol/index.ts';
import { connect, contextWith, eventually, scriptTarget } from '../harness/connections.ts';
import { makeTree } from '../harness/tree.ts';

const OPTIONS = { timeout: 10_000 };

/** A server that does what the method says, and answers nothing else but the handshake. */
const SERVER = scriptTarget(
  `seen.push({ id, method, params });
  const report = () => seen.forEach((one) => send({ method: 'notifications/progress', params: { progressToken: one.id } }));
  if (method === 'answer') send({ id, ...params });
  if (method === 'broken') console.log('[DEBUG] {"jsonrpc":\\n{"jsonrpc":"2.0","id":1,"result":NaN}');
  if (method === 'seen') result({ seen });
  if (method === 'cancel') send({ method: 'notifications/cancelled', params: { requestId: id } });
  if (method === 'ping') refuse(-32601);
  if (method === 'progress') { setInterval(report, 20).unref(); setTimeout(result, 1500, {}); }
  if (method === 'long') process.stdout.write('x'.repeat(${MAX_LINE + 1}) + '\\n');
  if (method === 'late') for (const one of seen.toReversed()) send({ id: one.id, result: { method: one.method } });
  return !['server/discover', 'initialize'].includes(method);`,
  'const seen = [];',
);

const ANSWERS: readonly (readonly [what: string, answer: Params, outcome: object])[] = [
  ['a result', { result: { a: 1 } }, { a: 1 }],
  ['an error', { error: { code: -1, message: 'no', data: { why: 1 } } }, { code: -1, message: 'no', data: { why: 1 } }],
  ['no object', { result: 5 }, { message: 'the answer is not an object' }],
  ['neither', {}, { message: 'the answer is not JSON-RPC' }],
  ['a type of its own', { result: { resultType: 'table' } }, { resultType: 'table' }],
  ['no id', { id: null, error: { code: -32700, message: 'not read' } }, { message: 'not read' }],
];
test('a request is answered by what its server answers, and an error is an answer to a ping', async (t) => {
  const client = await connect(t, SERVER);
  for (const [what, answer, outcome] of ANSWERS) {
    const asked = client.request('answer', answer, OPTIONS);
    const given = await asked.catch(({ code, message, data }) => ({ code, message, data }));
    assert.deepEqual(JSON.parse(JSON.stringify(given)), outcome, what);
  }
  await assert.rejects(client.request('broken', {}, OPTIONS), /: a message that is not JSON was dropped$/);
  await client.ping(5000);
  assert.deepEqual(client.agreement.server, { name: 'script', version: '1' });
});

test('progress that was asked for reaches the caller and prolongs the request, other progress does not', async (t) => {
  const client = await connect(t, SERVER);
  const onProgress = t.mock.fn();
  const asked = client.request('progress', { _meta: { own: 1 } }, { timeout: 500, onProgress });
  await assert.rejects(client.request('wait', {}, { timeout: 500 }), /^UpstreamError: no answer to wait within 500 ms/);
  assert.deepEqual([await asked, onProgress.mock.callCount() > 1], [{}, true]);
  const { seen } = Object(await client.request('seen', {}, OPTIONS));
  const { id, params } = seen.find(({ method }: Params) => method === 'progress');
  assert.deepEqual(params, { _meta: { own: 1, progressToken: id } });
});

test('a cancelled request fails at once, and the server is told; so does one that the server cancels', async (t) => {
  const client = await connect(t, SERVER);
  const control = new AbortController();
  const call = () => client.request('wait', {}, { ...OPTIONS, cancellation: control.signal });
  const cancelled = assert.rejects(call(), /^UpstreamError: cancelled$/);
  control.abort();
  await Promise.all([cancelled, assert.rejects(call(), /^UpstreamError: cancelled$/)]);
  const { seen } = Object(await client.request('seen', {}, OPTIONS));
  const [{ id: requestId }, told, ...others] = seen.slice(seen.findIndex(({ method }: Params) => method === 'wait'));
  assert.deepEqual([told.params, others.length], [{ requestId, reason: 'cancelled' }, 1]);
  await assert.rejects(client.request('cancel', {}, OPTIONS), /the server cancelled the request/);
});

test('an answer that was dropped, which may be that of any call, fails none of several', async (t) => {
  const lines: string[] = [];
  const client = await openClient(SERVER, contextWith({ log: (line: string) => void lines.push(line) }));
  t.after(() => client.close());
  const first = client.request('wait', {}, OPTIONS);
  const second = client.request('long', {}, OPTIONS);
  await eventually(() => lines.includes(`a message over ${MAX_LINE} bytes was dropped`), 'the loss');
  // In whatever order, each call has its own answer.
  const answers = await Promise.all([first, second, client.request('late', {}, OPTIONS)]);
  assert.deepEqual(answers, [{ method: 'wait' }, { method: 'long' }, { method: 'late' }]);
});

test('a modern server is subscribed to, again when it ends that, and reports its lists each time', async (t) => {
  const modern = { supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: true } } };
  const subscribed = `send({ method: 'notifications/subscriptions/acknowledged' }); if (count++ === 0) result({});`;
  const script = `if (method === 'server/discover') result(${JSON.stringify(modern)});
    if (method === 'subscriptions/listen' && params.notifications.toolsListChanged) { ${subscribed} } return true;`;
  const client = await connect(t, scriptTarget(script, 'let count = 0;'));
  const heard: string[] = [];
  client.listen((method) => heard.push(method));
  await eventually(() => heard.length === 2, 'both reports');
  assert.deepEqual(heard, Array(2).fill('notifications/tools/list_changed'));
});

test('a process that exits at server/discover is started again with initialize, and at the next attempt only so', async (t) => {
  const journal = makeTree(t).write('journal', '');
  const write = (text: string) => `require('fs').appendFileSync(${JSON.stringify(journal)}, ${text});`;
  const onMessage = `${write("method + ' '")} if (method === 'server/discover') process.exit(1);`;
  const target = scriptTarget(onMessage, write("'start '"));
  const told = () => readFileSync(journal, 'utf8').replaceAll('notifications/initialized ', '');
  for (const expected of ['start server/discover start initialize ', 'start initialize ']) {
    await (await openClient(target, contextWith())).close();
    assert.ok(told().endsWith(expected), told());
  }
  const before = told();
  await assert.rejects(openClient(target, contextWith({ cancellation: AbortSignal.abort() })));
  assert.equal(told(), before, 'what is not wanted is not started');
});
