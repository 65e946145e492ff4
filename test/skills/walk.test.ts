import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { createPacer } from '../../src/files/pace.ts';
import type { Root } from '../../src/skills/roots.ts';
import { startOf, walkRoot } from '../../src/skills/walk.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

function walk(directory: string, more: Partial<Root> = {}) {
  const root: Root = {
    directory,
    provider: 'custom',
    location: 'custom',
    plugin: undefined,
    depth: 8,
    within: undefined,
    ...more,
  };
  return walkRoot(root, startOf(root), createPacer());
}

const pathsIn = (tree: Tree, paths: readonly { readonly directory: string }[]) =>
  paths.map(({ directory }) => directory.slice(tree.path.length + 1));

test('a link to a directory around its root is not followed, and is reported (10.14)', async (t) => {
  const tree = makeTree(t, { 'all/root/pdf/SKILL.md': skillText('pdf'), 'all/other/x/SKILL.md': skillText('x') });
  for (let nth = 0; nth < 50; nth++) mkdirSync(tree.at(`all/big/d${nth}`), { recursive: true });
  tree.link('all/root/pdf/disk', '/');
  tree.link('all/root/pdf/around', '../..');
  tree.link('all/root/pdf/self', '..');
  tree.link('all/root/above', tree.path);
  tree.link('all/root/fine', '../other/x');
  tree.link('all/root/fine2', 'pdf');
  for (const more of [{}, { within: tree.at('all') }]) {
    const { skills, directories, problems } = await walk(tree.at('all/root'), more);
    assert.deepEqual(pathsIn(tree, skills), ['all/root/fine', 'all/root/pdf']);
    assert.equal(directories.length, 3);
    const told = problems.map(({ where, what }) => `${where.slice(tree.path.length + 1)} ${what}`).sort();
    assert.deepEqual(
      told.map((line) => line.split(' ', 1)[0]),
      ['all/root/above', 'all/root/pdf/around', 'all/root/pdf/disk', 'all/root/pdf/self'],
    );
    for (const line of told) assert.match(line, /circle|leaves/);
  }
});

test('the same holds for a root that is a link itself (10.14)', async (t) => {
  const tree = makeTree(t, {
    'real/skills/pdf/SKILL.md': skillText('pdf'),
    'home/.claude/big/x/SKILL.md': skillText('x'),
  });
  tree.link('home/.claude/skills', tree.at('real/skills'));
  tree.link('real/skills/up', tree.at('home/.claude'));
  tree.link('real/skills/real', tree.at('real'));
  const { skills, problems } = await walk(tree.at('home/.claude/skills'));
  assert.deepEqual(pathsIn(tree, skills), ['home/.claude/skills/pdf']);
  assert.equal(problems.length, 2);
});

test('a directory goes by its own path, whatever links to it are called and wherever they stand (11.11)', async (t) => {
  const tree = makeTree(t, { 'root/m/pdf/SKILL.md': skillText('pdf'), 'root/n/deep/SKILL.md': skillText('deep') });
  tree.link('root/a', 'm/pdf');
  tree.link('root/z', 'm/pdf');
  tree.link('root/b', 'n');
  tree.link('root/m/a', '../n/deep');
  const { skills, problems } = await walk(tree.at('root'));
  assert.deepEqual(pathsIn(tree, skills), ['root/m/pdf', 'root/n/deep']);
  assert.deepEqual(problems, []);
});

test('skills behind links stand where their paths sort, as if the links were directories', async (t) => {
  const tree = makeTree(t, {
    'root/b/SKILL.md': skillText('b'),
    'out/x/SKILL.md': skillText('x'),
    'root/d/SKILL.md': skillText('d'),
  });
  for (const name of ['a', 'c']) tree.write(`out/${name}/SKILL.md`, skillText(name));
  tree.link('root/a', tree.at('out/a'));
  tree.link('root/c', tree.at('out/c'));
  assert.deepEqual(pathsIn(tree, (await walk(tree.at('root'))).skills), ['root/a', 'root/b', 'root/c', 'root/d']);
});

test('a link into what is skipped is skipped, one to a package elsewhere is followed', async (t) => {
  const tree = makeTree(t, { 'root/.git/x/SKILL.md': skillText('x'), 'node_modules/p/SKILL.md': skillText('p') });
  tree.link('root/x', '.git/x');
  tree.link('root/p', '../node_modules/p');
  assert.deepEqual(pathsIn(tree, (await walk(tree.at('root'))).skills), ['root/p']);
});

test('skills come in the order of their depth, also behind links, so that inner ones do not come first', async (t) => {
  const tree = makeTree(t, {
    'root/kit/examples/pdf/SKILL.md': skillText('pdf'),
    'root/kit/SKILL.md': skillText('kit'),
    'root/pdf/SKILL.md': skillText('pdf'),
    'out/a/SKILL.md': skillText('a'),
  });
  const plain = ['root/kit', 'root/pdf', 'root/kit/examples/pdf'];
  assert.deepEqual(pathsIn(tree, (await walk(tree.at('root'))).skills), plain);
  tree.link('root/z', tree.at('out'));
  assert.deepEqual(pathsIn(tree, (await walk(tree.at('root'))).skills), ['root/kit', 'root/pdf', 'root/z/a', plain[2]]);
});

test('a directory whose name is not UTF-8 is reported', async (t) => {
  const tree = makeTree(t, { 'root/a/SKILL.md': skillText('a') });
  mkdirSync(Buffer.concat([Buffer.from(`${tree.at('root')}/b`), Buffer.from([0xff])]));
  const { skills, problems } = await walk(tree.at('root'));
  assert.deepEqual(pathsIn(tree, skills), ['root/a']);
  assert.deepEqual(problems, [{ where: tree.at('root/b\ufffd'), what: 'has a name that is not UTF-8; rename it' }]);
});
