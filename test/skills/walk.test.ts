import assert from 'node:assert/strict';
import fs, { readdirSync, statSync, utimesSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { mock, type TestContext, test } from 'node:test';
import { MAX_DEPTH, MAX_DIRECTORIES } from '../../src/limits.ts';
import type { Problem } from '../../src/model.ts';
import type { Root } from '../../src/skills/roots.ts';
import { type Visit, walkRoot } from '../../src/skills/walk.ts';
import { makeTree, type Tree } from '../harness/tree.ts';

/** The skills below a root, what is reported, and all visits. */
async function walk(tree: Tree, directory: string, more: Partial<Root> = {}, before: readonly Visit[] = []) {
  const root: Root = { directory: tree.at(directory), provider: 'x', location: 'custom', depth: MAX_DEPTH, ...more };
  const problems: Problem[] = [];
  const known = new Map(before.map((one) => [one.path, one]));
  const visits = await walkRoot(root, (path) => known.get(path), problems);
  const inTree = (path: string) => path.slice(tree.path.length + 1);
  const skills = visits.filter(({ skill }) => skill).map(({ path }) => inTree(path));
  return { visits, skills, said: problems.map(({ where, what }) => `${inTree(where)}: ${what}`) };
}

const withSkills = (...directories: readonly string[]) =>
  Object.fromEntries(directories.map((directory) => [`${directory}/SKILL.md`, '']));

function mockFs(t: TestContext, name: 'lstatSync' | 'readdirSync', mocked: () => unknown): void {
  mock.method(fs, name, mocked);
  syncBuiltinESMExports();
  t.after(() => {
    mock.restoreAll();
    syncBuiltinESMExports();
  });
}

test('skills come in the order of depth, then of path, also behind links; what is skipped is not looked into', async (t) => {
  const tree = makeTree(t, {
    ...withSkills('root/kit/examples/pdf', 'root/kit', 'root/pdf', 'out/a', 'root', 'node_modules/p'),
    ...withSkills('root/.git/x', 'root/a/node_modules/p', 'root/.dot', 'root/b'),
    'root/lower/skill.md': '',
  });
  tree.link('root/z', tree.at('out'));
  tree.link('root/p', '../node_modules/p');
  const expected = ['', '/.dot', '/b', '/kit', '/p', '/pdf', '/z/a', '/kit/examples/pdf'];
  const { skills, said } = await walk(tree, 'root');
  assert.deepEqual([skills, said], [expected.map((path) => `root${path}`), []]);
});

test('a real directory is visited once, and no link leads to a directory around its root, also of a linked root', async (t) => {
  const tree = makeTree(t, withSkills('all/root/m/pdf', 'all/big/x', 'all/other'));
  const links = {
    a: 'm/pdf',
    z: 'm/pdf',
    gone: 'nowhere',
    loop: 'loop',
    above: tree.path,
    disk: '/',
    fine: '../other',
  };
  for (const [name, target] of Object.entries(links)) tree.link(`all/root/${name}`, target);
  tree.link('all/root/m/self', '..');
  tree.link('home/root', '../all/root');
  tree.link('all/root/home', tree.at('home'));
  for (const root of ['all/root', 'home/root']) {
    const { skills, said } = await walk(tree, root);
    assert.deepEqual([skills, said], [[`${root}/a`, `${root}/fine`], []]);
  }
});

test('a root that is confined follows links only inside its project', async (t) => {
  const tree = makeTree(t, withSkills('far/secret', 'project/kept/near', 'project/root/pdf', 'projectile/x'));
  tree.link('project/root/secret', tree.at('far/secret'));
  tree.link('project/root/near', '../kept/near');
  tree.link('project/root/next', '../../projectile/x');
  tree.link('project/.codex', tree.at('far'));
  const within = tree.at('project');
  const { skills, said } = await walk(tree, 'project/root', { within });
  assert.deepEqual(skills, ['project/root/near', 'project/root/pdf']);
  const leaves = (name: string) => `project/${name}: is a link that leaves ${within}`;
  assert.deepEqual(said, ['root/next', 'root/secret'].map(leaves));
  const whole = await walk(tree, 'project/.codex', { within });
  assert.deepEqual([whole.visits, whole.said], [[], [leaves('.codex')]]);
  assert.equal((await walk(tree, 'project/root')).skills.length, 4);
});

test('a walk ends at its limits, and says so', async (t) => {
  const deep = `root/${'d/'.repeat(MAX_DEPTH - 1)}last`;
  const tree = makeTree(t, withSkills(deep, `${deep}/nine`, 'flat/a', 'flat/a/b'));
  const { skills, said } = await walk(tree, 'root');
  assert.deepEqual(skills, [deep]);
  assert.deepEqual(said, [`${deep}: is 8 levels down; deeper directories are left out everywhere`]);
  const flat = await walk(tree, 'flat', { depth: 1 });
  assert.deepEqual([flat.skills, flat.said], [['flat/a'], []], 'a plugin has skills at one level');
  // A system that tells of more directories than a test could make.
  const [entry] = readdirSync(tree.path, { withFileTypes: true });
  assert.ok(entry);
  const named = (_: unknown, nth: number) => Object.assign(Object.create(entry), { name: `d${nth}` });
  let ino = 0;
  mockFs(t, 'lstatSync', () => Object.assign(statSync(tree.path), { ino: ++ino }));
  mockFs(t, 'readdirSync', () => (ino > 1 ? [] : Array.from({ length: MAX_DIRECTORIES }, named)));
  const wide = await walk(tree, 'flat');
  assert.equal(wide.visits.length, MAX_DIRECTORIES);
  assert.deepEqual(wide.said, ['flat: has over 50000 directories; the rest is left out']);
});

test('a directory that cannot be read is reported, one that is missing only when an option names it', async (t) => {
  const tree = makeTree(t, { ...withSkills('root/a'), file: '' });
  for (const name of ['nowhere', 'file', 'file/x', 'a\0b']) {
    assert.deepEqual((await walk(tree, name)).said, [], name);
    const what = name === 'file' ? 'is not a directory' : 'does not exist';
    assert.deepEqual((await walk(tree, name, { option: '--root' })).said, [`${name}: ${what}`], name);
  }
  const { visits } = await walk(tree, 'root');
  let fault = '';
  mockFs(t, 'readdirSync', () => {
    throw Object.assign(new Error(fault), { code: fault });
  });
  for (const [code, expected] of Object.entries({ EACCES: [], EMFILE: ['root/a'] })) {
    fault = code;
    const { skills, said } = await walk(tree, 'root', {}, visits);
    assert.deepEqual([skills, said[0]], [expected, `root: cannot be read: ${code}`], 'a passing fault changes nothing');
  }
});

test('an unchanged directory is not listed again, unless it had changed just before it was listed', async (t) => {
  const tree = makeTree(t, withSkills('root/a', 'root/b'));
  const first = await walk(tree, 'root');
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 3000 });
  t.after(() => mock.timers.reset());
  const second = await walk(tree, 'root', {}, first.visits);
  assert.notEqual(second.visits[0], first.visits[0]);
  const third = await walk(tree, 'root', {}, second.visits);
  assert.ok(third.visits.every((one, at) => one === second.visits[at]));
  utimesSync(tree.at('root/a'), 1, 1);
  const fourth = await walk(tree, 'root', {}, third.visits);
  const isKept = fourth.visits.map((one, at) => one === third.visits[at]);
  assert.deepEqual(isKept, [true, false, true]);
});
