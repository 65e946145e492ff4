/**
 * JSON with comments and trailing commas, as hosts keep their settings in it. Plain JSON is read too.
 * Owns: the syntax, and where the members of an object are in the text. Leaves alone: changing the text
 * (cli/setup/edit-json.ts), what the values mean.
 * Always true: the time is linear in the length of the text; of equal keys the last one counts, as for JSON.parse; a fault
 * has a line and a column.
 */
import { define, MAX_NESTING, Scanner } from './scanner.ts';

/** Offsets in the text. */
export interface MemberPlace {
  readonly key: string;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
  /** Of the comma behind it. */
  readonly comma: number | undefined;
}

export interface ObjectPlace {
  /** Of its first brace. */
  readonly start: number;
  /** Of its last brace. */
  readonly end: number;
  readonly members: readonly MemberPlace[];
}

export interface JsonDocument {
  readonly value: unknown;
  /** The outermost object, then the one at the first key of `path`, and so on, as far as there are objects. */
  readonly objects: readonly ObjectPlace[];
}

export interface JsonOptions {
  /** The keys of the objects whose places are wanted. */
  readonly path?: readonly string[];
  /** Refuses comments and trailing commas. */
  readonly isStrict?: boolean;
}

/** Throws a SyntaxFault. */
export function parseJsonc(text: string, { path = [], isStrict = false }: JsonOptions = {}): JsonDocument {
  const scanner = new Scanner(text);
  const objects: ObjectPlace[] = [];

  /** `onPath`: whether this is the value at the first `level` keys of the path. */
  function readValue(level: number, onPath: boolean): unknown {
    if (level > MAX_NESTING) scanner.fail(`there are over ${MAX_NESTING} levels of nesting`);
    skipTrivia(scanner, isStrict);
    if (onPath) objects.length = level;
    switch (scanner.next) {
      case '{':
        return readObject(level, onPath);
      case '[':
        return readArray(level);
      case '"':
        return readString(scanner);
      default:
        return readWord(scanner);
    }
  }

  function readObject(level: number, onPath: boolean): unknown {
    const start = scanner.at++;
    const object: Record<string, unknown> = {};
    const members: MemberPlace[] = [];
    skipTrivia(scanner, isStrict);
    while (!scanner.skip('}')) {
      const keyStart = scanner.at;
      if (scanner.next !== '"') scanner.fail('expected a key in double quotes or "}"');
      const key = readString(scanner);
      skipTrivia(scanner, isStrict);
      if (!scanner.skip(':')) scanner.fail('expected ":"');
      skipTrivia(scanner, isStrict);
      const valueStart = scanner.at;
      define(object, key, readValue(level + 1, onPath && key === path[level]));
      const end = scanner.at;
      const comma = readComma('}');
      if (onPath) members.push({ key, start: keyStart, valueStart, end, comma });
    }
    if (onPath) objects[level] = { start, end: scanner.at - 1, members };
    return object;
  }

  function readArray(level: number): unknown {
    scanner.at++;
    const items: unknown[] = [];
    skipTrivia(scanner, isStrict);
    while (!scanner.skip(']')) {
      items.push(readValue(level + 1, false));
      readComma(']');
    }
    return items;
  }

  /** Goes past a comma and gives its offset; without one the closing bracket must follow. */
  function readComma(close: string): number | undefined {
    skipTrivia(scanner, isStrict);
    const comma = scanner.skip(',') ? scanner.at - 1 : undefined;
    if (comma === undefined && scanner.next !== close) scanner.fail(`expected "," or "${close}"`);
    skipTrivia(scanner, isStrict);
    if (isStrict && comma !== undefined && scanner.next === close)
      scanner.fail('a comma here is not plain JSON', comma);
    return comma;
  }

  const value = readValue(0, true);
  skipTrivia(scanner, isStrict);
  if (!scanner.isAtEnd) scanner.fail('expected nothing more');
  return { value, objects };
}

// --- internal ---

// Made once: each look at a literal in a function makes a new pattern.
const SPACE = /[ \t\r\n]+/y;
const LINE = /[^\r\n]*/y;
const COMMENT = /\/[/*]/y;
const WORD = /[-+.\w]+/y;

/** Goes past white space and comments. */
function skipTrivia(scanner: Scanner, isStrict: boolean): void {
  for (;;) {
    const start = scanner.at;
    const comment = scanner.pass(SPACE) ? undefined : scanner.take(COMMENT);
    if (comment !== undefined && isStrict) scanner.fail('a comment is not plain JSON', start);
    if (comment === '//') scanner.pass(LINE);
    else if (comment === '/*') {
      const end = scanner.text.indexOf('*/', scanner.at);
      if (end === -1) scanner.fail('the comment has no end', start);
      scanner.at = end + 2;
    } else if (scanner.at === start) return;
  }
}

function readString(scanner: Scanner): string {
  const { text, at: start } = scanner;
  let hasEscapes = false;
  // A pattern would need memory for each character.
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      scanner.at = at + 1;
      return hasEscapes ? unescaped(scanner, start) : text.slice(start + 1, at);
    }
    if (code < 0x20) scanner.fail('a line break or control character must be an escape here', at);
    if (code === BACKSLASH) {
      hasEscapes = true;
      at++;
    }
  }
  return scanner.fail('the text in quotes has no end', start);
}

function unescaped(scanner: Scanner, start: number): string {
  try {
    return JSON.parse(scanner.text.slice(start, scanner.at));
  } catch {
    return scanner.fail('the text in quotes has an escape that is not valid', start);
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

function readWord(scanner: Scanner): unknown {
  const start = scanner.at;
  const word = scanner.take(WORD) ?? '';
  if (WORDS.has(word)) return WORDS.get(word);
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(word)) scanner.fail('expected a value', start);
  return Number(word);
}
