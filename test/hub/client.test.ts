/** JSON-RPC with one server: what a request goes through, and how a client begins and ends. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { openClient, UpstreamClient } from '../../src/hub/client.ts';
import type { Connection, ConnectionOwner } from '../../src/hub/connection.ts';
import type { Id, Params } from '../../src/protocol/index.ts';
import { contextWith, LEGACY, scriptTarget } from '../harness/connections.ts';
import { mockTimers } from '../harness/timers.ts';
import { makeTree } from '../harness/tree.ts';

const OPTIONS = { timeout: 5000 };
const MODERN = { supportedVersions: ['2026-07-28'], capabilities: { tools: { listChanged: true } } };

type Sent = Partial<Readonly<{ id: Id; method: string; params: Params; result: unknown; error: unknown }>>;
type Send = (message: object) => void;

/** A client whose server, in this process, answers the handshake by itself and everything else by `serve`. */
async function start(t: TestContext, serve: (message: Sent, send: Send) => void = () => {}, isLegacy = true) {
  const sent: Sent[] = [];
  const owners: ConnectionOwner[] = [];
  const send: Send = (message) => owners[0]?.text(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const handshakes = new Map<unknown, object>(Object.entries({ initialize: LEGACY, 'server/discover': MODERN }));
  const connect = (owner: ConnectionOwner): Connection => {
    owners.push(owner);
    return {
      async send({ text }) {
        const message: Sent = JSON.parse(text);
        sent.push(message);
        const result = handshakes.get(message.method);
        if (result) send({ id: message.id, result });
        else serve(message, send);
      },
      close: async () => {},
    };
  };
  const client = new UpstreamClient(connect, contextWith());
  t.after(() => client.close());
  await client.shakeHands(isLegacy);
  sent.length = 0;
  return { client, sent, send, owner: owners[0] ?? assert.fail() };
}

const ASKS = 'the server asks for input, which is not passed on here';
const ANSWERS: readonly (readonly [what: string, answer: object, outcome: object])[] = [
  ['a result', { result: { a: 1 } }, { a: 1 }],
  ['an error', { error: { code: -1, message: 'no', data: { why: 1 } } }, { code: -1, message: 'no', data: { why: 1 } }],
  ['no object', { result: 5 }, { message: 'the answer is not an object' }],
  ['neither', {}, { message: 'the answer is not JSON-RPC' }],
  ['a question', { result: { resultType: 'input_required' } }, { message: ASKS }],
];
for (const [what, answer, outcome] of ANSWERS)
  test(`a request is answered by what its server answers: ${what}`, async (t) => {
    const { client } = await start(t, ({ id }, send) => send({ id, ...answer }));
    const given = await client.request('x', {}, OPTIONS).catch(({ code, message, data }) => ({ code, message, data }));
    assert.deepEqual(JSON.parse(JSON.stringify(given)), outcome);
    assert.deepEqual(client.agreement.server, LEGACY.serverInfo);
  });

test('progress that was asked for reaches the caller and prolongs the request, other progress does not', async (t) => {
  const { client, sent, send } = await start(t);
  const seen: unknown[] = [];
  const onProgress = ({ progress }: Params) => void seen.push(progress);
  const asked = client.request('x', { _meta: { own: 1 } }, { timeout: 200, onProgress });
  const [{ id, params } = assert.fail()] = sent;
  assert.deepEqual(params, { _meta: { own: 1, progressToken: id } });
  let outcome = '';
  void client.request('x', {}, { timeout: 200 }).catch((error) => (outcome = String(error)));
  for (let progress = 1; outcome === ''; progress++) {
    await new Promise((done) => setTimeout(done, 20));
    for (const { id: token } of sent)
      send({ method: 'notifications/progress', params: { progressToken: token, progress } });
  }
  assert.equal(outcome, 'UpstreamError: no answer to x within 200 ms');
  send({ id, result: {} });
  assert.deepEqual([await asked, seen.slice(0, 3)], [{}, [1, 2, 3]]);
});

test('a cancelled request fails at once, and the server is told; so does one that the server cancels', async (t) => {
  const { client, sent, send } = await start(t);
  const control = new AbortController();
  const call = () => client.request('wait', {}, { ...OPTIONS, cancellation: control.signal });
  const cancelled = assert.rejects(call(), /^UpstreamError: cancelled$/);
  control.abort();
  await Promise.all([cancelled, assert.rejects(call(), /^UpstreamError: cancelled$/)]);
  const [{ id: requestId } = assert.fail(), { params } = assert.fail(), ...others] = sent;
  assert.deepEqual([params, others], [{ requestId, reason: 'cancelled' }, []]);
  const theirs = assert.rejects(client.request('wait', {}, OPTIONS), /the server cancelled the request/);
  send({ method: 'notifications/cancelled', params: { requestId: sent.at(-1)?.id } });
  await theirs;
});

test('an answer that was dropped, which may be that of any call, fails none of several', async (t) => {
  const { client, sent, send, owner } = await start(t);
  const calls = ['long', 'late'].map((method) => client.request(method, {}, OPTIONS));
  owner.lost(new Error('dropped'));
  // In whatever order, each call has its own answer.
  for (const { id, method } of sent.toReversed()) send({ id, result: { method } });
  assert.deepEqual(await Promise.all(calls), [{ method: 'long' }, { method: 'late' }]);
});

test('a modern server is subscribed to, again when it ends that, and reports its lists each time', async (t) => {
  mockTimers(t, 'setTimeout');
  const acknowledged = { method: 'notifications/subscriptions/acknowledged' };
  const { client, sent, send } = await start(t, (_message, reply) => reply(acknowledged), false);
  const heard: string[] = [];
  client.listen((method) => heard.push(method));
  const turn = () => new Promise((done) => setImmediate(done));
  await turn();
  send({ id: sent[0]?.id, result: {} });
  for (let at = 0; at < 3; at++, await turn()) t.mock.timers.tick(1000);
  const asked = sent.map(({ method, params }) => `${method} ${JSON.stringify(params?.notifications)}`);
  assert.deepEqual(asked, Array(2).fill('subscriptions/listen {"toolsListChanged":true}'));
  assert.deepEqual(heard, Array(2).fill('notifications/tools/list_changed'));
});

test('ping: an error is an answer, silence is none', async (t) => {
  const { client } = await start(t, ({ id }, send) => send({ id, error: { code: -32601, message: 'no' } }));
  await client.ping(5000);
  await assert.rejects((await start(t)).client.ping(20), /no answer to ping within 20 ms/);
});

test('a process that exits at server/discover is started again with initialize, and at the next attempt only so', async (t) => {
  const journal = makeTree(t).write('journal', '');
  const write = (text: string) => `require('fs').appendFileSync(${JSON.stringify(journal)}, ${text});`;
  const atDiscover = `if (method === 'server/discover') process.exit(1);`;
  const target = scriptTarget(`${write("method + ' '")} ${atDiscover}`, write("'start '"));
  for (const expected of ['start server/discover start initialize ', 'start initialize ']) {
    const client = await openClient(target, contextWith());
    await client.close();
    const told = readFileSync(journal, 'utf8').replaceAll('notifications/initialized ', '');
    assert.ok(told.endsWith(expected), told);
  }
  const before = readFileSync(journal, 'utf8');
  await assert.rejects(openClient(target, contextWith({ cancellation: AbortSignal.abort() })));
  assert.equal(readFileSync(journal, 'utf8'), before, 'what is not wanted is not started');
});
