import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as text from '../src/text.ts';

const JOINED = 'می\u200cخواهم 👩\u200d💻 ❤\ufe0f\u200d🔥 𝒳 𠀋';
/** A text, what is shown of it, and that on one line where it differs. */
const SHOWN: Readonly<Record<string, readonly [text: string, visible: string, line?: string]>> = {
  'line breaks and tabs': ['a\r\nb\rc\n\td', 'a\nb\nc\n\td', 'a b c d'],
  'other line breaks': ['a\u2028b\u2029c\u0085d\fe\vf', 'a\nb\nc\nd\ne\nf', 'a b c d e f'],
  'outer blanks': ['  a  ', '  a  ', 'a'],
  'blanks of other scripts': ['a\u3000b\u00a0c', 'a\u3000b\u00a0c', 'a b c'],
  'C0, DEL and C1': ['a\u0000\u0007\u001b[31mb\u001f\u007f\u009b', 'a[31mb'],
  'bidi overrides, isolates and direction marks': ['a\u202a\u202c\u202e\u2066\u2069\u200e\u200f\u061cb', 'ab'],
  'zero-width space, word joiner, byte order mark, soft hyphen': ['a\u200b\u2060\ufeff\u00adb', 'ab'],
  'tag characters, and variation selectors that hide text': ['a\u{e0001}\u{e0041}\u{e0100}\u{e01ef}b', 'ab'],
  'letters without a shape': ['a\u3164\uffa0\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180fb', 'ab'],
  'non-characters of other planes': ['a\u{1fffe}\u{10ffff}b', 'ab'],
  'runs of joiners and variation selectors': ['a\u200c\u200db\ufe00\ufe0fc\ufe0f\u200d\ufe0f\u200dd', 'abcd'],
  'runs that removing a character makes': ['a\ufe0f\u200b\ufe0fb', 'ab'],
  'half a surrogate pair': ['a\ud800b\udc00', 'a\ufffdb\ufffd'],
  'joiners that scripts and emoji need': [JOINED, JOINED],
  'nothing but invisible characters': ['\u200b\u202e\ufeff', ''],
};
for (const [what, [given, shown, line = shown]] of Object.entries(SHOWN)) {
  test(`what is shown of ${what}`, () => {
    assert.deepEqual([text.visible(given), text.visibleLine(given)], [shown, line]);
    assert.equal(text.visible(shown), shown, 'twice is once');
  });
}

test('what is printed is one line without anything that a terminal obeys, and JSON stays the same JSON', () => {
  assert.equal(text.printable('a\u001b[31m\r\n\u202e\u{e0041}'), 'a\\u001b[31m\\r\\n\\u202e\\udb40\\udc41');
  const value = { 'na\u202eme': 'a\u009bb\u{e0041}c\n\ud800' };
  assert.deepEqual(JSON.parse(text.printable(JSON.stringify(value))), value);
});

test('text is cut between characters, with an ellipsis where some is missing, and escaped for XML', () => {
  const cuts = ['abc', 'ab🙂', 'a🙂b'].map((one) => [text.shorten(one, 3), text.shorten(one, 2), text.cut(one, 2)]);
  assert.deepEqual(cuts.flat().join(), 'abc,a…,ab,ab…,a…,ab,a…,a…,a');
  assert.equal(text.shorten('abc', 0), '');
  assert.ok(text.echo('x\n'.repeat(1000)).length <= 200);
  assert.equal(text.xml('a<b>&amp;\u0000\ufffe'), 'a&lt;b&gt;&amp;amp;\ufffd\ufffd');
  assert.deepEqual([text.counted(1, 'skill'), text.counted(0, 'skill')], ['1 skill', '0 skills']);
});

test('equal characters compare as equal, and no function takes more than linear time', () => {
  for (const one of ['cafe\u0301', '\u1112\u1161\u11ab', 'か\u3099', '\u212b', '한\u11a8', 'ड\u093c', 'plain'])
    assert.equal(text.composed(one), one.normalize('NFC'));
  const { composed, visible, visibleLine, printable, xml, echo } = text;
  const start = process.cpuUsage();
  for (const part of ['\u0301\u0323', ' ', '\u200b', '\r', '\ud800', '&', '\ufe0f', '\udb40\udc41'])
    for (const one of [composed, visible, visibleLine, printable, xml, echo]) one(`a${part.repeat(100_000)}`);
  // Composing the first alone takes twenty seconds.
  assert.ok(process.cpuUsage(start).user < 8_000_000);
});
