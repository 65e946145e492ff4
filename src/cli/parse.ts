/**
 * From command-line arguments to checked values.
 * Owns: which values are accepted, and the message for those that are not. Leaves alone: the tables (options.ts), which
 * command the arguments name (command.ts).
 */
import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { patterns, type SkillwireOptions, TOOL_NAMES, type ToolName } from '../config.ts';
import { MAX_TIMER_MS } from '../limits.ts';
import { nearest } from '../skills/names.ts';
import type { Option, OptionTable, STDIO_OPTIONS } from './options.ts';

/** A mistake on the command line: one line on stderr, exit 2. */
export class UsageError extends Error {}

/** An option as it is written: `--port 1`, `--port=1` (inline) or `-q`. */
export type GivenOption = ReturnType<typeof parseArguments>['given'][number];

export type Values<T extends OptionTable> = {
  readonly [K in keyof T]: T[K] extends { readonly type: 'boolean' }
    ? boolean
    : T[K] extends { readonly multiple: true }
      ? readonly Value<T[K]>[]
      : T[K] extends { readonly default: string }
        ? Value<T[K]>
        : Value<T[K]> | undefined;
};

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
    const texts = given.flatMap((one) => (one.name === name ? [one.value ?? ''] : []));
    if (option.type === 'boolean') return [name, texts.length > 0];
    if (option.multiple) return [name, texts.map((text) => readValue(name, option, text))];
    const text = texts.at(-1) ?? option.default;
    return [name, text === undefined ? undefined : readValue(name, option, text)];
  };
  return Object.fromEntries(Object.entries(options).map(checked));
}

/** The values of the options that every server has, under the names of the library. */
export function skillOptions(values: Values<typeof STDIO_OPTIONS>): SkillwireOptions {
  return {
    skillDirs: [...values['skill-dir']],
    root: values.root,
    scanDefaultDirs: !values['no-default-dirs'],
    skipPlugins: values['no-plugins'],
    pluginsFile: values['plugins-file'],
    pluginsRoot: values['plugins-root'],
    include: [...values.include],
    exclude: [...values.exclude],
    autoRefresh: !values['no-refresh'],
    refreshInterval: values['refresh-interval'],
    watch: !values['no-watch'],
    dedupe: values.dedupe,
    followSymlinks: values['follow-symlinks'],
    names: values.names,
    describe: values.describe,
    descriptionBudget: values['description-budget'],
    tools: [...values.tools],
    prompts: !values['no-prompts'],
  };
}

/** The nearest of the known words, for the end of a message. */
export function nearestOf(word: string, known: readonly string[]): string {
  const [near] = nearest(word, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

// --- internal ---

type Choice<Hint> = Hint extends `${infer First}|${infer Rest}` ? First | Choice<Rest> : Hint;

type Value<T extends Option> = T extends { readonly hint: 'N' | 'MS' }
  ? number
  : T extends { readonly hint: 'TOOLS' }
    ? readonly ToolName[]
    : T extends { readonly hint: `${string}|${string}` }
      ? Choice<T['hint']>
      : string;

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

function readValue(name: string, { hint = '', least = 0, most = MAX_TIMER_MS }: Option, text: string) {
  const refusal = (what: string, near = '') => new UsageError(`--${name} must be ${what}, not "${text}"${near}`);
  const oneOf = (choices: readonly string[], part: string) => {
    if (choices.includes(part)) return part;
    throw refusal(`${hint === 'TOOLS' ? 'a list' : 'one'} of ${choices.join(', ')}`, nearestOf(part, choices));
  };
  if (hint === 'N' || hint === 'MS') {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw refusal(`a whole number from ${least} to ${most}`);
  }
  if (hint === 'TOOLS') return text.split(',').map((part) => oneOf(TOOL_NAMES, part.trim()));
  if (hint.includes('|')) return oneOf(hint.split('|'), text);
  if (hint === 'P') {
    const { issues } = v.safeParse(patterns, [text]);
    if (issues) throw new UsageError(`--${name} ${issues[0].message}`);
  }
  // An empty value usually comes from a variable that was not set. It must not come to mean the working directory.
  else if (text.trim() === '') throw new UsageError(`--${name} is empty: it needs ${hint}`);
  return text;
}
