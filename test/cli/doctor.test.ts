import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

test('a healthy machine: what was found where, exit 0', (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a'), 'skills/b/SKILL.md': skillText('b') });
  const { status, stdout } = runCommand(tree, ['doctor', '--no-plugins']);
  assert.equal(status, 0);
  assert.match(stdout, /^Skills: 2\n {2}2 in \S+\/skills \(custom\)\n {4}a, b\n {2}none in \S+\/\.agents\/skills, /);
  assert.match(stdout, /\n\nhealthy\n$/);
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
  const report = `Names that several skills have: 2
  name "web": is ambiguous: claude:web, codex:web
  name "odd": means ./skills/odd/SKILL.md, which shadows codex:odd

Problems: 3
  The file must begin with "---", a name and a description, and "---"; "skillwire check" tells where it does not.
    ./skills/one/SKILL.md: there is no front matter
    ./skills/two/SKILL.md: description is missing
  Correct the pattern of --include: \`skillwire list\` without it shows every name and provider.
    filter "nope": matches nothing
  Nothing is lost by these:
    ./skills/odd/SKILL.md: front matter is not valid YAML: …

Servers: not checked (--hub checks them)

3 things to mend\n`;
  const shown = stdout.slice(stdout.indexOf('Names that')).replaceAll(tree.path, '.');
  assert.equal(shown.replace(/(?<=YAML: ).*/, '…'), report);
  const data = JSON.parse(runCommand(tree, ['doctor', '--json']).stdout);
  assert.deepEqual([data.version, data.toMend, data.skills, data.names.length, data.upstreams], [1, 2, 4, 2, []]);
  assert.deepEqual(data.roots[0], { directory: tree.at('skills'), from: 'custom', skills: ['odd'] });
});

test('with --hub every server is shown with its state, and each that needs mending counts once', (t) => {
  const dies = { command: process.execPath, args: ['-e', 'console.error("one\\ntwo\\u001b[2J"); process.exit(3)'] };
  const home = { dies, off: { command: 'x', disabled: true }, unset: { command: '${NOT_SET_AT_ALL}' } };
  const tree = makeTree(t, {
    'home/.kode.json': JSON.stringify({ mcpServers: home }),
    '.kode.json': JSON.stringify({ mcpServers: { mine: dies } }),
  });
  const { stdout } = runCommand(tree, ['doctor', '--hub']);
  const report = `Servers: 4
  dies: failed: exited with code 3; its stderr says: one
    two\\u001b[2J (./home/.kode.json)
  mine: untrusted: not started, because this project is not trusted. Look at the file, then run: skillwire trust (./.kode.json)
  off: disabled: disabled in its entry (./home/.kode.json)
  unset: failed: command: the variable NOT_SET_AT_ALL is not set (./home/.kode.json)

3 things to mend\n`;
  assert.equal(stdout.slice(stdout.indexOf('Servers: ')).replaceAll(tree.path, '.'), report);
});
