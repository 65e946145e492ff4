import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNew, isRecent } from '../../src/files/stats.ts';

const NOW = 1_800_000_000_000;
const CASES: readonly (readonly [what: string, age: number, fraction: number, isNew: boolean, isRecent: boolean])[] = [
  ['just now', 5, 0.5, true, true],
  ['a little in the future, as clocks of two processors differ', -5, 0.5, true, true],
  ['a second ago', 1000, 0.5, false, false],
  ['a second ago, in whole seconds', 1000, 0, false, true],
  ['three seconds ago, in whole seconds', 3000, 0, false, false],
  ['in a minute, by another clock', -60_000, 0.5, false, false],
  ['in a minute, by another clock, in whole seconds', -60_000, 0, false, false],
];
for (const [what, age, fraction, shouldBeNew, shouldBeRecent] of CASES)
  test(`a change ${what} is ${shouldBeRecent ? '' : 'not '}recent and ${shouldBeNew ? '' : 'not '}new`, () => {
    const ctimeMs = NOW - age + fraction;
    const version = { dev: 1, ino: 1, birthtimeMs: 0, size: 1, mtimeMs: 0, ctimeMs };
    assert.deepEqual([isNew(version, NOW), isRecent(version, NOW)], [shouldBeNew, shouldBeRecent]);
  });
