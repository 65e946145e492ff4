/**
 * The options that every server has, as tables: parsing, help, the README and the types are derived from them.
 * Owns: names and help texts. Leaves alone: which values are taken, and the defaults (config.ts), parsing (parse.ts), the
 * options of HTTP, the hub and the other commands (commands.ts).
 */
import * as v from 'valibot';
import { choice, flag as flagSchema, OPTIONS } from '../config.ts';

export interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: true;
  readonly short?: string;
  /** What the value is: N and MS are whole numbers, DIR and FILE paths, P patterns, TOOLS a list, `a|b` one of these. */
  readonly hint?: string;
  readonly help: string;
  /** Of the value; of the list of all values for an option that can be given several times. */
  readonly schema: v.GenericSchema;
}

export type OptionTable = Readonly<Record<string, Option>>;

/** Which skills there are, and how they are served. */
export const SKILL_OPTIONS = {
  'skill-dir': values('DIR', 'Also serve the skills found here. Repeatable.', OPTIONS.skillDirs),
  root: value('DIR', "The project's own skills; ./skills when it exists.", OPTIONS.root),
  'no-default-dirs': flag('Leave out ./skills and the well-known directories.'),
  'no-plugins': flag('Leave out the skills of installed plugins.'),
  'plugins-file': value('FILE', 'Read installed plugins from here.', OPTIONS.pluginsFile),
  'plugins-root': value('DIR', 'The directory that relative plugin paths start from.', OPTIONS.pluginsRoot),
  include: values('P', 'Serve only what matches. Repeatable, comma separated.', OPTIONS.include),
  exclude: values('P', 'Leave out what matches. Repeatable, comma separated.', OPTIONS.exclude),
  dedupe: flag('Fold byte-identical copies of a skill into one.'),
  'follow-symlinks': flag('Follow links out of the project too.'),
  'refresh-interval': value('MS', 'Between two scans of the directories.', OPTIONS.refreshInterval),
  'no-refresh': flag('Scan only at the start, and for skills.list and skills.search.'),
  'no-watch': flag('Rely on the timer alone.'),
  names: value('auto|plain|safe', 'Spelling of tool names; auto follows the client.', OPTIONS.names),
  describe: value('auto|full|compact|list', "How skills are listed in the tool's description.", OPTIONS.describe),
  'description-budget': value('N', 'Most characters of that; else what the client takes.', OPTIONS.descriptionBudget),
  tools: value('TOOLS', 'Own tools to serve.', OPTIONS.tools),
  'no-prompts': flag('Serve no prompts: neither skills nor those of servers.'),
} as const satisfies OptionTable;

const LogLevel = v.optional(choice('error', 'warn', 'info', 'debug'), 'info');

export const GENERAL_OPTIONS = {
  'log-level': value('error|warn|info|debug', 'How much is logged on stderr.', LogLevel),
  quiet: flag('Only errors on stderr.', 'q'),
  'no-color': flag('No colours on a terminal; NO_COLOR does the same.'),
  version: flag('Print the version.', 'v'),
  help: flag('Print this help.', 'h'),
} as const satisfies OptionTable;

/** The options of the program that serves skills on stdin and stdout and does nothing else. */
export const STDIO_OPTIONS = { ...SKILL_OPTIONS, ...GENERAL_OPTIONS } as const;

/** The words that mean "serve", for clients that were set up for a server with such a command. */
export const SERVE_WORDS: readonly string[] = ['serve', 'mcp', 'mcp-server'];

export function flag(help: string, short?: string) {
  return { type: 'boolean', help, schema: flagSchema(false), ...(short === undefined ? {} : { short }) } as const;
}

export function value<S extends v.GenericSchema>(hint: string, help: string, schema: S) {
  return { type: 'string', hint, help, schema } as const;
}

export function values<S extends v.GenericSchema>(hint: string, help: string, schema: S) {
  return { ...value(hint, help, schema), multiple: true } as const;
}
