/**
 * From command-line arguments to the name of a command and checked values.
 * Owns: which values are accepted, and the message for those that are not. Leaves alone: the table (options.ts).
 */
import { parseArgs } from 'node:util';
import type { SkillwireOptions } from '../config.ts';
import { messageOf } from '../log.ts';
import { nearest } from '../skills/nearest.ts';
import { TOOL_NAMES, type ToolName } from '../tools/instructions.ts';
import { MAX_TIMER_MS } from '../wait.ts';
import type { Option, OptionTable, STDIO_OPTIONS } from './options.ts';

/** A mistake on the command line: one line on stderr, exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export type Values<T extends OptionTable> = {
  readonly [K in keyof T]: T[K] extends { readonly type: 'boolean' }
    ? boolean
    : T[K] extends { readonly multiple: true }
      ? readonly Value<T[K]>[]
      : T[K] extends { readonly default: string }
        ? Value<T[K]>
        : Value<T[K]> | undefined;
};

/** A command's names and what it takes. */
export interface Syntax {
  readonly name: string;
  readonly aliases?: readonly string[] | undefined;
  /** What follows its name: `NAME` is required, `[PATH]` is not, `...` means several. Without it, nothing. */
  readonly words?: string | undefined;
  readonly options: OptionTable;
}

/** Arguments without any word, which mean the main command; undefined for others, and for those with a mistake. */
export function readPlainArguments(argv: readonly string[], command: Syntax) {
  try {
    const { values, positionals } = parseStrictly(argv, command.options);
    return positionals.length === 0 ? { values, words: [] } : undefined;
  } catch {
    return undefined; // `commandIn` finds the command that has the option, or names the mistake.
  }
}

/** The command that the arguments name; the first one when they name none. `help` as a command is the option. */
export function commandIn<T extends Syntax>(argv: readonly string[], commands: readonly T[]): T {
  const options = Object.assign({}, ...commands.map((one) => one.options));
  const { positionals } = parseArgs({ args: [...argv], options, allowPositionals: true, strict: false });
  const [word] = positionals.filter((one) => one !== 'help');
  const found = commands.find(({ name, aliases }) => word === undefined || name === word || aliases?.includes(word));
  if (found) return found;
  // The word may be the value of an option that does not exist.
  parse(argv, { name: '', options }, []);
  const names = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  throw new UsageError(`unknown command "${word}"${hintFor(word ?? '', [...names, 'help'])}`);
}

/** What was given to a command: values that are not checked yet, and the words after its name. */
export function splitArguments(argv: readonly string[], command: Syntax, commands: readonly Syntax[]) {
  const { values, positionals } = parse(argv, command, commands);
  const isHelp = positionals[0] === 'help';
  const given = isHelp ? { ...values, help: true } : values;
  // Without any word the first command is meant.
  return { values: given, words: positionals.slice(isHelp ? 2 : 1) };
}

/** Throws when there are more or fewer words than the command takes. */
export function checkWords(words: readonly string[], { name, words: wanted = '' }: Syntax): void {
  const most = wanted === '' ? 0 : wanted.includes('...') ? Number.POSITIVE_INFINITY : 1;
  if (words.length > most) throw new UsageError(`unexpected argument "${words[most]}"`);
  const isRequired = wanted !== '' && !wanted.startsWith('[');
  if (isRequired && words.length === 0) throw new UsageError(`${name} needs ${wanted}`);
}

export function checkedValues<T extends OptionTable>(options: T, given: Readonly<Record<string, Given>>): Values<T> {
  const entries = Object.entries(options).map(([name, option]) => [name, checked(name, option, given[name])]);
  return Object.fromEntries(entries);
}

export function skillOptions(values: Values<typeof STDIO_OPTIONS>): SkillwireOptions {
  return {
    skillDirs: values['skill-dir'],
    root: values.root,
    scanDefaultDirs: !values['no-default-dirs'],
    skipPlugins: values['no-plugins'],
    pluginsFile: values['plugins-file'],
    pluginsRoot: values['plugins-root'],
    include: values.include,
    exclude: values.exclude,
    autoRefresh: !values['no-refresh'],
    refreshInterval: values['refresh-interval'],
    watch: !values['no-watch'],
    names: values.names,
    describe: values.describe,
    descriptionBudget: values['description-budget'],
    skipOwn: values['skip-own'],
    dedupe: values.dedupe,
    followSymlinks: values['follow-symlinks'],
    tools: toolNames(values.tools),
    prompts: !values['no-prompts'],
  };
}

/** The nearest of the known words, for the end of a message. */
export function hintFor(word: string, known: readonly string[]): string {
  const [near] = nearest(word, known, (one) => [one]);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

// --- internal ---

type Choice<Hint> = Hint extends `${infer First}|${infer Rest}` ? First | Choice<Rest> : Hint;

type Value<T extends Option> = T extends { readonly hint: 'N' | 'MS' }
  ? number
  : T extends { readonly hint: `${string}|${string}` }
    ? Choice<T['hint']>
    : T extends { readonly choices: readonly (infer C)[] }
      ? C
      : string;

type Given = ReturnType<typeof parse>['values'][string];

const parseStrictly = (argv: readonly string[], options: OptionTable) =>
  parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });

function parse(argv: readonly string[], { name, words, options }: Syntax, commands: readonly Syntax[]) {
  try {
    return parseStrictly(argv, options);
  } catch (error) {
    const message = messageOf(error);
    const unknown = /^Unknown option '(-[^']*)'/.exec(message)?.[1];
    if (unknown === undefined) throw new UsageError(message);
    const owner = commands.find((one) => Object.hasOwn(one.options, unknown.replace(/^--/, '')));
    // A command that takes options of the first one for it says so in its words.
    const place = owner === commands[0] && words?.includes('[-- ') ? ': write it after --' : '';
    if (owner) throw new UsageError(`${name} has no option ${unknown}; ${owner.name} has${place}`);
    const known = Object.keys(options).map((one) => `--${one}`);
    throw new UsageError(`unknown option ${unknown}${hintFor(unknown, known)}`);
  }
}

function checked(name: string, option: Option, given: Given) {
  if (option.type === 'boolean') return given ?? false;
  if (typeof given === 'string') return textValue(name, option, given);
  if (!option.multiple) return undefined;
  return (Array.isArray(given) ? given : []).map((text) => textValue(name, option, String(text)));
}

/** By hint: the shape of a value, in words too. */
const SHAPES: ReadonlyMap<string, readonly [shape: RegExp, what: string]> = new Map([
  // An empty path usually comes from a variable that was not set. It must not come to mean the working directory.
  ['DIR', [/\S/, 'the path of a directory']],
  ['FILE', [/\S/, 'the path of a file']],
  // Listening on no host means all interfaces.
  ['HOST', [/\S/, 'a name or an address']],
  ['CLIENT', [/\S/, 'the name of a client']],
  ['NAME', [/^(?:[a-z0-9._-]+|\[?[0-9a-f:.]+\]?)$/i, 'a name or an address']],
  // No wildcard: it would let every web page read this user's skills.
  ['URL', [/^[a-z][a-z0-9+.-]*:\/\/[^\s/*?#]+$/i, 'scheme://host[:port]']],
]);

function textValue(name: string, option: Option, text: string): string | number {
  const { hint = '', choices = hint.split('|'), least = 0, most = MAX_TIMER_MS } = option;
  const refusal = (what: string, near = '') => new UsageError(`--${name} must be ${what}, not "${text}"${near}`);
  if (hint === 'N' || hint === 'MS') {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw refusal(`a whole number from ${least} to ${most}`);
  }
  if (choices.length > 1 && !choices.includes(text))
    throw refusal(`one of ${choices.join(', ')}`, hintFor(text, choices));
  const [shape, what] = SHAPES.get(hint) ?? [/^/, ''];
  if (!shape.test(text)) throw refusal(what);
  return text;
}

function toolNames(value: string): 'auto' | readonly ToolName[] {
  if (value === 'auto') return value;
  const words = value.split(',').map((word) => word.trim());
  const unknown = words.find((word) => !TOOL_NAMES.some((name) => name === word));
  if (unknown === undefined) return TOOL_NAMES.filter((name) => words.includes(name));
  const known = ['auto', ...TOOL_NAMES];
  throw new UsageError(`--tools takes ${known.join(', ')}, not "${unknown}"${hintFor(unknown, known)}`);
}
