import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepListening } from '../../src/hub/connection.ts';
import { mockTimers } from '../harness/timers.ts';

test('the stream for notifications is opened again, later each time, until the server has none', async (t) => {
  mockTimers(t, 'setTimeout', 'Date');
  const times: number[] = [];
  const noted: string[] = [];
  const listen = async (opened: () => void) => {
    times.push(Date.now() / 1000);
    if (times.length === 2) throw new Error('no stream');
    opened();
    return times.length < 9;
  };
  const log = (line: string) => void noted.push(line);
  void keepListening(listen, () => void noted.push('open'), log, new AbortController().signal);
  for (let step = 0; times.length < 9 && step < 1000; step++) {
    await new Promise((done) => setImmediate(done));
    t.mock.timers.tick(1000);
  }
  assert.deepEqual(times, [0, 1, 3, 7, 15, 31, 63, 123, 183]);
  assert.deepEqual(noted, ['open', 'no notifications: no stream', ...Array(7).fill('open')]);
});
