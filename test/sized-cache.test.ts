import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SizedCache } from '../src/sized-cache.ts';

test('when it is full, the oldest values are dropped first', () => {
  const cache = new SizedCache<string, number>(80);
  for (let n = 0; n < 10; n++) cache.set(`${n}`, n, 10);
  assert.deepEqual([cache.get('0'), cache.get('1'), cache.get('2'), cache.get('9')], [undefined, undefined, 2, 9]);
});

test('a value that is set again counts once, and as the newest', () => {
  const cache = new SizedCache<string, number>(80);
  for (let n = 0; n < 8; n++) cache.set(`${n}`, n, 10);
  for (let n = 0; n < 20; n++) cache.set('0', n, 10);
  assert.deepEqual([cache.get('0'), cache.get('1')], [19, 1]);
  cache.set('new', 0, 10);
  assert.deepEqual([cache.get('0'), cache.get('1')], [19, undefined]);
});

test('a value of more than an eighth of the cache is not kept', () => {
  const cache = new SizedCache<string, number>(80);
  cache.set('a', 1, 10);
  cache.set('a', 2, 11);
  assert.equal(cache.get('a'), undefined);
});
