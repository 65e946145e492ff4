import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

test('a healthy machine: what was found where, exit 0', (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a'), 'skills/b/SKILL.md': skillText('b') });
  const { status, stdout } = runCommand(tree, ['doctor', '--no-plugins']);
  assert.equal(status, 0);
  assert.match(stdout, /^Skills: 2\n {2}2 in \S+\/skills \(custom\)\n {4}a, b\n {2}none in \S+\/\.agents\/skills, /);
  const end = 'Problems: 0\n\nServers: not checked (--hub checks them)\n\nhealthy\n';
  assert.ok(stdout.endsWith(`\n\nNames that several skills have: 0\n\n${end}`), stdout);
});

test('problems stand below what to do about them, and only those to mend fail', (t) => {
  const tree = makeTree(t, {
    'skills/one/SKILL.md': 'x',
    'skills/two/SKILL.md': '---\nname: two\n---\n',
    'skills/odd/SKILL.md': '---\nname: odd\ndescription: use: this\n---\n',
    '.codex/skills/odd/SKILL.md': skillText('odd'),
    '.claude/skills/web/SKILL.md': skillText('web'),
    '.codex/skills/web/SKILL.md': skillText('web'),
  });
  const { status, stdout } = runCommand(tree, ['doctor', '--include', 'nope', '--include', '*']);
  assert.equal(status, 1);
  const problems = stdout.slice(stdout.indexOf('Names that')).replaceAll(tree.path, '.').split('\n');
  assert.deepEqual(problems.slice(0, 4), [
    'Names that several skills have: 2',
    '  name "web": is ambiguous: claude:web, codex:web',
    '  name "odd": means ./skills/odd/SKILL.md, which shadows codex:odd',
    '',
  ]);
  const [title, hint, one, two, ...rest] = problems.slice(4);
  assert.equal(title, 'Problems: 3');
  assert.match(hint ?? '', /^ {2}The file must begin with "---"/);
  assert.equal(one, '    ./skills/one/SKILL.md: there is no front matter');
  assert.equal(two, '    ./skills/two/SKILL.md: description is missing');
  assert.match(
    rest.join('\n'),
    /^ {2}\S.*\n {4}filter "nope": .*\n {2}Nothing is lost by these:\n {4}\.\/skills\/odd\//,
  );
  assert.match(stdout, /\n3 things to mend\n$/);
  const data = JSON.parse(runCommand(tree, ['doctor', '--json']).stdout);
  assert.deepEqual([data.version, data.toMend, data.skills, data.names.length, data.upstreams], [1, 2, 4, 2, []]);
  assert.deepEqual(data.roots[0], { directory: tree.at('skills'), from: 'custom', skills: ['odd'] });
});

test('with --hub every server is shown with its state, and each that needs mending counts once', (t) => {
  const dies = { command: process.execPath, args: ['-e', 'console.error("one\\ntwo\\u001b[2J"); process.exit(3)'] };
  const home = { dies, off: { command: 'x', disabled: true }, unset: { command: '${NOT_SET_AT_ALL}' } };
  const tree = makeTree(t, {
    'skills/a/SKILL.md': skillText('a'),
    'home/.kode.json': JSON.stringify({ mcpServers: home }),
    '.kode.json': JSON.stringify({ mcpServers: { mine: dies } }),
  });
  const { status, stdout } = runCommand(tree, ['doctor', '--hub', '--no-plugins']);
  assert.equal(status, 1);
  assert.match(
    stdout,
    /\nServers: 4\n {2}dies: failed: exited with code 3[^\n]*one\n {4}two[^\n\u001b]*\n {2}mine: untrusted: /,
  );
  assert.match(stdout, /\n {2}off: disabled: .*\n {2}unset: failed: .*NOT_SET_AT_ALL/);
  assert.match(stdout, /\nProblems: 2\n/);
  assert.match(stdout, /\n3 things to mend\n$/);
  assert.match(runCommand(tree, ['list', '--hub']).stderr, /^skillwire: 3 problems; see skillwire doctor --hub\n$/);
});
