/**
 * TOML, as hosts keep their settings in it.
 * Owns: the syntax, which definitions clash, and where the statements are in the text. Leaves alone: changing the text
 * (cli/setup/edit-toml.ts), what the values mean.
 * Always true: the time is linear in the length of the text; a fault has a line and a column. Dates and times stay text.
 */
import { define, MAX_NESTING, Scanner } from './scanner.ts';
import { readTomlString } from './toml-strings.ts';

/** One `[table]`, one `[[list]]` of tables, or one `key = value`. */
export interface TomlStatement {
  readonly kind: 'table' | 'list' | 'pair';
  /** The keys of the table that it opens, or that it is in. */
  readonly table: readonly string[];
  /** The keys of a pair, below those of its table. */
  readonly keys: readonly string[];
  /** Offsets in the text. A comment behind it is not part of it. */
  readonly start: number;
  readonly end: number;
}

export interface TomlDocument {
  readonly value: TomlTable;
  readonly statements: readonly TomlStatement[];
}

export type TomlTable = Readonly<Record<string, unknown>>;

/** Throws a SyntaxFault. */
export function parseToml(text: string): TomlDocument {
  const reader: Reader = { scanner: new Scanner(text), kinds: new Map(), lists: new Set() };
  const { scanner } = reader;
  const control = text.search(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]|\r(?!\n)/);
  if (control !== -1) scanner.fail('this control character must be an escape', control);
  const root = createTable(reader, 'header');
  const statements: TomlStatement[] = [];
  let table = root;
  let place: readonly string[] = [];
  for (skipTrivia(scanner); !scanner.isAtEnd; skipTrivia(scanner)) {
    const start = scanner.at;
    const header = HEADERS.find(({ open }) => scanner.skip(open));
    const keys = readKeys(scanner);
    if (header) {
      if (!scanner.skip(header.close)) scanner.fail(`expected "${header.close}"`);
      table = openTable(reader, root, keys, start, header.kind === 'list');
      place = keys;
      statements.push({ kind: header.kind, table: place, keys: [], start, end: scanner.at });
    } else {
      readPair(reader, table, keys, start, 0);
      statements.push({ kind: 'pair', table: place, keys, start, end: scanner.at });
    }
    scanner.pass(SPACE);
    scanner.pass(COMMENT);
    if (!scanner.isAtEnd && !scanner.pass(LINES)) scanner.fail('expected the end of the line');
  }
  return { value: root, statements };
}

// --- internal ---

const HEADERS = [
  { kind: 'list', open: '[[', close: ']]' },
  { kind: 'table', open: '[', close: ']' },
] as const;

// Made once: each look at a literal in a function makes a new pattern.
const SPACE = /[ \t]+/y;
const LINES = /[ \t\r\n]+/y;
const COMMENT = /#[^\r\n]*/y;
const BARE_KEY = /[\w-]+/y;
const WORD = /[\w.+-]+/y;
const QUOTES = ['"', "'"];

type Table = Record<string, unknown>;

/** What made a table: its own header, the header of a table below it, a key with dots, or a value in braces. */
type TableKind = 'header' | 'path' | 'dotted' | 'inline';

interface Reader {
  readonly scanner: Scanner;
  readonly kinds: Map<object, TableKind>;
  /** Those that `[[list]]` made. */
  readonly lists: Set<object>;
}

function createTable({ kinds }: Reader, kind: TableKind): Table {
  const table = {};
  kinds.set(table, kind);
  return table;
}

/** Goes past white space, line breaks and comments. */
function skipTrivia(scanner: Scanner): void {
  while (scanner.pass(LINES) || scanner.pass(COMMENT));
}

function readKeys(scanner: Scanner): readonly string[] {
  const keys: string[] = [];
  do {
    scanner.pass(SPACE);
    const key = QUOTES.includes(scanner.next) ? readTomlString(scanner, false) : scanner.take(BARE_KEY);
    if (key === undefined) return scanner.fail('expected a key');
    keys.push(key);
    if (keys.length > MAX_NESTING) scanner.fail(`there are over ${MAX_NESTING} levels of nesting`);
    scanner.pass(SPACE);
  } while (scanner.skip('.'));
  return keys;
}

/** The table that a header opens; `isList`: a new one at the end of a list. */
function openTable(reader: Reader, root: Table, keys: readonly string[], start: number, isList: boolean): Table {
  const { scanner, kinds, lists } = reader;
  const last = keys.at(-1) ?? '';
  const outer = keys.slice(0, -1).reduce((table, key) => tableAt(reader, table, key, 'path', start), root);
  const known = Object.hasOwn(outer, last) ? outer[last] : undefined;
  const table = createTable(reader, 'header');
  if (known === undefined) {
    const list = [table];
    if (isList) lists.add(list);
    define(outer, last, isList ? list : table);
    return table;
  }
  if (isList && Array.isArray(known) && lists.has(known)) {
    known.push(table);
    return table;
  }
  if (isList || !isTable(reader, known) || kinds.get(known) !== 'path') return scanner.fail(TWICE, start);
  kinds.set(known, 'header');
  return known;
}

const TWICE = 'this is defined twice';

/** The table at a key, which is made when there is none. */
function tableAt(reader: Reader, outer: Table, key: string, kind: 'path' | 'dotted', start: number): Table {
  const { scanner, kinds, lists } = reader;
  if (!Object.hasOwn(outer, key)) {
    const table = createTable(reader, kind);
    define(outer, key, table);
    return table;
  }
  const value = outer[key];
  const known = Array.isArray(value) && lists.has(value) ? value.at(-1) : value;
  const found = isTable(reader, known) ? kinds.get(known) : undefined;
  // A key with dots adds to tables that such keys have made, a header to all but those in braces.
  const isOpen = kind === 'dotted' ? found === 'dotted' : found !== undefined && found !== 'inline';
  return isOpen ? known : scanner.fail('this is inside a value to which nothing can be added', start);
}

function isTable({ kinds }: Reader, value: unknown): value is Table {
  return typeof value === 'object' && value !== null && kinds.has(value);
}

function readPair(reader: Reader, table: Table, keys: readonly string[], start: number, level: number): void {
  const { scanner } = reader;
  if (!scanner.skip('=')) scanner.fail('expected "="');
  const last = keys.at(-1) ?? '';
  const outer = keys.slice(0, -1).reduce((one, key) => tableAt(reader, one, key, 'dotted', start), table);
  if (Object.hasOwn(outer, last)) scanner.fail(TWICE, start);
  scanner.pass(SPACE);
  define(outer, last, readValue(reader, level));
}

function readValue(reader: Reader, level: number): unknown {
  const { scanner } = reader;
  if (level > MAX_NESTING) scanner.fail(`there are over ${MAX_NESTING} levels of nesting`);
  switch (scanner.next) {
    case '"':
    case "'":
      return readTomlString(scanner, true);
    case '[': {
      const items: unknown[] = [];
      readItems(scanner, ']', () => items.push(readValue(reader, level + 1)));
      return items;
    }
    case '{': {
      const table = createTable(reader, 'inline');
      readItems(scanner, '}', () => {
        const start = scanner.at;
        readPair(reader, table, readKeys(scanner), start, level + 1);
      });
      return table;
    }
    default:
      return readWord(scanner);
  }
}

function readItems(scanner: Scanner, close: string, readItem: () => void): void {
  scanner.at++;
  for (skipTrivia(scanner); !scanner.skip(close); skipTrivia(scanner)) {
    readItem();
    skipTrivia(scanner);
    if (!scanner.skip(',') && scanner.next !== close) scanner.fail(`expected "," or "${close}"`);
  }
}

const DATE =
  /(?:\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)?)?|\d\d:\d\d(?::\d\d(?:\.\d+)?)?)/y;
const NUMBER =
  /^(?:[+-]?(?:inf|nan|(?:0|[1-9](?:_?\d)*)(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d(?:_?\d)*)?)|0x[\da-fA-F](?:_?[\da-fA-F])*|0o[0-7](?:_?[0-7])*|0b[01](?:_?[01])*)$/;

function readWord(scanner: Scanner): unknown {
  const date = scanner.take(DATE);
  if (date !== undefined) return date;
  const start = scanner.at;
  const word = scanner.take(WORD) ?? '';
  if (word === 'true' || word === 'false') return word === 'true';
  if (!NUMBER.test(word)) scanner.fail('expected a value', start);
  return Number(word.replaceAll('_', '').replace('inf', 'Infinity').replace('nan', 'NaN').replace(/^\+/, ''));
}
