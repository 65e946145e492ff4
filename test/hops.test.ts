import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHops, HOPS_REMEMBERED_MS, MAX_HOPS } from '../src/hops.ts';

test('a hub passes on one more than the highest hop count that it was given lately', () => {
  let now = 0;
  const hops = createHops('1', () => now);
  assert.equal(hops.next(), 2);
  assert.equal(hops.accept('2'), true);
  assert.equal(hops.accept('1'), true);
  assert.equal(hops.next(), 3);
  now += HOPS_REMEMBERED_MS;
  assert.equal(hops.next(), 2);
});

test('a request is refused when its hop count is over the limit, and only then', () => {
  const hops = createHops(undefined);
  for (const fine of [undefined, '', '0', String(MAX_HOPS), 'x', '-1', '1e9', '9999', ['9']])
    assert.equal(hops.accept(fine), true, String(fine));
  for (const over of [String(MAX_HOPS + 1), '999']) assert.equal(hops.accept(over), false, over);
});
