import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitProgress } from '../../../src/hub/upstream/calls.ts';
import { MAX_PROGRESS_PER_SECOND } from '../../../src/hub/upstream/limits.ts';

test('after the reports of one second, the latest is sent in the next second or at the end', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const sent: unknown[] = [];
  const { report, finish } = limitProgress(({ progress }) => void sent.push(progress));
  const take = () => sent.splice(0);
  const first = Array.from({ length: MAX_PROGRESS_PER_SECOND }, (_, at) => at);
  for (const progress of [...first, 100, 101, 102]) report({ progress });
  assert.deepEqual(take(), first);
  t.mock.timers.tick(1000);
  assert.deepEqual(take(), [102]);
  for (const progress of [...first, 200, 201]) report({ progress });
  assert.deepEqual(take(), first.slice(0, -1));
  finish();
  assert.deepEqual(take(), [201]);
  t.mock.timers.tick(5000);
  assert.deepEqual(take(), []);
});
