import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGE } from '../../src/limits.ts';
import { createList, cursorAfter } from '../../src/methods/lists.ts';

const keyOf = (n: number) => String(n).padStart(5, '0');
const listOf = (numbers: readonly number[]) => createList('items', numbers, keyOf);
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);
const read = (list: ReturnType<typeof listOf>, cursor?: unknown) => JSON.parse(`${list(cursor).body}}`);

test('the pages of a list have all items once, sorted, each encoded once; equal items give equal bytes', () => {
  const [list, same] = [listOf(upTo(2 * PAGE + 1).toReversed()), listOf(upTo(2 * PAGE + 1))];
  const first = read(list);
  const second = read(list, first.nextCursor);
  const third = read(list, second.nextCursor);
  assert.deepEqual([...first.items, ...second.items], upTo(2 * PAGE));
  assert.deepEqual(third, { items: [2 * PAGE] });
  for (const cursor of [undefined, first.nextCursor, second.nextCursor]) {
    assert.equal(list(cursor), list(cursor));
    assert.deepEqual(list(cursor).body, same(cursor).body);
  }
  for (const count of [PAGE, 0]) assert.deepEqual(read(listOf(upTo(count))), { items: upTo(count) });
});

test('items that come or go between two pages neither repeat nor hide others; a foreign cursor is refused', () => {
  const { nextCursor } = read(listOf(upTo(PAGE + 2)));
  const rest = [PAGE, PAGE + 1];
  assert.deepEqual(read(listOf(rest), nextCursor).items, rest, 'the item of the cursor is gone');
  assert.deepEqual(read(listOf([...upTo(PAGE), ...rest, PAGE + 2]), nextCursor).items, [...rest, PAGE + 2]);
  assert.deepEqual(read(listOf([1]), nextCursor).items, []);
  const own = cursorAfter('items', keyOf(1));
  const changed = [`${own}=`, own.slice(2)];
  for (const cursor of [cursorAfter('other', keyOf(1)), ...changed, 'made up', '', ' ', 5, null, {}])
    assert.throws(() => listOf([1])(cursor), { code: -32602, message: /cursor is not one that this list gave out/ });
});
