/**
 * The options of `createSkillwire` and their defaults, as one table.
 * Owns: names, defaults, and what each takes. Leaves alone: the command line's names for them (cli/options.ts), the
 * members of sources (skillwire.ts).
 */
import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { createLog } from './log.ts';
import type { HostOptions } from './methods/host-profiles.ts';
import type { Source } from './model.ts';
import { nearest } from './skills/nearest.ts';
import { splitPatterns } from './skills/patterns.ts';
import { TOOL_NAMES, type ToolName } from './tools/instructions.ts';
import { MAX_TIMER_MS } from './wait.ts';

/** Hosts whose configuration can be imported. Where they keep it is known to the hub alone. */
export const HOST_NAMES = [
  ...(['claude-code', 'claude-desktop', 'codex', 'cursor', 'vscode'] as const),
  ...(['gemini', 'opencode', 'zed', 'copilot', 'windsurf'] as const),
] as const;
type HostName = (typeof HOST_NAMES)[number];

const HOME = homedir();

export const DEFAULTS = {
  /** More directories with skills. */
  skillDirs: [] as readonly string[],
  /** The project's own skills; `./skills` when it exists. */
  root: undefined as string | undefined,
  /** Whether `./skills` and the well-known directories of project and home are scanned. */
  scanDefaultDirs: true,
  skipPlugins: false,
  pluginsFile: undefined as string | undefined,
  pluginsRoot: undefined as string | undefined,
  include: [] as readonly string[],
  exclude: [] as readonly string[],
  /** Whether there are a timer and a watcher. */
  autoRefresh: true,
  /** Milliseconds between two timed refreshes; 30,000, and ten times that while everything is watched. */
  refreshInterval: undefined as number | undefined,
  watch: true,
  dedupe: false,
  followSymlinks: false,
  names: 'auto' as HostOptions['names'],
  describe: 'auto' as HostOptions['describe'],
  descriptionBudget: undefined as number | undefined,
  /** Whether a client is not shown the skills that it finds by itself. */
  skipOwn: false,
  /** The own tools that are served; `auto` leaves out those that a client with the Skills extension does not need. */
  tools: TOOL_NAMES as 'auto' | readonly ToolName[],
  /** Whether every skill is a prompt too. */
  prompts: true,
  /** Whether the tools of other MCP servers are served too. */
  hub: false,
  /** More files with upstream servers. */
  configFiles: [] as readonly string[],
  /** The hosts whose own files with upstream servers are read too. */
  importHosts: [] as readonly HostName[],
  /** Whether the project's own files may start servers without having been trusted. */
  trustProject: false,
  /** What a person types to run `skillwire` with these words, for messages. */
  commandLine: undefined as ((words: readonly string[]) => string) | undefined,
  /** Milliseconds of silence after which an upstream server is checked. */
  healthInterval: 30_000,
  /** Sources of your own: tools, resources, skills. */
  sources: [] as readonly Source[],
  cwd: '.',
  // With an empty HOME the project would count as the home, and its files as the user's own.
  home: isAbsolute(HOME) ? HOME : '/',
  /** Where `CLAUDE_CONFIG_DIR` and `CODEX_HOME` are looked up. */
  env: {} as Readonly<Record<string, string | undefined>>,
  log: createLog(() => {}, 'error'),
};

export type Settings = Readonly<typeof DEFAULTS>;
export type SkillwireOptions = { readonly [K in keyof Settings]?: Settings[K] | undefined };

/** Where an HTTP transport listens. */
export const DEFAULT_ADDRESS = { host: '127.0.0.1', port: 3333, allowHosts: [], allowOrigins: [], noAuth: false };

/** Throws an Error that names the option that does not exist, or what it takes. */
export function settingsFrom(options: SkillwireOptions): Settings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  for (const [name, value] of Object.entries(given)) checkOption(name, value);
  const all: Settings = { ...DEFAULTS, ...given };
  const patterns = { include: splitPatterns(all.include), exclude: splitPatterns(all.exclude) };
  return { ...all, ...patterns, cwd: resolve(all.cwd), home: resolve(all.home) };
}

// --- internal ---

/** A value of the kind that each option takes: its default, if it has one. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  ...DEFAULTS,
  ...{ root: '', pluginsFile: '', pluginsRoot: '', refreshInterval: 1, descriptionBudget: 1, commandLine: () => '' },
};
/** The only texts that an option takes. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  names: ['auto', 'plain', 'safe'] satisfies Settings['names'][],
  describe: ['auto', 'full', 'compact', 'list'] satisfies Settings['describe'][],
  tools: TOOL_NAMES,
  importHosts: HOST_NAMES,
};
function checkOption(name: string, value: unknown): void {
  if (!Object.hasOwn(SAMPLES, name)) {
    const [near] = nearest(name, Object.keys(SAMPLES), (one) => [one]);
    throw new Error(`unknown option "${name}"${near === undefined ? '' : `; did you mean ${near}?`}`);
  }
  if (name === 'sources' || (name === 'tools' && value === 'auto')) return;
  // The other numbers are times.
  const most = name === 'descriptionBudget' ? Number.POSITIVE_INFINITY : MAX_TIMER_MS;
  const wanted = kindOf(SAMPLES[name], WORDS[name], most);
  if (!wanted.has(value)) throw new Error(`${name} must be ${name === 'tools' ? '"auto" or ' : ''}${wanted.what}`);
}

/** What values like the sample are, and whether one is such a value. `words`: the only texts; `most`: the largest number. */
function kindOf(sample: unknown, words: readonly string[] | undefined, most: number) {
  const isText = (one: unknown) => typeof one === 'string' && (words?.includes(one) ?? true);
  if (Array.isArray(sample))
    return {
      what: `a list of ${words?.join(', ') ?? 'texts'}`,
      has: (value: unknown) => Array.isArray(value) && value.every(isText),
    };
  switch (typeof sample) {
    case 'string':
      return { what: words ? `one of ${words.join(', ')}` : 'text', has: isText };
    case 'number':
      return {
        what: `a number from 1 to ${most}`,
        has: (value: unknown) => typeof value === 'number' && value >= 1 && value <= most,
      };
    case 'boolean':
      return { what: 'true or false', has: (value: unknown) => typeof value === 'boolean' };
    case 'function':
      return { what: 'a function', has: (value: unknown) => typeof value === 'function' };
    default:
      return { what: 'an object', has: (value: unknown) => typeof value === 'object' && value !== null };
  }
}
