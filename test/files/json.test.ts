import assert from 'node:assert/strict';
import { mkdirSync, utimesSync } from 'node:fs';
import { test } from 'node:test';
import * as v from 'valibot';
import { createJsonReader } from '../../src/files/json.ts';
import type { Problem } from '../../src/model.ts';
import { makeTree } from '../harness/tree.ts';

/** `read`: the value and the fault of a file. `checked`: how often one was checked. */
function reader() {
  let checked = 0;
  const counting = v.check(() => ++checked > 0);
  const readJson = createJsonReader(v.object({ a: v.pipe(v.unknown(), counting, v.number()) }));
  const read = (path: string) => {
    const problems: Problem[] = [];
    const { value, fault } = readJson(path, problems);
    assert.equal(fault, problems.length > 0);
    return [value?.a, ...problems.map(({ what }) => what)];
  };
  return { read, checked: () => checked };
}

const ROWS: readonly (readonly [text: string, value: unknown, fault?: RegExp])[] = [
  ['{"a": 1}', 1],
  ['{"a": 2', 1, /^cannot be read: it is not valid JSON/],
  ['\ufeff{"a": 3}', 3],
  ['{"a": "SECRET"}', 3, /^a must be number$/],
  ['{}', 3, /^a is missing$/],
  ['"SECRET"', 3, /^cannot be read: must be Object$/],
  ['{\n// SECRET\n"a": 5}', 3, /^cannot be read: it has a comment, so it is not plain JSON/],
  ['{"key": sk-SECRET}', 3, /^cannot be read: it is not valid JSON/],
];

test('a file that cannot be understood is a Problem and keeps its last good content; a deleted one has none', (t) => {
  const tree = makeTree(t);
  const { read } = reader();
  for (const [text, value, fault] of ROWS) {
    const [found, said = ''] = read(tree.write('file', text));
    assert.equal(found, value, text);
    assert.match(String(said), fault ?? /^$/, text);
    assert.doesNotMatch(String(said), /SECRET/);
  }
  tree.remove('file');
  mkdirSync(tree.at('file'));
  assert.deepEqual(read(tree.at('file')), [3, 'cannot be read: it is a directory']);
  tree.remove('file');
  assert.deepEqual(read(tree.at('file')), [undefined]);
});

test('a file that has not changed is not checked again, unless it had changed just before', (t) => {
  const tree = makeTree(t, { file: '{"a": 1}' });
  const file = tree.at('file');
  const { read, checked } = reader();
  for (const _ of [1, 2]) read(file);
  assert.equal(checked(), 2, 'a second change might have left the same times');
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 3000 });
  for (const _ of [1, 2, 3]) assert.deepEqual(read(file), [1]);
  assert.equal(checked(), 3);
  utimesSync(file, 1, 1);
  assert.deepEqual([read(file), checked()], [[1], 4]);
  tree.write('file', '{"a": "a fault"}');
  for (const _ of [1, 2]) assert.deepEqual(read(file), [1, 'a must be number']);
  assert.equal(checked(), 5);
});
