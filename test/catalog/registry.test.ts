import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRegistry } from '../../src/catalog/registry.ts';
import { createTestClock } from '../harness/clock.ts';
import { createGate } from '../harness/peer.ts';

const NOTHING = {};
const OPTIONS = { include: [], exclude: [], dedupe: false };

test('refreshes never overlap; asking during one causes exactly one more, shared by all who asked', async () => {
  const gate = createGate();
  let [running, most, loads] = [0, 0, 0];
  const source = {
    name: 'test',
    async load() {
      loads++;
      most = Math.max(most, ++running);
      await gate.pass();
      running--;
      return NOTHING;
    },
  };
  const registry = createRegistry([source], OPTIONS);
  const first = registry.refresh('first');
  const others = ['a', 'b', 'c'].map((reason) => registry.refresh(reason));
  assert.equal(new Set(others).size, 1);
  gate.open();
  await Promise.all([first, ...others]);
  assert.deepEqual({ most, loads }, { most: 1, loads: 2 });
});

test('a refresh that fails does not stop those after it', async () => {
  const registry = createRegistry([{ name: 'test', load: async () => NOTHING }], OPTIONS);
  let faulty = true;
  registry.onRefresh(() => {
    if (faulty) throw new Error('a listener at fault');
  });
  const failed = registry.refresh('first');
  const queued = registry.refresh('second');
  await assert.rejects(failed, /a listener at fault/);
  faulty = false;
  assert.ok(await queued);
  assert.ok(await registry.refresh('third'));
});

test('the first snapshot is waited for, later ones are not', async () => {
  const gates = [createGate(), createGate()];
  let load = 0;
  const source = {
    name: 'test',
    async load() {
      await gates[load++]?.pass();
      return {};
    },
  };
  const registry = createRegistry([source], OPTIONS);
  void registry.refresh('first');
  const ready = registry.ready();
  assert.equal(registry.current(), undefined);
  gates[0]?.open();
  const first = await ready;
  const second = registry.refresh('second');
  assert.equal(await registry.ready(), first);
  gates[1]?.open();
  assert.notEqual(await second, first);
});

test('listeners are told how long a refresh took, and whether it changed anything', async () => {
  const clock = createTestClock();
  const source = {
    name: 'test',
    async load() {
      await clock.delay(40);
      return NOTHING;
    },
  };
  const registry = createRegistry([source], { ...OPTIONS, clock });
  const told: object[] = [];
  registry.onRefresh(({ reason, before, after, milliseconds }) => {
    told.push({ reason, milliseconds, isSame: before === after });
  });
  for (const reason of ['first', 'second']) {
    const refreshed = registry.refresh(reason);
    await clock.advance(40);
    await refreshed;
  }
  assert.deepEqual(told, [
    { reason: 'first', milliseconds: 40, isSame: false },
    { reason: 'second', milliseconds: 40, isSame: true },
  ]);
});

test('a source that fails keeps its last contribution, and the same failure again changes nothing', async () => {
  let failure: string | undefined;
  const source = {
    name: 'test',
    async load() {
      if (failure !== undefined) throw new Error(failure);
      return { servers: ['kept'] };
    },
  };
  const registry = createRegistry([source], OPTIONS);
  await registry.refresh('good');
  failure = 'broken';
  const failed = await registry.refresh('bad');
  assert.deepEqual(failed.servers, ['kept']);
  assert.deepEqual(failed.problems, [{ where: 'test', what: 'could not be refreshed: broken' }]);
  assert.equal(await registry.refresh('bad'), failed);
  failure = 'broken otherwise';
  assert.deepEqual((await registry.refresh('worse')).problems.length, 1);
  failure = undefined;
  assert.deepEqual((await registry.refresh('good')).problems, []);
});
