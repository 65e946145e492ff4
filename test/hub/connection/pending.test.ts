/** Requests that wait for their responses, with one timer for all timeouts. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { deadlineOf, type Pending, PendingRequests } from '../../../src/hub/connection/pending.ts';
import { stopClock } from '../../harness/clock.ts';

/** Time passes only by `tick`. */
function start(t: TestContext) {
  let now = 1000;
  stopClock(t);
  t.mock.method(process, 'hrtime', () => [0, now * 1e6]);
  const expired: unknown[] = [];
  const requests = new PendingRequests((id) => {
    requests.take(id);
    expired.push(id);
  });
  return {
    requests,
    add(id: number, timeout?: number): Pending {
      const options = { timeout };
      const [resolve, reject, onAbort] = [() => {}, () => {}, () => {}];
      const deadline = deadlineOf(options);
      const pending = {
        method: 'x',
        options,
        notifyOnCancel: false,
        resolve,
        reject,
        onAbort,
        deadline,
        over: undefined,
      };
      requests.add(id, pending);
      return pending;
    },
    tick(milliseconds: number): readonly unknown[] {
      for (let passed = 0; passed < milliseconds; passed += 1) {
        now += 1;
        t.mock.timers.tick(1);
      }
      return expired.splice(0);
    },
  };
}

test('each request has its own timeout, whatever the order in which they come', (t) => {
  const { add, tick } = start(t);
  add(1, 100);
  add(2, 50);
  add(3);
  add(4, 100);
  assert.deepEqual(tick(49), []);
  assert.deepEqual(tick(1), [2]);
  add(5, 20);
  assert.deepEqual(tick(20), [5]);
  assert.deepEqual(tick(30), [1, 4]);
  assert.deepEqual(tick(100_000), []);
});

test('a request that was answered does not time out, and those behind it do', (t) => {
  const { requests, add, tick } = start(t);
  const first = add(1, 50);
  add(2, 80);
  assert.equal(requests.take(1), first);
  assert.equal(requests.take(1), undefined);
  assert.deepEqual(tick(79), []);
  assert.deepEqual(tick(1), [2]);
});

test('a request that was prolonged times out later', (t) => {
  const { add, tick } = start(t);
  const pending = add(1, 50);
  assert.deepEqual(tick(40), []);
  pending.deadline = deadlineOf(pending.options);
  assert.deepEqual(tick(49), []);
  assert.deepEqual(tick(1), [1]);
});

test('a timeout that is longer than any timer can be is not over at once', (t) => {
  const { add, tick } = start(t);
  add(1, 2 ** 40);
  assert.deepEqual(tick(1000), []);
});

test('no timer is left when all requests are taken together', (t) => {
  const { requests, add, tick } = start(t);
  add(1, 50);
  for (const id of requests.stop()) requests.take(id);
  assert.deepEqual(tick(100), []);
  add(2, 50);
  assert.deepEqual(tick(50), [2]);
});
