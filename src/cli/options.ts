/**
 * The command line, as one table: parsing, help, the README's table and the types are read off it.
 * Owns: flags and what they may hold. Leaves alone: what the program does with them.
 */
import { parseArgs } from 'node:util';
import {
  DEFAULT_ADDRESS,
  DEFAULT_HEALTH_INTERVAL,
  DEFAULT_REFRESH_INTERVAL,
  type ListenAddress,
  type SkillwireOptions,
  TOOL_NAMES,
} from '../config.ts';
import type { LEVELS, Level } from '../log.ts';
import { DEFAULT_BUDGET } from '../methods/host-profiles.ts';
import { nearest } from '../skills/nearest.ts';
import type { ToolName } from '../tools/table.ts';

/** Something the person at the keyboard can mend: one line on stderr, exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  readonly short?: string;
  /** What the value looks like; `a|b` is a choice of exactly these. */
  readonly hint?: string;
  readonly default?: string;
  readonly help: string;
}

export const OPTIONS = {
  transport: { type: 'string', hint: 'stdio|http|sse', default: 'stdio', help: 'How clients reach the server.' },
  host: { type: 'string', hint: 'HOST', default: DEFAULT_ADDRESS.host, help: 'Where http and sse listen.' },
  port: {
    type: 'string',
    hint: 'N',
    default: String(DEFAULT_ADDRESS.port),
    help: 'The port they listen on; 0 takes a free one.',
  },
  'allow-host': {
    type: 'string',
    multiple: true,
    hint: 'NAME',
    help: 'A further name by which clients reach it (http, sse). Repeatable.',
  },
  'allow-origin': {
    type: 'string',
    multiple: true,
    hint: 'URL',
    help: 'A web origin whose pages may use it (http, sse). Repeatable.',
  },
  'no-auth': { type: 'boolean', help: 'Listen beyond this machine without a SKILLWIRE_TOKEN.' },
  'skill-dir': { type: 'string', multiple: true, hint: 'DIR', help: 'Also serve the skills found here. Repeatable.' },
  root: { type: 'string', hint: 'DIR', help: "The project's own skills; ./skills when it exists." },
  'no-default-dirs': { type: 'boolean', help: 'Leave out the well-known directories of project and home.' },
  'no-plugins': { type: 'boolean', help: 'Leave out the skills of installed plugins.' },
  'plugins-file': { type: 'string', hint: 'FILE', help: 'Read installed plugins from here.' },
  'plugins-root': { type: 'string', hint: 'DIR', help: 'Where relative plugin paths begin.' },
  include: { type: 'string', multiple: true, hint: 'P', help: 'Serve only what matches. Repeatable, comma separated.' },
  exclude: { type: 'string', multiple: true, hint: 'P', help: 'Leave out what matches. Repeatable, comma separated.' },
  'refresh-interval': {
    type: 'string',
    hint: 'MS',
    default: String(DEFAULT_REFRESH_INTERVAL),
    help: 'Milliseconds between two looks at the directories.',
  },
  'no-refresh': {
    type: 'boolean',
    help: 'Neither timer nor watcher: look at the start, and when skills are listed or searched by tool.',
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
    help: `Most characters of a compact description (${DEFAULT_BUDGET}).`,
  },
  dedupe: { type: 'boolean', help: 'Fold byte-identical copies of a skill into one.' },
  'follow-symlinks': { type: 'boolean', help: 'Follow links out of the project too.' },
  tools: {
    type: 'string',
    hint: 'LIST',
    default: TOOL_NAMES.join(','),
    help: 'Which of our own tools to serve; auto leaves out those a client with the Skills extension does not need.',
  },
  'no-prompts': { type: 'boolean', help: 'Do not offer skills as prompts.' },
  hub: { type: 'boolean', help: 'Serve the tools of other MCP servers too (~/.kode.json, ./.kode.json).' },
  config: {
    type: 'string',
    multiple: true,
    hint: 'FILE',
    help: 'Also take MCP servers from here, in the shape of .mcp.json. Repeatable.',
  },
  'trust-project': { type: 'boolean', help: "Let this project's .kode.json start its servers." },
  'health-interval': {
    type: 'string',
    hint: 'MS',
    default: String(DEFAULT_HEALTH_INTERVAL),
    help: 'Milliseconds between two looks at a quiet upstream server.',
  },
  json: { type: 'boolean', help: 'Output for programs (doctor).' },
  'log-level': { type: 'string', hint: 'error|warn|info|debug', default: 'info', help: 'How much is said on stderr.' },
  'no-color': { type: 'boolean', help: 'No colours on a terminal; NO_COLOR does the same.' },
  quiet: { type: 'boolean', short: 'q', help: 'Only errors on stderr.' },
  version: { type: 'boolean', short: 'v', help: 'Print the version.' },
  help: { type: 'boolean', short: 'h', help: 'Print this help.' },
} as const satisfies Record<string, Option>;

export const COMMANDS = {
  serve: {
    aliases: ['mcp', 'mcp-server'],
    help: 'Serve MCP, on stdin and stdout unless --transport says otherwise (the default).',
  },
  doctor: {
    aliases: [],
    help: 'Show what was found where, what is wrong with it, and, with --hub, how upstream servers are doing.',
  },
  trust: { aliases: [], help: "Allow this project's .kode.json, as it is now, to start its servers." },
} as const satisfies Record<string, { readonly aliases: readonly string[]; readonly help: string }>;

/** How the program talks to the person at the terminal. */
export interface LogOptions {
  readonly level: Level;
  readonly colour: boolean;
}

export interface ServeCommand {
  readonly kind: 'serve';
  readonly options: SkillwireOptions;
  readonly transport: 'stdio' | 'http' | 'sse';
  /** For the transports that listen. */
  readonly where: Required<Omit<ListenAddress, 'token'>>;
  readonly talk: LogOptions;
}

/** A look at what would be served. */
export interface DoctorCommand {
  readonly kind: 'doctor';
  readonly options: SkillwireOptions;
  readonly json: boolean;
}

export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'trust' }
  | DoctorCommand
  | ServeCommand;

export function parseCommand(argv: readonly string[]): Command {
  const { values, positionals } = parseTable(argv);
  if (values.help) return { kind: 'help' };
  if (values.version) return { kind: 'version' };
  const [word = 'serve', ...rest] = positionals;
  const kind = commandOf(word);
  if (kind === undefined) throw new UsageError(`unknown command "${word}"${hintFor(word, commandWords())}`);
  if (rest.length > 0) throw new UsageError(`unexpected argument "${rest[0]}"`);
  if (kind === 'trust') return { kind };
  if (kind === 'doctor') return { kind, options: skillwireOptions(values), json: values.json ?? false };
  const level = choice('log-level', values['log-level']);
  const talk: LogOptions = { level: values.quiet ? 'error' : level, colour: !values['no-color'] };
  const transport = choice('transport', values.transport);
  return { kind: 'serve', options: skillwireOptions(values), transport, where: listenAddress(values), talk };
}

export function helpText(): string {
  const rows = optionRows();
  const width = Math.max(...rows.map(([flag]) => flag.length)) + 2;
  const commands = Object.entries(COMMANDS).map(([name, { aliases, help }]) => {
    const usage = `skillwire ${name === 'serve' ? `[${name}]` : name}`.padEnd(width);
    return `  ${usage}${help}${aliases.length > 0 ? ` Also: ${aliases.join(', ')}.` : ''}`;
  });
  const flags = rows.map(([flag, help]) => `  ${flag.padEnd(width)}${help}`);
  return [
    'skillwire: every agent skill on this machine behind one MCP server.',
    ['Usage:', ...commands].join('\n'),
    ['Options:', ...flags].join('\n'),
    'Patterns: provider, provider:glob, plugin:glob, @plugins, or a glob over names. Excludes win.',
  ]
    .join('\n\n')
    .concat('\n');
}

/** Flag and explanation of every option, for the help and the README. */
export function optionRows(): readonly (readonly [flag: string, help: string])[] {
  return Object.entries<Option>(OPTIONS).map(([name, { short, hint, help, default: standard }]) => [
    `${short ? `-${short}, ` : ''}--${name}${hint ? ` ${hint}` : ''}`,
    standard === undefined ? help : `${help} Default: ${standard}.`,
  ]);
}

// --- internal ---

type Values = ReturnType<typeof parseStrictly>['values'];

function parseStrictly(argv: readonly string[]) {
  return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true, strict: true });
}

function parseTable(argv: readonly string[]) {
  try {
    return parseStrictly(argv);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const flag = /^Unknown option '(-[^']*)'/.exec(message)?.[1];
    if (flag === undefined) throw new UsageError(message.split('\n', 1)[0]?.replace(/\. To .*$/, '') ?? message);
    const known = Object.keys(OPTIONS).map((name) => `--${name}`);
    throw new UsageError(`unknown option ${flag}${hintFor(flag, known)}`);
  }
}

/** An empty name of a file or directory is a variable that was not set; it must not come to mean the working directory. */
function refuseEmptyPaths(values: Values): void {
  for (const name of ['skill-dir', 'root', 'plugins-file', 'plugins-root', 'config'] as const) {
    if ([values[name] ?? []].flat().some((path) => path.trim() === ''))
      throw new UsageError(
        `--${name} must be the path of a ${OPTIONS[name].hint === 'DIR' ? 'directory' : 'file'}, not ""`,
      );
  }
}

function skillwireOptions(values: Values): SkillwireOptions {
  refuseEmptyPaths(values);
  const budget = values['description-budget'];
  return {
    skillDirs: values['skill-dir'] ?? [],
    scanDefaultDirs: !values['no-default-dirs'],
    skipPlugins: values['no-plugins'] ?? false,
    include: values.include ?? [],
    exclude: values.exclude ?? [],
    autoRefresh: !values['no-refresh'],
    refreshInterval: wholeNumber('refresh-interval', values['refresh-interval'], 1),
    watch: !values['no-watch'],
    names: choice('names', values.names),
    describe: choice('describe', values.describe),
    dedupe: values.dedupe ?? false,
    tools: toolNames(values.tools),
    prompts: !values['no-prompts'],
    followSymlinks: values['follow-symlinks'] ?? false,
    hub: values.hub ?? false,
    configFiles: values.config ?? [],
    trustProject: values['trust-project'] ?? false,
    healthInterval: wholeNumber('health-interval', values['health-interval'], 1),
    ...(values.root === undefined ? {} : { root: values.root }),
    ...(values['plugins-file'] === undefined ? {} : { pluginsFile: values['plugins-file'] }),
    ...(values['plugins-root'] === undefined ? {} : { pluginsRoot: values['plugins-root'] }),
    ...(budget === undefined ? {} : { descriptionBudget: wholeNumber('description-budget', budget, 200) }),
  };
}

function listenAddress(values: Values): ServeCommand['where'] {
  return {
    // A v6 address may come in the brackets it has in a URL.
    host: values.host.replace(/^\[(.*)\]$/, '$1'),
    port: wholeNumber('port', values.port, 0, LARGEST_PORT),
    allowHosts: (values['allow-host'] ?? []).map((name) =>
      shaped('allow-host', name, HOST_NAME, 'a name or an address'),
    ),
    allowOrigins: (values['allow-origin'] ?? []).map((url) =>
      shaped('allow-origin', url, ORIGIN, 'scheme://host[:port]'),
    ),
    noAuth: values['no-auth'] ?? false,
  };
}

const LARGEST_PORT = 65_535;
const HOST_NAME = /^(?:[a-z0-9._-]+|\[?[0-9a-f:.]+\]?)$/i;
// No wildcard: whoever allows all web pages allows all web pages to read this user's skills.
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/*?#]+$/i;

function shaped(name: string, value: string, shape: RegExp, what: string): string {
  if (shape.test(value)) return value;
  throw new UsageError(`--${name} must be ${what}, not "${value}"`);
}

/** Options whose hint lists the values they may have. */
interface Choices {
  readonly transport: ServeCommand['transport'];
  readonly names: 'auto' | 'plain' | 'safe';
  readonly describe: 'auto' | 'full' | 'compact' | 'list';
  readonly 'log-level': (typeof LEVELS)[number];
}

function choice<K extends keyof Choices>(name: K, value: string): Choices[K] {
  const allowed = OPTIONS[name].hint.split('|');
  if (!allowed.includes(value))
    throw new UsageError(`--${name} must be one of ${allowed.join(', ')}, not "${value}"${hintFor(value, allowed)}`);
  return value as Choices[K];
}

function toolNames(value: string): 'auto' | readonly ToolName[] {
  if (value === 'auto') return value;
  const words = value.split(',').map((word) => word.trim());
  const unknown = words.find((word) => !TOOL_NAMES.some((name) => name === word));
  if (unknown === undefined) return TOOL_NAMES.filter((name) => words.includes(name));
  const known = ['auto', ...TOOL_NAMES];
  throw new UsageError(`--tools takes ${known.join(', ')}, not "${unknown}"${hintFor(unknown, known)}`);
}

// Timers take no more than this.
const LARGEST = 2 ** 31 - 1;

function wholeNumber(name: string, value: string, least: number, most = LARGEST): number {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`--${name} must be a whole number from ${least} to ${most}, not "${value}"`);
}

function commandWords(): string[] {
  return Object.entries(COMMANDS).flatMap(([name, { aliases }]) => [name, ...aliases]);
}

function commandOf(word: string): keyof typeof COMMANDS | undefined {
  const named = (name: keyof typeof COMMANDS) => [name, ...COMMANDS[name].aliases].some((one) => one === word);
  return (['serve', 'doctor', 'trust'] as const).find(named);
}

function hintFor(word: string, known: readonly string[]): string {
  const [near] = nearest(word, known, (one) => [one]);
  return near === undefined ? '' : `; did you mean ${near}?`;
}
