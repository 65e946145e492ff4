import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataOf, runCommand } from '../harness/command.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const TREE = {
  '.claude/skills/pdf/SKILL.md': skillText('pdf', 'About pdf, at some length. '.repeat(20)),
  'home/.claude/skills/pdf/SKILL.md': skillText('pdf', 'The global one'),
  'home/.claude/skills/docx/SKILL.md': skillText('docx', 'About docx'),
  'home/.claude/plugins/installed_plugins.json': JSON.stringify({ plugins: { 'office@market': { installPath: 'p' } } }),
  'home/.claude/plugins/p/skills/deck/SKILL.md': skillText('deck', 'About decks'),
};

test('list is a table that fits the width: the name that loads, provider, location, description', (t) => {
  const { status, stdout, stderr } = runCommand(makeTree(t, TREE), ['list']);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  const [head, first = '', ...rest] = stdout.trimEnd().split('\n');
  assert.equal(head, 'NAME         PROVIDER  LOCATION  DESCRIPTION');
  assert.match(first, /^pdf {10}claude {4}project {3}About pdf, .*…$/);
  assert.equal(first.length, 100);
  assert.deepEqual(rest, [
    'docx         claude    global    About docx',
    'office:deck  claude    plugin    About decks',
  ]);
});

test('--all has the copies that another skill hides, by the name that loads them', (t) => {
  const { stdout } = runCommand(makeTree(t, TREE), ['list', '--all']);
  assert.match(stdout, /^claude@global:pdf +claude +global, shadowed +The global one$/m);
});

test('--long has whole descriptions, paths, sizes and rough tokens', (t) => {
  const tree = makeTree(t, TREE);
  const { stdout } = runCommand(tree, ['list', '--long', '--include', 'docx,deck']);
  assert.equal(
    stdout,
    `docx  claude, global
  About docx
  ${tree.at('home/.claude/skills/docx/SKILL.md')}
  50 bytes, roughly 13 tokens

office:deck  plugin office@market
  About decks
  ${tree.at('home/.claude/plugins/p/skills/deck/SKILL.md')}
  51 bytes, roughly 13 tokens
`,
  );
});

test('--json gives the documented form, and the filters of serve count', (t) => {
  const tree = makeTree(t, TREE);
  const data = dataOf(runCommand(tree, ['list', '--json', '--all', '--long', '--exclude', '@plugins,docx']));
  const [own, hidden] = data.skills;
  assert.deepEqual(Object.keys(data), ['version', 'skills']);
  assert.equal(data.version, 1);
  assert.equal(data.skills.length, 2);
  assert.equal(own.shadowed, false);
  assert.deepEqual(hidden, {
    name: 'claude@global:pdf',
    provider: 'claude',
    location: 'global',
    description: 'The global one',
    directory: tree.at('home/.claude/skills/pdf'),
    file: tree.at('home/.claude/skills/pdf/SKILL.md'),
    shadowed: true,
    size: { bytes: 52, tokens: 13 },
  });
  const [plugin] = dataOf(runCommand(tree, ['list', '--json', '--include', '@plugins'])).skills;
  assert.equal(plugin.plugin, 'office@market');
});

test('without any skill it says where it looked', (t) => {
  const tree = makeTree(t);
  const { status, stdout, stderr } = runCommand(tree, ['list']);
  assert.deepEqual({ status, stdout }, { status: 0, stdout: '' });
  assert.match(stderr, /^skillwire: no skills: looked in [^\n]+\n$/);
  for (const place of ['skills', '.claude/skills', 'home/.agents/skills']) assert.ok(stderr.includes(tree.at(place)));
  assert.deepEqual(dataOf(runCommand(tree, ['list', '--json'])), { version: 1, skills: [] });
  assert.equal(runCommand(tree, ['list', '--quiet']).stderr, '');
});

test('a directory that was named and gives no skill is said, once, with what to do', (t) => {
  const tree = makeTree(t, { 'a-file': '', 'empty/x': '', 'low/one/skill.md': 'x' });
  for (const [directory, fault] of [
    ['nowhere', 'nowhere: does not exist; correct --skill-dir, or create the directory'],
    ['a-file', 'a-file: is a file; --skill-dir takes the directory that has the skills'],
    ['empty', 'empty: has no skills; a skill is a directory in it with a SKILL.md'],
    ['low', 'low/one/skill.md: is not read; rename it to SKILL.md'],
  ] as const) {
    const { stderr } = runCommand(tree, ['list', '--no-default-dirs', '--skill-dir', directory]);
    assert.equal(stderr, `skillwire: ${tree.path}/${fault}\n`);
  }
  const { stderr } = runCommand(tree, ['list', '--root', 'nowhere']);
  assert.match(stderr, /nowhere: does not exist; correct --root/);
});

test('a file called skill.md that belongs to a skill is no mistake', (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a'), 'skills/a/ref/deep/skill.md': 'x' });
  assert.deepEqual(dataOf(runCommand(tree, ['doctor', '--json'])).problems, []);
});
