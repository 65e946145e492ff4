import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataOf, runCommand } from '../harness/command.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const TREE = {
  'skills/form/SKILL.md': skillText('form', 'About forms', 'Nothing more.\n'),
  'skills/pdf/SKILL.md': skillText(
    'pdf',
    'About pdf',
    `${'word '.repeat(40)}Fill the Form here${' word'.repeat(40)}\n`,
  ),
  'skills/other/SKILL.md': skillText('other'),
};

test('search finds all words, best first, with the place where they stand', (t) => {
  const { status, stdout, stderr } = runCommand(makeTree(t, TREE), ['search', 'FORM']);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  const lines = stdout.split('\n');
  assert.equal(lines[0], '2 skills for "FORM"');
  assert.deepEqual(lines.slice(1, 4), ['', 'form  custom', '  About forms']);
  assert.match(stdout, /\npdf {2}custom\n {2}About pdf\n {2}… word [\s\S]* Fill the Form here /);
  for (const line of lines) assert.ok(line.length <= 100, line);
});

test('several words are one query, and --limit says how many skills are shown', (t) => {
  const tree = makeTree(t, TREE);
  assert.match(runCommand(tree, ['search', 'fill', 'form']).stdout, /^1 skill for "fill form"\n\npdf {2}custom\n/);
  assert.match(
    runCommand(tree, ['search', 'form', '--limit', '1']).stdout,
    /^2 skills for "form"; the best 1\n\nform /,
  );
});

test('nothing found is exit 1; a query that is too long is a usage error', (t) => {
  const tree = makeTree(t, TREE);
  const { status, stdout } = runCommand(tree, ['search', 'zebra']);
  assert.deepEqual({ status, stdout }, { status: 1, stdout: '0 skills for "zebra"\n' });
  for (const args of [['x'.repeat(600)], [' '], ['a', '--limit', '0'], ['a', '--limit', '26'], []]) {
    const ran = runCommand(tree, ['search', ...args]);
    assert.equal(ran.status, 2, ran.stderr);
    assert.match(ran.stderr, /^skillwire: [^\n]+\n$/);
  }
});

test('an empty query is told once what it needs', (t) => {
  const { stderr } = runCommand(makeTree(t, TREE), ['search', '']);
  assert.match(stderr, /^skillwire: query is required: the words to look for; see /);
  const { stderr: long } = runCommand(makeTree(t, TREE), ['search', 'x'.repeat(501)]);
  assert.match(long, /^skillwire: query must be text of 1 to 500 characters/);
});

test('--json gives the documented form', (t) => {
  const tree = makeTree(t, TREE);
  const data = dataOf(runCommand(tree, ['search', 'form', '--json', '--limit', '1']));
  const { excerpt, ...hit } = data.results[0];
  assert.deepEqual(
    { ...data, results: [hit] },
    {
      version: 1,
      query: 'form',
      total: 2,
      results: [
        {
          name: 'form',
          provider: 'custom',
          location: 'custom',
          description: 'About forms',
          directory: tree.at('skills/form'),
          file: tree.at('skills/form/SKILL.md'),
          score: 1,
        },
      ],
    },
  );
  assert.match(excerpt, /About forms/);
});
