import assert from 'node:assert/strict';
import fs, { readdirSync, statSync, utimesSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { type TestContext, test } from 'node:test';
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
  t.mock.method(fs, name, mocked);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
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
  const links = { a: 'm/pdf', z: 'm/pdf', gone: 'nowhere', loop: 'loop', 'm/self': '..', disk: '/', fine: '../other' };
  for (const [name, target] of Object.entries({ ...links, above: tree.path, home: tree.at('home') }))
    tree.link(`all/root/${name}`, target);
  tree.link('home/root', '../all/root');
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
  const leaves = (name: string) => `project/${name}: is a link that leaves ${within}`;
  const { skills, said } = await walk(tree, 'project/root', { within });
  assert.deepEqual(skills, ['project/root/near', 'project/root/pdf']);
  assert.deepEqual(said, ['root/next', 'root/secret'].map(leaves));
  const whole = await walk(tree, 'project/.codex', { within });
  assert.deepEqual([whole.visits, whole.said], [[], [leaves('.codex')]]);
  assert.equal((await walk(tree, 'project/root')).skills.length, 4);
});

test('a walk ends at its limits, and says so', async (t) => {
  const deep = `root/${'d/'.repeat(MAX_DEPTH - 1)}last`;
  const tree = makeTree(t, withSkills(deep, `${deep}/nine`, 'flat/a', 'flat/a/b'));
  const { skills, said } = await walk(tree, 'root');
  const tooDeep = `${deep}: is 8 levels down; deeper directories are left out everywhere`;
  assert.deepEqual([skills, said], [[deep], [tooDeep]]);
  const flat = await walk(tree, 'flat', { depth: 1 });
  assert.deepEqual([flat.skills, flat.said], [['flat/a'], []], 'a plugin has skills at one level');
  // A system that tells of more directories than a test could make.
  const [entry] = readdirSync(tree.path, { withFileTypes: true });
  const named = (_: unknown, nth: number) => Object.assign(Object.create(entry ?? null), { name: `d${nth}` });
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
  let { visits } = await walk(tree, 'root');
  const again = async () => {
    const before = visits;
    visits = (await walk(tree, 'root', {}, before)).visits;
    return visits.map((one, at) => one === before[at]);
  };
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 3000 });
  assert.deepEqual(await again(), [false, false, false]);
  assert.deepEqual(await again(), [true, true, true]);
  utimesSync(tree.at('root/a'), 1, 1);
  assert.deepEqual(await again(), [true, false, true]);
});
