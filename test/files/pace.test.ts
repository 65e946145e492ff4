import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPacer } from '../../src/files/pace.ts';

test('work gets a break when its slice is over, and not before', async ({ mock }) => {
  mock.timers.enable({ apis: ['Date'], now: 1000 });
  const pace = createPacer(20);
  mock.timers.setTime(1019);
  assert.equal(pace(), undefined);
  let turns = 0;
  setImmediate(() => turns++);
  mock.timers.setTime(1020);
  await pace();
  assert.equal(turns, 1, 'other work had its turn');
  mock.timers.setTime(1039);
  assert.equal(pace(), undefined, 'the next slice has begun');
  // The clock was set back.
  mock.timers.setTime(0);
  assert.ok(pace());
});
