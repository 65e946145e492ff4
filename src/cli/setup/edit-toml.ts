/**
 * Changes one table of a TOML file that a person keeps, and nothing else in its text.
 * Owns: where the new lines go. Leaves alone: the syntax (files/toml.ts), reading and writing files (client-file.ts).
 * Always true: keys of the table that do not change stay as they are, and so do comments, except behind a removed key and
 * inside a removed table.
 */
import { isDeepStrictEqual } from 'node:util';
import { SyntaxFault } from '../../files/scanner.ts';
import { parseToml, type TomlStatement, type TomlTable } from '../../files/toml.ts';
import { applyEdits, erase, insert, newlineOf, startOfLine, type TextEdit } from '../text-edits.ts';

/** The text with a table at `path` that has exactly the keys of `entry`: texts and lists of texts, if they are new. */
export function setTable(text: string, path: readonly string[], entry: TomlTable): string {
  const { value, statements } = parseToml(text);
  const newline = newlineOf(text);
  const header = findHeader(text, path, statements);
  if (!header) {
    const lines = [`[${path.map(printKey).join('.')}]`, ...Object.entries(entry).map(printPair)];
    const gap = /^\ufeff?$/.test(text) ? '' : text.endsWith('\n') ? newline : newline + newline;
    return `${text}${gap}${lines.join(newline)}${newline}`;
  }
  const known = path.reduce<TomlTable>((table, key) => Object(table[key]), value);
  const own = statements.filter(({ table, keys }) => table === header.table && keys.length === 1);
  const pairs = new Map(own.map((pair) => [pair.keys[0], pair]));
  const added = Object.entries(entry).filter(([key]) => !Object.hasOwn(known, key));
  const changed = Object.keys(known).filter((key) => !isDeepStrictEqual(known[key], entry[key]));
  const changes = changed.map((key) => {
    const pair = pairs.get(key);
    if (!pair) throw new SyntaxFault(OTHER_FORM, text, header.start);
    if (!Object.hasOwn(entry, key)) return eraseLines(text, pair.start, pair.end);
    return { start: pair.start, end: pair.end, text: printPair([key, entry[key]]) };
  });
  const lines = added.map((pair) => newline + printPair(pair)).join('');
  return applyEdits(text, [insert(endOfLine(text, header.end), lines), ...changes]);
}

/** The text without the table at `path` and the tables in it. */
export function removeTable(text: string, path: readonly string[]): string {
  const { statements } = parseToml(text);
  findHeader(text, path, statements);
  const edits = statements.flatMap(({ kind, table, start, end }, at) => {
    if (kind === 'pair' || !startsWith(table, path)) return [];
    let last = end;
    for (let next = at + 1; statements[next]?.kind === 'pair'; next++) last = statements[next]?.end ?? last;
    // A blank line before it goes too: it was there to set the table apart.
    const first = startOfLine(text, start);
    const before = first === 0 ? 0 : startOfLine(text, first - 1);
    const isBlank = text.slice(before, first).trim() === '';
    return [eraseLines(text, isBlank ? before : first, last)];
  });
  return applyEdits(text, edits);
}

// --- internal ---

const OTHER_FORM =
  'the entry is written here in a form that setup cannot edit; change it by hand, or make it a [table]';

function findHeader(text: string, path: readonly string[], statements: readonly TomlStatement[]) {
  const clash = statements.find(({ kind, table, keys }) => {
    if (kind === 'table') return false;
    if (table.length > path.length || (kind === 'pair' && table.length === path.length)) return false;
    const whole = [...table, ...keys];
    return startsWith(whole, path) || startsWith(path, whole);
  });
  if (clash) throw new SyntaxFault(OTHER_FORM, text, clash.start);
  return statements.find(
    ({ kind, table }) => kind === 'table' && table.length === path.length && startsWith(table, path),
  );
}

const startsWith = (keys: readonly string[], start: readonly string[]) => start.every((key, at) => keys[at] === key);

/** Before the line break. */
function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  if (end === -1) return text.length;
  return text.charAt(end - 1) === '\r' ? end - 1 : end;
}

/** From the line of `start` to that of `end`, with their line breaks. */
function eraseLines(text: string, start: number, end: number): TextEdit {
  const last = text.indexOf('\n', end);
  return erase(startOfLine(text, start), last === -1 ? text.length : last + 1);
}

const printKey = (key: string) => (/^[\w-]+$/.test(key) ? key : printText(key));
const printPair = ([key, value]: readonly [string, unknown]) => `${printKey(key)} = ${printValue(value)}`;
const printValue = (value: unknown) =>
  Array.isArray(value) ? `[${value.map((item) => printText(String(item))).join(', ')}]` : printText(String(value));

/** JSON's escapes are TOML's too, but for one character that TOML wants escaped and JSON does not. */
const printText = (text: string) => JSON.stringify(text).replaceAll('\u007f', '\\u007f');
