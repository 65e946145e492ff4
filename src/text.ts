/**
 * Text from outside, made safe to show: to a model in a list, to a person on a terminal, to an XML parser.
 * Owns: which characters are never shown, escaping, shortening. Leaves alone: what the text means.
 * Always true: every function takes time linear in the length of its text, and none throws.
 */
import { MAX_ECHO } from './limits.ts';

/**
 * The text without invisible characters, which a model or a terminal would obey. Everything that is listed (names and
 * descriptions, ours and those of upstream servers) passes through here. Line breaks and tabs stay.
 */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  // Runs come last: removing a character can make two of them one.
  return text.toWellFormed().replace(LINE_BREAK, '\n').replace(INVISIBLE, '').replace(HIDING_RUN, '');
}

/** The same on one line, with each run of white space as one space. */
export function visibleLine(text: string): string {
  // Invisible characters are removed first: a byte order mark is white space to JavaScript and would leave a space.
  const clean = visible(text);
  return UNEVEN.test(clean) ? clean.replace(/\s+/g, ' ').trim() : clean;
}

/** In Unicode's composed form (NFC), for comparing. */
export function composed(text: string): string {
  if (!/[^\0-\x7f]/.test(text)) return text;
  // More combining marks in a row than any script has: composing takes time quadratic in such a run.
  return /\p{M}{31}/u.test(text) ? text : text.normalize('NFC');
}

/** One line in which characters that a terminal obeys are shown as escapes. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => ESCAPES[char] ?? escapeOf(char));
}

/** What was asked for, as an error repeats it: on one line, and enough to recognise it. */
export function echo(text: string): string {
  return shorten(printable(cut(text, 2 * MAX_ECHO)), MAX_ECHO);
}

/** "1 skill", "3 skills". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** At most `length` characters, cut between characters, with an ellipsis where text is missing. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  return length < 1 ? '' : `${cut(text, length - 1).trimEnd()}…`;
}

/** At most `length` characters, cut between characters, without an ellipsis. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = text.slice(0, length);
  // Half of a surrogate pair is not a character.
  return /[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head;
}

/** Visible text for the content of an XML element. */
export function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** By code units, for `sort`: the same on every machine. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

// --- internal ---

// By row: C0 without tab and line feed, DEL, C1; soft hyphen, grapheme joiner, Arabic letter mark; fillers and vowels
// without a shape, Mongolian variation selectors and vowel separator; zero-width space and direction marks, but not the
// joiners U+200C and U+200D, which scripts and emoji need; line and paragraph separator and bidi overrides; word joiner,
// invisible operators, bidi isolates and deprecated format characters; more fillers; byte order mark, annotation marks
// and non-characters; format characters of shorthand and of music; tag characters and the variation selectors beyond the
// first sixteen, in which whole texts can be hidden; non-characters of the other planes.
const INVISIBLE_SET =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f' +
  '\\u00ad\\u034f\\u061c' +
  '\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f' +
  '\\u200b\\u200e\\u200f\\u2028-\\u202e' +
  '\\u2060-\\u206f' +
  '\\u3164\\uffa0' +
  '\\ufeff\\ufff0-\\ufffb\\ufffe\\uffff]' +
  '|\\ud82f[\\udca0-\\udca3]|\\ud834[\\udd73-\\udd7a]' +
  '|[\\udb40-\\udb43][\\udc00-\\udfff]' +
  '|[\\ud83f\\ud87f\\ud8bf\\ud8ff\\ud93f\\ud97f\\ud9bf\\ud9ff\\uda3f\\uda7f\\udabf\\udaff\\udb3f\\udb7f\\udbbf\\udbff][\\udffe\\udfff]';
const INVISIBLE = new RegExp(INVISIBLE_SET, 'g');
// Text has at most a variation selector and a joiner in a row. Longer runs, and runs of one kind, can hide a message.
const HIDING_RUN = new RegExp('[\\u200c\\u200d\\ufe00-\\ufe0f]{3,}' + '|[\\u200c\\u200d]{2}|[\\ufe00-\\ufe0f]{2}', 'g');
// Nearly every text is of these alone, and a long list of characters takes ten times as long to look for.
const PLAIN = /^[\t\n -~]*$/;
// Vertical tab, form feed and "next line" end lines too. Without a line break in their place, two words would be joined.
const LINE_BREAK = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
// White space other than one space between two words.
const UNEVEN = /[^\S ]| {2}|^ | $/;
// C0, DEL and C1 drive terminals; U+2028/9 break lines; bidi controls reorder what is read; the rest cannot be seen.
const UNPRINTABLE = new RegExp(`[\\t\\n]|${INVISIBLE_SET}`, 'g');
const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': ' ' };

/** One for each half of a surrogate pair, as in JSON. */
function escapeOf(char: string): string {
  return char.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
