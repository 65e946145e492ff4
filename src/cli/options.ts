/**
 * The options that every server has, as tables: parsing, help, the README and the types are derived from them.
 * Owns: names, defaults and help texts. Leaves alone: parsing (parse.ts), the options of HTTP, the hub and the other
 * commands (commands.ts).
 */
import { TOOL_NAMES } from '../config.ts';
import { REFRESH_MS } from '../limits.ts';

export interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: true;
  readonly short?: string;
  /** What the value is: `a|b` is one of these, N and MS are whole numbers, DIR and FILE paths, P patterns, TOOLS a list. */
  readonly hint?: string;
  /** Of a whole number. */
  readonly least?: number;
  readonly most?: number;
  readonly default?: string;
  readonly help: string;
}

export type OptionTable = Readonly<Record<string, Option>>;

/** Which skills there are. */
export const FIND_OPTIONS = {
  'skill-dir': value('DIR', 'Also serve the skills found here. Repeatable.', { multiple: true }),
  root: value('DIR', "The project's own skills; ./skills when it exists."),
  'no-default-dirs': flag('Leave out ./skills and the well-known directories of project and home.'),
  'no-plugins': flag('Leave out the skills of installed plugins.'),
  'plugins-file': value('FILE', 'Read installed plugins from here.'),
  'plugins-root': value('DIR', 'The directory that relative plugin paths start from.'),
  include: value('P', 'Serve only what matches. Repeatable, comma separated.', { multiple: true }),
  exclude: value('P', 'Leave out what matches. Repeatable, comma separated.', { multiple: true }),
  dedupe: flag('Fold byte-identical copies of a skill into one.'),
  'follow-symlinks': flag('Follow links out of the project too.'),
} as const satisfies OptionTable;

/** How they are served. */
export const SERVE_OPTIONS = {
  'refresh-interval': value('MS', 'Between two scans of the directories.', { least: 1, default: String(REFRESH_MS) }),
  'no-refresh': flag('No timer and no watcher: scan at the start, and when skills are listed or searched by tool.'),
  'no-watch': flag('Rely on the timer alone.'),
  names: value('auto|plain|safe', 'How tool names are spelled; auto follows the client.', { default: 'auto' }),
  describe: value('auto|full|compact|list', "How skills are listed in the tool's description.", { default: 'auto' }),
  'description-budget': value('N', 'Most characters of that list; else what the client takes.', { least: 200 }),
  tools: value('TOOLS', 'Which of the own tools to serve.', { default: TOOL_NAMES.join(',') }),
  'no-prompts': flag('Serve no prompts: neither skills as prompts nor those of upstream servers.'),
} as const satisfies OptionTable;

export const GENERAL_OPTIONS = {
  'log-level': value('error|warn|info|debug', 'How much is logged on stderr.', { default: 'info' }),
  quiet: flag('Only errors on stderr.', 'q'),
  'no-color': flag('No colours on a terminal; NO_COLOR does the same.'),
  version: flag('Print the version.', 'v'),
  help: flag('Print this help.', 'h'),
} as const satisfies OptionTable;

/** The options of the program that serves skills on stdin and stdout and does nothing else. */
export const STDIO_OPTIONS = { ...FIND_OPTIONS, ...SERVE_OPTIONS, ...GENERAL_OPTIONS } as const;

/** The words that mean "serve", for clients that were set up for a server with such a command. */
export const SERVE_WORDS: readonly string[] = ['serve', 'mcp', 'mcp-server'];

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
