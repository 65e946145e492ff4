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
  const { sendRaw, ask, received, session, faults } = open({
    broken: () => Promise.reject(new Error('broken')),
    circle: () => circle,
    error: () => Promise.reject(new protocol.RpcError(-32099, 'refused', circle)),
    progress: (_params, { notify }) => notify('notifications/progress', circle) ?? {},
  });
  const codes = { broken: -32603, circle: -32603, error: -32099, progress: -32603, none: -32601 };
  for (const [method, code] of Object.entries(codes)) assert.equal((await ask(method)).error?.code, code, method);
  assert.equal(received[0].error.message, 'internal error: broken');
  await sendRaw(notice('bad'));
  await sendRaw(call(9, 'none'), undefined, () => assert.fail('nobody there'));
  assert.deepEqual([received.length, session.calls.size], [5, 0]);
  assert.match(
    faults.join(),
    /broken: .*circle: .*progress: .*circular.*,a message: .*a handler failed,.*nobody there/s,
  );
});

test('a call that is cancelled, running or not, gets no reply and sends nothing more; its id is free at once', async () => {
  let ran = 0;
  const { sendRaw, received } = open({
    late: () => ({ nth: ++ran }),
    slow: (_params, { cancellation, notify }) =>
      new Promise((done) => {
        notify('before', {});
        cancellation().addEventListener('abort', () => done(notify('after', {}) ?? {}));
      }),
  });
  const turn = new Promise<void>((begin) => setImmediate(begin));
  const calls = [sendRaw(call(1, 'slow')), sendRaw(call(2, 'late'), turn), sendRaw(call('2', 'ping'), turn)];
  for (const id of [1, 2]) await sendRaw(notice('stop', { id }));
  for (const id of [1, 2]) await sendRaw(call(id, 'ping'));
  await Promise.all(calls);
  const shown = received.map(({ method, id, result }) => method ?? [id, result]);
  assert.deepEqual([ran, ...shown], [0, 'before', [1, {}], [2, {}], ['2', {}]]);
});

test('`read` says which session a text needs, and whether its answer is a stream', () => {
  const rows: readonly (readonly [name: string, message: unknown, session: string, streams?: boolean])[] = [
    ['a handshake', call(1, 'initialize'), 'new'],
    ['a legacy notification', notice('initialize'), 'existing'],
    ['a response', { jsonrpc: '2.0', id: 1, result: {} }, 'existing'],
    ['a stream', call(1, 'listen', modernParams()), 'none', true],
    ['a notification that is called like one', notice('listen', modernParams()), 'none'],
    ['no message', 7, 'none'],
    ['a handshake in a batch', [call(1, 'initialize')], 'existing'],
    ['eras mixed', [call(1, 'ping'), call(2, 'ping', modernParams())], 'none'],
  ];
  for (const [name, message, session, streams = false] of rows) {
    const incoming = open().read(JSON.stringify(message));
    assert.deepEqual([incoming.session, incoming.streams], [session, streams], name);
  }
});

test('the messages of a batch run one at a time, in their order, while the client stays', async () => {
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
  await sendRaw([call(1, 'count'), notice('stop'), call('a', 'count')]);
  const counted = (id: unknown) => ({ jsonrpc: '2.0', id, result: { left: 0 } });
  assert.deepEqual(received.splice(0), [[counted(1), counted('a')]]);
  await sendRaw([call(1, 'end'), call(2, 'never')]);
  assert.deepEqual(received, []);
});
