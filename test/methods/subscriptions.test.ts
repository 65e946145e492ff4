import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Refreshed } from '../../src/catalog/registry.ts';
import { createSubscriptions } from '../../src/methods/subscriptions.ts';
import type { Call } from '../../src/protocol/index.ts';
import { delay } from '../../src/wait.ts';
import { createGate } from '../harness/peer.ts';

test('a list that changes while a subscription reads its files is told of, after the acknowledgement', async () => {
  const gate = createGate();
  let refreshed = (_event: Refreshed) => {};
  const { methods, close } = createSubscriptions(
    {
      onRefresh(hear) {
        refreshed = hear;
      },
    },
    { wasListed: () => true },
    [{ key: 'toolsListChanged', method: 'notifications/tools/list_changed', differs: () => true }],
    {
      async subscribe(uris, subscriber) {
        await gate.pass();
        subscriber.begin(uris);
      },
    },
    assert.ifError,
  );
  const told: string[] = [];
  const cancel = new AbortController();
  const call = { id: 1, peer: {}, signal: cancel.signal, notify: (method: string) => void told.push(method) };
  const params = { notifications: { toolsListChanged: true, resourceSubscriptions: ['skill://claude/pdf/f'] } };
  const answer = methods[0]?.run(params, call as unknown as Call);
  const change = { added: 1, changed: 0, removed: 0 };
  refreshed({ before: {}, after: {}, change, reason: 'watch' } as Refreshed);
  await delay(50);
  assert.deepEqual(told, []);
  gate.open();
  await delay(50);
  assert.deepEqual(told, ['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed']);
  cancel.abort();
  await answer;
  close();
});
