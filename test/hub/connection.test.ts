import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepListening } from '../../src/hub/connection.ts';
import { mockTimers } from '../harness/timers.ts';

test('the stream for notifications is opened again, later each time, until the server has none', async (t) => {
  mockTimers(t, 'setTimeout', 'Date');
  const times: number[] = [];
  const [opened, log] = [t.mock.fn(), t.mock.fn()];
  const listen = async (open: () => void) => {
    times.push(Date.now() / 1000);
    if (times.length === 2) throw new Error('no stream');
    open();
    return times.length < 9;
  };
  void keepListening(listen, opened, log, new AbortController().signal);
  for (let step = 0; times.length < 9 && step < 1000; step++) {
    await new Promise((done) => setImmediate(done));
    t.mock.timers.tick(1000);
  }
  assert.deepEqual(times, [0, 1, 3, 7, 15, 31, 63, 123, 183]);
  assert.deepEqual([opened.mock.callCount(), log.mock.calls[0]?.arguments], [8, ['no notifications: no stream']]);
});
