/**
 * The help of the program and of each command.
 * Owns: its layout. Leaves alone: the texts, which are in the tables of commands and options.
 * Always true: no line has more than WIDTH characters, except one that is a single word.
 */
import type { Command, Program } from './command.ts';
import { type OptionTable, optionRows } from './options.ts';

/** The help of one command when the arguments name it, else that of the program with the options of its default command. */
export function helpOf(
  { name, about }: Program,
  commands: readonly Command[],
  argv: readonly string[],
  command: Command,
): string {
  const program = { name, about, commands };
  const isNamed = [command.name, ...(command.aliases ?? [])].some((name) => argv.includes(name));
  return isNamed || program.commands.length === 1 ? commandHelp(program, command) : programHelp(program, command);
}

/** The text in lines of at most `width`, unless a word is longer. `measure`: of a text that is not plain ASCII. */
export function wrapped(text: string, width: number, measure = (part: string) => part.length): readonly string[] {
  const lines: string[] = [];
  let room = 0;
  for (const word of text.split(' ')) {
    const need = measure(word);
    if (lines.length > 0 && need < room) {
      lines[lines.length - 1] += ` ${word}`;
      room -= need + 1;
    } else {
      lines.push(word);
      room = width - need;
    }
  }
  return lines;
}

// --- internal ---

interface Helped extends Pick<Program, 'name' | 'about'> {
  readonly commands: readonly Command[];
}

// Fits into most terminals.
const WIDTH = 100;

function programHelp({ name, about, commands }: Helped, { options }: Command): string {
  const usage = commands.map((one, at) => [usageOf(name, one, at === 0), one.help + alsoCalled(one)] as const);
  return sections([
    `${name}: ${about}.`,
    `Usage:\n${columns(usage)}`,
    `${name} COMMAND --help shows the options of a command. Those of ${commands[0]?.name}:`,
    optionsHelp(options),
    PATTERNS,
  ]);
}

function commandHelp({ name, commands }: Helped, command: Command): string {
  const examples = command.examples.map((example) => `  ${example}`);
  return sections([
    `${usageOf(name, command, command === commands[0])} [options]`,
    wrapped(command.help + alsoCalled(command), WIDTH).join('\n'),
    `Examples:\n${examples.join('\n')}`,
    `Options:\n${optionsHelp(command.options)}`,
    ...('include' in command.options ? [PATTERNS] : []),
  ]);
}

const PATTERNS = 'Patterns: provider, provider:glob, plugin:glob, @plugins, or a glob over names. Excludes win.';

const sections = (all: readonly string[]) => `${all.join('\n\n')}\n`;

function usageOf(program: string, { name, words }: Command, isDefault: boolean): string {
  return [program, isDefault ? `[${name}]` : name, ...(words === undefined ? [] : [words])].join(' ');
}

const alsoCalled = ({ aliases = [] }: Command) => (aliases.length > 0 ? ` Also: ${aliases.join(', ')}.` : '');

const optionsHelp = (options: OptionTable) => columns(optionRows(options));

function columns(rows: readonly (readonly [left: string, right: string])[]): string {
  const left = Math.max(...rows.map(([text]) => text.length)) + 4;
  return rows
    .map(([text, help]) => {
      const [first = '', ...rest] = wrapped(help, WIDTH - left);
      return [`  ${text}`.padEnd(left) + first, ...rest.map((line) => ' '.repeat(left) + line)].join('\n');
    })
    .join('\n');
}
