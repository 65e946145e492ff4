import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFilter, type Subject } from '../../src/skills/filter.ts';
import { splitPatterns } from '../../src/skills/patterns.ts';

const market = (name: string) => ({ name, marketplace: 'market' });

const SUBJECTS: readonly (Subject & { readonly id: string })[] = [
  { id: 'claude:pdf', name: 'pdf', group: 'claude' },
  { id: 'codex:pdf', name: 'pdf', group: 'codex' },
  { id: 'codex:PDF-forms', name: 'PDF-forms', group: 'codex' },
  { id: 'agents:codex', name: 'codex', group: 'agents' },
  { id: 'agents:a/b', name: 'a/b', group: 'agents' },
  { id: 'agents:.hidden', name: '.hidden', group: 'agents' },
  { id: 'agents:x:y', name: 'x:y', group: 'agents' },
  { id: 'agents:É', name: 'É', group: 'agents' },
  { id: 'docs:pdf', name: 'pdf', group: 'claude', plugin: market('docs') },
  { id: 'docs:word', name: 'word', group: 'claude', plugin: market('docs') },
  { id: 'files:read', name: 'read', group: 'files' },
];
const ALL = SUBJECTS.map(({ id }) => id);

function apply(include: readonly string[], exclude: readonly string[]) {
  const filter = createFilter({ include: splitPatterns(include), exclude: splitPatterns(exclude) });
  const { kept, problems } = filter(SUBJECTS, (subject) => subject, ['agents', 'claude', 'codex', 'custom']);
  return { kept: kept.map(({ id }) => id), idle: problems.map(({ where, what }) => `${where} ${what}`) };
}

const IDLE = (pattern: string) => `filter "${pattern}" matches nothing`;

const INCLUDES: readonly (readonly [pattern: string, kept: readonly string[], idle?: readonly string[]])[] = [
  ['codex', ['codex:pdf', 'codex:PDF-forms']],
  ['CODEX', ['codex:pdf', 'codex:PDF-forms']],
  ['files', ['files:read']],
  ['custom', [], [IDLE('custom')]],
  ['claude', ['claude:pdf', 'docs:pdf', 'docs:word']],
  ['@plugins', ['docs:pdf', 'docs:word']],
  ['@Plugins', ['docs:pdf', 'docs:word']],
  ['pdf', ['claude:pdf', 'codex:pdf', 'docs:pdf']],
  ['pdf*', ['claude:pdf', 'codex:pdf', 'codex:PDF-forms', 'docs:pdf']],
  ['Pdf-FORMS', ['codex:PDF-forms']],
  ['codex:pdf', ['codex:pdf']],
  ['codex:*', ['codex:pdf', 'codex:PDF-forms']],
  ['docs:*', ['docs:pdf', 'docs:word']],
  ['docs@market:w*', ['docs:word']],
  ['claude:docs:*', ['docs:pdf', 'docs:word']],
  ['claude:pdf', ['claude:pdf', 'docs:pdf']],
  ['*:word', ['docs:word']],
  ['files:r?ad', ['files:read']],
  ['{pdf,word}', ['claude:pdf', 'codex:pdf', 'docs:pdf', 'docs:word']],
  ['{pdf,{word,read}}', ['claude:pdf', 'codex:pdf', 'docs:pdf', 'docs:word', 'files:read']],
  ['p?f', ['claude:pdf', 'codex:pdf', 'docs:pdf']],
  [
    '*d*',
    [
      'claude:pdf',
      'codex:pdf',
      'codex:PDF-forms',
      'agents:codex',
      'agents:.hidden',
      'docs:pdf',
      'docs:word',
      'files:read',
    ],
  ],
  ['word,files:read', ['docs:word', 'files:read']],
  [' word , ', ['docs:word']],
  ['a*', ['agents:a/b']],
  ['a/b', ['agents:a/b']],
  ['*hidden', ['agents:.hidden']],
  ['x:y', ['agents:x:y']],
  ['e\u0301', ['agents:É']],
  ['*', ALL],
  ['', [], [IDLE('')]],
  [' , ', [], [IDLE('')]],
  ['codex:', [], [IDLE('codex:')]],
  [':pdf', [], [IDLE(':pdf')]],
  ['docs', [], [IDLE('docs')]],
  ['!pdf', [], [IDLE('!pdf')]],
  ['nothing*', [], [IDLE('nothing*')]],
  ['[', [], [IDLE('[')]],
  ['(', [], [IDLE('(')]],
];

for (const [pattern, kept, idle = []] of INCLUDES) {
  test(`--include ${JSON.stringify(pattern)} keeps exactly what it names`, () => {
    assert.deepEqual(apply([pattern], []), { kept, idle });
  });
  test(`--exclude ${JSON.stringify(pattern)} drops exactly what --include would keep`, () => {
    assert.deepEqual(apply([], [pattern]), { kept: ALL.filter((id) => !kept.includes(id)), idle });
  });
}

test('includes unite and excludes win', () => {
  const { kept } = apply(['codex', 'docs:*'], ['pdf']);
  assert.deepEqual(kept, ['codex:PDF-forms', 'docs:word']);
});

test('one idle pattern among others is the only one reported, and once', () => {
  assert.deepEqual(apply(['codex', 'zzz', 'zzz'], ['zzz']).idle, [IDLE('zzz')]);
});

test('a pattern of special characters alone neither throws nor takes for ever', () => {
  const start = performance.now();
  for (const pattern of [
    '+(a|a)+(a|a)b',
    '*'.repeat(60),
    '@(',
    '\\',
    '**/**',
    '!(x)',
    'a'.repeat(5000),
    '[[:alpha:]]',
  ]) {
    apply([pattern], [pattern]);
  }
  assert.ok(performance.now() - start < 2000);
});

const SPLITS: readonly (readonly [value: string, patterns: readonly string[]])[] = [
  ['a,b', ['a', 'b']],
  ['{a,b},c', ['{a,b}', 'c']],
  ['x{a,{b,c},d}y,z', ['x{a,{b,c},d}y', 'z']],
  ['{a,{b}},{c', ['{a,{b}}', '{c']],
  ['a},{b,c', ['a}', '{b', 'c']],
  ['{a,b', ['{a', 'b']],
  ['{{a,b},c', ['{{a,b}', 'c']],
  ['\\{a,b\\}', ['\\{a', 'b\\}']],
  [' , ', ['']],
];

for (const [value, patterns] of SPLITS) {
  test(`${JSON.stringify(value)} is split outside of braces only (11.10)`, () => {
    assert.deepEqual(splitPatterns([value]), patterns);
  });
}

test('splitting takes linear time, however braces stand (11.10)', () => {
  const start = performance.now();
  for (const text of ['{', '}', '{,', '},', ',', '{a,b}', '\\']) splitPatterns([text.repeat(100_000)]);
  // Some 100 ms; in quadratic time a minute.
  assert.ok(performance.now() - start < 8000);
});

test('a hostile name costs a pattern with many stars no time (10.3)', () => {
  const hostile = ['a'.repeat(1000), 'a'.repeat(128), `${'ab'.repeat(60)}c`, 'a/'.repeat(60)];
  const items = hostile.map((name) => ({ name, group: 'x' }));
  const start = performance.now();
  for (const pattern of ['*a*a*a*b', '*a*a*a*a*a*a*a*b', 'x:*a*a*a*b', '{a,b}*a*a*b', '[a]*a*a*a*a*a*a*a*b']) {
    const { kept } = createFilter({ include: [pattern], exclude: [] })(items, (one) => one, []);
    assert.deepEqual(kept, [], pattern);
  }
  const { kept } = createFilter({ include: ['*a*a*a'], exclude: [] })(items, (one) => one, []);
  assert.equal(kept.length, 2);
  assert.ok(performance.now() - start < 5000);
});
