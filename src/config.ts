/**
 * The options of `createSkillwire` and their defaults: one schema, and one `Settings` for every room.
 * Leaves alone: the command line's names for them (cli/options.ts).
 */
import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import * as v from 'valibot';
import { MAX_PATTERN, MAX_STARS, MAX_TIMER_MS, REFRESH_MS } from './limits.ts';
import { createLog, type Log } from './log.ts';
import type { Source } from './model.ts';

export const TOOL_NAMES = ['skill', 'list', 'search', 'read'] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

/** Tests of options that are plain enough for a schema by themselves. */
const flag = (standard: boolean) => v.optional(v.boolean('must be true or false'), standard);
const text = v.optional(v.string('must be text'));
const texts = v.optional(v.array(v.string('must be a list of texts'), 'must be a list of texts'), []);
export const milliseconds = (standard: number) => {
  const message = `must be a number from 1 to ${MAX_TIMER_MS}`;
  return v.optional(v.pipe(v.number(message), v.minValue(1, message), v.maxValue(MAX_TIMER_MS, message)), standard);
};

/** `--include` and `--exclude`: split at commas outside of braces. Longer patterns would take too long to match. */
export const patterns = v.pipe(
  texts,
  v.transform((values) => values.flatMap(splitPatterns)),
  v.array(
    v.pipe(
      v.string(),
      v.maxLength(MAX_PATTERN, `has a pattern of over ${MAX_PATTERN} characters`),
      v.check((one) => one.split('*').length - 1 <= MAX_STARS, `has a pattern with over ${MAX_STARS} stars`),
    ),
  ),
);

const Options = v.strictObject({
  /** More directories with skills. */
  skillDirs: texts,
  /** The project's own skills; `./skills` when it exists. */
  root: text,
  /** Whether `./skills` and the well-known directories of project and home are scanned. */
  scanDefaultDirs: flag(true),
  skipPlugins: flag(false),
  pluginsFile: text,
  pluginsRoot: text,
  include: patterns,
  exclude: patterns,
  /** Whether there are a timer and a watcher. */
  autoRefresh: flag(true),
  refreshInterval: milliseconds(REFRESH_MS),
  watch: flag(true),
  /** Whether byte-identical copies of a skill are folded into one. */
  dedupe: flag(false),
  followSymlinks: flag(false),
  names: v.optional(v.picklist(['auto', 'plain', 'safe'], 'must be auto, plain or safe'), 'auto'),
  describe: v.optional(v.picklist(['auto', 'full', 'compact', 'list'], 'must be auto, full, compact or list'), 'auto'),
  descriptionBudget: v.optional(v.pipe(v.number('must be a number'), v.minValue(200, 'must be at least 200'))),
  /** Which of our own tools are served. */
  tools: v.optional(v.array(v.picklist(TOOL_NAMES, `must be a list of ${TOOL_NAMES.join(', ')}`)), [...TOOL_NAMES]),
  /** Whether every skill is a prompt too. */
  prompts: flag(true),
  /** Whether the tools of other MCP servers are served too. */
  hub: flag(false),
  /** More files with upstream servers. */
  configFiles: texts,
  /** `host:port` at which this server is reached: a hub does not connect to itself. */
  address: text,
  /** Whether the project's own `.kode.json` may start servers without having been trusted. */
  trustProject: flag(false),
  /** Between two health checks of an upstream server. */
  healthInterval: milliseconds(30_000),
  /** Sources of the embedder's own. */
  sources: v.optional(v.array(v.custom<Source>((one) => typeof one === 'object' && one !== null)), []),
  cwd: v.optional(v.pipe(v.string('must be text'), v.transform(resolve)), '.'),
  home: v.optional(v.pipe(v.string('must be text'), v.transform(resolve)), homeOrRoot),
  /** Where `CLAUDE_CONFIG_DIR`, `CODEX_HOME` and the variables of server entries are looked up. */
  env: v.optional(
    v.custom<Environment>((one) => typeof one === 'object' && one !== null, 'must be an object'),
    {},
  ),
  log: v.optional(
    v.custom<Log>((one) => typeof one === 'object' && one !== null),
    () => createLog(() => {}, 'error'),
  ),
});

export type Environment = Readonly<Record<string, string | undefined>>;
export type SkillwireOptions = Readonly<v.InferInput<typeof Options>>;
export type Settings = Readonly<v.InferOutput<typeof Options>>;

/** Throws an Error that names the option, and says what it takes. */
export function settingsFrom(options: SkillwireOptions): Settings {
  const parsed = v.safeParse(Options, options);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const name = String(issue.path?.[0]?.key);
  throw new Error(issue.type === 'strict_object' ? `unknown option "${name}"` : `${name} ${issue.message}`);
}

// --- internal ---

/** With an empty HOME the project would count as the home, and its files as the user's own. */
function homeOrRoot(): string {
  const home = homedir();
  return isAbsolute(home) ? home : '/';
}

/**
 * The parts between commas outside of braces. A value without a pattern becomes an empty pattern, which matches nothing:
 * `--include "$UNSET"` must not include everything.
 */
function splitPatterns(value: string): readonly string[] {
  const parts = [''];
  let depth = 0;
  for (const char of value) {
    if (char === '{') depth++;
    if (char === '}') depth = Math.max(0, depth - 1);
    if (char === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += char;
  }
  const filled = parts.map((part) => part.trim()).filter((part) => part !== '');
  return filled.length > 0 ? filled : [''];
}
