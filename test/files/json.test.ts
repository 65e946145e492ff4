import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { createJsonCache } from '../../src/files/json.ts';
import type { Problem } from '../../src/model.ts';
import { makeTree } from '../harness/tree.ts';

const Shape = v.object({ a: v.number() });

/** What one refresh reads, and the Problems it finds. */
function reader() {
  const readerFor = createJsonCache();
  return (path: string) => {
    const problems: Problem[] = [];
    const reading = readerFor(problems)(path, Shape);
    return [reading.kind === 'read' ? reading.value.a : reading.kind, ...problems.map(({ what }) => what)];
  };
}

test('a file that cannot be understood keeps its last good content', (t) => {
  const tree = makeTree(t, { file: '{"a": 1}' });
  const read = reader();
  assert.deepEqual(read(tree.at('file')), [1]);
  tree.write('file', '{"a": 2');
  const [kept, fault] = read(tree.at('file'));
  assert.equal(kept, 1);
  assert.match(String(fault), /^cannot be read: it is not valid JSON/);
  tree.write('file', '\ufeff{"a": 3}');
  assert.deepEqual(read(tree.at('file')), [3]);
  tree.write('file', '{"a": "text"}');
  assert.deepEqual(read(tree.at('file'))[0], 'faulty');
  assert.deepEqual(read(tree.at('gone')), ['missing']);
});

test('a fault in JSON never quotes the file', (t) => {
  for (const text of ['root:x:0:0', '{"key": sk-live-secret}', '{\n  "a": 1,\n  sk-live-secret\n}', '[1 secret]']) {
    const tree = makeTree(t, { file: text });
    const [, fault] = reader()(tree.at('file'));
    assert.match(String(fault), /^cannot be read: it is not valid JSON(?: \(line \d+, column \d+\))?$/);
  }
});
