import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingsFrom } from '../../src/config.ts';
import { createSkillSource } from '../../src/skills/source.ts';
import { makeTree, skillText } from '../harness/tree.ts';

test('a load without a change gives the same objects; one with a change gives new ones', async (t) => {
  const tree = makeTree(t, { 'project/.claude/skills/pdf/SKILL.md': skillText('pdf'), 'home/.codex/skills/x': '' });
  const source = createSkillSource(settingsFrom({ cwd: tree.at('project'), home: tree.at('home'), env: {} }));
  const first = await source.load();
  const watched = source.watched?.().map(({ path }) => path.slice(tree.path.length));
  assert.deepEqual(watched, ['/project/.claude/skills', '/project/.claude/skills/pdf', '/home/.codex/skills']);
  assert.equal(await source.load(), first);
  tree.write('home/.codex/skills/a/SKILL.md', 'broken');
  const second = await source.load();
  assert.deepEqual([second.skills?.length, second.problems?.length, source.watched?.()?.length], [1, 1, 4]);
  assert.equal(await source.load(), second);
});
