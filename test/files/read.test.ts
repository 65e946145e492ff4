import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, closeSync, openSync, utimesSync } from 'node:fs';
import { test } from 'node:test';
import { type FileContent, readInside, readStable } from '../../src/files/read.ts';
import { isMissing, keyOf, sameVersion, statOf } from '../../src/files/stats.ts';
import { makeTree } from '../harness/tree.ts';

/** The outcome in one line. */
function told(read: () => FileContent): string {
  try {
    return `read ${read().bytes.length} bytes`;
  } catch (error) {
    assert.ok(error instanceof Error);
    return `${isMissing(error) ? 'missing' : 'refused'}: ${error.message.replace(/ '.*/, '')}`;
  }
}

test('a read gives bytes or throws the reason, and never blocks', (t) => {
  const tree = makeTree(t, { small: 'text', large: 'x'.repeat(100_000) });
  execFileSync('mkfifo', [tree.at('pipe')]);
  tree.link('loop', 'loop');
  tree.write('inner/file', '');
  const rows: readonly (readonly [string, number, string])[] = [
    ['small', 10, 'read 4 bytes'],
    ['small', 4, 'read 4 bytes'],
    ['small', 3, 'refused: it has over 3 bytes'],
    ['large', 100_000, 'read 100000 bytes'],
    ['large', 99_999, 'refused: it has over 99999 bytes'],
    ['gone', 10, 'missing: ENOENT: no such file or directory, open'],
    ['small/inner', 10, 'missing: ENOTDIR: not a directory, open'],
    ['inner', 10, 'refused: it is not a regular file'],
    ['pipe', 10, 'refused: it is not a regular file'],
    ['loop', 10, 'refused: ELOOP: too many symbolic links encountered, open'],
  ];
  for (const [name, limit, expected] of rows)
    assert.equal(
      told(() => readStable(tree.at(name), limit)),
      expected,
      name,
    );
});

test('bytes come with the version of the file they were read from', (t) => {
  const tree = makeTree(t, { file: 'text' });
  utimesSync(tree.at('file'), 1, 1);
  const content = readStable(tree.at('file'), 10);
  assert.ok(sameVersion(content.version, statOf(tree.at('file'))));
  assert.ok(content.recent, 'it was made a moment ago');
  const handle = openSync(tree.at('file'), 'a');
  appendFileSync(handle, 'x');
  closeSync(handle);
  const after = readStable(tree.at('file'), 10);
  assert.ok(!sameVersion(after.version, content.version));
  assert.equal(keyOf(after.version), keyOf(content.version));
});

test('a link in a directory is followed only when it stays inside', (t) => {
  const tree = makeTree(t, { 'in/real': 'inside', out: 'outside' });
  tree.link('in/near', 'real');
  tree.link('in/far', '../out');
  tree.link('in/gone', 'nothing');
  tree.link('other', 'in');
  const rows: readonly (readonly [string, string, string])[] = [
    ['in', 'real', 'read 6 bytes'],
    ['in', 'near', 'read 6 bytes'],
    ['in', 'far', 'refused: it is a link that leaves its directory'],
    ['in', 'gone', 'missing: ENOENT: no such file or directory, realpath'],
    ['other', 'real', `refused: ${tree.at('other')} now leads elsewhere than when it was found`],
  ];
  for (const [directory, name, expected] of rows)
    assert.equal(
      told(() => readInside(tree.at(directory), name, 100)),
      expected,
      name,
    );
});
