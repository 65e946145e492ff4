import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { dataOf, runCommand } from '../harness/command.ts';
import { startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const at = (directory: string, name: string) => ({ [`${directory}/skills/${name}/SKILL.md`]: skillText(name) });

test('show prints byte for byte what the skill tool gives', async (t) => {
  const body = 'tab\t, CRLF\r\n, escape \u001b[31m, no line break at the end: 漢字🙂';
  const tree = makeTree(t, { 'skills/odd/SKILL.md': skillText('odd', 'Odd', body) });
  const program = startProgram(t, { tree });
  const { status, stdout, stderr } = runCommand(tree, ['show', 'ODD', '--tools', 'list']);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  assert.equal(stdout, await program.skill('odd'));
  assert.ok(stdout.endsWith(body));
  const data = dataOf(runCommand(tree, ['show', 'odd', '--json']));
  assert.equal(data.text, stdout);
  assert.equal(data.name, 'odd');
  assert.equal(data.version, 1);
});

test('--files lists every file with its size and digest', (t) => {
  const tree = makeTree(t, { ...at('.claude', 'pdf'), '.claude/skills/pdf/ref/a b.md': 'x'.repeat(1234) });
  const digest = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
  const files = [
    { path: 'SKILL.md', size: skillText('pdf').length, digest: digest(skillText('pdf')) },
    { path: 'ref/a b.md', size: 1234, digest: digest('x'.repeat(1234)) },
  ];
  const { stdout } = runCommand(tree, ['show', 'pdf', '--files']);
  assert.equal(stdout, `${files[0]?.digest}     47  SKILL.md\n${files[1]?.digest}  1,234  ref/a b.md\n`);
  const data = dataOf(runCommand(tree, ['show', 'claude:pdf', '--files', '--json']));
  assert.deepEqual(data.files, files);
  assert.equal(data.text, undefined);
});

test('a name that means no skill, or several, is answered as an agent is, on stderr, with exit 1', async (t) => {
  const tree = makeTree(t, { ...at('.claude', 'pdf'), ...at('.codex', 'pdf'), ...at('.codex', 'docx') });
  const program = startProgram(t, { tree });
  for (const name of ['pdf', 'dcox', 'no\u001bsuch']) {
    for (const more of [[], ['--files'], ['--json']]) {
      const { status, stdout, stderr } = runCommand(tree, ['show', name, ...more]);
      const error = await program.skill(name);
      assert.deepEqual({ status, stderr }, { status: 1, stderr: `${error}\n` });
      if (more[0] === '--json') assert.deepEqual(JSON.parse(stdout), { version: 1, name, error });
      else assert.equal(stdout, '');
    }
  }
  const { status, stderr } = runCommand(tree, ['show', ' ']);
  assert.equal(status, 1);
  assert.match(stderr, /^invalid params: name is required/);
});

test('a name that is the directory of a skill that could not be loaded is first told why', async (t) => {
  const tree = makeTree(t, {
    ...at('.claude', 'pdf'),
    '.claude/skills/draft/SKILL.md': 'no front matter',
    '.codex/skills/low/skill.md': 'x',
    'skills/draft/SKILL.md': skillText('final'),
  });
  const program = startProgram(t, { tree });
  const cases: readonly (readonly [name: string, why: string])[] = [
    ['Draft', `${tree.at('.claude/skills/draft/SKILL.md')} is not loaded: there is no front matter\n`],
    ['claude:draft', `${tree.at('.claude/skills/draft/SKILL.md')} is not loaded: there is no front matter\n`],
    ['low', `${tree.at('.codex/skills/low/skill.md')} is not loaded: is not read; rename it to SKILL.md\n`],
    ['pfd', ''],
  ];
  for (const [name, why] of cases) {
    const { status, stderr } = runCommand(tree, ['show', name]);
    assert.deepEqual({ status, stderr }, { status: 1, stderr: `${why}${await program.skill(name)}\n` });
  }
  assert.match(
    dataOf(runCommand(tree, ['show', 'draft', '--json'])).error,
    /is not loaded: there is no front matter\n/,
  );
  assert.equal(runCommand(tree, ['show', 'pdf']).status, 0);
});

test('a skill without a list of files says why', (t) => {
  const tree = makeTree(t, at('.claude', 'pdf'));
  for (let nth = 0; nth < 513; nth++) tree.write(`.claude/skills/pdf/${nth}`, '');
  const { status, stderr } = runCommand(tree, ['show', 'pdf', '--files']);
  assert.equal(status, 1);
  assert.equal(stderr, "The files of skill 'pdf' cannot be listed: it has over 512 files\n");
});
