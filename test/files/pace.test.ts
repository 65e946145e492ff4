import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPacer } from '../../src/files/pace.ts';

test('work gets a break when its slice is over, and not before', async () => {
  const pace = createPacer(20);
  assert.equal(pace(), undefined);
  let turns = 0;
  setImmediate(() => turns++);
  const start = performance.now();
  let rest = pace();
  while (!rest) rest = pace();
  assert.ok(performance.now() - start > 10);
  await rest;
  assert.equal(turns, 1, 'other work had its turn');
  assert.equal(pace(), undefined, 'the next slice has begun');
});
