import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs, { appendFileSync, renameSync, truncateSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { FileError, readInside, readStable } from '../../src/files/read.ts';
import { makeTree } from '../harness/tree.ts';

/** The outcome in one line. */
function told(read: () => { readonly bytes: Buffer }): string {
  try {
    return `read ${read().bytes}`;
  } catch (error) {
    assert.ok(error instanceof FileError);
    return `${error.kind}: ${error.message.replace(/(?::|,) .*/, '')}`;
  }
}

const READS: readonly (readonly [name: string, links: 'follow' | 'refuse', limit: number, expected: string])[] = [
  ['small', 'refuse', 4, 'read text'],
  ['small', 'refuse', 3, 'refused: it has over 3 bytes'],
  ['link', 'follow', 9, 'read text'],
  ['link', 'refuse', 9, 'missing: ELOOP'],
  ['gone', 'follow', 9, 'missing: ENOENT'],
  ['small/inner', 'follow', 9, 'missing: ENOTDIR'],
  ['x'.repeat(300), 'follow', 9, 'missing: ENAMETOOLONG'],
  ['inner', 'follow', 9, 'directory: it is a directory'],
  ['inner/empty', 'follow', 9, 'read '],
  ['pipe', 'follow', 9, 'refused: it is not a regular file'],
];

test('a read gives the bytes or throws the reason, and never blocks', (t) => {
  const tree = makeTree(t, { small: 'text', 'inner/empty': '' });
  execFileSync('mkfifo', [tree.at('pipe')]);
  tree.link('link', 'small');
  for (const [name, links, limit, expected] of READS) {
    const outcome = told(() => readStable(tree.at(name), limit, links));
    assert.equal(outcome, expected, `${name} ${links}`);
  }
});

/** The outcome, and the paths that have it. */
const INSIDE: Readonly<Record<string, readonly string[]>> = {
  'read inside': ['real', 'near'],
  'read deep': ['sub/file'],
  'directory: it is a directory': ['sub', ''],
  'refused: it leads out of its directory': ['far', 'up/out', '../out'],
  'refused: it is not a regular file': ['pipe'],
  'missing: ENOENT': ['gone'],
  'missing: ELOOP': ['loop'],
  'missing: it does not exist': ['.git/config', 'sub/../.git/config', 'hidden'],
};

test('a read inside a directory never gives anything from outside, nor of what is skipped', (t) => {
  const tree = makeTree(t, { 'in/real': 'inside', 'in/sub/file': 'deep', out: 'SECRET', 'in/.git/config': 'SECRET' });
  const links = { near: 'real', far: '../out', up: '..', gone: 'nothing', loop: 'loop', hidden: '.git/config' };
  for (const [name, target] of Object.entries(links)) tree.link(`in/${name}`, target);
  execFileSync('mkfifo', [tree.at('in/pipe')]);
  const read = (path: string) => told(() => readInside(tree.at('in'), path, 100));
  for (const [expected, paths] of Object.entries(INSIDE))
    for (const path of paths) assert.equal(read(path), expected, path);
  assert.match(read('a\0b'), /^missing: /);
  renameSync(tree.at('in'), tree.at('moved'));
  tree.link('in', 'moved');
  assert.equal(read('real'), `refused: ${tree.at('in')} now leads elsewhere`);
});

test('a file that changes while it is read, or whose directory is replaced, is not given', (t) => {
  const tree = makeTree(t, { 'in/sub/file': 'text', 'next/file': 'SECRET' });
  const file = tree.at('in/sub/file');
  const { readSync } = fs;
  let change = () => {};
  t.mock.method(fs, 'readSync', (...args: Parameters<typeof readSync>) => {
    change();
    return readSync(...args);
  });
  syncBuiltinESMExports();
  const stable = () => readStable(file, 9, 'refuse');
  const inside = () => readInside(tree.at('in'), 'sub/file', 9);
  for (change of [() => appendFileSync(file, 'x'), () => truncateSync(file, 1)])
    assert.equal(told(stable), 'changing: it is being written');
  change = () => {
    renameSync(tree.at('in/sub'), tree.at('old'));
    renameSync(tree.at('next'), tree.at('in/sub'));
  };
  assert.equal(told(inside), 'changing: it is being written');
});
