/** Replacing a file as a whole. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, linkSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { replaceFile } from '../../src/cli/replace-file.ts';
import { statOf, versionOf } from '../../src/files/stats.ts';
import { makeTree } from '../harness/tree.ts';

test('a file that has changed since it was read is not replaced', (t) => {
  const tree = makeTree(t);
  const path = tree.write('pdf/SKILL.md', 'one');
  const version = versionOf(statOf(path));
  linkSync(path, tree.at('pdf/second')); // Changes the time of its last change.
  assert.throws(() => replaceFile({ path, version }, 'two'), /being written/);
  assert.equal(readFileSync(path, 'utf8'), 'one');
  assert.deepEqual(readdirSync(tree.at('pdf')).toSorted(), ['SKILL.md', 'second']);
});

test('a file that has appeared since is not replaced', (t) => {
  const tree = makeTree(t);
  const path = tree.write('a.json', 'one');
  assert.throws(() => replaceFile({ path, version: undefined }, 'two'), /being written/);
  assert.equal(readFileSync(path, 'utf8'), 'one');
});

test('the new file has the rights of the old one, and the old one is there while it is prepared', (t) => {
  const tree = makeTree(t);
  const path = tree.write('a.json', 'one');
  chmodSync(path, 0o640);
  replaceFile({ path, version: versionOf(statOf(path)) }, 'two', 0o666, () =>
    assert.equal(readFileSync(path, 'utf8'), 'one'),
  );
  assert.equal(readFileSync(path, 'utf8'), 'two');
  assert.equal(statSync(path).mode & 0o777, 0o640);
});

test('when preparing fails, the file is as it was and no draft is left', (t) => {
  const tree = makeTree(t);
  const path = tree.at('d/a.json');
  tree.write('d/other', '');
  const fail = () => {
    throw new Error('no backup');
  };
  assert.throws(() => replaceFile({ path, version: undefined }, 'two', 0o600, fail), /no backup/);
  assert.equal(existsSync(path), false);
  assert.deepEqual(readdirSync(tree.at('d')), ['other']);
});
