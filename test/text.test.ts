import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composed, oneLine, printable, printableJson, visible, visibleLine } from '../src/text.ts';

/** What is shown of a text: as it is, and on one line. */
const SHOWN: readonly (readonly [what: string, text: string, visible: string, line: string])[] = [
  ['plain text', 'Works on PDF files', 'Works on PDF files', 'Works on PDF files'],
  ['line breaks and tabs', 'a\r\nb\rc\n\td', 'a\nb\nc\n\td', 'a b c d'],
  [
    'line and paragraph separator, next line, form feed',
    'a\u2028b\u2029c\u0085d\fe\vf',
    'a\nb\nc\nd\ne\nf',
    'a b c d e f',
  ],
  ['outer blanks', '  a  ', '  a  ', 'a'],
  ['blanks of other scripts', 'a\u3000b\u00a0c', 'a\u3000b\u00a0c', 'a b c'],
  ['a colour for a terminal', 'a\u001b[31mred\u001b[0m', 'a[31mred[0m', 'a[31mred[0m'],
  ['C0, DEL and C1', 'a\u0000\u0007\u001f\u007f\u009bb', 'ab', 'ab'],
  ['bidi overrides', 'a\u202a\u202b\u202c\u202d\u202eb', 'ab', 'ab'],
  ['bidi isolates', 'a\u2066\u2067\u2068\u2069b', 'ab', 'ab'],
  ['direction marks', 'a\u200e\u200f\u061cb', 'ab', 'ab'],
  ['zero-width space, word joiner, byte order mark', 'a\u200b\u2060\ufeffb', 'ab', 'ab'],
  ['soft hyphen', 'a\u00adb', 'ab', 'ab'],
  ['tag characters', 'a\u{e0001}\u{e0041}\u{e007f}b', 'ab', 'ab'],
  ['variation selectors that hide text', 'a\u{e0100}\u{e01ef}b', 'ab', 'ab'],
  ['letters without a shape', 'a\u3164\uffa0\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180fb', 'ab', 'ab'],
  ['non-characters of other planes', 'a\u{1fffe}\u{10ffff}b', 'ab', 'ab'],
  ['runs of joiners and variation selectors', 'a\u200c\u200db\ufe00\ufe0fc\ufe0f\u200d\ufe0f\u200dd', 'abcd', 'abcd'],
  ['runs that removing a character makes', 'a\ufe0f\u200b\ufe0fb', 'ab', 'ab'],
  ['an emoji of several', '❤\ufe0f\u200d🔥', '❤\ufe0f\u200d🔥', '❤\ufe0f\u200d🔥'],
  ['half a surrogate pair', 'a\ud800b\udc00', 'a\ufffdb\ufffd', 'a\ufffdb\ufffd'],
  ['joiners', 'می\u200cخواهم 👩\u200d💻', 'می\u200cخواهم 👩\u200d💻', 'می\u200cخواهم 👩\u200d💻'],
  ['emoji with a variation selector', '❤\ufe0f', '❤\ufe0f', '❤\ufe0f'],
  ['characters beyond the first plane', '𝒳 🙂 𠀋', '𝒳 🙂 𠀋', '𝒳 🙂 𠀋'],
  ['nothing but invisible characters', '\u200b\u202e\ufeff', '', ''],
];

for (const [what, text, shown, line] of SHOWN) {
  test(`what is shown of ${what} (10.20)`, () => {
    assert.equal(visible(text), shown);
    assert.equal(visibleLine(text), line);
    assert.equal(visible(shown), shown, 'twice is once');
  });
}

test('what is printed is one line without anything that a terminal obeys (10.20)', () => {
  assert.equal(printable('a\u001b[31m\r\n\u202e\u{e0041}'), 'a\\u001b[31m\\r\\n\\u202e\\u{e0041}');
  assert.equal(oneLine(' a \n b '), 'a b');
});

test('JSON for a terminal says the same with escapes (10.20)', () => {
  const value = { 'na\u202eme': 'a\u009bb\u{e0041}c\n\ud800' };
  const text = printableJson(value);
  assert.match(text, /^\{\n {2}"na\\u202eme": "a\\u009bb\\udb40\\udc41c\\n\\ud800"\n\}$/);
  assert.deepEqual(JSON.parse(text), value);
});

test('equal characters compare as equal, in linear time (11.10)', () => {
  assert.equal(composed('cafe\u0301'), 'café');
  assert.equal(composed('café'), 'café');
  assert.equal(composed('plain'), 'plain');
  const start = performance.now();
  composed(`a${'\u0301\u0323'.repeat(100_000)}`);
  for (const text of ['\u0301'.repeat(30), ' ', '\u200b', '\r', '\ud800']) {
    for (const one of [composed, visible, visibleLine, printable]) one(text.repeat(100_000 / text.length));
  }
  // Composing the first alone takes twenty seconds.
  assert.ok(performance.now() - start < 8000);
});

test('every character that has another form is compared in its composed one (11.10)', () => {
  const [low, high] = ['\u0334', '\u0345']; // The marks that come first and last in any order of marks.
  const missed: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const char = String.fromCodePoint(code);
    const decomposed = char.normalize('NFD');
    const isMark =
      (char + low).normalize('NFD') !== decomposed + low || (high + char).normalize('NFD') !== high + decomposed;
    if (!isMark && char.normalize('NFC') === char) continue;
    for (const text of [`x${char}`, `${char}${char}`])
      if (composed(text) !== text.normalize('NFC')) missed.push(code.toString(16));
  }
  assert.deepEqual(missed, []);
  for (const text of ['e\u0301', '\u1112\u1161\u11ab', 'か\u3099', '\u212b', '한\u11a8', 'ड\u093c'])
    assert.equal(composed(text), text.normalize('NFC'));
});
