/**
 * From the bytes of a SKILL.md to its name and description, and to all fields of its front matter.
 * Owns: where front matter begins and ends, which mistakes are tolerated, the types of values. Leaves alone: files
 * (scan.ts), YAML's grammar (the front-matter package).
 * Always true: a block is cut out and capped before the package sees it, which may take quadratic time and take a later
 * block; nothing is invented: a value without its end is no value; `readHead` never throws.
 */
import frontMatter from 'front-matter';
import * as v from 'valibot';
import { FileError } from '../files/read.ts';
import { MAX_BLANK, MAX_HEAD, MAX_HEAD_DEPTH, MAX_NAME } from '../limits.ts';
import { messageOf } from '../log.ts';
import { visible, visibleLine } from '../text.ts';

export type HeadReading =
  /** Both as they are listed. `lenient`: the mistake that was tolerated. */
  | { readonly kind: 'read'; readonly name: string; readonly description: string; readonly lenient?: string }
  | { readonly kind: 'unusable'; readonly why: string };

/** The fields of front matter. */
export type Fields = Readonly<Record<string, unknown>>;

/** A name by the Agent Skills specification. One that is not loads all the same: a fifth of all public skills have such. */
export const VALID_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

export function readHead(bytes: Buffer): HeadReading {
  const cut = cutHead(bytes);
  if ('why' in cut) return { kind: 'unusable', why: cut.why };
  let fields: Fields;
  let fault: string | undefined;
  try {
    fields = parseBlock(cut.block);
  } catch (error) {
    fault = `front matter is not valid YAML: ${firstLineOf(error)}`;
    // Each on its own: a mistake in one, or in a third, does not affect the other.
    fields = { name: readField(cut.block, 'name'), description: readField(cut.block, 'description') };
  }
  const head = v.safeParse(SkillHead, { name: asWritten(fields.name), description: asWritten(fields.description) });
  if (!head.success) return { kind: 'unusable', why: fault ?? head.issues.map(({ message }) => message).join('; ') };
  return {
    kind: 'read',
    ...head.output,
    ...(fault && { lenient: `${fault}; name and description were read leniently` }),
  };
}

/** The lines between the first `---` and the next, with LF endings, the number of the first, and where the body begins. */
export function cutHead(bytes: Buffer): { why: string } | { block: string; line: number; end: number } {
  // One character for each byte: what is searched for is ASCII, places in the text are those of the bytes, and a file is
  // decoded only as far as it is needed.
  const [whole = '', before, lines = '', closing] = HEAD.exec(bytes.toString('latin1', 0, MAX_VIEW)) ?? [];
  if (before === undefined) return { why: 'there is no front matter' };
  if (lines.length > MAX_HEAD || (closing === undefined && bytes.length > MAX_VIEW))
    return { why: `front matter has no end within ${MAX_HEAD} bytes` };
  if (closing === undefined) return { why: 'front matter is not closed' };
  const block = bytes.toString('utf8', before.length, before.length + lines.length).replace(/\r\n?/g, '\n');
  if (TOO_BLANK.test(block)) return { why: `front matter has over ${MAX_BLANK} blanks in a row` };
  return { block, line: before.split(/\r\n|\r|\n/).length, end: whole.length };
}

/** The text after the front matter. */
export function bodyOf(bytes: Buffer): string {
  const cut = cutHead(bytes);
  return bytes.toString('utf8', 'why' in cut ? 0 : cut.end);
}

/**
 * All fields as JSON values, typed as YAML 1.2 does: hosts of the Skills extension parse the file too and compare. Throws a
 * FileError when they might read something else.
 */
export function frontMatterOf(bytes: Buffer): Fields {
  const refusal = (why: string) => new FileError('refused', `its front matter ${why}`);
  const cut = cutHead(bytes);
  if ('why' in cut) throw refusal(`cannot be found: ${cut.why}`);
  const { block, end } = cut;
  // `cutHead` also accepts lines before the block, a closing line of dots, and lone carriage returns; hosts do not.
  const plain = bytes.toString('utf8', 0, end).replace(/^\ufeff|\r(?=\n)/g, '');
  if (!plain.startsWith(`---\n${block}---`)) throw refusal('is not enclosed in two lines of three dashes');
  if (/[\ufffd\ufdd0]/.test(block)) throw refusal('is not UTF-8');
  // js-yaml reads a tab as indentation of no width, makes texts of keys behind a question mark, merges keys at `<<`, and has
  // types that YAML 1.2 lacks; other parsers do not.
  if (/^ *\t+\S|^ *\?(?:[ \t]|$)|!!(?:set|omap|pairs)\b|(?:<<|__proto__)["']?[ \t]*:/m.test(block))
    throw refusal('has a tab, a key or a type that parsers read differently');
  try {
    const { [MARK]: _end, ...fields } = parseBlock(block);
    // Aliases can make a small block a huge value; the result stays within a few times its size.
    return jsonOf(fields, { left: 4 * MAX_HEAD }, 0) as Fields;
  } catch (error) {
    throw refusal(`cannot be given as JSON: ${firstLineOf(error)}`);
  }
}

// --- internal ---

const SkillHead = v.object({
  name: v.pipe(
    v.string('name is missing'),
    v.transform(visibleLine),
    v.nonEmpty('name is empty'),
    v.maxLength(MAX_NAME, `name has over ${MAX_NAME} characters`),
  ),
  description: v.pipe(
    v.string('description is missing'),
    v.transform((text) => visible(text).trim()),
    v.nonEmpty('description is empty'),
  ),
});

// It looks at each run of blanks once.
const TOO_BLANK = new RegExp(`(?<!\\s)\\s{${MAX_BLANK}}`);
// Bytes of a file that are searched for the end of its front matter, with the lines before it.
const MAX_VIEW = 2 * MAX_HEAD;
// Every text matches these patterns in one way at most, or matching could take exponential time.
const BREAK = '(?:\\r\\n|\\n|\\r(?!\\n))';
// What may stand before the front matter: comments, the opening of a code fence around the whole file, blank lines.
const BEFORE = `(?:<!--(?:(?!-->)[\\s\\S]){0,2000}-->[ \\t]{0,80}|(?:\`{3,9}|~{3,9})[a-z]{0,20}|[ \\t]{0,80})${BREAK}`;
const CLOSING = `(?:---|\\.\\.\\.)[ \\t]*(?:${BREAK}|$)`;
/** For bytes. The groups: what is before the block, the block, and the closing line if there is one. */
const HEAD = new RegExp(
  `^((?:\\xef\\xbb\\xbf)?(?:${BEFORE}){0,20}---[ \\t]*${BREAK})((?:(?!${CLOSING})[^\\r\\n]*${BREAK})*)(${CLOSING})?`,
);

// Its types describe a default export that its CommonJS form does not have under Node's resolution.
const parse = frontMatter as unknown as typeof frontMatter.default;

// js-yaml types by YAML 1.1: dates, octal numbers, base 60. With this mark before it, a character that is in no text, an
// unquoted value that could be a number or a date is text. At the start of a line only keys are marked: a number there may
// also be a part of a text. Marks inside of texts are removed again.
const MARK = '\ufdd0';
const NUMERIC =
  /(?:^[ \t]*(?=[-+.\d].*:(?:[ \t]|$))|[:?-][ \t]+|[[{,][ \t]*|["']:[ \t]*)(?=[-+]?\.?\d|[-+]?\.(?:inf|nan)\b)/gim;
// The numbers of YAML 1.2. JSON does not have the last two.
const NUMBER =
  /^(?:[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[\da-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** Throws when the block is not a mapping in YAML. */
function parseBlock(block: string): Fields {
  // js-yaml takes the text after a closed bracket for another key.
  if (/^[^\s#:][^:\n]*:[ \t]+(?:\[[^[\]\n]*\]|\{[^{}\n]*\})[ \t]+[^\s#]/m.test(block))
    throw new Error('text follows a bracket');
  // The package trims: the comment protects the indentation of the first line, the mark the line breaks at the end.
  const end = /[|>]\d?\+/.test(block) ? `${MARK}:\n` : '';
  const { attributes } = parse<unknown>(`---\n#\n${block.replace(NUMERIC, `$&${MARK}`)}${end}---\n`);
  if (!isMapping(attributes)) throw new Error('it is not a mapping');
  return attributes;
}

function isMapping(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** The YAML parser's messages quote the block below their first line. */
function firstLineOf(error: unknown): string {
  return (messageOf(error).split('\n', 1)[0] ?? '').replace(/:$/, '');
}

/** A number, a date or a boolean is as its author wrote it. */
function asWritten(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value.replaceAll(MARK, '') : undefined;
}

/** A field of a block that is not valid YAML: the line that begins with the key, and the indented lines after it. */
function readField(block: string, key: string): unknown {
  const [, source] = new RegExp(`(?:^|\\n)(${key}:[^\\n]*(?:\\n(?!\\S)[^\\n]*)*)`).exec(block) ?? [];
  if (source === undefined) return undefined;
  try {
    return parseBlock(`${source}\n`)[key];
  } catch {
    // The usual mistake is a colon in a value that should be quoted. Such a value is as it is written, on one line.
    const written = source.slice(key.length + 1).trim();
    const text = written.replace(/^[|>][+-]?\d?[ \t]*\n\s*/, '').replace(/\s*\n\s*/g, ' ');
    return isClosed(text) ? text : undefined;
  }
}

/** Whether the quote or bracket at the start of a text, if any, is closed in it. */
function isClosed(text: string): boolean {
  if (text.startsWith('"')) return /^"(?:[^"\\]|\\.)*"/s.test(text);
  if (text.startsWith("'")) return /^'(?:[^']|'')*'(?!')/.test(text);
  const count = (signs: RegExp) => text.match(signs)?.length ?? 0;
  return !/^[[{]/.test(text) || count(/[[{]/g) <= count(/[\]}]/g);
}

/** `room.left`: how many values and characters the rest may have. */
function jsonOf(value: unknown, room: { left: number }, depth: number): unknown {
  room.left -= typeof value === 'string' ? value.length + 1 : 1;
  if (room.left < 0 || depth > MAX_HEAD_DEPTH) throw new Error('it is too large or too deep');
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return scalarOf(value);
  if (Array.isArray(value)) return value.map((item) => jsonOf(item, room, depth + 1));
  // A number or date without a mark stands where other parsers may read it differently.
  if (!isMapping(value)) throw new Error('it has a value that YAML parsers read differently; put it in quotes');
  // A bare number as a key becomes its value, as in every parser that gives JSON.
  const keyOf = (key: string) => String(jsonOf(key, room, depth));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [keyOf(key), jsonOf(one, room, depth + 1)]));
}

function scalarOf(marked: string): unknown {
  const text = marked.replaceAll(MARK, '');
  if (!marked.startsWith(MARK) || !NUMBER.test(text)) return text;
  const isExact = !/^[-+]?\d+$|^0[ox]/.test(text) || Number.isSafeInteger(Number(text));
  if (!Number.isFinite(Number(text)) || !isExact) throw new Error(`${text} is not a JSON number`);
  return Number(text);
}
