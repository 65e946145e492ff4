/**
 * The options that every server has, as tables: parsing, help, the README and the types are derived from them.
 * Owns: names, defaults and help texts. Leaves alone: parsing (parse.ts), the options of HTTP, the hub and the other
 * commands (all-options.ts), what the program does with the values.
 */
import { DEFAULT_INTERVAL_MS, WATCHED_INTERVAL_MS } from '../catalog/limits.ts';
import { DEFAULT_BUDGET, GENERAL_BUDGET } from '../methods/host-profiles.ts';
import { TOOL_NAMES } from '../tools/instructions.ts';

export interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: true;
  readonly short?: string;
  /** What the value is: `a|b` is a choice of exactly these, N and MS are whole numbers, for the rest see parse.ts. */
  readonly hint?: string;
  /** Where they are too many for a hint. */
  readonly choices?: readonly string[];
  /** Of a whole number. */
  readonly least?: number;
  readonly most?: number;
  readonly default?: string;
  readonly help: string;
}

export type OptionTable = Readonly<Record<string, Option>>;

export const REPEATABLE = { multiple: true } as const;

/** Which skills there are. */
export const FIND_OPTIONS = {
  'skill-dir': value('DIR', 'Also serve the skills found here. Repeatable.', REPEATABLE),
  root: value('DIR', "The project's own skills; ./skills when it exists."),
  'no-default-dirs': flag('Leave out ./skills and the well-known directories of project and home.'),
  'no-plugins': flag('Leave out the skills of installed plugins.'),
  'plugins-file': value('FILE', 'Read installed plugins from here.'),
  'plugins-root': value('DIR', 'The directory that relative plugin paths start from.'),
  include: value('P', 'Serve only what matches. Repeatable, comma separated.', REPEATABLE),
  exclude: value('P', 'Leave out what matches. Repeatable, comma separated.', REPEATABLE),
  dedupe: flag('Fold byte-identical copies of a skill into one.'),
  'follow-symlinks': flag('Follow links out of the project too.'),
} as const satisfies OptionTable;

/** How they are served. */
export const SERVE_OPTIONS = {
  'refresh-interval': value(
    'MS',
    `Milliseconds between two scans of the directories (${DEFAULT_INTERVAL_MS}; ${WATCHED_INTERVAL_MS} while everything is watched).`,
    { least: 1 },
  ),
  'no-refresh': flag('No timer and no watcher: scan at the start, and when skills are listed or searched by tool.'),
  'no-watch': flag('Rely on the timer alone.'),
  names: value('auto|plain|safe', 'How tool names are spelled; auto follows the client.', { default: 'auto' }),
  describe: value(
    'auto|full|compact|list',
    'How skills are listed in the tool description; auto is full while it fits, then compact.',
    { default: 'auto' },
  ),
  'description-budget': value(
    'N',
    `Limit of that description, in characters: of auto, what the client takes (else ${GENERAL_BUDGET}); of compact, ${DEFAULT_BUDGET}.`,
    { least: 200 },
  ),
  'skip-own': flag('Do not show a client the skills that it finds by itself; they still load by name.'),
  tools: value(
    'LIST',
    'The own tools to serve; auto leaves out those that a client with the Skills extension does not need.',
    { default: TOOL_NAMES.join(',') },
  ),
  'no-prompts': flag('Serve no prompts: neither skills as prompts nor those of upstream servers.'),
} as const satisfies OptionTable;

export const GENERAL_OPTIONS = {
  'log-level': value('error|warn|info|debug', 'How much is logged on stderr.', { default: 'info' }),
  'no-color': flag('No colours on a terminal; NO_COLOR does the same.'),
  quiet: flag('Only errors on stderr.', 'q'),
  version: flag('Print the version.', 'v'),
  help: flag('Print this help.', 'h'),
} as const satisfies OptionTable;

/** The options of the program that serves skills on stdin and stdout and does nothing else. */
export const STDIO_OPTIONS = { ...FIND_OPTIONS, ...SERVE_OPTIONS, ...GENERAL_OPTIONS } as const;

/** Flag and explanation of every option, for the help and the README. */
export function optionRows(options: OptionTable): readonly (readonly [flag: string, help: string])[] {
  return Object.entries(options).map(([name, { short, hint, help, default: standard }]) => [
    `${short ? `-${short}, ` : ''}--${name}${hint ? ` ${hint}` : ''}`,
    standard === undefined ? help : `${help} Default: ${standard}.`,
  ]);
}

/** An option that is given or not. */
export function flag(help: string, short?: string) {
  return { type: 'boolean', help, ...(short === undefined ? {} : { short }) } as const;
}

/** An option with a value. */
export function value<const Hint extends string, const More extends Partial<Option> = object>(
  hint: Hint,
  help: string,
  more?: More,
) {
  return { type: 'string', hint, help, ...(more as More) } as const;
}
