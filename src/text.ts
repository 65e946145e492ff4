/**
 * Text from outside, made fit to be shown: to a model in a list, to a person on a terminal, to an XML reader.
 * Owns: which characters are never shown, escaping, shortening. Leaves alone: what the text means.
 * Always true: every function here costs time linear in its text, and none throws.
 */

/**
 * The text without characters that nobody sees and a model or a terminal would obey. Everything that is listed (names
 * and descriptions, ours and those of upstream servers) passes through here. Line breaks and tabs stay.
 */
export function visible(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  // One test for nearly every text, which holds none of them.
  return INVISIBLE.test(whole) ? whole.replace(LINE_BREAK, '\n').replace(INVISIBLE_ALL, '') : whole;
}

/** The same on one line, each run of white space as one blank. */
export function visibleLine(text: string): string {
  // What cannot be seen goes first: a byte order mark is white space to JavaScript, and would leave a blank.
  const clean = visible(text);
  return UNEVEN.test(clean) ? clean.replace(/\s+/g, ' ').trim() : clean;
}

/**
 * The text in Unicode's composed form (NFC), for comparing. A text with more combining marks in a row than any script
 * has stays as it is: composing takes time quadratic in such a run.
 */
export function composed(text: string): string {
  if (!MAY_COMPOSE.test(text)) return text;
  // Made when called: reading in such a pattern takes longer than loading most modules.
  return /\p{M}{31}/u.test(text) ? text : text.normalize('NFC');
}

/** As `JSON.stringify`, indented, with everything that is not shown written as an escape: for a terminal. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(INVISIBLE_ALL, (found) =>
    // JSON writes a character beyond the first plane as its two halves.
    found.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** One line in which control and direction-changing characters are shown as escapes: for a terminal, a header, a log. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => ESCAPES.get(char) ?? escapeOf(char));
}

/** On one line, with blanks collapsed. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim());
}

/** At most `length` characters, cut between characters and marked where something is missing. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  if (length < 1) return '';
  return `${cut(text, length - 1).trimEnd()}…`;
}

/** At most `length` characters, cut between characters and without a mark: for what is kept, not shown. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = text.slice(0, length);
  // Half of a surrogate pair is not a character.
  return /[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head;
}

/** For the inside of an XML element. Characters that XML cannot hold become the replacement character. */
export function xml(text: string): string {
  // One look at each of ten thousand descriptions, instead of four.
  if (!/[&<>\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text)) return text;
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

// --- internal ---

// By row: C0 without tab and line feed, DEL, C1; soft hyphen, Arabic letter mark and Mongolian vowel separator;
// zero-width space and the direction marks, but not the joiners U+200C and U+200D, which scripts and emoji need, then
// line and paragraph separator and bidi overrides; word joiner, invisible operators, bidi isolates and deprecated format
// characters; letters without a shape; byte order mark, annotation marks and non-characters; format characters of
// shorthand and of music; the whole plane of tag characters and of the variation selectors beyond the first sixteen, in
// which whole texts can be hidden.
const INVISIBLE_SET =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f' +
  '\\u00ad\\u061c\\u180e' +
  '\\u200b\\u200e\\u200f\\u2028-\\u202e' +
  '\\u2060-\\u206f' +
  '\\u3164\\uffa0' +
  '\\ufeff\\ufff0-\\ufffb\\ufffe\\uffff]' +
  '|\\ud82f[\\udca0-\\udca3]|\\ud834[\\udd73-\\udd7a]' +
  '|[\\udb40-\\udb43][\\udc00-\\udfff]';
const INVISIBLE = new RegExp(INVISIBLE_SET);
const INVISIBLE_ALL = new RegExp(INVISIBLE_SET, 'g');
// Vertical tab, form feed and "next line" part lines too; taken away without a trace they would join two words.
const LINE_BREAK = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
// White space that is more than one blank between two words.
const UNEVEN = /[^\S ]|\s\s|^\s|\s$/;
// Outside of these every text is composed already: marks, scripts that have marks, and characters with another form. What
// most texts hold is not among them, Latin, Cyrillic, Chinese, Japanese, Korean and emoji:
// for those this test takes a tenth of the time that composing takes.
const MAY_COMPOSE = new RegExp(
  '[\\u0300-\\u036f\\u0374\\u037e\\u0387\\u0483-\\u0489\\u0591-\\u1fff\\u2000\\u2001\\u20d0-\\u20ff\\u2126-\\u212b' +
    '\\u2329\\u232a\\u2adc\\u2ce0-\\u2dff\\u302a-\\u302f\\u3099\\u309a\\ua640-\\uabff\\uf900-\\ufb4f\\ufe20-\\ufe2f]' +
    '|[\\ud800-\\ud83b\\ud83f\\ud87e][\\udc00-\\udfff]',
);

// C0, DEL and C1 drive terminals; U+2028/9 break lines; bidi controls reorder what is read; the rest cannot be seen.
const UNPRINTABLE = new RegExp(`[\\t\\n]|${INVISIBLE_SET}`, 'g');
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', ' '],
]);

const escapeOf = (char: string) => {
  const code = (char.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
  return code.length > 4 ? `\\u{${code}}` : `\\u${code}`;
};
