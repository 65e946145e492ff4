import assert from 'node:assert/strict';
import { statSync, utimesSync } from 'node:fs';
import { test } from 'node:test';
import { changedWithin, identityOf, isSkipped, sameVersion, versionOf } from '../../src/files/stat.ts';
import { makeTree } from '../harness/tree.ts';

test('an edit makes another version of the same file, also when size and mtime are as before', async (t) => {
  const tree = makeTree(t, { file: 'text' });
  const look = () => statSync(tree.at('file'));
  utimesSync(tree.at('file'), 1, 1);
  const before = look();
  assert.ok(sameVersion(versionOf(before), look()));
  const deadline = Date.now() + 5000;
  do {
    await new Promise(setImmediate); // Until the file system's clock has moved on.
    utimesSync(tree.write('file', 'txet'), 1, 1);
  } while (sameVersion(before, look()) && Date.now() < deadline);
  assert.ok(!sameVersion(before, look()));
  assert.equal(identityOf(look()), identityOf(before));
});

test('a change counts as recent for a while, by clocks that differ a little', () => {
  const version = { dev: 1, ino: 1, size: 1, mtimeMs: 0, ctimeMs: 10_000 };
  const recent = [10_000, 10_249, 10_250, 9_990, 5_000].map((now) => changedWithin(version, 250, now));
  assert.deepEqual(recent, [true, true, false, true, false]);
});

test('what is skipped is skipped in any case of letters', () => {
  assert.deepEqual(['.git', '.GIT', 'Node_Modules', '.github', 'git'].map(isSkipped), [true, true, true, false, false]);
});
