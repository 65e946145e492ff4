import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lazy } from '../src/lazy.ts';

test('a lazy value is made at the first call, and once', () => {
  let made = 0;
  const value = lazy(() => ({ number: ++made }));
  assert.equal(made, 0);
  assert.equal(value(), value());
  assert.equal(made, 1);
});

test('a value that could not be made is tried again', () => {
  let attempts = 0;
  const value = lazy(() => {
    if (++attempts === 1) throw new Error('not yet');
    return { attempts };
  });
  assert.throws(value, /not yet/);
  assert.deepEqual(value(), { attempts: 2 });
});
