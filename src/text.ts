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
  return visible(text.replace(/\s+/g, ' ')).trim();
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

// By row: C0 without tab and line feed, DEL, C1; soft hyphen and Mongolian vowel separator; zero-width space and the
// direction marks, but not the joiners U+200C and U+200D, which scripts and emoji need; line and paragraph separator;
// bidi overrides; word joiner and invisible operators; bidi isolates and deprecated format characters; byte order mark,
// annotation marks and non-characters; tag characters and the variation selectors beyond the first sixteen, in which
// whole texts can be hidden.
const INVISIBLE_SET =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f' +
  '\\u00ad\\u180e' +
  '\\u200b\\u200e\\u200f\\u2028-\\u202e' +
  '\\u2060-\\u206f' +
  '\\ufeff\\ufff9-\\ufffb\\ufffe\\uffff]' +
  '|\\udb40[\\udc00-\\udc7f\\udd00-\\uddef]';
const INVISIBLE = new RegExp(INVISIBLE_SET);
const INVISIBLE_ALL = new RegExp(INVISIBLE_SET, 'g');
const LINE_BREAK = /\r\n?|[\u2028\u2029]/g;

// C0, DEL and C1 drive terminals; U+2028/9 break lines; bidi controls reorder what is read; the rest cannot be seen.
const UNPRINTABLE = new RegExp(`[\\t\\n]|${INVISIBLE_SET}`, 'g');
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', ' '],
]);

const escapeOf = (char: string) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
