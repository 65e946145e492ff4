/**
 * Text from outside, made safe to show: to a model in a list, to a person on a terminal, to an XML parser.
 * Owns: which characters are never shown, escaping, shortening. Leaves alone: what the text means.
 * Always true: every function takes time linear in the length of its text, and none throws.
 */
import { lazy } from './lazy.ts';

/**
 * The text without invisible characters, which a model or a terminal would obey. Everything that is listed (names and
 * descriptions, ours and those of upstream servers) passes through here. Line breaks and tabs stay.
 */
export function visible(text: string): string {
  // This test is enough for nearly every text.
  if (!SUSPECT.test(text)) return text;
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  // Runs come last: removing a character can make two of them one.
  return invisible().test(whole)
    ? whole.replace(LINE_BREAK, '\n').replace(invisibleAll(), '').replace(hidingRuns(), '')
    : whole;
}

/** The same on one line, with each run of white space as one space. */
export function visibleLine(text: string): string {
  // This test is enough for nearly every text.
  if (!UNUSUAL.test(text)) return text;
  // Invisible characters are removed first: a byte order mark is white space to JavaScript and would leave a space.
  const clean = visible(text);
  return UNEVEN.test(clean) ? clean.replace(/\s+/g, ' ').trim() : clean;
}

/** Whether a text is nothing but words of ASCII with one space between, as nearly all names are. */
export function isPlainAscii(text: string): boolean {
  return !NOT_PLAIN_ASCII.test(text);
}

/** In Unicode's composed form (NFC), for comparing. */
export function composed(text: string): string {
  if (!mayCompose().test(text)) return text;
  // More combining marks in a row than any script has: composing takes time quadratic in such a run.
  // Compiled when first used: compiling this pattern takes longer than loading most modules.
  return /\p{M}{31}/u.test(text) ? text : text.normalize('NFC');
}

/** Indented JSON in which invisible characters are escapes: for a terminal. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(invisibleAll(), (found) =>
    // JSON escapes a character beyond the first plane as two surrogates.
    found.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** One line in which characters that a terminal obeys are shown as escapes. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => ESCAPES[char] ?? escapeOf(char));
}

/** `printable`, with each run of white space as one space. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim());
}

/** What was asked for, as an error repeats it: on one line, and enough to recognise it. */
export function echo(text: string): string {
  return shorten(oneLine(text), LONGEST_ECHO);
}

/** "1 skill", "3 skills". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** At most `length` characters, cut between characters, with an ellipsis where text is missing. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  if (length < 1) return '';
  return `${cut(text, length - 1).trimEnd()}…`;
}

/** At most `length` characters, cut between characters, without an ellipsis: for texts that are kept, not shown. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = text.slice(0, length);
  // Half of a surrogate pair is not a character.
  return /[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head;
}

/** For the content of an XML element. Characters that XML does not allow become the replacement character. */
export function xml(text: string): string {
  // One test instead of four replacements for each of ten thousand descriptions.
  if (!/[&<>\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text)) return text;
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

/** The same on one line, without what cannot be seen. */
export function xmlLine(text: string): string {
  // One test instead of two for each of ten thousand descriptions.
  return UNUSUAL_IN_XML.test(text) ? xml(visibleLine(text)) : text;
}

/** Characters of `hashOf`. */
export const HASH_LENGTH = 8;

/**
 * FNV-1a in hexadecimal: tells apart a few texts that would be spelled alike, or a text from a changed one. It is not
 * secure: two texts with one hash are easily made. Loading node:crypto would take a tenth of the program's start.
 */
export function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193) >>> 0;
  return hash.toString(16).padStart(HASH_LENGTH, '0');
}

// --- internal ---

// A name or a path may have thousands of characters.
const LONGEST_ECHO = 200;

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
// Text has at most a variation selector and a joiner in a row. Longer runs, and runs of one kind, can hide a message.
const HIDING_RUN = '[\\u200c\\u200d\\ufe00-\\ufe0f]{3,}|[\\u200c\\u200d]{2}|[\\ufe00-\\ufe0f]{2}';
const invisible = lazy(() => new RegExp(`${INVISIBLE_SET}|${HIDING_RUN}`));
// Every character that these can begin with, in few and coarse ranges: a long list takes ten times as long to test.
const SUSPECT = new RegExp(
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f-\\u036f\\u061c-\\u200f\\u2028-\\u202e\\u2060-\\u206f' +
    '\\u3164\\ud800-\\udfff\\ufe00-\\ufe0f\\ufeff\\uffa0-\\uffff]',
);
const invisibleAll = lazy(() => new RegExp(INVISIBLE_SET, 'g'));
const hidingRuns = lazy(() => new RegExp(HIDING_RUN, 'g'));
// Vertical tab, form feed and "next line" end lines too. Without a line break in their place, two words would be joined.
const LINE_BREAK = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
// White space other than one space between two words.
const UNEVEN = /[^\S ]| {2}|^ | $/;
const NOT_PLAIN_ASCII = /[^ -~]| {2}|^ | $/;
// Characters beyond ASCII that are always shown as they are, in few and coarse ranges: letters of Europe, Hebrew, dashes and
// quotes, arrows and other symbols, Chinese, Japanese and Korean. None is white space, invisible or half of a pair.
const COMMON =
  '\\u00a1-\\u00ac\\u00ae-\\u034e\\u0370-\\u061b\\u2010-\\u2027\\u2030-\\u205e\\u2070-\\u2fff\\u3001-\\u3163\\u3165-\\ud7ff';
// Anything but such characters and ASCII, in words with one space between.
const UNUSUAL = new RegExp(`[^ -~${COMMON}]| {2}|^ | $`);
// The same, or a character that XML needs escaped.
const UNUSUAL_IN_XML = new RegExp(`[^ !-%'-;=?-~${COMMON}]| {2}|^ | $`);
// Marks, scripts that have marks, and characters with another form. A text without any of these is composed already:
// most texts in Latin, Cyrillic, Chinese, Japanese and Korean are. For them this test takes a tenth of the time of composing.
const mayCompose = lazy(
  () =>
    new RegExp(
      '[\\u0300-\\u036f\\u0374\\u037e\\u0387\\u0483-\\u0489\\u0591-\\u1fff\\u2000\\u2001\\u20d0-\\u20ff\\u2126-\\u212b' +
        '\\u2329\\u232a\\u2adc\\u2ce0-\\u2dff\\u302a-\\u302f\\u3099\\u309a\\ua640-\\uabff\\uf900-\\ufb4f\\ufe20-\\ufe2f]' +
        '|[\\ud800-\\ud83b\\ud83f\\ud87e][\\udc00-\\udfff]',
    ),
);

// C0, DEL and C1 drive terminals; U+2028/9 break lines; bidi controls reorder what is read; the rest cannot be seen.
const UNPRINTABLE = new RegExp(`[\\t\\n]|${INVISIBLE_SET}`, 'g');
const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': ' ' };

const escapeOf = (char: string) => {
  const code = (char.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
  return code.length > 4 ? `\\u{${code}}` : `\\u${code}`;
};
