/**
 * Options and commands in two columns, for people.
 * Owns: the layout. Leaves alone: the texts, which are in the tables of options and commands.
 */
import type { OptionTable } from './options.ts';

// Fits into most terminals.
export const WIDTH = 100;

type Row = readonly [left: string, right: string];

/** Every option with its explanation. */
export function optionsHelp(options: OptionTable): string {
  const rows = Object.entries(options).map(([name, { short, hint, help, default: standard }]): Row => {
    const flag = `${short ? `-${short}, ` : ''}--${name}${hint ? ` ${hint}` : ''}`;
    return [flag, standard === undefined ? help : `${help} Default: ${standard}.`];
  });
  return columns(rows) + ('include' in options ? `\n\n${PATTERNS}` : '');
}

export function columns(rows: readonly Row[]): string {
  const left = Math.max(...rows.map(([text]) => text.length)) + 4;
  const lines = rows.flatMap(([text, help]) => {
    const [first = '', ...rest] = wrapped(help, WIDTH - left);
    return [`  ${text}`.padEnd(left) + first, ...rest.map((line) => ' '.repeat(left) + line)];
  });
  return lines.join('\n');
}

/** The text in lines of at most `width` characters, unless a word is longer. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

// --- internal ---

const PATTERNS = 'P: provider, provider:glob, plugin:glob, @plugins, @provider, or a glob over names. Excludes win.';
