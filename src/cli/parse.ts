/**
 * From command-line arguments to checked values.
 * Owns: the form of arguments, and the message for one that is wrong. Leaves alone: the tables (options.ts), which command
 * the arguments name (command.ts).
 */
import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { nearest } from '../skills/names.ts';
import type { Option, OptionTable } from './options.ts';

/** A mistake on the command line: one line on stderr, exit 2. */
export class UsageError extends Error {}

/** An option as it is written: `--port 1`, `--port=1` (inline) or `-q`. */
export type GivenOption = ReturnType<typeof parseArguments>['given'][number];

export type Values<T extends OptionTable> = { readonly [K in keyof T]: v.InferOutput<T[K]['schema']> };

/** Splits the arguments; nothing is checked yet. `options`: tells which of them take a value. `rest`: what follows `--`. */
export function parseArguments(argv: readonly string[], options: OptionTable) {
  const { tokens } = parseArgs({ args: [...argv], options, allowPositionals: true, strict: false, tokens: true });
  const end = tokens.find(({ kind }) => kind === 'option-terminator')?.index ?? argv.length;
  return {
    given: tokens.filter((token) => token.kind === 'option'),
    words: tokens.flatMap((token) => (token.kind === 'positional' && token.index < end ? [token.value] : [])),
    rest: argv.slice(end + 1),
  };
}

/** Throws a UsageError for an option that is not in the table, or has a value that it does not take. */
export function checkedValues<T extends OptionTable>(given: readonly GivenOption[], options: T): Values<T> {
  for (const one of given) checkForm(one, options);
  const checked = ([name, option]: [string, Option]) => {
    const all = given.filter((one) => one.name === name).map(({ value = '' }) => readText(value, option));
    const parsed = v.safeParse(option.schema, option.multiple ? all : all.at(-1));
    if (parsed.issues) throw new UsageError(`--${name} ${parsed.issues[0].message}`);
    return [name, parsed.output];
  };
  return Object.fromEntries(Object.entries(options).map(checked));
}

/** The nearest of the known words, for the end of a message. */
export function nearestOf(word: string, known: readonly string[]): string {
  const [near] = nearest(word, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

// --- internal ---

function checkForm({ name, rawName, value, inlineValue }: GivenOption, options: OptionTable): void {
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (!option) {
    const known = Object.keys(options).map((one) => `--${one}`);
    throw new UsageError(`unknown option ${rawName}${nearestOf(rawName, known)}`);
  }
  if (option.type === 'boolean' && value !== undefined) throw new UsageError(`${rawName} takes no value`);
  // The next option is not the value of one whose value was forgotten.
  const isMissing = value === undefined || (/^-./.test(value) && !inlineValue);
  if (option.type === 'string' && isMissing) throw new UsageError(`${rawName} needs a value: ${option.hint}`);
}

/** The text as a boolean, a number or a list, as the option wants it. The schema checks the result. */
function readText(text: string, { type, hint = '', schema }: Option): unknown {
  if (type === 'boolean') return !v.getDefault(schema);
  if (hint === 'TOOLS') return text.split(',').map((part) => part.trim());
  // Number() would also take blanks, fractions and hexadecimal digits.
  return ['N', 'MS'].includes(hint) && /^\d+$/.test(text) ? Number(text) : text;
}
