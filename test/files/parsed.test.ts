import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { test } from 'node:test';
import { createFileCache, type Links, parseJson } from '../../src/files/parsed.ts';
import { delay } from '../../src/wait.ts';
import { makeTree } from '../harness/tree.ts';

/** What one refresh reads, and the fault it finds; how often a file was parsed. */
function reader() {
  let parsed = 0;
  const cache = createFileCache(1000, (bytes) => {
    parsed += 1;
    return JSON.stringify(parseJson(bytes));
  });
  const read = (path: string, links: Links = 'all') => {
    const { value, fault } = cache(path, links);
    return [value, ...(fault ? [`${fault.step}: ${fault.why}`] : [])];
  };
  return { read, parsed: () => parsed };
}

test('a file that cannot be understood keeps its last good content', (t) => {
  const tree = makeTree(t, { file: '{"a": 1}' });
  const { read } = reader();
  assert.deepEqual(read(tree.at('file')), ['{"a":1}']);
  tree.write('file', '{"a": 2');
  const [kept, fault] = read(tree.at('file'));
  assert.equal(kept, '{"a":1}');
  assert.match(String(fault), /^parse: it is not valid JSON/);
  tree.write('file', '\ufeff{"a": 3}');
  assert.deepEqual(read(tree.at('file')), ['{"a":3}']);
  tree.write('file', JSON.stringify('x'.repeat(1000)));
  assert.deepEqual(read(tree.at('file')), ['{"a":3}', 'read: it has over 1000 bytes']);
  assert.deepEqual(read(tree.at('gone')), [undefined]);
});

test('a file that was deleted has no last good content', (t) => {
  const tree = makeTree(t, { file: '1' });
  const { read } = reader();
  assert.deepEqual(read(tree.at('file')), ['1']);
  tree.remove('file');
  assert.deepEqual(read(tree.at('file')), [undefined]);
  tree.write('file', '{');
  assert.equal(read(tree.at('file'))[0], undefined);
});

test('a fault in JSON never quotes the file', (t) => {
  for (const text of ['root:x:0:0', '{"key": sk-live-secret}', '{\n  "a": 1,\n  sk-live-secret\n}', '[1 secret]']) {
    const tree = makeTree(t, { file: text });
    const [, fault] = reader().read(tree.at('file'));
    assert.match(String(fault), /^parse: it is not valid JSON(?: \(line \d+, column \d+\))?$/);
  }
});

test('a file that has not changed is not read again, and one that has is, also behind a link (10.5)', async (t) => {
  const tree = makeTree(t, { file: '1', broken: '{' });
  tree.link('link', 'file');
  await delay(600); // A file that was written this moment may be written again without a trace.
  const { read, parsed } = reader();
  for (let round = 0; round < 3; round++) {
    assert.deepEqual(read(tree.at('file')), ['1']);
    assert.deepEqual(read(tree.at('link')), ['1']);
    assert.match(String(read(tree.at('broken'))[1]), /^parse: /);
  }
  assert.equal(parsed(), 3);
  tree.write('file', '2');
  assert.deepEqual([read(tree.at('file')), read(tree.at('link'))], [['2'], ['2']]);
});

test('a file that a link replaces is noticed where links are not followed', async (t) => {
  const tree = makeTree(t, { 'in/file': '1', out: '2' });
  await delay(600);
  const { read } = reader();
  for (const links of ['none', { within: tree.at('in') }] as const) {
    assert.deepEqual(read(tree.at('in/file'), links), ['1']);
  }
  renameSync(tree.at('in/file'), tree.at('moved'));
  tree.link('in/file', tree.at('out'));
  assert.match(String(read(tree.at('in/file'), 'none')[1]), /^read: it is a link/);
  const inside = reader().read(tree.at('in/file'), { within: tree.at('in') });
  assert.deepEqual(inside, [undefined, 'read: it is a link that leaves its directory']);
});
