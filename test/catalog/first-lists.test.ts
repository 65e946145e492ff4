import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFirstLists } from '../../src/catalog/first-lists.ts';
import { createRegistry, type Registry } from '../../src/catalog/registry.ts';
import type { Contribution, Snapshot, Source } from '../../src/model.ts';
import { createTestClock, settle } from '../harness/clock.ts';
import { createGate } from '../harness/peer.ts';

const OPTIONS = { include: [], exclude: [], dedupe: false };
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
  const lists = createFirstLists([source], () => registry);
  const registry: Registry = createRegistry([source], { ...OPTIONS, isComplete: lists.isComplete });
  const announced: boolean[] = [];
  registry.onRefresh(({ before }) => announced.push(before !== undefined && lists.wasListed(before)));
  const settled: string[] = [];
  const wait = async (name: string, snapshot: Promise<Snapshot | undefined>) => {
    const found = await snapshot;
    settled.push(`${name}: ${found?.problems.length}`);
  };
  const waiting = [
    wait('list', lists.complete()),
    wait(
      'missing',
      lists.lookUp((now) => (now.problems.length > 0 ? now : undefined)),
    ),
    wait(
      'known',
      lists.lookUp((now) => now),
    ),
    wait('call', registry.ready()),
    lists.lookAgain('late:tool').then((late) => void settled.push(`late: ${late?.snapshot.problems.length}`)),
  ];
  await registry.refresh('first');
  await registry.refresh('call');
  assert.deepEqual(settled.toSorted(), ['call: 0', 'known: 0']);
  assert.equal(await lists.lookAgain('other'), undefined);
  gate.open();
  await Promise.all(waiting);
  assert.deepEqual(settled.slice(2).toSorted(), ['late: 1', 'list: 1', 'missing: 1']);
  assert.equal(await lists.complete(), registry.current());
  await registry.refresh('later');
  // Nothing was listed before the lists were complete, so only the last refreshes could be a change for a client.
  assert.deepEqual(announced, [false, false, false, true, true]);
});

test('a source that never arrives delays the first lists by a second', async () => {
  const source: Source = { name: 'test', load: async () => ({}), arrived: () => new Promise(() => {}) };
  const clock = createTestClock();
  const lists = createFirstLists([source], () => registry, clock);
  const registry: Registry = createRegistry([source], { ...OPTIONS, isComplete: lists.isComplete });
  const first = registry.refresh('first');
  const complete = lists.complete();
  await first;
  await settle();
  await clock.advance(999);
  assert.ok(!lists.isComplete());
  await clock.advance(1);
  assert.ok(lists.isComplete());
  assert.ok(await complete);
});
