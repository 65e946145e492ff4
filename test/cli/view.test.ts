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
  const { status, stdout, stderr } = runCommand(tree, ['list']);
  assert.deepEqual([status, stderr], [0, '']);
  const [head, first = '', ...rest] = stdout.trimEnd().split('\n');
  assert.equal(head, 'NAME        PROVIDER  LOCATION  DESCRIPTION');
  assert.match(first, /^pdf {9}custom {4}custom {4}Fills forms\. At length\..*…$/);
  assert.equal(first.length, 100);
  assert.deepEqual(rest, [
    'claude:pdf  claude    project   Of the project',
    'codex:web   codex     project   About web',
    'cursor:web  cursor    project   Another web',
    'docs:xlsx   claude    plugin    xlsx of docs',
  ]);
  const { skills } = JSON.parse(runCommand(tree, ['list', '--all', '--json']).stdout);
  const hidden = skills.filter((one: { readonly shadowed: boolean }) => one.shadowed);
  const directory = tree.at('home/.claude/skills/pdf');
  const place = { provider: 'claude', location: 'global', directory, file: `${directory}/SKILL.md` };
  assert.deepEqual(hidden, [{ name: 'claude@global:pdf', ...place, description: 'Of the home', shadowed: true }]);
  const plugins = skills.map((one: { readonly plugin?: string }) => one.plugin ?? '');
  assert.deepEqual(plugins, ['', '', '', '', '', 'docs@market']);
});

test('list says what is wrong in one line, and why when it has nothing to show', (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a'), 'skills/bad/SKILL.md': 'x' });
  const said = (...args: readonly string[]) => runCommand(tree, ['list', ...args]).stderr;
  assert.equal(said(), 'skillwire: 1 problem; see skillwire doctor\n');
  assert.equal(said('--quiet'), '');
  const nothing = /^skillwire: nothing to list with these --include and --exclude; see skillwire doctor\n/;
  assert.match(said('--exclude', '*'), nothing);
  assert.match(said('--include', 'nope'), /\nskillwire: filter "nope": matches nothing\. /);
  const elsewhere = ['--no-default-dirs', '--no-plugins'];
  assert.equal(said(...elsewhere), 'skillwire: nothing to list; see skillwire doctor\n');
  const missing = said(...elsewhere, '--skill-dir', 'nowhere').replace(tree.path, '.');
  assert.match(missing, /\nskillwire: \.\/nowhere: .*\. Correct --skill-dir, or create the directory\.\n$/);
});

test('show prints a skill byte for byte, and --json its text with where it is from', (t) => {
  const tree = makeTree(t, FILES);
  const { status, stdout, stderr } = runCommand(tree, ['show', 'PDF']);
  const text = `Loading: pdf\nBase directory: ${tree.at('skills/pdf')}\nPath: ${tree.at('skills/pdf/SKILL.md')}\nLocation: custom\nProvider: custom\n\n${FILES['skills/pdf/SKILL.md']}`;
  assert.deepEqual([status, stderr, stdout], [0, '', text]);
  const data = JSON.parse(runCommand(tree, ['show', 'pdf', '--json']).stdout);
  assert.deepEqual([data.version, data.name, data.file, data.text], [1, 'pdf', tree.at('skills/pdf/SKILL.md'), text]);
});

test('show says in one line why a name loads nothing, and what to do', (t) => {
  const tree = makeTree(t, { ...FILES, 'skills/bad/SKILL.md': 'x' });
  const rows: readonly (readonly [name: string, error: string])[] = [
    ['web', 'several skills are called "web": use one of the full names codex:web, cursor:web'],
    ['pfd', 'there is no skill "pfd"; did you mean pdf, claude:pdf?'],
    ['frobnicate', 'there is no skill "frobnicate"; skillwire list shows all'],
    ['custom:Bad', `no skill "custom:Bad" is loaded: ${tree.at('skills/bad/SKILL.md')}: there is no front matter`],
    ['\u001b[2J', 'there is no skill "\\u001b[2J"; skillwire list shows all'],
  ];
  for (const [name, error] of rows) {
    const { status, stdout, stderr } = runCommand(tree, ['show', name]);
    assert.deepEqual([status, stdout, stderr], [1, '', `skillwire: ${error}\n`]);
  }
  const { status, stdout } = runCommand(tree, ['show', 'pfd', '--json']);
  assert.deepEqual([status, JSON.parse(stdout)], [1, { version: 1, name: 'pfd', error: rows[1]?.[1] }]);
});

test('search finds what has all words, best first, and fails when nothing has', (t) => {
  const tree = makeTree(t, FILES);
  const { status, stdout } = runCommand(tree, ['search', 'form', 'fill', '--limit', '1']);
  assert.equal(status, 0);
  assert.match(
    stdout,
    /^1 skill for "form fill"\n\npdf {2}custom\n {2}Fills forms\. .*…\n {2}… .*Fill the form\..* …\n$/,
  );
  const found = JSON.parse(runCommand(tree, ['search', 'web', '--limit=1', '--json']).stdout);
  assert.deepEqual([found.query, found.total, found.results.length, found.results[0].score], ['web', 2, 1, 1]);
  const none = runCommand(tree, ['search', 'nowhere-to-be-found']);
  assert.deepEqual([none.status, none.stdout], [1, '0 skills for "nowhere-to-be-found"\n']);
  for (const query of [' ', 'x'.repeat(501)]) assert.equal(runCommand(tree, ['search', query]).status, 2);
});
