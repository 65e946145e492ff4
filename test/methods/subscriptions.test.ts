import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Refreshed } from '../../src/catalog/registry.ts';
import { createList, type Feature } from '../../src/methods/lists.ts';
import { createSubscribers } from '../../src/methods/subscribers.ts';
import { listenMethod } from '../../src/methods/subscriptions.ts';
import type { Snapshot } from '../../src/model.ts';
import type { Call } from '../../src/protocol/index.ts';
import { delay } from '../../src/wait.ts';
import { createGate } from '../harness/peer.ts';

/** A list that differs between any two snapshots. */
const TOOLS: Feature = {
  name: 'tools',
  methods: [],
  lists: ({ generation }) => [createList('tools', [{ name: String(generation) }], ({ name }) => name)],
};
const snapshotOf = (generation: number) => ({ generation, isComplete: true }) as Snapshot;

test('a list that changes while a subscription reads its files is told of, after the acknowledgement', async () => {
  const gate = createGate();
  const listeners: ((event: Refreshed) => void)[] = [];
  const subscribers = createSubscribers(
    { onRefresh: (hear) => void listeners.push(hear), current: () => undefined },
    assert.ifError,
  );
  const lookUp = async () => {
    await gate.pass();
    return undefined;
  };
  const listen = listenMethod({ lookUp, complete: async () => snapshotOf(1) }, subscribers, [TOOLS]);
  const told: string[] = [];
  const cancel = new AbortController();
  const call = { id: 1, peer: {}, cancellation: cancel.signal, notify: (method: string) => void told.push(method) };
  const params = { notifications: { toolsListChanged: true, resourceSubscriptions: ['skill://claude/pdf/f'] } };
  const answer = listen.run(params, call as unknown as Call);
  const change = { added: 1, changed: 0, removed: 0 };
  listeners[0]?.({ before: snapshotOf(1), after: snapshotOf(2), change, reason: 'watch', milliseconds: 1 });
  await delay(50);
  assert.deepEqual(told, []);
  gate.open();
  await delay(50);
  assert.deepEqual(told, ['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed']);
  cancel.abort();
  await answer;
  subscribers.close();
});

test('a subscription is acknowledged when the first lists are complete, so that no change after it is missed', async () => {
  const gate = createGate();
  const complete = async () => {
    await gate.pass();
    return snapshotOf(1);
  };
  const subscribers = createSubscribers({ onRefresh: () => {}, current: () => undefined }, assert.ifError);
  const listen = listenMethod({ lookUp: async () => undefined, complete }, subscribers, [TOOLS]);
  const told: string[] = [];
  const cancel = new AbortController();
  const call = { id: 1, peer: {}, cancellation: cancel.signal, notify: (method: string) => void told.push(method) };
  const answer = listen.run({ notifications: { toolsListChanged: true } }, call as unknown as Call);
  await delay(50);
  assert.deepEqual(told, []);
  gate.open();
  await delay(50);
  assert.deepEqual(told, ['notifications/subscriptions/acknowledged']);
  cancel.abort();
  await answer;
  subscribers.close();
});
