import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRegistry } from '../../src/catalog/registry.ts';
import type { Contribution, Snapshot, Source } from '../../src/model.ts';
import { createTestClock, settle } from '../harness/clock.ts';
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

test('a refresh has the reasons of all who asked for it, each once (13.17)', async () => {
  const gate = createGate();
  const load = async () => {
    await gate.pass();
    return NOTHING;
  };
  const registry = createRegistry([{ name: 'test', load }], OPTIONS);
  const reasons: string[] = [];
  registry.onRefresh(({ reason }) => void reasons.push(reason));
  const asked = ['first', 'after server up', 'watch', 'watch'].map((reason) => registry.refresh(reason));
  gate.open();
  await Promise.all(asked);
  await registry.refresh('timer');
  assert.deepEqual(reasons, ['first', 'after server up, watch', 'timer']);
});

test('a refresh that is asked for between two others does not overlap the second', async () => {
  let [running, most] = [0, 0];
  const load = async () => {
    most = Math.max(most, ++running);
    await settle();
    running--;
    return NOTHING;
  };
  const registry = createRegistry([{ name: 'test', load }], OPTIONS);
  const between = registry.refresh('first').then(() => registry.refresh('third'));
  await Promise.all([between, registry.refresh('second')]);
  assert.equal(most, 1);
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
  const registry = createRegistry([source], OPTIONS, clock);
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

const LATE: Contribution = { problems: [{ where: 'late', what: 'is here' }] };

test('lists, and names that are not known yet, wait for late sources; calls of known things do not', async () => {
  const gate = createGate();
  let arrived = false;
  const source: Source = {
    name: 'test',
    load: async () => (arrived ? LATE : {}),
    arrived: async () => {
      await gate.pass();
      arrived = true;
    },
    explain: (name) => (name === 'late:tool' ? { isReady: arrived, state: 'connecting' } : undefined),
  };
  const registry = createRegistry([source], OPTIONS);
  const announced: boolean[] = [];
  registry.onRefresh(({ before }) => announced.push(before?.isComplete ?? false));
  const settled: string[] = [];
  const wait = async (name: string, snapshot: Promise<Snapshot | string | undefined>) => {
    const found = await snapshot;
    settled.push(`${name}: ${typeof found === 'object' ? found.problems.length : found}`);
  };
  const waiting = [
    wait('list', registry.complete()),
    wait(
      'missing',
      registry.lookUp((now) => (now.problems.length > 0 ? now : undefined)),
    ),
    wait(
      'known',
      registry.lookUp((now) => now),
    ),
    wait('call', registry.ready()),
    wait(
      'late',
      registry.find('late:tool', () => undefined).then((f) => (f.kind === 'missing' ? f.snapshot : f.kind)),
    ),
  ];
  await registry.refresh('first');
  await registry.refresh('call');
  assert.deepEqual(settled.toSorted(), ['call: 0', 'known: 0']);
  gate.open();
  await Promise.all(waiting);
  assert.deepEqual(settled.slice(2).toSorted(), ['late: 1', 'list: 1', 'missing: 1']);
  assert.equal(await registry.complete(), registry.current());
  await registry.refresh('later');
  // Nothing was listed before the lists were complete, so only the last refreshes could be a change for a client.
  assert.deepEqual(announced, [false, false, false, true, true]);
});

test('a source that never arrives delays the first lists by a second', async () => {
  const source: Source = { name: 'test', load: async () => ({}), arrived: () => new Promise(() => {}) };
  const clock = createTestClock();
  const registry = createRegistry([source], OPTIONS, clock);
  let isComplete = false;
  const complete = registry.complete().then((snapshot) => {
    isComplete = true;
    return snapshot;
  });
  await registry.refresh('first');
  await settle();
  await clock.advance(999);
  assert.ok(!isComplete && !registry.current()?.isComplete);
  await clock.advance(1);
  assert.ok(isComplete);
  assert.equal(await complete, registry.current());
});

test('first lists that failed are complete after the next refresh', async () => {
  const source: Source = { name: 'test', load: async () => ({}), arrived: async () => {} };
  const registry = createRegistry([source], OPTIONS);
  let isFaulty = true;
  registry.onRefresh(({ reason }) => {
    if (isFaulty && reason === 'arrival') throw new Error('a listener at fault');
  });
  const complete = registry.complete();
  await registry.refresh('first');
  await assert.rejects(complete, /a listener at fault/);
  isFaulty = false;
  const later = await registry.refresh('later');
  assert.ok(later.isComplete);
  assert.equal(await registry.complete(), later);
});
