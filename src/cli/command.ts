/**
 * Which command the arguments name, what follows its name, and the help of the program and of each command.
 * Leaves alone: the table of commands (commands.ts), options and their values (parse.ts).
 */
import { VERSION } from '../version.ts';
import { columns, optionsHelp } from './help.ts';
import type { OptionTable } from './options.ts';
import { checkedValues, type GivenOption, nearestOf, parseArguments, UsageError, type Values } from './parse.ts';

export interface Command<T extends OptionTable = OptionTable> {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** What follows its name: `NAME` is required, `[PATH]` is not, `...` means several. Without it, nothing. */
  readonly words?: string;
  /** Options of the server follow `--`. For other commands these are words too. */
  readonly takesServerOptions?: true;
  readonly help: string;
  readonly options: T;
  /** A number is the exit code. */
  run(values: Values<T>, words: readonly string[], serverOptions: readonly string[]): Promise<unknown>;
}

/** Runs the command that the arguments name; the first one when they name none. `help` as a word is the option. */
export function runCommand(about: string, commands: readonly Command[], argv: readonly string[]): unknown {
  const all: OptionTable = Object.assign({}, ...commands.map((one) => one.options));
  const { given, words, rest } = parseArguments(argv, all);
  const isHelp = words[0] === 'help';
  const [word, ...others] = isHelp ? words.slice(1) : words;
  const command = commands.find(({ name, aliases }) => word === undefined || name === word || aliases?.includes(word));
  if (!command) {
    // An unknown option is reported first: its value was taken for a command.
    checkedValues(given, all);
    const known = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    throw new UsageError(`unknown command "${word}"${nearestOf(word ?? '', [...known, 'help'])}`);
  }
  checkOwner(given, command, commands);
  const values = checkedValues(given, command.options);
  const [own, serverOptions] = command.takesServerOptions ? [others, rest] : [[...others, ...rest], []];
  if (isHelp || values.help)
    return print(word === undefined ? programHelp(about, commands) : commandHelp(command, commands));
  if (values.version) return print(`${VERSION}\n`);
  checkWords(own, command);
  return command.run(values, own, serverOptions);
}

// --- internal ---

const PROGRAM = 'skillwire';

const print = (text: string) => void process.stdout.write(text);

/** Throws for an option that only other commands have. */
function checkOwner(given: readonly GivenOption[], command: Command, commands: readonly Command[]): void {
  const isIn = (one: GivenOption, owner: Command | undefined) => Object.hasOwn(owner?.options ?? {}, one.name);
  const foreign = given.find((one) => !isIn(one, command) && commands.some((other) => isIn(one, other)));
  if (!foreign) return;
  const isServers = command.takesServerOptions && isIn(foreign, commands[0]);
  const hint = isServers ? '; options of the server come after --' : '';
  throw new UsageError(`${command.name} has no option ${foreign.rawName}${hint}`);
}

/** Throws when there are more or fewer words than the command takes. */
function checkWords(words: readonly string[], { name, words: wanted = '' }: Command): void {
  const most = wanted === '' ? 0 : wanted.includes('...') ? Number.POSITIVE_INFINITY : 1;
  if (words.length > most) throw new UsageError(`unexpected argument "${words[most]}"`);
  if (/^\w/.test(wanted) && words.length === 0) throw new UsageError(`${name} needs ${wanted}`);
}

const sections = (all: readonly string[]) => `${all.join('\n\n')}\n`;

/** With the options of the first command. */
function programHelp(about: string, commands: readonly Command[]): string {
  const usage = commands.map((one) => [usageOf(one, commands), one.help] as const);
  return sections([
    `${PROGRAM}: ${about}.`,
    `Usage:\n${columns(usage)}`,
    `${PROGRAM} COMMAND --help shows the options of a command. Those of ${commands[0]?.name}:`,
    optionsHelp(commands[0]?.options ?? {}),
  ]);
}

function commandHelp(command: Command, commands: readonly Command[]): string {
  return sections([
    `${usageOf(command, commands)} [options]`,
    [command.help, ...(command.aliases ? [`Also: ${command.aliases.join(', ')}.`] : [])].join(' '),
    `Options:\n${optionsHelp(command.options)}`,
  ]);
}

function usageOf(command: Command, commands: readonly Command[]): string {
  const { name, words, takesServerOptions } = command;
  const shown = command === commands[0] ? `[${name}]` : name;
  return [PROGRAM, shown, words ?? [], takesServerOptions ? '[-- OPTION...]' : []].flat().join(' ');
}
