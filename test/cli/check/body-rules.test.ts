/** The Markdown of a skill: its length and its links. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { found, messages, withHead } from '../../harness/check.ts';

const HEAD = withHead().replace('# pdf\n', '');

// The body begins in line 5.
const LINKS: readonly (readonly [body: string, expected: readonly string[]])[] = [
  ['[a](x.md) [b](docs/x.md) [c](./x.md#part) [d](x%20y.md) [e](<x y.md>) [f](docs)', []],
  ['[a](no.md)', ['5:5 dead-link']],
  ['![a](no.png "title")', ['5:6 dead-link']],
  ['[a](<no such.md>)', ['5:6 dead-link']],
  ['[a](no(1).md)', ['5:5 dead-link']],
  ['text\n\n  [a](./no.md#part)', ['7:7 dead-link']],
  ['[a]: no.md\n[^1]: no.md', ['5:6 dead-link']],
  ['[a](no.md) and [b](no.md)', ['5:5 dead-link']],
  ['[a](docs/../../no.md)', ['5:5 dead-link']],
  ['[a](http://x/no.md) [b](mailto:x@y.z) [c](#part) [d](/no.md) [e](//x/no.md) [f](~/no.md)', []],
  ['[a]({name}.md) [b]($X/no.md) [c](path/to/no.md) [d](url) [e](...) [f](docs/*.md)', []],
  ['`[a](no.md)` and ``[b](`no.md)``', []],
  ['`code` [a](no.md) `code`', ['5:12 dead-link']],
  ['a ` alone [a](no.md)', ['5:15 dead-link']],
  ['```md\n[a](no.md)\n```\n[b](no.md)', ['8:5 dead-link']],
  ['````\n```\n[a](no.md)\n````', []],
  ['- text\n  ~~~\n  [a](no.md)\n  ~~~', []],
  ['```\n[a](no.md)', []],
  ['``` x ``` [a](no.md)', ['5:15 dead-link']],
  ['text\n\n    [a](no.md)\n\n    [b](no.md)\n\nend [c](no.md)', ['11:9 dead-link']],
  ['    [a](no.md)\n# Title\n\t[b](no.md)', []],
  ['text\n    [a](no.md)', ['6:9 dead-link']],
  ['- item\n\n    [a](no.md)', ['7:9 dead-link']],
  ['1. item\n\n       [a](no.md)', []],
  ['- a\n  - b\n\n      [a](no.md)', ['8:11 dead-link']],
  ['- a\n\ntext\n\n    [a](no.md)', []],
  ['<!-- [a](no.md)\n[b](no.md) --> [c](no.md)', ['6:20 dead-link']],
  ['<!-- [a](no.md)', ['5:10 dead-link']],
];

for (const [body, expected] of LINKS) {
  test(`${JSON.stringify(body)}: ${expected.join(', ') || 'no dead link'}`, async (t) => {
    const files = { 'x.md': '', 'docs/x.md': '', 'x y.md': '' };
    assert.deepEqual(await found(t, HEAD + body, { files }), expected);
    const inCrlf = HEAD + body.replaceAll('\n', '\r\n');
    assert.deepEqual(await found(t, inCrlf, { files }), expected);
  });
}

test('over 500 lines or 5,000 tokens is an advice', async (t) => {
  assert.deepEqual(await found(t, HEAD + 'x\n'.repeat(496)), []);
  assert.deepEqual(await found(t, HEAD + 'x\n'.repeat(497)), ['501:1 body-length']);
  assert.deepEqual(await found(t, HEAD + 'x'.repeat(20_000)), []);
  assert.deepEqual(await found(t, `${HEAD}${'x'.repeat(20_004)}`), ['5:1 body-length']);
  const [message = ''] = await messages(t, HEAD + 'x\n'.repeat(497));
  assert.match(message, /^501 lines and about 249 tokens/);
});
