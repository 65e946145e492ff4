/** Mending: what is changed, and that nothing else is. */
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { inspect } from '../../../src/cli/check/inspect.ts';
import { mended, withHead } from '../../harness/check.ts';
import { makeTree } from '../../harness/tree.ts';

const FIX = ['fix'] as const;
const head = (...lines: readonly string[]) => `---\n${lines.join('\n')}\n---\n`;

const FIXES: readonly (readonly [what: string, before: string, after: string])[] = [
  ['a byte order mark', `\ufeff${withHead()}`, withHead()],
  ['blank lines before', `\n \n${withHead()}`, withHead()],
  [
    'blanks after the dashes',
    '--- \t\nname: pdf\ndescription: d\n---  \nx  \n',
    '---\nname: pdf\ndescription: d\n---\nx  \n',
  ],
  [
    'a value with a colon',
    head('name: pdf', 'description: Use when: "it" is\\it'),
    head('name: pdf', `description: 'Use when: "it" is\\it'`),
  ],
  [
    'several of them',
    head('name: pdf', "description: It's: x", 'metadata:', '  a: b: c', 'hint: ends with:'),
    head('name: pdf', `description: "It's: x"`, 'metadata:', '  a: "b: c"', 'hint: "ends with:"'),
  ],
  [
    'numbers where texts belong',
    head('name: pdf', 'description: 1', 'license: 2.0 # two', 'metadata:', '    v: 1.10', '    w: true', '    x: y'),
    head(
      'name: pdf',
      'description: "1"',
      'license: "2.0" # two',
      'metadata:',
      '    v: "1.10"',
      '    w: "true"',
      '    x: y',
    ),
  ],
  [
    'tools with commas',
    head('name: pdf', 'description: d', 'allowed-tools: "Read,  Bash(git:*),Write"'),
    head('name: pdf', 'description: d', 'allowed-tools: Read Bash(git:*) Write'),
  ],
  [
    'a list of tools',
    head('name: pdf', 'description: d', 'allowed-tools:', '- Read', '', '- Write', 'license: MIT'),
    head('name: pdf', 'description: d', 'allowed-tools: Read Write', 'license: MIT'),
  ],
  [
    'a list of tools in brackets',
    head('name: pdf', 'description: d', 'allowed-tools: [ Read,', '   "*" ]', 'license: MIT'),
    head('name: pdf', 'description: d', 'allowed-tools: Read *', 'license: MIT'),
  ],
  [
    'a tool that needs quotes',
    head('name: pdf', 'description: d', 'allowed-tools: ["*", Read]'),
    head('name: pdf', 'description: d', 'allowed-tools: "* Read"'),
  ],
  [
    'all at once',
    '\ufeff\r\n--- \r\nname: pdf # x\r\ndescription: a: b\r\nallowed-tools:\r\n- Read\r\n- Write\r\n---\r\nx\r\n',
    '---\r\nname: pdf # x\r\ndescription: "a: b"\r\nallowed-tools: Read Write\r\n---\r\nx\r\n',
  ],
];

for (const [what, before, after] of FIXES) {
  test(`--fix mends ${what}, and a second time nothing`, async (t) => {
    assert.equal(await mended(t, before, FIX), after);
    assert.equal(await mended(t, after, FIX), after);
  });
}

const LEFT: readonly (readonly [what: string, text: string])[] = [
  ['a good skill', withHead()],
  ['CRLF', withHead().replaceAll('\n', '\r\n')],
  ['a comment before', `<!-- x -->\n${withHead()}`],
  ['a value with a colon and what may be a comment', head('name: pdf', 'description: a: b # c')],
  ['a value with a colon on two lines', head('name: pdf', 'description: a: b', '  c')],
  ['a value with a colon beside another mistake', head('name: pdf', 'description: a: b', 'x: [')],
  ['a value that begins like a list', head('name: pdf', 'description: d', 'hint: [a] [b]: c')],
  ['tools with blanks inside', head('name: pdf', 'description: d', 'allowed-tools: Bash(git add:*), Read')],
  ['tools with commas inside', head('name: pdf', 'description: d', 'allowed-tools: Bash(a,b), Read')],
  ['tools with commas and blanks between', head('name: pdf', 'description: d', 'allowed-tools: Read Write, Edit')],
  ['a list of tools with a comment', head('name: pdf', 'description: d', 'allowed-tools:', '- Read # x')],
  ['a list of tools that is referred to', head('name: pdf', 'description: d', 'allowed-tools: &a [Read]', 'x: *a')],
  ['a list of tools that are no texts', head('name: pdf', 'description: d', 'allowed-tools: [1]')],
  ['an empty list of tools', head('name: pdf', 'description: d', 'allowed-tools: []')],
  ['a number in brackets', head('name: pdf', 'description: d', 'metadata: {v: 1}')],
  ['a wrong name', head('name: PDF', 'description: d')],
];

for (const [what, text] of LEFT) {
  test(`--fix leaves ${what} alone`, async (t) => assert.equal(await mended(t, text, FIX), text));
}

const RENAMED: readonly (readonly [what: string, directory: string, before: string, after: string])[] = [
  ['changes a name', 'pdf', 'name: "PDF Tools" # x\ndescription: d', 'name: pdf # x\ndescription: d'],
  [
    'changes a name on its own line',
    'pdf',
    'description: d\nname: |\n  PDF\nlicense: x',
    'description: d\nname: pdf\nlicense: x',
  ],
  ['adds a missing name', 'pdf', 'description: d', 'name: pdf\ndescription: d'],
  ['keeps CRLF', 'pdf', 'description: d\r\nname: x\r', 'description: d\r\nname: pdf\r'],
  [
    'leaves a name with text behind its quotes',
    'pdf',
    'name: "a\\"b": c\ndescription: d',
    'name: "a\\"b": c\ndescription: d',
  ],
  [
    'leaves a name with a mark behind its quotes',
    'pdf',
    "name: 'x'# c\ndescription: d",
    "name: 'x'# c\ndescription: d",
  ],
  ['puts quotes around a name that is a number', '123', 'name: x\ndescription: d', 'name: "123"\ndescription: d'],
  ['puts quotes around a name that is a word of YAML', 'no', 'name: x\ndescription: d', 'name: "no"\ndescription: d'],
  ['leaves a name whose directory breaks the rules', 'a_b', 'name: x\ndescription: d', 'name: x\ndescription: d'],
  [
    'leaves other faults',
    'pdf',
    'name: x\ndescription: d\nallowed-tools: [Read]',
    'name: pdf\ndescription: d\nallowed-tools: [Read]',
  ],
];

for (const [what, directory, before, after] of RENAMED) {
  test(`--fix-names ${what}`, async (t) => {
    assert.equal(await mended(t, head(before), ['fix-names'], { directory }), head(after));
    assert.equal(await mended(t, head(after), ['fix-names'], { directory }), head(after));
  });
}

test('a mended file keeps its mode, and no other file stays behind', async (t) => {
  const tree = makeTree(t);
  const path = tree.write('pdf/SKILL.md', `\ufeff${withHead()}`);
  chmodSync(path, 0o640);
  const { mended: count, findings } = await inspect({ path, home: tree.at('pdf'), name: 'SKILL.md' }, FIX);
  assert.deepEqual({ count, findings }, { count: 1, findings: [] });
  assert.equal(statSync(path).mode & 0o777, 0o640);
  assert.deepEqual(readdirSync(tree.at('pdf')), ['SKILL.md']);
});

test('a link inside the skill stays a link, and the file that it leads to is mended', async (t) => {
  const tree = makeTree(t);
  tree.write('pdf/docs/main.md', `\ufeff${withHead()}`);
  tree.link('pdf/SKILL.md', 'docs/main.md');
  await inspect({ path: tree.at('pdf/SKILL.md'), home: tree.at('pdf'), name: 'SKILL.md' }, FIX);
  assert.equal(readFileSync(tree.at('pdf/docs/main.md'), 'utf8'), withHead());
  assert.deepEqual(readdirSync(tree.at('pdf')).toSorted(), ['SKILL.md', 'docs']);
});
