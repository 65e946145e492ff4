import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SkillwireOptions, settingsFrom } from '../../src/config.ts';
import { createSkillSource } from '../../src/skills/source.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const sourceOf = (tree: Tree, options: SkillwireOptions = {}) =>
  createSkillSource(settingsFrom({ cwd: tree.at('project'), home: tree.at('home'), env: {}, ...options }));

test('a load without a change gives the same objects; one with a change gives new ones', async (t) => {
  const tree = makeTree(t, { 'project/.claude/skills/pdf/SKILL.md': skillText('pdf'), 'home/.codex/skills/x': '' });
  const source = sourceOf(tree);
  const first = await source.load();
  const watched = source.watched?.() ?? [];
  assert.equal(first.skills?.map(({ name }) => name).join(), 'pdf');
  const paths = watched.map(({ path }) => path.slice(tree.path.length));
  assert.deepEqual(paths, ['/project/.claude/skills', '/project/.claude/skills/pdf', '/home/.codex/skills']);
  assert.equal(await source.load(), first);
  tree.write('home/.codex/skills/a/SKILL.md', 'broken');
  const second = await source.load();
  assert.deepEqual([second.skills?.length, second.problems?.length, source.watched?.()?.length], [1, 1, 4]);
  assert.equal(await source.load(), second);
});

test('plugins come after the other roots, unless they are left out; where nothing is, nothing is reported', async (t) => {
  const tree = makeTree(t, {
    'home/.claude/plugins/installed_plugins.json': JSON.stringify({ plugins: { 'docs@m': { installPath: 'd' } } }),
    'home/.claude/plugins/d/skills/docs/SKILL.md': skillText('docs'),
    'home/.zed/skills/own/SKILL.md': skillText('own'),
  });
  const names = async (options: SkillwireOptions) =>
    (await sourceOf(tree, options).load()).skills?.map(({ name }) => name);
  assert.deepEqual(await names({}), ['own', 'docs']);
  assert.deepEqual(await names({ skipPlugins: true }), ['own']);
  const nothing = { scanDefaultDirs: false, skipPlugins: true };
  assert.deepEqual(await sourceOf(tree, nothing).load(), { skills: [], problems: [] });
  const { problems } = await sourceOf(tree, { ...nothing, skillDirs: ['gone'] }).load();
  assert.deepEqual(
    problems?.map(({ what, hint }) => `${what}. ${hint}`),
    ['does not exist. Correct --skill-dir, or create the directory.'],
  );
});
