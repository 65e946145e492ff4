import assert from 'node:assert/strict';
import { test } from 'node:test';
import { names, warnings } from '../harness/listing.ts';
import { startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const FILES = {
  '.claude/skills/pdf/SKILL.md': skillText('pdf', 'claude has it'),
  '.codex/skills/pdf/SKILL.md': skillText('pdf', 'codex has it'),
  '.codex/skills/review/SKILL.md': skillText('review'),
  '.agents/skills/notes/SKILL.md': skillText('notes'),
  'home/.claude/plugins/installed_plugins.json': '{"plugins":{"docs@m":{"installPath":"docs"}}}',
  'home/.claude/plugins/docs/skills/docx/SKILL.md': skillText('docx'),
};

const CASES: readonly (readonly [args: readonly string[], expected: readonly string[], idle?: readonly string[]])[] = [
  [[], ['notes', 'claude:pdf', 'codex:pdf', 'review', 'docs:docx']],
  [['--include=codex'], ['pdf', 'review']],
  [['--include=codex,@plugins'], ['pdf', 'review', 'docs:docx']],
  [
    ['--include', 'codex', '--include', 'notes'],
    ['notes', 'pdf', 'review'],
  ],
  [['--include=claude'], ['pdf', 'docs:docx']],
  [['--exclude=claude'], ['notes', 'pdf', 'review']],
  [['--exclude=@plugins'], ['notes', 'claude:pdf', 'codex:pdf', 'review']],
  [['--exclude=docs:*,codex:pdf'], ['notes', 'pdf', 'review']],
  [
    ['--include=*', '--exclude=P*'],
    ['notes', 'review', 'docs:docx'],
  ],
  [['--include=pdf', '--exclude=pdf'], ['none']],
  [['--include=nothing'], ['none'], ['nothing']],
  [['--include='], ['none'], ['']],
  [['--exclude='], ['notes', 'claude:pdf', 'codex:pdf', 'review', 'docs:docx'], ['']],
  [['--exclude=nothing'], ['notes', 'claude:pdf', 'codex:pdf', 'review', 'docs:docx'], ['nothing']],
];

test('--include and --exclude choose what is listed, and a pattern that matches nothing is one warning', async (t) => {
  const tree = makeTree(t, FILES);
  for (const [args, expected, idle = []] of CASES) {
    const program = startProgram(t, { tree, args });
    assert.deepEqual(await names(program), expected, args.join(' '));
    const said = warnings(program, tree.path).filter((line) => line.startsWith('filter'));
    assert.deepEqual(
      said,
      idle.map((pattern) => `filter "${pattern}": matches nothing`),
      args.join(' '),
    );
    await program.end();
  }
});

test('a skill that is filtered out is not found by any name, and suggestions name only visible skills', async (t) => {
  const tree = makeTree(t, FILES);
  const program = startProgram(t, { tree, args: ['--include=codex'] });
  for (const name of ['claude:pdf', 'claude@project:pdf', 'docs:docx', 'docx', 'notes', 'agents:notes']) {
    const answer = await program.call('skill', { name });
    assert.equal(answer.isError, true, name);
    assert.match(answer.content[0].text, /^Skill '.*' not found\./, name);
    assert.doesNotMatch(answer.content[0].text, /claude has it|- (?:notes|docs:docx)/, name);
  }
  const miss = await program.call('skill', { name: 'claude:pdf' });
  assert.match(miss.content[0].text, /Did you mean: pdf\?/);
  assert.match(await program.skill('pdf'), /codex has it/);
});

test('a skill that two providers share stays when either of them is asked for', async (t) => {
  const tree = makeTree(t, { 'home/.agents/skills/pdf/SKILL.md': skillText('pdf') });
  tree.link('home/.claude/skills', '../.agents/skills');
  for (const [pattern, provider] of [
    ['agents', 'agents'],
    ['claude', 'claude'],
  ] as const) {
    const program = startProgram(t, { tree, args: ['--include', pattern] });
    assert.match(await program.skill('pdf'), new RegExp(`Provider: ${provider}\n`));
  }
});

test('a pattern of any length is harmless', async (t) => {
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
  const program = startProgram(t, { tree, args: ['--exclude', 'a'.repeat(70_000)] });
  assert.match(await program.description(), /<name>pdf<\/name>/);
  await program.waitForStderr(/matches nothing/);
});
