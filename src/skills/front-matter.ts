/**
 * From the bytes of a SKILL.md to its name and description.
 * Owns: where front matter begins and ends, and the blocks that need no YAML parser. Leaves alone: files (skill-file.ts),
 * all other blocks (front-matter-yaml.ts), the types of other fields (front-matter-values.ts).
 * Always true: `readHead` never throws, decodes nothing but the block, and takes time linear in it.
 */
import { lazy } from '../lazy.ts';
import type { Problem } from '../model.ts';
import { visible, visibleLine } from '../text.ts';
import { type Fields, readYamlHead } from './front-matter-yaml.ts';
import { LONGEST_NAME, MAX_BLANK, MAX_HEAD } from './limits.ts';

export type HeadReading =
  /** Both as they are listed. `note`: which mistake was tolerated. */
  | { readonly kind: 'read'; readonly name: string; readonly description: string; readonly note: string | undefined }
  | { readonly kind: 'unusable'; readonly why: string };

/** Synchronous for most files: a promise for each of thousands would slow the scan down. */
export function readHead(bytes: Buffer): HeadReading | Promise<HeadReading> {
  const block = cutHead(bytes);
  if (typeof block !== 'string') return { kind: 'unusable', why: block.why };
  const plain = readPlainHead(block);
  return plain ? accept(plain) : readYamlHead(block).then(accept);
}

/** The lines between the first `---` and the next, with LF endings; or the reason why there are none. */
export function cutHead(bytes: Buffer): string | { readonly why: string } {
  const usual = cutUsualHead(bytes);
  if (usual !== undefined) return usual;
  // In Latin-1 each byte is one character, so places in the text are places in the bytes.
  const head = findHead(bytes.toString('latin1', 0, MAX_VIEW));
  if (!head) return { why: 'there is no front matter' };
  const { start, end } = head;
  if (end === undefined || end - start > MAX_HEAD) {
    const tooLong = bytes.length - start > MAX_HEAD;
    return { why: tooLong ? `front matter has no end within ${MAX_HEAD} bytes` : 'front matter is not closed' };
  }
  const block = bytes.toString('utf8', start, end).replace(/\r\n?/g, '\n');
  const isBlank = block.match(/\s+/g)?.some(({ length }) => length >= MAX_BLANK);
  return isBlank ? { why: `front matter has over ${MAX_BLANK} blanks in a row` } : block;
}

/** The text after the front matter. */
export function bodyOf(text: string): string {
  return text.slice(findHead(text)?.body ?? 0);
}

/**
 * Where the front matter lies in a text: `start` of the lines between the dashes, their `end`, and the `body` after the
 * closing dashes; undefined without any. `end` is undefined when it is not closed. `text`: decoded from UTF-8 or as
 * Latin-1; all that matters here is ASCII, but for the byte order mark.
 */
export function findHead(text: string) {
  const match = headPattern().exec(text.slice(0, MAX_VIEW));
  if (!match) return undefined;
  const [whole, before = '', block = '', closing] = match;
  const isClosed = closing !== undefined;
  return {
    start: before.length,
    end: isClosed ? before.length + block.length : undefined,
    body: isClosed ? whole.length : 0,
  };
}

/** A name by the Agent Skills specification. */
export const VALID_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

export const UNLAWFUL = 'its name is not 1 to 64 lower-case letters, digits and single hyphens';

/** A breach of the naming rules. The skill loads all the same: a fifth of all public skills break them. */
export function remarkOn(name: string, directory: string): Omit<Problem, 'where'> | undefined {
  if (!VALID_NAME.test(name)) return { what: `name "${name}" is not 1 to 64 of a-z, 0-9 and single -`, mild: true };
  return name === directory ? undefined : { what: `name "${name}" differs from its directory`, mild: true };
}

/**
 * Reads a block that has only `key: value` lines, texts below `key: |` or `key: >`, and such lines below `key:`, where
 * the result is the same as YAML's; undefined for any other block. Seven of ten public skills are like that, and the
 * YAML parser takes longer than the rest of a scan.
 */
export function readPlainHead(block: string): Fields | undefined {
  if (NOT_PRINTABLE_ASCII.test(block) && (STRANGE.test(block) || !block.isWellFormed())) return undefined;
  const keys: string[] = [];
  const texts: string[] = [];
  // Searched by hand: a pattern with groups takes twice the time, and makes a list for each of ten thousand skills.
  for (let at = 0; at < block.length; at++) {
    const lineEnd = endOfLine(block, at);
    if (lineEnd === at) continue;
    const colon = block.indexOf(':', at);
    const key = block.slice(at, colon);
    if (colon === -1 || !KEY.test(key) || isNoKey(key) || keys.includes(key)) return undefined;
    if (colon + 1 < lineEnd && block[colon + 1] !== ' ') return undefined;
    const value = block.slice(colon + 1, lineEnd).trim();
    // The indented lines below belong to the key.
    at = lineEnd;
    while (block[at + 1] === ' ') at = endOfLine(block, at + 1);
    const text = at === lineEnd ? plainScalar(value) : plainBelow(key, value, block.slice(lineEnd + 1, at).split('\n'));
    if (text === undefined || keys.push(key) > MOST_PLAIN_KEYS) return undefined;
    texts.push(text);
  }
  return { name: texts[keys.indexOf('name')], description: texts[keys.indexOf('description')] };
}

// --- internal ---

// Every text matches these patterns in one way at most, or matching could take exponential time.
const BREAK = '(?:\\r\\n|\\n|\\r(?!\\n))';
// A line before the front matter: a comment, the opening of a code fence around the whole file, or blank.
const BEFORE = `(?:<!--[^\\r\\n]{0,600}-->[ \\t]{0,80}|\`\`\`[a-z]{0,20}|[ \\t]{0,80})${BREAK}`;
const OPENING = `---[ \\t]*${BREAK}`;
const CLOSING = `(?:---|\\.\\.\\.)[ \\t]*(?:${BREAK}|$)`;
/** The groups: the opening line and what is before it, the block, and the closing line if there is one. */
const headPattern = lazy(
  () =>
    new RegExp(
      `^((?:\\ufeff|\\u00ef\\u00bb\\u00bf)?(?:${BEFORE}){0,20}${OPENING})((?:(?!${CLOSING})[^\\r\\n]*${BREAK})*)(${CLOSING})?`,
    ),
);

// How much of a file is searched for the end of its front matter.
const MAX_VIEW = 2 * MAX_HEAD;

const DASHES = Buffer.from('---\n').readUInt32BE();
const USUAL_END = Buffer.from('\n---\n');
/** Whether a line may end the block before that. */
const endsBefore = (block: string, mark: string) => block.startsWith(mark) || block.includes(`\n${mark}`);

/** The block of nearly every file, in a third of the time; undefined for a file that is unusual in any way. */
function cutUsualHead(bytes: Buffer): string | undefined {
  const end = bytes.indexOf(USUAL_END, 3);
  if (end === -1 || end > MAX_BLANK || bytes.readUInt32BE() !== DASHES) return undefined;
  const block = bytes.toString('utf8', 4, end + 1);
  return block.includes('\r') || endsBefore(block, '---') || endsBefore(block, '...') ? undefined : block;
}

function accept(fields: Fields): HeadReading {
  const { fault } = fields;
  const name = typeof fields.name === 'string' ? visibleLine(copyOf(fields.name)) : undefined;
  const description = typeof fields.description === 'string' ? visible(copyOf(fields.description)).trim() : undefined;
  if (name && description && name.length <= LONGEST_NAME) {
    const note = fault && `front matter is not valid YAML (${fault}); name and description were read leniently`;
    return { kind: 'read', name, description, note };
  }
  if (fault) return { kind: 'unusable', why: `front matter is not valid YAML: ${fault}` };
  const faults = Object.entries({ name, description })
    .filter(([, text]) => !text)
    .map(([field, text]) => `${field} is ${text === '' ? 'empty' : 'missing'}`);
  return { kind: 'unusable', why: faults.join('; ') || `name is over ${LONGEST_NAME} characters` };
}

/** A part of a text keeps the whole text in memory; its copy does not. */
const copyOf = (text: string) => ` ${text}`.slice(1);

// Without the flag `i`, for which V8 loads tables of all letters: they would take a third of a millisecond of the start.
const KEY = /^[A-Za-z][\w-]{0,100}$/;
const keyLinePattern = lazy(() => /^([A-Za-z][\w-]{0,100}):(?: +(.*))?$/);
// Each key is compared with all before it. Public skills have up to 20.
const MOST_PLAIN_KEYS = 50;

/** The index of the next line break, or of the end. */
function endOfLine(block: string, at: number): number {
  const end = block.indexOf('\n', at);
  return end === -1 ? block.length : end;
}

// A letter, a digit or a character beyond ASCII, where YAML has no syntax.
const PLAIN_START = /^[A-Za-z\d\u00a1-\uffff]/;
// Ends a text.
const NOT_PLAIN = /: |:$| #/;
const isNull = (text: string) => text.length === 4 && text.toLowerCase() === 'null';
// Words that YAML does not read as text: `True` and `true` would be one key.
const isNoKey = (key: string) => key.length < 6 && ['true', 'false', 'null'].includes(key.toLowerCase());
const QUOTED_SCALAR = /^(?:"([^"\\]*)"|'([^']*)')$/;
// Most blocks have only these; the next pattern takes longer to compile, and to test.
const NOT_PRINTABLE_ASCII = /[^\n -~]/;
// Characters that YAML does not allow, and white space that is white space to JavaScript but text to YAML.
const STRANGE =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff\ufffe\uffff]/;

/** A value on one line, unquoted or in quotes without escapes. */
function plainScalar(value: string): string | undefined {
  const text = value.trimEnd();
  if (PLAIN_START.test(text) && !NOT_PLAIN.test(text)) return isNull(text) ? undefined : text;
  const [, double, single] = QUOTED_SCALAR.exec(text) ?? [];
  return double ?? single;
}

/** A value on equally indented lines below its key, without blank lines. */
function plainBelow(key: string, value: string, lines: readonly string[]): string | undefined {
  const indent = lines[0]?.search(/\S/) ?? 0;
  if (!lines.every((line) => line.search(/\S/) === indent)) return undefined;
  const texts = lines.map((line) => line.slice(indent));
  if (/^[|>][-+]?$/.test(value)) return texts.join(value[0] === '|' ? '\n' : ' ');
  if (value !== '' || key === 'name' || key === 'description') return undefined;
  const entries = texts.map((text) => keyLinePattern().exec(text) ?? []);
  const keys = new Set(entries.map(([, inner]) => inner));
  const plain = entries.every(([, inner = '', scalar = '']) => !isNoKey(inner) && plainScalar(scalar) !== undefined);
  return plain && keys.size === entries.length ? '' : undefined;
}
