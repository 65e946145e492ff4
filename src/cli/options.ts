/**
 * The options that every server has, as tables: parsing, help, the README and the types are derived from them.
 * Owns: names and help texts. Leaves alone: which values are taken, and the defaults (config.ts), parsing (parse.ts), the
 * options of HTTP, the hub and the other commands (commands.ts).
 */
import * as v from 'valibot';
import { choice, flag as flagSchema, OPTIONS } from '../config.ts';

export interface Option {
  /** A boolean one takes no value, and turns its default around. */
  readonly type: 'string' | 'boolean';
  /** It can be given several times, and has a list of values. */
  readonly multiple?: boolean;
  readonly short?: string;
  /** What the value is: N and MS are whole numbers, DIR and FILE paths, P patterns, TOOLS a list, `a|b` one of these. */
  readonly hint?: string;
  readonly help: string;
  readonly schema: v.GenericSchema;
  /** Its name in the library. */
  readonly key?: keyof typeof OPTIONS;
}

export type OptionTable = Readonly<Record<string, Option>>;

/** Which skills there are, and how they are served. */
export const SKILL_OPTIONS = {
  'skill-dir': setting('skillDirs', 'Also serve the skills found here. Repeatable.', 'DIR'),
  root: setting('root', "The project's own skills; ./skills when it exists.", 'DIR'),
  'no-default-dirs': setting('scanDefaultDirs', 'Leave out ./skills and the well-known directories.'),
  'no-plugins': setting('skipPlugins', 'Leave out the skills of installed plugins.'),
  'plugins-file': setting('pluginsFile', 'Read installed plugins from here.', 'FILE'),
  'plugins-root': setting('pluginsRoot', 'Where plugins are: their file and relative paths.', 'DIR'),
  include: setting('include', 'Serve only what matches. Repeatable, comma separated.', 'P'),
  exclude: setting('exclude', 'Leave out what matches. Repeatable, comma separated.', 'P'),
  dedupe: setting('dedupe', 'Fold byte-identical copies of a skill into one.'),
  'follow-symlinks': setting('followSymlinks', 'Follow links out of the project too.'),
  'refresh-interval': setting('refreshInterval', 'Between two scans of the directories.', 'MS'),
  'no-refresh': setting('autoRefresh', 'Scan only at the start, and for skills.list and skills.search.'),
  'no-watch': setting('watch', 'Rely on the timer alone.'),
  names: setting('names', 'Spelling of tool names; auto follows the client.', 'auto|plain|safe'),
  describe: setting('describe', "How skills are listed in the tool's description.", 'auto|full|compact|list'),
  'description-budget': setting('descriptionBudget', 'Most characters of that; else what the client takes.', 'N'),
  tools: setting('tools', 'Own tools to serve.', 'TOOLS'),
  'no-prompts': setting('prompts', 'Serve no prompts: neither skills nor those of servers.'),
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

/** An option of the library; without a hint it takes no value. */
export function setting<const K extends keyof typeof OPTIONS>(key: K, help: string, hint?: string) {
  const schema = OPTIONS[key];
  return hint === undefined ? { ...flag(help), key, schema } : { ...value(hint, help, schema), key };
}

export function flag(help: string, short?: string) {
  return { type: 'boolean', help, schema: flagSchema(false), ...(short === undefined ? {} : { short }) } as const;
}

export function value<S extends v.GenericSchema>(hint: string, help: string, schema: S) {
  const isRepeatable = Array.isArray(v.getDefault(schema)) && hint !== 'TOOLS';
  return { type: 'string', multiple: isRepeatable, hint, help, schema } as const;
}
