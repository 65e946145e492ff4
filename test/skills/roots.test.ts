import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type SkillwireOptions, settingsFrom } from '../../src/config.ts';
import { findRoots } from '../../src/skills/roots.ts';
import { makeTree, type Tree } from '../harness/tree.ts';

/** The roots that exist, as `directory provider location`, with a star when links may not leave the project. */
function rootsOf(tree: Tree, options: SkillwireOptions = {}, cwd = 'project') {
  const roots = findRoots(settingsFrom({ cwd: tree.at(cwd), home: tree.at('home'), env: {}, ...options }));
  return roots.map(({ directory, provider, location, within }) => {
    assert.ok(directory.startsWith(`${tree.path}/`), directory);
    assert.ok(within === undefined || within === tree.at(cwd));
    return `${directory.slice(tree.path.length + 1)} ${provider} ${location}${within ? '*' : ''}`;
  });
}

const ALL = `project/skills custom custom*
project/.agents/skills agents project*
project/.agent/skills agents project*
home/.agents/skills agents global
home/.agent/skills agents global
home/.config/agents/skills agents global
project/.claude/skills claude project*
home/.claude/skills claude global
project/.codex/skills codex project*
home/.codex/skills codex global
home/.gemini/skills gemini global
project/.github/skills github project*
home/.config/opencode/skills opencode global
project/.Windsurf/skills windsurf project*`.split('\n');

const treeOf = (t: TestContext, roots: readonly string[]) =>
  makeTree(t, Object.fromEntries(roots.map((root) => [`${root.split(' ', 1)[0]}/x`, ''])));

test('every root of the table is found, custom first, then agents, then by provider, project before global', (t) => {
  const tree = treeOf(t, [...ALL, 'home/.config/empty']);
  tree.write('project/.file', '');
  assert.deepEqual(rootsOf(tree), ALL);
  const unconfined = ALL.map((root) => root.replace('*', ''));
  assert.deepEqual(rootsOf(tree, { followSymlinks: true }), unconfined);
});

test('options and variables name other roots; the well-known ones are there before they exist', (t) => {
  const wellKnown = ALL.filter((root) => /\/\.(?:agents|claude|codex)\/|^project\/skills/.test(root));
  const tree = treeOf(t, ['project', 'home']);
  assert.deepEqual(rootsOf(tree), wellKnown);
  const named = { skillDirs: ['one', '~/two', '~'], root: '../own', scanDefaultDirs: false };
  const custom = ['project/one', 'home/two', 'home', 'own'].map((path) => `${path} custom custom`);
  assert.deepEqual(rootsOf(tree, named), custom);
  const own = ['project/x custom custom', ...wellKnown.slice(1)];
  assert.deepEqual(rootsOf(tree, { root: 'x' }), own, '--root takes the place of ./skills');
  const moved = wellKnown.map((root) => root.replace('home/.claude', 'c').replace('home/.codex', 'home/x'));
  assert.deepEqual(rootsOf(tree, { env: { CLAUDE_CONFIG_DIR: '../c', CODEX_HOME: '~/x' } }), moved);
});

test('started at home, or in the directory of a provider, its skills are global and nothing else', (t) => {
  const tree = treeOf(t, ['home/.claude/skills', 'home/.codex/skills', 'home/.config/opencode/skills']);
  tree.link('alias', 'home');
  const global = ['.agents', '.claude', '.codex'].map((name) => `home/${name}/skills ${name.slice(1)} global`);
  const found = (cwd: string) => rootsOf(tree, {}, cwd).filter((root) => !root.startsWith(`${cwd}/skills custom`));
  assert.deepEqual(found('home'), [...global, 'home/.config/opencode/skills opencode global']);
  assert.ok(!found('alias').some((root) => root.startsWith('alias/.claude/')));
  for (const cwd of ['home/.codex', 'home/.config/opencode'])
    assert.ok(!rootsOf(tree, {}, cwd).some((root) => root.includes('custom')), cwd);
});
