/** The commands that look at what is served, as a pipe gets them: list, show and search. On a terminal: program/cli.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../harness/program.ts';
import { makeTree, pluginFiles, skillText } from '../harness/tree.ts';

const BODY = 'Fill the form.\u001b[2J\r\n';
const FILES = {
  'skills/pdf/SKILL.md': skillText('pdf', `Fills forms. ${'At length. '.repeat(20)}`, BODY),
  '.claude/skills/pdf/SKILL.md': skillText('pdf', 'Of the project'),
  'home/.claude/skills/pdf/SKILL.md': skillText('pdf', 'Of the home'),
  '.codex/skills/web/SKILL.md': skillText('web'),
  '.cursor/skills/web/SKILL.md': skillText('web', 'Another web'),
  ...pluginFiles('docs:xlsx'),
};

test('list shows what an agent is told of, --all the hidden copies too', (t) => {
  const tree = makeTree(t, FILES);
  const { stdout } = runCommand(tree, ['list']);
  assert.equal(Math.max(...stdout.split('\n').map((line) => line.length)), 100);
  const table = `NAME        PROVIDER  LOCATION  DESCRIPTION
pdf         custom    custom    Fills forms. …
claude:pdf  claude    project   Of the project
codex:web   codex     project   About web
cursor:web  cursor    project   Another web
docs:xlsx   claude    plugin    xlsx of docs\n`;
  assert.equal(stdout.replace(/At length.*…/, '…'), table);
  const { skills } = JSON.parse(runCommand(tree, ['list', '--all', '--json']).stdout);
  const hidden = skills.filter((one: { readonly shadowed: boolean }) => one.shadowed);
  const directory = tree.at('home/.claude/skills/pdf');
  const place = { provider: 'claude', location: 'global', directory, file: `${directory}/SKILL.md` };
  assert.deepEqual(hidden, [{ name: 'claude@global:pdf', ...place, description: 'Of the home', shadowed: true }]);
  assert.equal(skills.at(-1).plugin, 'docs@market');
});

test('list says what is wrong in one line, and why when it has nothing to show', (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a'), 'skills/bad/SKILL.md': 'x' });
  for (const [options, said] of [
    ['--hub', /^skillwire: 1 problem; see skillwire doctor --hub\n$/],
    ['--quiet', /^$/],
    ['--include nope', /^skillwire: nothing to list with these --include and --exclude; see skillwire doctor\n/],
    ['--include nope', /\nskillwire: filter "nope": matches nothing\. /],
    ['--no-default-dirs', /^skillwire: nothing to list; see skillwire doctor\n$/],
    ['--no-default-dirs --skill-dir no', /\/no: .*\. Correct --skill-dir, or create the directory\.\n$/],
  ] as const)
    assert.match(runCommand(tree, ['list', ...options.split(' ')]).stderr, said);
});

test('show prints a skill byte for byte, or one line that says why a name loads nothing, and what to do', (t) => {
  const tree = makeTree(t, { ...FILES, 'skills/bad/SKILL.md': 'x' });
  const [directory, file] = [tree.at('skills/pdf'), tree.at('skills/pdf/SKILL.md')];
  const place = `Base directory: ${directory}\nPath: ${file}\nLocation: custom\nProvider: custom`;
  const text = `Loading: pdf\n${place}\n\n${FILES['skills/pdf/SKILL.md']}`;
  assert.deepEqual(runCommand(tree, ['show', 'PDF']), { status: 0, stdout: text, stderr: '' });
  const data = JSON.parse(runCommand(tree, ['show', 'pdf', '--json']).stdout);
  assert.deepEqual([data.version, data.name, data.file, data.text], [1, 'pdf', file, text]);
  const misspelt = 'there is no skill "pfd"; did you mean pdf, claude:pdf?';
  for (const [name, error] of [
    ['pfd', misspelt],
    ['web', 'several skills are called "web": use one of the full names codex:web, cursor:web'],
    ['custom:Bad', `no skill "custom:Bad" is loaded: ${tree.at('skills/bad/SKILL.md')}: there is no front matter`],
    ['\u001b[2J', 'there is no skill "\\u001b[2J"; skillwire list shows all'],
  ] as const)
    assert.deepEqual(runCommand(tree, ['show', name]), { status: 1, stdout: '', stderr: `skillwire: ${error}\n` });
  const { status, stdout } = runCommand(tree, ['show', 'pfd', '--json']);
  assert.deepEqual([status, JSON.parse(stdout)], [1, { version: 1, name: 'pfd', error: misspelt }]);
});

test('search finds what has all words, best first, and fails when nothing has', (t) => {
  const tree = makeTree(t, FILES);
  const { status, stdout } = runCommand(tree, ['search', 'form', 'fill']);
  assert.equal(status, 0);
  const lines = /^1 skill for "form fill"\n\npdf {2}custom\n {2}Fills forms\. .*…\n {2}… .*Fill the form\..* …\n$/;
  assert.match(stdout, lines);
  const { query, total, results } = JSON.parse(runCommand(tree, ['search', 'web', '--limit=1', '--json']).stdout);
  assert.deepEqual([query, total, results.length, results[0].score], ['web', 2, 1, 1]);
  const none = { status: 1, stdout: '0 skills for "nowhere"\n', stderr: '' };
  assert.deepEqual(runCommand(tree, ['search', 'nowhere']), none);
  assert.equal(runCommand(tree, ['search', ' ']).status, 2);
});
