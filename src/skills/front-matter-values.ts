/**
 * The front matter of a SKILL.md as JSON values, typed by the rules of YAML 1.2: hosts parse the file too and compare, so an
 * unquoted date and `1:30` are text, `010` is ten, `1.10` is the number 1.1.
 * Leaves alone: where the block begins and ends (front-matter.ts), YAML's grammar (front-matter-yaml.ts).
 * Always true: a value that parsers may read differently is refused, never guessed.
 */
import { lazy } from '../lazy.ts';
import type { FrontMatter } from '../model.ts';
import { cutHead } from './front-matter.ts';
import { firstLineOf, loadYaml, parseYaml } from './front-matter-yaml.ts';
import { MAX_HEAD } from './limits.ts';
import { textOf } from './media-types.ts';

export async function readFrontMatter(bytes: Buffer): Promise<FrontMatter> {
  const text = textOf(bytes);
  if (text === undefined) return { kind: 'unfit', why: 'its SKILL.md is not UTF-8' };
  const block = cutHead(bytes);
  if (typeof block !== 'string') return unfit(`cannot be found: ${block.why}`);
  // `cutHead` also accepts lines before the block, a closing line of dots, and lone carriage returns; hosts do not.
  const plain = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  if (!plain.startsWith(`---\n${block}---`)) return unfit('is not enclosed in two lines of three dashes');
  // js-yaml reads a tab as indentation of no width; other parsers refuse it.
  if (/^\t+\S/m.test(block)) return unfit('is indented with a tab');
  if (block.includes(MARK)) return unfit('has the character U+FDD0, which is not for files');
  await loadYaml();
  try {
    const { [MARK]: _end, ...parsed } = await parseYaml(protect(markNumbers(block)));
    return { kind: 'read', fields: createConverter()(parsed) };
  } catch (error) {
    return unfit(`cannot be given as JSON: ${firstLineOf(error)}`);
  }
}

// --- internal ---

const unfit = (why: string): FrontMatter => ({ kind: 'unfit', why: `its front matter ${why}` });

// js-yaml types by YAML 1.1. A mark before an unquoted value that could be a number or a date makes it text, which
// starts with the mark, as quoted text never does. Marks that end up elsewhere are removed. Unicode assigns this
// character to no text, only to uses inside a program.
const MARK = '\ufdd0';

/** Puts a mark before every value that could be a number. Each line is matched once, so it is linear. */
function markNumbers(block: string): string {
  // In lists and maps in brackets a value may be on a later line, also after comments.
  let isOpen = false;
  const marked = block.split('\n').map((line) => {
    const isKept = line.trim() === '' || (isOpen && /^\s*#/.test(line));
    const starts = isOpen || NUMERIC_KEY.test(line) ? numericOrFirst() : numeric();
    // A block text whose first line has a comment is not such a list.
    if (!isKept) isOpen = OPEN_END.test(line) && !BLOCK_COMMENT.test(line);
    return line.replace(starts, `$&${MARK}`);
  });
  return marked.join('\n');
}

const NUMBER = '(?=[-+]?\\.?\\d|[-+]?\\.(?:inf|nan)\\b)';
const BEFORE_NUMBER = '[:?-][ \\t]+|[[{,][ \\t]*|["\']:[ \\t]*';
const numeric = lazy(() => new RegExp(`(?:${BEFORE_NUMBER})${NUMBER}`, 'gi'));
const numericOrFirst = lazy(() => new RegExp(`(?:^[ \\t]*|${BEFORE_NUMBER})${NUMBER}`, 'gi'));
// A key at the start of its line. In a text the mark is removed again: with a colon it is never a number.
const NUMERIC_KEY = /^[ \t]*[-+.\d].*?:(?:[ \t]|$)/;
const OPEN_END = /[[{,][ \t]*(?:#|$)/;
const BLOCK_COMMENT = /[|>][-+\d]*[ \t]+#/;

/** The front-matter package trims the block, which would remove line breaks that count. */
function protect(block: string): string {
  return `${block}${KEEPS_BREAKS.test(block) ? `${MARK}:\n` : ''}`;
}

const KEEPS_BREAKS = /[|>]\d?\+/;

const NUMBER_TEXT = /^(?:[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[\da-fA-F]+)$/;
const NOT_JSON = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

// Aliases can make a small block a huge value, or an endless one.
const MOST_VALUES = 10_000;
const DEEPEST = 32;
// Aliases may repeat a text; the result stays within a few times the size of its source.
const MOST_CHARACTERS = 4 * MAX_HEAD;

/** Gives a function that converts the fields of one block. */
function createConverter() {
  let values = 0;
  let characters = 0;

  function convertText(text: string): unknown {
    characters += text.length;
    const clean = text.replaceAll(MARK, '');
    return text.startsWith(MARK) ? scalar(clean) : clean;
  }

  function convert(value: unknown, depth: number): unknown {
    values++;
    if (values > MOST_VALUES || depth > DEEPEST || characters > MOST_CHARACTERS)
      throw new Error('it is too large or too deep');
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'string') return convertText(value);
    if (Array.isArray(value)) return value.map((item) => convert(item, depth + 1));
    if (isPlainObject(value)) return convertFields(value, depth);
    // A number or date without a mark was in a place where other parsers may read it differently.
    throw new Error('it has a value that YAML parsers read differently; put it in quotes');
  }

  function convertFields(object: Readonly<Record<string, unknown>>, depth = 0): Readonly<Record<string, unknown>> {
    // An unquoted number as a key becomes its value, as in every parser that gives JSON.
    const entries = Object.entries(object).map(
      ([key, value]) => [String(convertText(key)), convert(value, depth + 1)] as const,
    );
    if (entries.some(([key]) => key === '__proto__')) throw new Error('it has a key "__proto__"');
    if (entries.some(([key]) => key === '<<')) throw new Error('it merges keys with "<<"');
    return Object.fromEntries(entries);
  }

  return convertFields;
}

function scalar(text: string): unknown {
  const number = NUMBER_TEXT.test(text) ? Number(text) : undefined;
  if (number === Infinity || number === -Infinity || NOT_JSON.test(text))
    throw new Error(`${text} is not a JSON number`);
  return number ?? text;
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
