import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { DEBOUNCE_MS } from '../../src/limits.ts';
import { META } from '../../src/protocol/index.ts';
import { modernParams, startServer } from '../harness/server.ts';
import { mockTimers } from '../harness/timers.ts';

const CHANGED = 'list_changed list changed (watch)';

/** A server whose clock stands still, with one tool and one prompt of these names. */
function start(t: TestContext) {
  mockTimers(t, 'setTimeout');
  // Before the server ends: the mock of Node 20.12 fails on `clearTimeout(undefined)`.
  t.after(() => t.mock.timers.reset());
  let [tool, prompt] = ['a', 'a'];
  const { server, received, send, session, refresh } = startServer(t, {}, {}, () => ({
    tools: [{ definition: { name: tool, inputSchema: {} }, run: () => assert.fail() }],
    prompts: [{ definition: { name: prompt }, get: () => assert.fail() }],
  }));
  const rename = (...names: [tool: string, prompt: string]) => {
    [tool, prompt] = names;
    return refresh('watch');
  };
  const initialize = () => {
    session.handshake = { client: undefined, version: '2025-11-25', anyStructure: false };
    return send({ method: 'notifications/initialized' });
  };
  const params = modernParams({ notifications: { toolsListChanged: true } });
  const subscribe = (id: unknown) => send({ id, method: 'subscriptions/listen', params });
  /** What the client has received since the last look, each on one line, with the id of its subscription first. */
  const news = async () => {
    await new Promise((turn) => setImmediate(turn));
    return received.splice(0).map(({ id, method = 'answer', params, result }) => {
      const { [META.subscription]: tag, 'skillwire/reason': reason } = (params ?? result)._meta;
      return [JSON.stringify(tag), ...method.split('/').slice(1), reason ?? id].join(' ').trim();
    });
  };
  const tick = (ms: number) => t.mock.timers.tick(ms);
  return { server, received, send, session, tick, rename, initialize, subscribe, news };
}

test('a legacy client is told of each list that changed, after the handshake, and at most once in half a second', async (t) => {
  const { initialize, send, session, news, rename, tick, server } = start(t);
  await server.registry.ready();
  await send({ method: 'notifications/initialized' });
  await rename('b', 'b');
  assert.deepEqual(await news(), [], 'no handshake came before it');
  await initialize();
  await initialize();
  await rename('c', 'c');
  assert.deepEqual(await news(), [`tools ${CHANGED}`, `prompts ${CHANGED}`]);
  tick(DEBOUNCE_MS);
  await rename('c', 'c');
  assert.deepEqual(await news(), [], 'the lists are the same');
  for (const name of ['d', 'e', 'f']) await rename(name, 'c');
  assert.deepEqual(await news(), [`tools ${CHANGED}`]);
  tick(DEBOUNCE_MS - 1);
  assert.deepEqual(await news(), []);
  tick(1);
  assert.deepEqual(await news(), [`tools ${CHANGED}`], 'the others together, at the end of the pause');
  tick(10 * DEBOUNCE_MS);
  assert.deepEqual(await news(), [], 'nothing is sent without a change');
  session.end();
  await rename('g', 'g');
  assert.deepEqual(await news(), []);
});

test('a subscription is acknowledged after the first snapshot, which is no change, and is over when the server ends', async (t) => {
  const { initialize, subscribe, received, news, server } = start(t);
  await initialize();
  const call = subscribe('1');
  while (!server.registry.current()) {
    assert.equal(received.length, 0);
    await new Promise((turn) => setImmediate(turn));
  }
  assert.deepEqual(await news(), ['"1" subscriptions acknowledged']);
  server.stop();
  await call;
  await subscribe(3);
  assert.deepEqual(await news(), ['"1" 1', '3 subscriptions acknowledged', '3 3']);
});
