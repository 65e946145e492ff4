import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as protocol from '../../src/protocol/index.ts';
import { createPeer, modernParams } from '../harness/server.ts';

type Runs = Readonly<Record<string, protocol.Method['run']>>;

/** Methods behind a dispatcher, and a client that speaks a version with batches. */
function open(runs: Runs = {}) {
  const faults: string[] = [];
  const all: Runs = { ping: (params) => ({ ...params }), ...runs, listen: () => ({}) };
  const methods = Object.entries(all).map(([name, run]) => ({ name, run, streams: name === 'listen' }));
  const notifications: readonly protocol.NotificationHandler[] = [
    { name: 'stop', run: ({ id }, session) => protocol.cancel(session, id as string) },
    { name: 'bad', run: () => assert.fail('a handler failed') },
  ];
  const table = { methods, notifications };
  const eras = [protocol.modernEra(table, { name: 't', version: '1' }), protocol.legacyEra(table)];
  const dispatcher = protocol.createDispatcher(eras, (method, error) => faults.push(`${method}: ${error}`));
  const peer = createPeer(dispatcher);
  peer.session.handshake = { version: '2025-03-26', client: undefined, anyStructure: false };
  return { ...peer, read: dispatcher.read, faults };
}

const call = (id: unknown, method: string, params?: object) => ({ jsonrpc: '2.0', id, method, params });
const notice = (method: string, params?: object) => ({ jsonrpc: '2.0', method, params });

test('a fault of a method, a handler or a transport is that of its own call; `answer` never rejects', async () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  let nested: unknown = [];
  for (let level = 0; level < 100_000; level++) nested = [nested];
  const { sendRaw, ask, received, session, faults } = open({
    broken: () => Promise.reject(new Error('broken')),
    circle: () => circle,
    deep: () => ({ nested }),
    error: () => Promise.reject(new protocol.RpcError(-32099, 'refused', circle)),
    progress: (_params, { notify }) => notify('notifications/progress', circle) ?? { done: true },
  });
  const codes = { broken: -32603, circle: -32603, error: -32099, progress: undefined, none: -32601 };
  for (const [method, code] of Object.entries(codes)) assert.equal((await ask(method)).error?.code, code, method);
  // Later releases of Node encode any depth.
  const deep = await ask('deep');
  assert.ok(deep.error?.code === -32603 || deep.result, 'deep');
  assert.deepEqual([received.length, session.calls.size], [6, 0]);
  assert.equal(received[0].error.message, 'internal error: broken');
  for (const message of [notice('bad'), notice('none'), notice('ping'), { jsonrpc: '2.0', id: 4, result: {} }])
    await sendRaw(message);
  assert.equal(received.length, 6, 'what is no request gets no reply');
  await sendRaw(call(9, 'none'), undefined, () => assert.fail('nobody there'));
  assert.match(faults.join(), /progress: .*circular.*,bad: .*a handler failed,.*nobody there/s);
});

test('a call that is cancelled, running or not, gets no reply and sends nothing more; its id is free at once', async () => {
  let release = () => {};
  const turn = new Promise<void>((done) => {
    release = done;
  });
  let late = 0;
  const { sendRaw, received } = open({
    late: () => ({ nth: ++late }),
    slow: (_params, { cancellation, notify }) =>
      new Promise((done) => {
        notify('before', {});
        cancellation().addEventListener('abort', () => done(notify('after', {}) ?? {}));
      }),
  });
  const calls = [sendRaw(call(1, 'slow')), sendRaw(call('1', 'late'), turn), sendRaw(call(2, 'late'), turn)];
  for (const id of [1, 2]) await sendRaw(notice('stop', { id }));
  await calls[0];
  for (const id of [1, 2, '1']) await sendRaw(call(id, 'ping'));
  release();
  await Promise.all(calls);
  const shown = received.map(({ method, id, result, error }) => method ?? [id, result ?? error.message]);
  const inFlight = 'invalid request: this id is still in flight';
  assert.deepEqual(shown, ['before', [1, {}], [2, {}], ['1', inFlight], ['1', { nth: 1 }]]);
});

test('`read` says which session a text needs, and whether its answer is a stream', () => {
  const rows: readonly (readonly [name: string, message: unknown, session: string, streams?: boolean])[] = [
    ['a handshake', call(1, 'initialize'), 'new'],
    ['a legacy request', call(1, 'ping'), 'existing'],
    ['a legacy notification', notice('initialize'), 'existing'],
    ['a response', { jsonrpc: '2.0', id: 1, result: {} }, 'existing'],
    ['a modern request', call(1, 'ping', modernParams()), 'none'],
    ['a stream', call(1, 'listen', modernParams()), 'none', true],
    ['a notification that is called like one', notice('listen', modernParams()), 'none'],
    ['no message', 7, 'none'],
    ['an empty batch', [], 'none'],
    ['a handshake in a batch', [call(1, 'initialize')], 'existing'],
    ['eras mixed', [call(1, 'ping'), call(2, 'ping', modernParams())], 'none'],
  ];
  for (const [name, message, session, streams = false] of rows) {
    const incoming = open().read(JSON.stringify(message));
    assert.deepEqual([incoming.session, incoming.streams], [session, streams], name);
  }
});

test('a batch is answered as one, in order, one call at a time, only where the version has batches and the client stays', async () => {
  const refused = 'invalid request: a batch is not accepted here';
  const rows: readonly (readonly [name: string, version: string | undefined, message: unknown, reply?: unknown])[] = [
    ['requests', '2025-03-26', [call(1, 'count'), notice('stop'), call('a', 'count')], [1, 'a']],
    ['the older version', '2024-11-05', [call(1, 'count'), 7], [1, null]],
    ['only notifications', '2025-03-26', [notice('stop'), notice('none')]],
    ['empty', '2025-03-26', [], 'invalid request: a batch is not empty'],
    ['no handshake', undefined, [call(1, 'count')], refused],
    ['a later version', '2025-06-18', [call(1, 'count')], refused],
    ['the modern era', '2025-03-26', [call(2, 'count', modernParams())], refused],
    ['a client that goes', '2025-03-26', [call(1, 'end'), call(2, 'never')]],
  ];
  for (const [name, version, message, reply] of rows) {
    let running = 0;
    const { sendRaw, received, session } = open({
      count: async () => {
        assert.equal(++running, 1);
        await new Promise((done) => setImmediate(done));
        return { left: --running };
      },
      end: () => ({ ended: session.end() }),
      never: () => assert.fail('it was continued'),
    });
    session.handshake = { version, client: undefined, anyStructure: false };
    await sendRaw(message);
    const shown = received.map((one) => (Array.isArray(one) ? one.map(({ id }) => id) : one.error?.message));
    assert.deepEqual(shown, reply === undefined ? [] : [reply], name);
    for (const { result } of received.flat()) assert.equal(result?.left ?? 0, 0);
  }
});
