/**
 * Options and commands in two columns, for people.
 * Owns: the layout. Leaves alone: the texts, which are in the tables of options and commands.
 */
import * as v from 'valibot';
import type { OptionTable } from './options.ts';

type Row = readonly [left: string, right: string];

/** Every option with its explanation and its default. */
export function optionsHelp(options: OptionTable): string {
  const rows = Object.entries(options).map(([name, { type, multiple, short, hint, help, schema }]): Row => {
    const flag = `${short ? `-${short}, ` : ''}--${name}${hint ? ` ${hint}` : ''}`;
    const standard = type === 'boolean' || multiple ? undefined : v.getDefault(schema);
    return [flag, standard === undefined ? help : `${help} Default: ${standard}.`];
  });
  return columns(rows) + ('include' in options ? `\n\n${PATTERNS}` : '');
}

export function columns(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}

// --- internal ---

const PATTERNS = 'P: provider, provider:glob, plugin:glob, @plugins, @provider, or a glob over names. Excludes win.';
