/** What the fields of front matter must be, by the specification and its reference validator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { found, messages, withHead } from '../../harness/check.ts';

const skill = (name: string, description = 'd') => `---\nname: ${name}\ndescription: ${description}\n---\n`;

test('a good skill has no findings, with every key that the specification knows', async (t) => {
  assert.deepEqual(await found(t, withHead()), []);
  const all = withHead(
    'license: MIT',
    'compatibility: Python 3.14+',
    'metadata:',
    '  author: a',
    '  version: "1.0"',
    'allowed-tools: Bash(git:*) Bash(jq:*) Read',
  );
  assert.deepEqual(await found(t, all), []);
});

// What the reference validator accepts and refuses, from its own tests and from public skills.
const NAMES: readonly (readonly [name: string, directory: string, expected: readonly string[]])[] = [
  ['MySkill', 'MySkill', ['2:7 name-characters']],
  ['a'.repeat(64), 'a'.repeat(64), []],
  ['a'.repeat(65), 'a'.repeat(65), ['2:7 name']],
  ['-pdf', '-pdf', ['2:7 name-characters']],
  ['pdf-', 'pdf-', ['2:7 name-characters']],
  ['pdf--x', 'pdf--x', ['2:7 name-characters']],
  ['my_skill', 'my_skill', ['2:7 name-characters']],
  ['a.b', 'a.b', ['2:7 name-characters']],
  ['a b', 'a b', ['2:7 name-characters']],
  ['pdf', 'other', ['2:7 name-directory']],
  ['PDF Tools', 'pdf', ['2:7 name-characters', '2:7 name-directory']],
  ['\u6280\u80fd', '\u6280\u80fd', ['2:7 name-ascii']],
  [
    '\u043c\u043e\u0439-\u043d\u0430\u0432\u044b\u043a',
    '\u043c\u043e\u0439-\u043d\u0430\u0432\u044b\u043a',
    ['2:7 name-ascii'],
  ],
  ['\u041d\u0410\u0412\u042b\u041a', '\u041d\u0410\u0412\u042b\u041a', ['2:7 name-characters']],
  // Two Unicode forms of one name.
  ['cafe\u0301', 'caf\u00e9', ['2:7 name-ascii']],
  ['"pdf"', 'pdf', []],
  ['" pdf "', 'pdf', ['2:7 invisible']],
  ['""', 'pdf', ['2:7 name']],
  ['', 'pdf', ['2:6 name']],
  ['[a]', 'pdf', ['2:7 name']],
  ['123', '123', ['2:7 text-values']],
];

for (const [name, directory, expected] of NAMES) {
  test(`name ${JSON.stringify(name)} in ${JSON.stringify(directory)}: ${expected.join(', ') || 'fine'}`, async (t) => {
    assert.deepEqual(await found(t, skill(name), { directory }), expected);
  });
}

test('a missing name or description is an error at the opening dashes', async (t) => {
  assert.deepEqual(await found(t, '---\ndescription: d\n---\n'), ['1:1 name']);
  assert.deepEqual(await found(t, '\n---\nname: pdf\n---\n'), ['2:1 front-matter', '2:1 description']);
});

test('a description is 1 to 1024 characters, whatever they take in UTF-16', async (t) => {
  assert.deepEqual(await found(t, skill('pdf', '\u{1f600}'.repeat(1024))), []);
  assert.deepEqual(await found(t, skill('pdf', 'x'.repeat(1025))), ['3:14 description']);
  assert.deepEqual(await found(t, skill('pdf', '')), ['3:13 description']);
  assert.deepEqual(await found(t, skill('pdf', '"  "')), ['3:14 description']);
  assert.deepEqual(await found(t, skill('pdf', '{a: b}')), ['3:14 description']);
  assert.deepEqual(await found(t, skill('pdf', `|\n  ${'x'.repeat(1100)}`)), ['3:14 description']);
});

test('what YAML cuts off a description as a comment is found', async (t) => {
  assert.deepEqual(await found(t, skill('pdf', 'C# and #hash')), ['3:21 comment']);
  assert.deepEqual(await found(t, skill('pdf', 'C# and\n  more # less')), ['4:8 comment']);
  for (const fine of [
    'C# and F#',
    '"C# and #hash"',
    "'C# and #hash'",
    '"C#" # why',
    '|\n  C# and #hash',
    '>-\n  #hash',
  ])
    assert.deepEqual(await found(t, skill('pdf', fine)), [], fine);
});

test('invisible characters in a description are found', async (t) => {
  assert.deepEqual(await found(t, skill('pdf', '"a\\u200bb"')), ['3:14 invisible']);
});

const FIELDS: readonly (readonly [line: string, expected: readonly string[]])[] = [
  [`compatibility: ${'x'.repeat(500)}`, []],
  [`compatibility: ${'x'.repeat(501)}`, ['4:16 compatibility']],
  ['compatibility: [a, b]', ['4:16 compatibility']],
  ['compatibility:', ['4:1 text-values']],
  ['license: 2', ['4:10 text-values']],
  ['metadata: text', ['4:11 metadata']],
  ['metadata: {a: b}', []],
  ['metadata: {a: 1, b: {c: d}}', ['4:11 text-values', '4:11 metadata']],
  ['metadata:\n  a: 1\n  b: yes\n  c: 2026-01-02', ['5:6 text-values']],
  ['metadata:\n  a: x\n  b:\n    c: d\n  e:', ['6:5 metadata', '8:3 metadata']],
  ['allowed-tools: Read, Write', ['4:16 allowed-tools']],
  ['allowed-tools: Bash(a,b) Read', []],
  ['allowed-tools: [Read]', ['4:16 allowed-tools']],
  ['allowed-tools:\n- Read\n- Write', ['4:15 allowed-tools']],
  ['allowed-tools: 1', ['4:16 text-values']],
  ['version: 1.0', ['4:1 unknown-key']],
  ['__proto__: 1', ['2:1 yaml-portable', '4:1 unknown-key']],
  ['constructor: 1', ['4:1 unknown-key']],
  ['"quoted key": 1', ['4:1 unknown-key']],
  ['# a comment\nlicense: MIT # and another', []],
];

for (const [line, expected] of FIELDS) {
  test(`${JSON.stringify(line.slice(0, 60))}: ${expected.join(', ') || 'fine'}`, async (t) => {
    assert.deepEqual(await found(t, withHead(line)), expected);
  });
}

test('aliases that stand for millions of values cost nothing', async (t) => {
  const more = Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`);
  const text = withHead('a0: &a0 [x]', ...more, 'allowed-tools: *a9', 'metadata: {a: *a9}', 'license: *a9');
  const rules = (await found(t, text)).filter((one) => !one.endsWith('unknown-key'));
  assert.deepEqual(rules, ['2:1 yaml-portable', '14:16 allowed-tools', '15:11 metadata', '16:10 text-values']);
});

test('keys that well-known hosts define are fine', async (t) => {
  const lines = [
    'argument-hint: "[file]"',
    'disable-model-invocation: true',
    'user-invocable: false',
    'model: opus',
    'context: fork',
    'agent: Explore',
    'hooks: {PreToolUse: []}',
    'effort: high',
    'paths: ["src/**"]',
    'shell: bash',
  ];
  assert.deepEqual(await found(t, withHead(...lines)), []);
  const [message] = await messages(t, withHead('argument_hint: x'));
  assert.equal(message, 'the specification has no key "argument_hint"; did you mean argument-hint?');
});

test('an unknown key that is a misspelt one is told', async (t) => {
  const [message] = await messages(t, withHead('allowed_tools: Read'));
  assert.equal(message, 'the specification has no key "allowed_tools"; did you mean allowed-tools?');
});
