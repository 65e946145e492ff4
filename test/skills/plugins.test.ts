import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SkillwireOptions, settingsFrom } from '../../src/config.ts';
import type { Problem } from '../../src/model.ts';
import { createPluginFinder } from '../../src/skills/plugins.ts';
import { makeTree, type Tree } from '../harness/tree.ts';

const PLUGINS = 'home/.claude/plugins';
const INSTALLED = `${PLUGINS}/installed_plugins.json`;
const json = (value: unknown) => JSON.stringify(value);
const installed = (plugins: object) => ({ [INSTALLED]: json({ version: 2, plugins }) });
const relative = (path: string, more: object = {}) => ({ installPath: `cache/${path}`, ...more });
/** Directories in the cache. */
const cached = (...paths: readonly string[]) =>
  Object.fromEntries(paths.map((path) => [`${PLUGINS}/cache/${path}/x`, '']));

/** Gives a function that finds roots, as `plugin@marketplace path depth`, and what is reported. */
function finder(tree: Tree, options: SkillwireOptions = {}) {
  const places = { cwd: tree.at('project'), home: tree.at('home'), env: {} };
  const find = createPluginFinder(settingsFrom({ ...places, ...options }));
  return () => {
    const problems: Problem[] = [];
    const roots = find(problems).map(({ plugin, directory, depth, provider, location, within }) => {
      assert.deepEqual([provider, location], ['claude', 'plugin']);
      assert.ok(within && directory.startsWith(within));
      return `${plugin?.name}@${plugin?.marketplace} ${directory.replace(/^.*\/cache\//, '')} ${depth}`;
    });
    return { roots, said: problems.map(({ where, what }) => `${where}: ${what}`.replaceAll(`${tree.path}/`, '')) };
  };
}

test('both versions give the skills directory of a plugin; project or local scope counts only there, and before the rest', (t) => {
  const tree = makeTree(t, { ...cached('a/user', 'a/here', 'b', 'c'), 'project/x': '', 'other/x': '' });
  tree.link('alias', 'project');
  const here = { scope: 'project', projectPath: tree.at('alias') };
  const plugins = {
    old: relative('c'),
    'a@m': [relative('a/user', { scope: 'user' }), relative('a/here', here)],
    'b@m': [relative('b', { scope: 'local', projectPath: tree.at('other') })],
    'c@m': [relative('c', { scope: 'project' }), relative('c', { scope: 'local', projectPath: 'project' })],
  };
  tree.write(INSTALLED, json({ version: 2, plugins }));
  const inProject = { roots: ['old@local c/skills 1', 'a@m a/here/skills 1'], said: [] };
  assert.deepEqual(finder(tree)(), inProject);
  assert.deepEqual(finder(tree, { home: tree.at('none'), pluginsRoot: `../${PLUGINS}` })(), inProject);
  const elsewhere = finder(tree, { cwd: tree.at('other') })();
  assert.deepEqual(elsewhere.roots, ['old@local c/skills 1', 'a@m a/user/skills 1', 'b@m b/skills 1']);
});

test('enabledPlugins of user, project and local settings decide, the later one first', (t) => {
  const tree = makeTree(t, {
    ...cached('x'),
    ...installed(Object.fromEntries([...'abcd'].map((name) => [`${name}@m`, relative('x')]))),
    'home/.claude/settings.json': json({ enabledPlugins: { 'a@m': false, 'b@m': true, 'c@m': false } }),
    'project/.claude/settings.json': json({ model: 'x', enabledPlugins: { 'b@m': false, 'c@m': true } }),
    'project/.claude/settings.local.json': json({ enabledPlugins: { 'b@m': true } }),
  });
  assert.deepEqual(finder(tree)().roots, ['b@m x/skills 1', 'c@m x/skills 1', 'd@m x/skills 1']);
});

/** What a manifest names, the roots, and what is reported. */
const MANIFESTS: readonly (readonly [skills: unknown, roots: string, said?: RegExp])[] = [
  [undefined, 'p/skills 1'],
  ['./extra', 'p/extra 1'],
  [
    ['./nope', './one/SKILL.md', './one'],
    'p/one 0',
    /names \.\/nope, which is no directory\n.* names \.\/one\/SKILL\.md, which is/,
  ],
  [['./extra/', 'more', './one'], 'p/extra 1, p/more 1, p/one 0'],
  ['./', 'p 1'],
  [[], ''],
  [['../q', './one'], 'p/one 0', /plugin "p@m" names \.\.\/q, which is outside of it$/],
  [5, '', /plugin\.json: skills must be a path or a list of paths$/],
];

test('a plugin gives what its manifest names: paths of skills, or of directories with skills, inside it', (t) => {
  const files = { [`${PLUGINS}/cache/p/one/SKILL.md`]: '', ...cached('p/extra', 'p/more') };
  const tree = makeTree(t, { ...files, ...installed({ 'p@m': relative('p') }) });
  for (const [skills, roots, said] of MANIFESTS) {
    tree.write(`${PLUGINS}/cache/p/.claude-plugin/plugin.json`, json({ name: 'p', skills }));
    const found = finder(tree)();
    assert.equal(found.roots.join(', ').replaceAll('p@m ', ''), roots, json(skills));
    assert.match(found.said.join('\n'), said ?? /^$/, json(skills));
  }
});

test('plugins that share one repository get their own skills only', (t) => {
  const skills = { docs: ['./skills/pdf', './skills/docx'], art: './skills/art', none: [], all: undefined };
  const entries = Object.entries(skills).map(([name, own]) => ({ name, source: './', skills: own }));
  for (const place of [`${PLUGINS}/marketplaces/m`, `${PLUGINS}/cache/repo`]) {
    const tree = makeTree(t, {
      ...cached('repo', 'repo/skills/pdf', 'repo/skills/docx', 'repo/skills/art'),
      ...installed(Object.fromEntries(entries.map(({ name }) => [`${name}@m`, relative('repo')]))),
      [`${place}/.claude-plugin/marketplace.json`]: json({ name: 'm', plugins: [...entries, { name: 5 }] }),
    });
    const own = ['docs@m repo/skills/pdf 1', 'docs@m repo/skills/docx 1', 'art@m repo/skills/art 1'];
    assert.deepEqual(finder(tree)(), { roots: [...own, 'all@m repo/skills 1'], said: [] }, place);
  }
});

const FAULTS = `
home/.claude/settings.json: cannot be read: it is not valid JSON
project/.claude/settings.json: enabledPlugins must be Object
${PLUGINS}/cache/b/.claude-plugin/plugin.json: cannot be read: must be Object
${INSTALLED}: plugin "gone@m" is installed at ${PLUGINS}/cache/gone, where there is no directory
${INSTALLED}: plugin "file@m" is installed at ${PLUGINS}/cache/b/x, where there is no directory
${INSTALLED}: plugin "nul@m" is installed at ${PLUGINS}/cache/a\\u0000b, where there is no directory
${INSTALLED}: plugin "bad@m" has no usable installPath
${INSTALLED}: plugin "bad2@m" has no usable installPath`;

test('what cannot be understood is a Problem of its own, and the last good content of a file stays', (t) => {
  const broken = { 'gone@m': relative('gone'), 'file@m': relative('b/x'), 'nul@m': relative('a\0b') };
  const good = { 'a@m': [relative('a/1'), relative('a/2')], 'b@m': relative('b') };
  const tree = makeTree(t, {
    ...cached('a/2', 'b'),
    ...installed({ ...good, ...broken, 'bad@m': { path: 'x' }, 'bad2@m': 7 }),
    'home/.claude/settings.json': '{ "enabledPlugins": ',
    'project/.claude/settings.json': json({ enabledPlugins: 'all' }),
    [`${PLUGINS}/cache/b/.claude-plugin/plugin.json`]: 'null',
  });
  const find = finder(tree);
  const { roots, said } = find();
  assert.deepEqual(roots, ['a@m a/2/skills 1']);
  assert.equal(`\n${said.join('\n')}`.replace(/ at position \d+/, ''), FAULTS);
  tree.write(INSTALLED, '{"plugins": {"a@');
  assert.deepEqual(find().roots, roots);
  tree.remove(INSTALLED);
  assert.deepEqual(find().roots, []);
  const missing = (options: SkillwireOptions) => finder(tree, options)().said.slice(2);
  assert.deepEqual(missing({ pluginsFile: '../my.json' }), ['my.json: does not exist']);
  assert.deepEqual(missing({ pluginsRoot: '../my' }), ['my/installed_plugins.json: does not exist']);
});
