/** What the skills of this machine depend on besides the directories that can be watched. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { settingsFrom } from '../../src/config.ts';
import { createSkillSource } from '../../src/skills/source.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

async function load(t: TestContext, prepare: (tree: Tree) => void = () => {}) {
  const tree = makeTree(t, { 'project/.claude/skills/pdf/SKILL.md': skillText('pdf'), 'home/x': '' });
  prepare(tree);
  const source = createSkillSource(settingsFrom({ cwd: tree.at('project'), home: tree.at('home'), env: {} }));
  await source.load();
  return { tree, source };
}

test('plain directories are all that a load depends on, until one of another provider is there', async (t) => {
  const { tree, source } = await load(t);
  assert.equal(source.isFullyWatched?.(), true);
  tree.write('project/.cursor/skills/new/SKILL.md', skillText('new'));
  assert.equal(source.isFullyWatched?.(), false);
  await source.load();
  assert.equal(source.isFullyWatched?.(), true);
  tree.write('home/.gemini/skills/more/SKILL.md', skillText('more'));
  assert.equal(source.isFullyWatched?.(), false);
});

test('a link may lead elsewhere without a change in what is watched', async (t) => {
  const { source } = await load(t, (tree) => {
    tree.write('project/versions/1/docs/SKILL.md', skillText('docs'));
    tree.link('project/versions/current', '1');
    tree.link('project/.claude/skills/docs', '../../versions/current/docs');
  });
  assert.equal(source.isFullyWatched?.(), false);
});

test('of a plugin more counts than is watched', async (t) => {
  const { source } = await load(t, (tree) => {
    tree.write('home/plugin/skills/docs/SKILL.md', skillText('docs'));
    const installed = { version: 1, plugins: { 'docs@market': { installPath: tree.at('home/plugin') } } };
    tree.write('home/.claude/plugins/installed_plugins.json', JSON.stringify(installed));
    tree.write('home/.claude/settings.json', JSON.stringify({ enabledPlugins: { 'docs@market': true } }));
  });
  assert.equal(source.isFullyWatched?.(), false);
});
