import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  clip,
  createOutput,
  hanging,
  paragraph,
  roughTokens,
  type Screen,
  tableLines,
  widthOf,
} from '../../src/cli/output.ts';

const ESCAPE = '\u001b';

/** A terminal or a pipe that keeps what is written to it. */
function screen(more: Partial<Screen> = {}): Screen & { text: () => string } {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  return { ...more, write, text: () => written };
}

const plain = (width: number) => createOutput({ columns: width, write: () => {} }, false);

const WIDTHS: readonly (readonly [what: string, text: string, width: number])[] = [
  ['nothing', '', 0],
  ['ASCII', 'abc', 3],
  ['Chinese', '漢字', 4],
  ['Japanese, half width', 'ｱｲｳ', 3],
  ['full-width Latin', 'Ａ', 2],
  ['Korean', '한글', 4],
  ['Korean in parts', '\u1112\u1161\u11ab', 2],
  ['a letter with a mark of its own', 'e\u0301', 1],
  ['many marks', `e${'\u0301'.repeat(20)}`, 1],
  ['Arabic with vowels', 'كِتَاب', 4],
  ['a picture', '🙂', 2],
  ['a family of four', '👩‍👩‍👧‍👦', 2],
  ['a flag', '🇩🇪', 2],
  ['a skin tone', '👍🏽', 2],
  ['a heart as a picture', '❤️', 2],
  ['a heart as text', '❤', 1],
  ['a key', '1️⃣', 2],
  ['a digit', '1', 1],
  ['a lone mark', '\u0301', 0],
];

for (const [what, text, width] of WIDTHS) {
  test(`the width of ${what}`, () => assert.equal(widthOf(text), width));
}

test('a text is cut at a width, never inside a character', () => {
  for (const [text, width, cut] of [
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['a b c', 3, 'a…'],
    ['漢字', 3, '漢…'],
    ['漢字', 2, '…'],
    ['漢字', 4, '漢字'],
    ['👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 3, '👩‍👩‍👧‍👦…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
    ['abc', 1, '…'],
    ['abc', 0, ''],
  ] as const) {
    assert.equal(clip(text, width), cut, `${text} at ${width}`);
    assert.ok(widthOf(clip(text, width)) <= width);
  }
});

test('a text is broken into lines between words, and a word that is too wide between characters', () => {
  for (const [text, width, lines] of [
    ['one two three', 7, ['one two', 'three']],
    ['a 漢字漢字 b', 5, ['a', '漢字', '漢字', 'b']],
    ['漢字漢 b', 4, ['漢字', '漢 b']],
    ['e\u0301e\u0301e\u0301', 2, ['e\u0301e\u0301', 'e\u0301']],
    ['漢字', 1, ['漢', '字']],
    ['', 5, ['']],
  ] as const)
    assert.deepEqual(paragraph(text, width), lines, `${text} at ${width}`);
});

test('columns line up, whatever the characters are', () => {
  const rows = [
    ['pdf', 'claude', 'About pdf'],
    ['漢字', 'codex', 'x'],
    ['👩‍👩‍👧‍👦', 'e\u0301', 'y'],
    ['', 'agents', 'z'],
  ];
  const lines = tableLines(rows, plain(100));
  for (const [at, line] of lines.entries()) {
    const [, , last = ''] = rows[at] ?? [];
    assert.equal(widthOf(line.slice(0, line.length - last.length)), 14, line);
  }
});

test('no line of a table is wider than the terminal, and a narrow column is not cut for a wide one', () => {
  const rows = [
    ['short', 'custom', 'a description that is far too long for this '.repeat(20)],
    ['漢'.repeat(300), 'custom', 'x'],
  ];
  for (const width of [1, 2, 7, 10, 40, 80, 200])
    for (const line of tableLines(rows, plain(width)))
      assert.ok(widthOf(line) <= Math.max(width, 7), `${width}: ${line}`);
  const [first = ''] = tableLines([['name', 'custom', 'd'.repeat(500)]], plain(40));
  assert.equal(first, `name  custom  ${'d'.repeat(25)}…`);
});

test('a name is never cut: the end of its row is, and the other rows stay as they are', () => {
  const name = 'n'.repeat(65);
  const rows = [
    [name, 'claude', 'global', 'd'.repeat(100)],
    ['漢字', 'claude', 'global', 'd'.repeat(100)],
  ];
  const lines = (width: number) => tableLines(rows, plain(width), 'bold');
  assert.deepEqual(lines(100), [
    `${name}  claude  global  ${'d'.repeat(16)}…`,
    `漢字${' '.repeat(37)}  claude  global  ${'d'.repeat(40)}…`,
  ]);
  assert.equal(lines(78)[0], `${name}  claude  gl…`);
  assert.equal(lines(60)[0], name);
});

test('what a terminal would obey is escaped before it is measured', () => {
  const [line = ''] = tableLines([[`${ESCAPE}[31mred`, 'a\nb']], plain(100));
  assert.equal(line, '\\u001b[31mred  a b');
});

test('colours are for a terminal whose user wants them', () => {
  const red = (more: Partial<Screen>, isPlain: boolean) => createOutput(screen(more), isPlain).paint('red', 'x');
  assert.equal(red({}, false), 'x');
  assert.equal(red({ isTTY: true }, true), 'x');
});

test('a pipe gets a text as it is; a terminal gets nothing that it would obey', () => {
  const text = `a\r\n${ESCAPE}[2Jb\tc\r\n`;
  const pipe = screen();
  createOutput(pipe, false).text(text);
  assert.equal(pipe.text(), text);
  const terminal = screen({ isTTY: true });
  createOutput(terminal, false).text(text);
  assert.equal(terminal.text(), 'a\n\\u001b[2Jb c\n');
});

test('data has the version of its form', () => {
  const pipe = screen();
  createOutput(pipe, false).json({ a: `${ESCAPE}\u202e` });
  assert.deepEqual(JSON.parse(pipe.text()), { version: 1, a: `${ESCAPE}\u202e` });
  assert.doesNotMatch(pipe.text(), /[\u001b\u202e]/);
});

test('the width of a pipe, and of a terminal that does not tell its own, is 100', () => {
  assert.equal(createOutput(screen(), false).width, 100);
  assert.equal(createOutput(screen({ isTTY: true, columns: 0 }), false).width, 100);
  assert.equal(createOutput(screen({ isTTY: true, columns: 72 }), false).width, 72);
});

test('a line hangs on a terminal that is too narrow for it, with its styles, and a pipe gets it whole', () => {
  const line = `  ${ESCAPE}[33mTitle${ESCAPE}[39m: 漢字 and /a/path/that/is/longer then more`;
  assert.deepEqual(hanging(line, { isTerminal: false, width: 20 }), [line]);
  assert.deepEqual(hanging(line, { isTerminal: true, width: 53 }), [line]);
  assert.deepEqual(hanging(line, { isTerminal: true, width: 20 }), [
    `  ${ESCAPE}[33mTitle${ESCAPE}[39m: 漢字 and`,
    '    /a/path/that/is/longer',
    '    then more',
  ]);
});

test('a rough number of tokens is a quarter of the bytes', () => {
  assert.equal(roughTokens(''), 0);
  assert.equal(roughTokens('abcde'), 2);
  assert.equal(roughTokens('漢字'), 2);
});

test('of a text without an end only its beginning is measured and shown', () => {
  const text = `${'\u0301'.repeat(500_000)}${'👩\u200d'.repeat(500_000)}`;
  const [line = ''] = tableLines([[text, text]], plain(80));
  assert.ok(line.length < 10_000);
});
