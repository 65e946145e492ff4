/**
 * The options and commands, as one table: parsing, help, the README's table and the types are derived from it.
 * Owns: names, defaults and help texts. Leaves alone: parsing (parse.ts), what the program does with the values.
 */
import { DEFAULT_ADDRESS, DEFAULT_HEALTH_INTERVAL, DEFAULT_REFRESH_INTERVAL, TOOL_NAMES } from '../config.ts';
import { DEFAULT_BUDGET } from '../methods/host-profiles.ts';

export interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  readonly short?: string;
  /** What the value looks like; `a|b` is a choice of exactly these. */
  readonly hint?: string;
  readonly default?: string;
  readonly help: string;
}

const HTTP_OPTIONS = {
  transport: { type: 'string', hint: 'stdio|http|sse', default: 'stdio', help: 'How clients reach the server.' },
  host: { type: 'string', hint: 'HOST', default: DEFAULT_ADDRESS.host, help: 'Where http and sse listen.' },
  port: {
    type: 'string',
    hint: 'N',
    default: String(DEFAULT_ADDRESS.port),
    help: 'The port for http and sse; 0 chooses a free one.',
  },
  'allow-host': {
    type: 'string',
    multiple: true,
    hint: 'NAME',
    help: 'Another host name by which clients reach the server (http, sse). Repeatable.',
  },
  'allow-origin': {
    type: 'string',
    multiple: true,
    hint: 'URL',
    help: 'A web origin whose pages may use the server (http, sse). Repeatable.',
  },
  'no-auth': { type: 'boolean', help: 'Listen beyond this machine without a SKILLWIRE_TOKEN.' },
} as const satisfies Record<string, Option>;

const SKILL_OPTIONS = {
  'skill-dir': { type: 'string', multiple: true, hint: 'DIR', help: 'Also serve the skills found here. Repeatable.' },
  root: { type: 'string', hint: 'DIR', help: "The project's own skills; ./skills when it exists." },
  'no-default-dirs': { type: 'boolean', help: 'Leave out the well-known directories of project and home.' },
  'no-plugins': { type: 'boolean', help: 'Leave out the skills of installed plugins.' },
  'plugins-file': { type: 'string', hint: 'FILE', help: 'Read installed plugins from here.' },
  'plugins-root': { type: 'string', hint: 'DIR', help: 'The directory that relative plugin paths start from.' },
  include: { type: 'string', multiple: true, hint: 'P', help: 'Serve only what matches. Repeatable, comma separated.' },
  exclude: { type: 'string', multiple: true, hint: 'P', help: 'Leave out what matches. Repeatable, comma separated.' },
  'refresh-interval': {
    type: 'string',
    hint: 'MS',
    default: String(DEFAULT_REFRESH_INTERVAL),
    help: 'Milliseconds between two scans of the directories.',
  },
  'no-refresh': {
    type: 'boolean',
    help: 'No timer and no watcher: scan at the start, and when skills are listed or searched by tool.',
  },
  'no-watch': { type: 'boolean', help: 'Rely on the timer alone.' },
  names: {
    type: 'string',
    hint: 'auto|plain|safe',
    default: 'auto',
    help: 'How tool names are spelled; auto follows the client.',
  },
  describe: {
    type: 'string',
    hint: 'auto|full|compact|list',
    default: 'auto',
    help: 'How skills are listed in the tool description; auto follows the client.',
  },
  'description-budget': {
    type: 'string',
    hint: 'N',
    help: `Limit of a compact description, in characters (${DEFAULT_BUDGET}).`,
  },
  dedupe: { type: 'boolean', help: 'Fold byte-identical copies of a skill into one.' },
  'follow-symlinks': { type: 'boolean', help: 'Follow links out of the project too.' },
  tools: {
    type: 'string',
    hint: 'LIST',
    default: TOOL_NAMES.join(','),
    help: 'The own tools to serve; auto leaves out those that a client with the Skills extension does not need.',
  },
  'no-prompts': { type: 'boolean', help: 'Do not serve skills as prompts.' },
} as const satisfies Record<string, Option>;

const HUB_OPTIONS = {
  hub: { type: 'boolean', help: 'Serve the tools of other MCP servers too (~/.kode.json, ./.kode.json).' },
  config: {
    type: 'string',
    multiple: true,
    hint: 'FILE',
    help: 'Also read MCP servers from this file, in the format of .mcp.json. Repeatable.',
  },
  'trust-project': { type: 'boolean', help: "Let this project's .kode.json start its servers." },
  'health-interval': {
    type: 'string',
    hint: 'MS',
    default: String(DEFAULT_HEALTH_INTERVAL),
    help: 'Milliseconds of silence after which an upstream server is checked.',
  },
} as const satisfies Record<string, Option>;

const DOCTOR_OPTIONS = {
  json: { type: 'boolean', help: 'Output for programs (doctor).' },
} as const satisfies Record<string, Option>;

const GENERAL_OPTIONS = {
  'log-level': {
    type: 'string',
    hint: 'error|warn|info|debug',
    default: 'info',
    help: 'How much is logged on stderr.',
  },
  'no-color': { type: 'boolean', help: 'No colours on a terminal; NO_COLOR does the same.' },
  quiet: { type: 'boolean', short: 'q', help: 'Only errors on stderr.' },
  version: { type: 'boolean', short: 'v', help: 'Print the version.' },
  help: { type: 'boolean', short: 'h', help: 'Print this help.' },
} as const satisfies Record<string, Option>;

/** In the order in which help and README show them. */
export const OPTIONS = {
  ...HTTP_OPTIONS,
  ...SKILL_OPTIONS,
  ...HUB_OPTIONS,
  ...DOCTOR_OPTIONS,
  ...GENERAL_OPTIONS,
} as const;

/** The options of the program that serves skills on stdin and stdout and does nothing else. */
export const STDIO_OPTIONS = { ...SKILL_OPTIONS, ...GENERAL_OPTIONS } as const;

export const COMMANDS = {
  serve: {
    aliases: ['mcp', 'mcp-server'],
    help: 'Serve MCP, on stdin and stdout unless --transport says otherwise (the default).',
  },
  doctor: {
    aliases: [],
    help: 'Show which skills were found where, all problems, and, with --hub, the states of upstream servers.',
  },
  trust: { aliases: [], help: "Allow this project's .kode.json, as it is now, to start its servers." },
} as const satisfies Record<string, { readonly aliases: readonly string[]; readonly help: string }>;

export function helpText(): string {
  const usage = Object.entries(COMMANDS).map(([name, { aliases, help }]): Row => {
    const also = aliases.length > 0 ? ` Also: ${aliases.join(', ')}.` : '';
    return [`skillwire ${name === 'serve' ? `[${name}]` : name}`, help + also];
  });
  return helpWith('skillwire: every agent skill on this machine behind one MCP server.', usage, optionRows());
}

export function stdioHelpText(): string {
  const usage: Row = ['skillwire-stdio [serve]', 'Serve MCP on stdin and stdout.'];
  const title = 'skillwire-stdio: every agent skill on this machine behind one MCP server, on stdin and stdout.';
  return helpWith(title, [usage], optionRows(STDIO_OPTIONS));
}

/** Flag and explanation of every option, for the help and the README. */
export function optionRows(options: Readonly<Record<string, Option>> = OPTIONS): readonly Row[] {
  return Object.entries(options).map(([name, { short, hint, help, default: standard }]) => [
    `${short ? `-${short}, ` : ''}--${name}${hint ? ` ${hint}` : ''}`,
    standard === undefined ? help : `${help} Default: ${standard}.`,
  ]);
}

// --- internal ---

type Row = readonly [flag: string, help: string];

function helpWith(title: string, usage: readonly Row[], options: readonly Row[]): string {
  const width = Math.max(...options.map(([flag]) => flag.length)) + 2;
  const lines = (rows: readonly Row[]) => rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`).join('\n');
  const patterns = 'Patterns: provider, provider:glob, plugin:glob, @plugins, or a glob over names. Excludes win.';
  return `${title}\n\nUsage:\n${lines(usage)}\n\nOptions:\n${lines(options)}\n\n${patterns}\n`;
}
