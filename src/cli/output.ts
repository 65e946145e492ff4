/**
 * What commands for people write: on a terminal of any width, or into a pipe.
 * Owns: colours, columns, how wide a text is on a terminal, rough numbers of tokens. Leaves alone: what is written.
 * Always true: nothing is styled unless a terminal reads it and the user has not said no; no line of a table is wider than
 * the terminal, except for a name; text from outside is escaped before it is measured, cut or styled.
 */
import { stripVTControlCharacters, styleText } from 'node:util';
import { codeOf } from '../files/stats.ts';
import { cut, oneLine, printable, printableJson } from '../text.ts';
import { wrapped } from './help.ts';
import { type ColourValues, wantsNoColours } from './process.ts';

/** The part of a stream that is needed here. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue';

export interface Output {
  readonly isTerminal: boolean;
  /** In columns. */
  readonly width: number;
  paint(style: Style, text: string): string;
  lines(lines: readonly string[]): void;
  /** For programs. The version is that of the form of the data. */
  json(value: object): void;
  /** A text as it is; on a terminal, what the terminal would obey is escaped and the last line is ended. */
  text(text: string): void;
}

/** `isPlain`: the user wants no colours. */
export function createOutput(screen: Screen, isPlain: boolean): Output {
  const isTerminal = screen.isTTY === true;
  const lines = (all: readonly string[]) => void screen.write(all.map((line) => `${line}\n`).join(''));
  return {
    isTerminal,
    width: screen.columns || USUAL_WIDTH,
    paint: (style, text) => (isPlain || !isTerminal ? text : styleText(style, text)),
    lines,
    json: (value) => lines([printableJson({ version: 1, ...value })]),
    text(text) {
      if (isTerminal)
        lines(
          text
            .replace(/\r?\n$/, '')
            .split(/\r?\n/)
            .map(printable),
        );
      else screen.write(text);
    },
  };
}

/** The output of this process. A full disk is an error; a reader that has read enough is not. */
export function openOutput(values: ColourValues): Output {
  const { stdout, stderr } = process;
  stdout.on('error', (error) => {
    if (codeOf(error) === 'EPIPE') return;
    stderr.write(`skillwire: the output cannot be written: ${printable(error.message)}\n`);
    process.exitCode = 1;
  });
  return createOutput(stdout, wantsNoColours(values));
}

/**
 * Rows of columns, each row as one line. The longest cells are cut where all of them do not fit. `names`: the first cells
 * are names, in this style and never cut; a longer one moves the rest of its row, which is cut at its end instead.
 */
export function tableLines(
  rows: readonly (readonly string[])[],
  { width, paint }: Pick<Output, 'width' | 'paint'>,
  names?: Style,
): readonly string[] {
  const cells = rows.map((row) => row.map((cell) => clip(oneLine(cut(cell, LONGEST_CHARACTER * width)), width)));
  const count = Math.max(0, ...cells.map(({ length }) => length));
  const natural = Array.from({ length: count }, (_, at) =>
    cells.reduce((most, row) => Math.max(most, widthOf(row[at] ?? '')), 0),
  );
  const widths = shareWidth(natural, width - GAP.length * (count - 1));
  return cells.map((row, index) => {
    const padded = row.map((cell, at) => {
      const text = clip(cell, widths[at] ?? 0);
      return text + ' '.repeat(at === row.length - 1 ? 0 : (widths[at] ?? 0) - widthOf(text));
    });
    if (names === undefined) return padded.join(GAP);
    const name = oneLine(rows[index]?.[0] ?? '');
    const gap = ' '.repeat(Math.max(0, (widths[0] ?? 0) - widthOf(name))) + GAP;
    const rest = clip(padded.slice(1).join(GAP), Math.max(0, width - widthOf(name) - gap.length));
    return (name === '' ? '' : paint(names, name)) + (rest === '' ? '' : gap + rest);
  });
}

/** The columns that a text takes on a terminal. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of SEGMENTER.segment(text)) width += clusterWidth(segment);
  return width;
}

/** The text within that many columns, cut between characters, with an ellipsis where text is missing. */
export function clip(text: string, width: number): string {
  if (PLAIN.test(text) && text.length <= width) return text;
  let used = 0;
  let end = 0;
  for (const { segment, index } of SEGMENTER.segment(text)) {
    used += clusterWidth(segment);
    if (used > width) return width < 1 ? '' : `${text.slice(0, end).trimEnd()}…`;
    if (used < width) end = index + segment.length;
  }
  return text;
}

/** The text in lines of at most that many columns. A wider word, as in languages without spaces, is cut between characters. */
export function paragraph(text: string, width: number): readonly string[] {
  const words = text.replace(/[^ ]+/g, (word) => (widthOf(word) > width ? piecesOf(word, width).join(' ') : word));
  return wrapped(words, width, widthOf);
}

/** A line, on a terminal broken between words where it is too wide; it goes on two columns to the right of its beginning. */
export function hanging(line: string, { isTerminal, width }: Pick<Output, 'isTerminal' | 'width'>): readonly string[] {
  const measure = (text: string) => widthOf(stripVTControlCharacters(text));
  if (!isTerminal || measure(line) <= width) return [line];
  const indent = /^ */.exec(line)?.[0] ?? '';
  const [first = '', ...rest] = wrapped(line.slice(indent.length), width - indent.length - GAP.length, measure);
  return [indent + first, ...rest.map((part) => indent + GAP + part)];
}

/** Some four bytes are one token, in English as in languages whose characters have several bytes. */
export const roughTokens = (text: string | Uint8Array) => Math.ceil(Buffer.byteLength(text) / 4);

/** `12345` as `12,345`. */
export const grouped = (number: number) => number.toLocaleString('en');

/** The same with what is counted. */
export const counted = (number: number, what: string) => `${grouped(number)} ${what}${number === 1 ? '' : 's'}`;

// --- internal ---

// Of a pipe, and of a terminal that does not tell its width.
const USUAL_WIDTH = 100;
const GAP = '  ';
// In UTF-16 units: longer than any emoji; a cell of nothing but combining marks ends somewhere too.
const LONGEST_CHARACTER = 32;

const PLAIN = /^[ -~]*$/;
const SEGMENTER = new Intl.Segmenter('en');

// East Asian wide and full-width characters by their blocks, and what terminals show as a picture.
const WIDE =
  /^(?:[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Emoji}\ufe0f)/u;
const NO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/gu;

/** Of one character as a reader sees it: a letter with its marks, a picture made of several. */
function clusterWidth(cluster: string): number {
  return WIDE.test(cluster) ? 2 : [...cluster.replace(NO_WIDTH, '')].length;
}

/** Each piece is as wide as fits, so no two of them share a line. */
function piecesOf(word: string, width: number): readonly string[] {
  const pieces = [''];
  let used = 0;
  for (const { segment } of SEGMENTER.segment(word)) {
    const need = clusterWidth(segment);
    if (used > 0 && used + need > width) {
      pieces.push('');
      used = 0;
    }
    pieces[pieces.length - 1] += segment;
    used += need;
  }
  return pieces;
}

/** The columns each cell gets: narrow ones what they need, the others an equal share of the rest. */
function shareWidth(natural: readonly number[], total: number): readonly number[] {
  let rest = Math.max(0, total);
  let left = natural.length;
  for (const need of [...natural].sort((a, b) => a - b)) {
    const share = Math.floor(rest / left);
    if (need > share) return natural.map((one) => Math.min(one, share));
    rest -= need;
    left -= 1;
  }
  return natural;
}
