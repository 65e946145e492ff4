/**
 * The options of `createSkillwire` and their defaults.
 * Owns: names and defaults. Leaves alone: the command line's names for them (cli/options.ts).
 */
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { RegistryOptions } from './catalog/registry.ts';
import type { TriggerOptions } from './catalog/triggers.ts';
import { createLog, type Log } from './log.ts';
import type { HostOptions } from './methods/host-profiles.ts';
import type { Source } from './model.ts';
import { splitPatterns } from './skills/patterns.ts';
import type { SkillSourceOptions } from './skills/source.ts';
import type { ToolName } from './tools/table.ts';

export const TOOL_NAMES: readonly ToolName[] = ['skill', 'list', 'search', 'read'];

export interface SkillwireOptions {
  /** More directories with skills. */
  readonly skillDirs?: readonly string[];
  /** The project's own skills; `./skills` when it exists. */
  readonly root?: string | undefined;
  /** Whether the well-known directories of project and home are scanned. */
  readonly scanDefaultDirs?: boolean;
  readonly skipPlugins?: boolean;
  readonly pluginsFile?: string | undefined;
  readonly pluginsRoot?: string | undefined;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly autoRefresh?: boolean;
  /** Milliseconds between two timed refreshes. */
  readonly refreshInterval?: number;
  readonly watch?: boolean;
  readonly dedupe?: boolean;
  readonly followSymlinks?: boolean;
  readonly names?: HostOptions['names'];
  readonly describe?: HostOptions['describe'];
  readonly descriptionBudget?: number | undefined;
  /** The own tools that are served; `auto` leaves out those that a client with the Skills extension does not need. */
  readonly tools?: 'auto' | readonly ToolName[];
  /** Whether every skill is a prompt too. */
  readonly prompts?: boolean;
  /** Whether the tools of other MCP servers are served too. */
  readonly hub?: boolean;
  /** More files with upstream servers. */
  readonly configFiles?: readonly string[];
  /** Whether the project's own file may start servers without having been trusted. */
  readonly trustProject?: boolean;
  /** Milliseconds of silence after which an upstream server is checked. */
  readonly healthInterval?: number;
  /** Sources of your own: tools, resources, skills. */
  readonly sources?: readonly Source[];
  readonly cwd?: string;
  readonly home?: string;
  /** Where `CLAUDE_CONFIG_DIR` and `CODEX_HOME` are looked up. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly log?: Log;
}

/** Where an HTTP transport listens, and who may use it. */
export interface ListenAddress {
  readonly host?: string;
  /** 0 chooses a free one. */
  readonly port?: number;
  /** More host names by which clients reach it. */
  readonly allowHosts?: readonly string[];
  /** Web origins whose pages may use it. */
  readonly allowOrigins?: readonly string[];
  /** The token that clients must send as `Authorization: Bearer`. */
  readonly token?: string | undefined;
  /** Listen beyond this machine without a token. */
  readonly noAuth?: boolean;
}

export const DEFAULT_ADDRESS = {
  host: '127.0.0.1',
  port: 3333,
  allowHosts: [],
  allowOrigins: [],
  noAuth: false,
} as const satisfies ListenAddress;

export interface Settings extends SkillSourceOptions, RegistryOptions, TriggerOptions, HostOptions {
  readonly tools: 'auto' | readonly ToolName[];
  readonly prompts: boolean;
  readonly hub: boolean;
  readonly configFiles: readonly string[];
  readonly trustProject: boolean;
  readonly healthInterval: number;
  readonly sources: readonly Source[];
  readonly log: Log;
}

export const DEFAULT_REFRESH_INTERVAL = 30_000;
export const DEFAULT_HEALTH_INTERVAL = 30_000;

export function settingsFrom(options: SkillwireOptions): Settings {
  return {
    cwd: resolve(options.cwd ?? '.'),
    home: resolve(options.home ?? homedir()),
    env: options.env ?? {},
    skillDirs: options.skillDirs ?? [],
    root: options.root,
    scanDefaultDirs: options.scanDefaultDirs ?? true,
    followSymlinks: options.followSymlinks ?? false,
    skipPlugins: options.skipPlugins ?? false,
    pluginsFile: options.pluginsFile,
    pluginsRoot: options.pluginsRoot,
    include: splitPatterns(options.include ?? []),
    exclude: splitPatterns(options.exclude ?? []),
    dedupe: options.dedupe ?? false,
    refreshInterval: (options.autoRefresh ?? true) ? (options.refreshInterval ?? DEFAULT_REFRESH_INTERVAL) : undefined,
    watch: options.watch ?? true,
    names: options.names ?? 'auto',
    describe: options.describe ?? 'auto',
    descriptionBudget: options.descriptionBudget,
    tools: options.tools ?? TOOL_NAMES,
    prompts: options.prompts ?? true,
    hub: options.hub ?? false,
    configFiles: options.configFiles ?? [],
    trustProject: options.trustProject ?? false,
    healthInterval: options.healthInterval ?? DEFAULT_HEALTH_INTERVAL,
    sources: options.sources ?? [],
    log: options.log ?? createLog(() => {}, 'error'),
  };
}
