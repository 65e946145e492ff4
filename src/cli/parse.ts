/**
 * From command-line arguments to a command.
 * Owns: which values are accepted, and the message for those that are not. Leaves alone: the table (options.ts).
 */
import { parseArgs } from 'node:util';
import { type ListenAddress, type SkillwireOptions, TOOL_NAMES } from '../config.ts';
import { type LEVELS, type Level, messageOf } from '../log.ts';
import { nearest } from '../skills/nearest.ts';
import type { ToolName } from '../tools/table.ts';
import { COMMANDS, OPTIONS, type Option, STDIO_OPTIONS } from './options.ts';

/** A mistake on the command line: one line on stderr, exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface LogOptions {
  readonly level: Level;
  /** Whether a terminal gets colours. */
  readonly colour: boolean;
}

export interface ServeCommand {
  readonly kind: 'serve';
  readonly options: SkillwireOptions;
  readonly log: LogOptions;
  readonly transport: 'stdio' | 'http' | 'sse';
  /** For the transports that listen. */
  readonly address: Required<Omit<ListenAddress, 'token'>>;
}

export interface DoctorCommand {
  readonly kind: 'doctor';
  readonly options: SkillwireOptions;
  readonly json: boolean;
}

export type Command = Words | { readonly kind: 'trust' } | DoctorCommand | ServeCommand;

/** A command of the program for stdio alone. */
export type StdioCommand = Words | Pick<ServeCommand, 'kind' | 'options' | 'log'>;

export function parseCommand(argv: readonly string[]): Command {
  const { values, positionals } = parseTable(argv, OPTIONS);
  if (values.help) return { kind: 'help' };
  if (values.version) return { kind: 'version' };
  const kind = commandOf(positionals, Object.keys(COMMANDS) as readonly CommandName[]);
  if (kind === 'trust') return { kind };
  const options = { ...skillOptions(values), ...hubOptions(values) };
  if (kind === 'doctor') return { kind, options, json: values.json ?? false };
  const transport = choice('transport', values.transport);
  return { kind, options, log: logOptions(values), transport, address: listenAddress(values) };
}

export function parseStdioCommand(argv: readonly string[]): StdioCommand {
  const { values, positionals } = parseTable(argv, STDIO_OPTIONS);
  if (values.help) return { kind: 'help' };
  if (values.version) return { kind: 'version' };
  commandOf(positionals, ['serve']);
  return { kind: 'serve', options: skillOptions(values), log: logOptions(values) };
}

// --- internal ---

type Words = { readonly kind: 'help' } | { readonly kind: 'version' };
type CommandName = keyof typeof COMMANDS;
type Values = ReturnType<typeof parseTable<typeof OPTIONS>>['values'];
type StdioValues = ReturnType<typeof parseTable<typeof STDIO_OPTIONS>>['values'];

function parseTable<T extends Readonly<Record<string, Option>>>(argv: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (error) {
    const message = messageOf(error);
    const flag = /^Unknown option '(-[^']*)'/.exec(message)?.[1];
    if (flag === undefined) throw new UsageError(message.split('\n', 1)[0]?.replace(/\. To .*$/, '') ?? message);
    const known = Object.keys(options).map((name) => `--${name}`);
    throw new UsageError(`unknown option ${flag}${hintFor(flag, known)}`);
  }
}

function commandOf<T extends CommandName>(positionals: readonly string[], allowed: readonly T[]): T {
  const [word = 'serve', ...rest] = positionals;
  const wordsOf = (name: T): readonly string[] => [name, ...COMMANDS[name].aliases];
  const kind = allowed.find((name) => wordsOf(name).includes(word));
  if (kind === undefined) throw new UsageError(`unknown command "${word}"${hintFor(word, allowed.flatMap(wordsOf))}`);
  if (rest.length > 0) throw new UsageError(`unexpected argument "${rest[0]}"`);
  return kind;
}

function logOptions(values: StdioValues): LogOptions {
  const level = choice('log-level', values['log-level']);
  return { level: values.quiet ? 'error' : level, colour: !values['no-color'] };
}

function skillOptions(values: StdioValues): SkillwireOptions {
  const budget = values['description-budget'];
  return {
    skillDirs: paths('skill-dir', values['skill-dir']),
    root: path('root', values.root),
    scanDefaultDirs: !values['no-default-dirs'],
    skipPlugins: values['no-plugins'] ?? false,
    pluginsFile: path('plugins-file', values['plugins-file']),
    pluginsRoot: path('plugins-root', values['plugins-root']),
    include: values.include ?? [],
    exclude: values.exclude ?? [],
    autoRefresh: !values['no-refresh'],
    refreshInterval: wholeNumber('refresh-interval', values['refresh-interval'], 1),
    watch: !values['no-watch'],
    names: choice('names', values.names),
    describe: choice('describe', values.describe),
    descriptionBudget: budget === undefined ? undefined : wholeNumber('description-budget', budget, 200),
    dedupe: values.dedupe ?? false,
    followSymlinks: values['follow-symlinks'] ?? false,
    tools: toolNames(values.tools),
    prompts: !values['no-prompts'],
  };
}

function hubOptions(values: Values): SkillwireOptions {
  return {
    hub: values.hub ?? false,
    configFiles: paths('config', values.config),
    trustProject: values['trust-project'] ?? false,
    healthInterval: wholeNumber('health-interval', values['health-interval'], 1),
  };
}

type PathOption = 'skill-dir' | 'root' | 'plugins-file' | 'plugins-root' | 'config';

/** An empty path usually comes from a variable that was not set. It must not come to mean the working directory. */
function path<T extends string | undefined>(name: PathOption, value: T): T {
  if (value?.trim() !== '') return value;
  throw new UsageError(
    `--${name} must be the path of a ${OPTIONS[name].hint === 'DIR' ? 'directory' : 'file'}, not ""`,
  );
}

function paths(name: PathOption, values: readonly string[] = []): readonly string[] {
  return values.map((value) => path(name, value));
}

function listenAddress(values: Values): ServeCommand['address'] {
  return {
    // An IPv6 address may have the brackets that it has in a URL.
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
// No wildcard: it would let every web page read this user's skills.
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/*?#]+$/i;

function shaped(name: string, value: string, shape: RegExp, what: string): string {
  if (shape.test(value)) return value;
  throw new UsageError(`--${name} must be ${what}, not "${value}"`);
}

/** The options whose hint lists the allowed values. */
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

// The longest timeout that Node takes.
const LARGEST = 2 ** 31 - 1;

function wholeNumber(name: string, value: string, least: number, most = LARGEST): number {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`--${name} must be a whole number from ${least} to ${most}, not "${value}"`);
}

function hintFor(word: string, known: readonly string[]): string {
  const [near] = nearest(word, known, (one) => [one]);
  return near === undefined ? '' : `; did you mean ${near}?`;
}
