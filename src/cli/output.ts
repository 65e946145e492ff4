/**
 * What commands for people write: on a terminal of any width, or into a pipe.
 * Always true: nothing is styled unless a terminal reads it and the user has not said no; text from outside is escaped
 * before it is cut or styled.
 */
import { styleText } from 'node:util';
import type { ListedSkill, Skill } from '../model.ts';
import { printable, shorten, visibleLine } from '../text.ts';
import type { GeneralValues } from './process.ts';

export type Style = 'bold' | 'red' | 'green';
export type Output = ReturnType<typeof openOutput>;

/** The output of this process. */
export function openOutput(values: GeneralValues) {
  const { stdout } = process;
  const isTerminal = stdout.isTTY === true;
  const isPlain = values['no-color'] || Boolean(process.env.NO_COLOR) || !isTerminal;
  const width = stdout.columns || USUAL_WIDTH;
  const lines = (all: readonly string[]) => void stdout.write(all.map((line) => `${line}\n`).join(''));
  return {
    width,
    paint: (style: Style, text: string) => (isPlain ? text : styleText(style, text)),
    /** Each is escaped already. */
    lines,
    /** For programs. The version is that of the form of the data. */
    json: (value: object) => lines(jsonLines({ version: 1, ...value })),
    /** A text as it is; on a terminal, what the terminal would obey is escaped and the last line is ended. */
    text: (text: string) => (isTerminal ? lines(linesOf(text)) : void stdout.write(text)),
  };
}

/** Indented JSON, for a terminal. */
export function jsonLines(value: unknown): readonly string[] {
  return JSON.stringify(value, undefined, 2).split('\n').map(printable);
}

/** Rows of columns: the first is a name and never cut, the last is cut where the line ends. */
export function tableLines(rows: readonly (readonly string[])[], width: number): readonly string[] {
  const cells = rows.map((row) => row.map(visibleLine));
  const widths = (cells[0] ?? []).map((_, at) => cells.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0));
  return cells.map((row) => {
    const [last = '', ...others] = row.toReversed();
    const padded = others.toReversed().map((cell, at) => `${cell.padEnd(widths[at] ?? 0)}  `);
    return padded.join('') + shorten(last, Math.max(20, width - padded.join('').length));
  });
}

/** One skill for programs, which rely on these members. `name` is the one that loads it. */
export function dataOf({ id, skill }: ListedSkill) {
  const { provider, location, plugin, description, directory, file } = skill;
  const from = plugin && `${plugin.name}@${plugin.marketplace}`;
  return { name: id, provider, location, plugin: from, description, directory, file };
}

/** "claude, project"; of a directory that was named on the command line "custom". */
export function originOf({ provider, location, plugin }: Pick<Skill, 'provider' | 'location' | 'plugin'>): string {
  if (plugin) return `plugin ${plugin.name}@${plugin.marketplace}`;
  return provider === location ? provider : `${provider}, ${location}`;
}

// --- internal ---

// Of a pipe, and of a terminal that does not tell its width.
const USUAL_WIDTH = 100;

const linesOf = (text: string) => text.trimEnd().split(/\r?\n/).map(printable);
