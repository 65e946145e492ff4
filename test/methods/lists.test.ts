import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createList, cursorAfter, type EncodedList } from '../../src/methods/lists.ts';

const listOf = (...letters: string[]) => createList('letters', letters, (letter) => letter, 2);
const read = (list: EncodedList, cursor?: unknown) => JSON.parse(`${list.page(cursor).body}}`);

test('a page is encoded once, however often it is asked for', () => {
  const list = listOf('a', 'b', 'c');
  assert.equal(list.page(undefined), list.page(undefined));
  assert.equal(list.page(cursorAfter('letters', 'b')), list.page(cursorAfter('letters', 'b')));
});

test('the pages of a list have all items once; the last has no cursor', () => {
  const list = listOf('a', 'b', 'c', 'd', 'e');
  const first = read(list);
  const second = read(list, first.nextCursor);
  const third = read(list, second.nextCursor);
  assert.deepEqual([first.letters, second.letters, third], [['a', 'b'], ['c', 'd'], { letters: ['e'] }]);
  assert.deepEqual(read(listOf()), { letters: [] });
});

test('items that come or go between two pages neither repeat nor hide others', () => {
  const { nextCursor } = read(listOf('a', 'b', 'c', 'd'));
  assert.deepEqual(read(listOf('c', 'd'), nextCursor).letters, ['c', 'd']);
  assert.deepEqual(read(listOf('a', 'aa', 'ab', 'b', 'c', 'd'), nextCursor).letters, ['c', 'd']);
  assert.deepEqual(read(listOf('a'), nextCursor).letters, []);
});

test('a cursor of another list, or one that is made up, is refused', () => {
  for (const cursor of [cursorAfter('digits', 'a'), 'made up', '', 5, null]) {
    assert.throws(() => listOf('a').page(cursor), /cursor is not one that this list gave out/);
  }
});

test('two lists are equal when a client would be sent the same pages', () => {
  const list = listOf('a', 'b', 'c');
  assert.deepEqual([...list.pages()], [...listOf('a', 'b', 'c').pages()]);
  for (const other of [listOf('a', 'b'), listOf('a', 'b', 'd'), listOf('a', 'x', 'c'), listOf()]) {
    assert.notDeepEqual([...list.pages()], [...other.pages()]);
  }
});

test('what is listed of an item is made for its page, once, when that page is asked for', () => {
  const made: string[] = [];
  const define = (letter: string) => {
    made.push(letter);
    return letter.toUpperCase();
  };
  const list = createList('letters', ['a', 'b', 'c'], (letter) => letter, 2, 'letters', define);
  assert.deepEqual(made, []);
  const [first] = list.pages();
  assert.match(String(first && Buffer.from(first)), /"letters":\["A","B"\]/);
  assert.deepEqual(made, ['a', 'b']);
  assert.equal([...list.pages()].length, 2);
  assert.deepEqual(made, ['a', 'b', 'c']);
});
