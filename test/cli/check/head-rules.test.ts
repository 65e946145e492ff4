/** Front matter as a block: its dashes, its line endings, its YAML. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { found, messages } from '../../harness/check.ts';

const GOOD = '---\nname: pdf\ndescription: d\n---\n';
const BOM = '\ufeff';

// From what public skills get wrong, and from what the reference validator refuses.
const CASES: readonly (readonly [what: string, text: string, expected: readonly string[]])[] = [
  ['nothing', '', ['1:1 front-matter']],
  ['a heading first', '# pdf\n', ['1:1 front-matter']],
  ['a byte order mark and a heading', `${BOM}# pdf\n`, ['1:1 front-matter']],
  ['fields without dashes', 'name: pdf\ndescription: d\n', ['1:1 front-matter']],
  ['front matter that is not closed', '---\nname: pdf\ndescription: d\n', ['1:1 front-matter']],
  ['front matter that is not closed, below a blank line', '\n---\nname: pdf\n', ['2:1 front-matter']],
  ['empty front matter', '---\n---\n', ['1:1 name', '1:1 description']],
  ['four dashes', `-${GOOD}`, ['1:1 front-matter']],
  ['a byte order mark', BOM + GOOD, ['1:1 byte-order-mark']],
  ['a blank line first', `\n${GOOD}`, ['2:1 front-matter']],
  ['a comment first', `<!-- x -->\n${GOOD}`, ['2:1 front-matter']],
  ['a code fence around it', `\`\`\`markdown\n${GOOD}\`\`\`\n`, ['2:1 front-matter']],
  ['dots at its end', GOOD.replace(/---\n$/, '...\n'), ['4:1 front-matter']],
  ['blanks after the dashes', '--- \nname: pdf\ndescription: d\n---\t\n', ['1:4 fence', '4:4 fence']],
  ['CRLF', GOOD.replaceAll('\n', '\r\n'), ['1:4 line-endings']],
  ['CRLF only below it', `${GOOD}a\r\n`, []],
  [
    'a mark, CRLF, a blank line and a bad name',
    `${BOM}\r\n---\r\nname: x y\r\ndescription: d\r\n---\r\n`,
    ['1:1 byte-order-mark', '2:1 front-matter', '2:4 line-endings', '3:7 name-characters', '3:7 name-directory'],
  ],
  ['a colon in a value', '---\nname: pdf\ndescription: Use when: x\n---\n', ['3:22 yaml']],
  ['a colon in a value, below blank lines', '---\n\n\nname: pdf\ndescription: Use when: x\n---\n', ['5:22 yaml']],
  ['a colon in a value in the first line, indented', '---\n  name: a: b\n---\n', ['2:10 yaml']],
  ['a line that is no entry', '---\nname: pdf\ndescription: d\nno entry\n\nlicense: MIT\n---\n', ['4:1 yaml']],
  ['a conflict', '---\nname: pdf\ndescription: d\n<<<<<<< HEAD\nlicense: MIT\n---\n', ['4:1 yaml']],
  ['a key twice', '---\nname: pdf\ndescription: d\nname: pdf\n---\n', ['4:1 yaml']],
  ['a bracket that is not closed', '---\nname: pdf\ndescription: d\nmetadata: {a: [b}\n---\n', ['4:17 yaml']],
  ['a quote that is not closed', '---\nname: pdf\ndescription: "d\n---\n', ['4:1 yaml']],
  ['fields that are all indented', '---\n  name: pdf\n  description: d\n---\n', []],
  ['a list', '---\n- a\n---\n', ['2:1 yaml']],
  ['a text', '---\na\n---\n', ['2:1 yaml']],
  ['a tab', '---\nname: pdf\ndescription: d\nmetadata:\n\ta: b\n---\n', ['5:1 yaml']],
  ['a character that YAML does not allow', '---\nname: pdf\ndescription: a\u0007\n---\n', ['3:15 yaml']],
  ['5,000 brackets', `---\nname: pdf\ndescription: d\nx: ${'['.repeat(5000)}\n---\n`, ['2:1 yaml']],
  ['too much of it', `---\nname: pdf\ndescription: d\n#${'x'.repeat(33_000)}\n---\n`, ['1:1 front-matter']],
  ['a field that a merge brings in', '---\nname: pdf\ndescription: d\n<<: {license: 1}\n---\n', ['2:1 text-values']],
];

for (const [what, text, expected] of CASES) {
  test(`${what}: ${expected.join(', ') || 'fine'}`, async (t) => assert.deepEqual(await found(t, text), expected));
}

test('the message says whether a faulty block was read leniently', async (t) => {
  const [saved = ''] = await messages(t, '---\nname: pdf\ndescription: Use when: x\n---\n');
  assert.match(
    saved,
    /^front matter is not valid YAML: .* needs quotes; skillwire reads name and description leniently/,
  );
  const [lost = ''] = await messages(t, '---\nname: pdf\ndescription: "d\n---\n');
  assert.match(lost, /^front matter is not valid YAML: .*; it cannot be loaded$/);
});

test('bytes that are not UTF-8 are found where they are', async (t) => {
  const bytes = Buffer.concat([Buffer.from(`${GOOD}text `), Buffer.from([0xff])]);
  assert.deepEqual(await found(t, bytes), ['5:6 encoding']);
});
