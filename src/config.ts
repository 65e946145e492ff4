/**
 * The options of `createSkillwire` and their defaults: one schema, and one `Settings` for every room.
 * Leaves alone: the command line's names for them (cli/options.ts).
 */
import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import * as v from 'valibot';
import { HEALTH_MS, MAX_PATTERN, MAX_STARS, MAX_TIMER_MS, MIN_BUDGET, REFRESH_MS } from './limits.ts';
import { createLog, type Log } from './log.ts';
import type { Source } from './model.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty text usually comes from a variable that was not set. It must not come to mean the working directory. */
export const text = v.pipe(v.string('must be text'), v.regex(/\S/, 'is empty'));
export const flag = (standard: boolean) => v.optional(v.boolean('must be true or false'), standard);
export const list = <S extends v.GenericSchema>(item: S) => v.optional(v.array(item, 'must be a list of texts'), []);
export const choice = <const T extends string>(...all: readonly T[]) =>
  v.picklist(all, `must be one of ${all.join(', ')}`);
export const wholeNumber = (least: number, most = MAX_TIMER_MS) => {
  const message = `must be a whole number from ${least} to ${most}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(least, message), v.maxValue(most, message));
};

/** `--include` and `--exclude`: split at commas outside of braces. Longer patterns would take too long to match. */
export const patterns = v.pipe(
  list(v.string('must be a list of texts')),
  v.transform((values) => values.flatMap(splitAtCommas)),
  v.array(
    v.pipe(
      v.string(),
      v.maxLength(MAX_PATTERN, `has a pattern of over ${MAX_PATTERN} characters`),
      v.check((one) => one.split(/[*{]/).length <= MAX_STARS + 1, `has a pattern of over ${MAX_STARS} stars or braces`),
    ),
  ),
);

/** A tool without required arguments is first: some clients call the first one to see whether the server works. */
export const TOOLS = ['list', 'skill', 'search', 'read'] as const;
const path = v.pipe(text, v.transform(resolve));
const anObject = <T>() => v.custom<T>((one) => typeof one === 'object' && one !== null, 'must be an object');

export const OPTIONS = {
  /** More directories with skills. */
  skillDirs: list(text),
  /** The project's own skills; `./skills` when it exists. */
  root: v.optional(text),
  /** Whether `./skills` and the well-known directories of project and home are scanned. */
  scanDefaultDirs: flag(true),
  skipPlugins: flag(false),
  pluginsFile: v.optional(text),
  pluginsRoot: v.optional(text),
  include: patterns,
  exclude: patterns,
  /** Whether there are a timer and a watcher. */
  autoRefresh: flag(true),
  refreshInterval: v.optional(wholeNumber(1), REFRESH_MS),
  watch: flag(true),
  /** Whether byte-identical copies of a skill are folded into one. */
  dedupe: flag(false),
  followSymlinks: flag(false),
  names: v.optional(choice('auto', 'plain', 'safe'), 'auto'),
  describe: v.optional(choice('auto', 'full', 'compact', 'list'), 'auto'),
  descriptionBudget: v.optional(wholeNumber(MIN_BUDGET)),
  /** Which of our own tools are served. */
  tools: v.optional(v.array(v.picklist(TOOLS, `must be a list of ${TOOLS.join(', ')}`)), [...TOOLS]),
  /** Whether every skill is a prompt too. */
  prompts: flag(true),
  /** Whether the tools of other MCP servers are served too. */
  hub: flag(false),
  /** More files with upstream servers. */
  configFiles: list(text),
  /** `host:port` at which this server is reached: a hub does not connect to itself. */
  address: v.optional(text),
  /** Whether the project's own `.kode.json` may start servers without having been trusted. */
  trustProject: flag(false),
  /** Between two health checks of an upstream server. */
  healthInterval: v.optional(wholeNumber(1), HEALTH_MS),
  /** Sources of the embedder's own. */
  sources: v.optional(v.array(anObject<Source>()), []),
  cwd: v.optional(path, '.'),
  // With an empty HOME the project would count as the home, and its files as the user's own.
  home: v.optional(path, () => (isAbsolute(homedir()) ? homedir() : '/')),
  /** Where `CLAUDE_CONFIG_DIR`, `CODEX_HOME` and the variables of server entries are looked up. */
  env: v.optional(anObject<Environment>(), {}),
  log: v.optional(anObject<Log>(), () => createLog(() => {}, 'error')),
};
const Options = v.strictObject(OPTIONS);

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

/** A value without a pattern becomes an empty pattern, which matches nothing: `--include ""` must not include everything. */
function splitAtCommas(value: string): readonly string[] {
  const parts = value.match(/(?:\{(?:[^{}]|\{[^{}]*\})*\}|[^,])+/g) ?? [];
  const filled = parts.map((part) => part.trim()).filter((part) => part !== '');
  return filled.length > 0 ? filled : [''];
}
