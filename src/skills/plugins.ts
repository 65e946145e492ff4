/**
 * The roots that installed Claude plugins contribute.
 * Owns: the meaning of installed_plugins.json, settings, manifests and marketplaces. Leaves alone: the skills (scan.ts).
 * Always true: a plugin gives only the skills it names, never the rest of a repository that several plugins share; a file
 * that cannot be understood is a Problem and affects nothing else.
 */
import { statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import * as v from 'valibot';
import { createJsonCache, type JsonReader } from '../files/json.ts';
import { codeOf, isBelow, isMissing, isSameDirectory, watchEntry } from '../files/stats.ts';
import { messageOf } from '../log.ts';
import type { Plugin, Problem, Watched } from '../model.ts';
import { shorten } from '../text.ts';
import { MOST_NAMED } from './limits.ts';
import { claudeHome, expandHome, type Root, type Surroundings } from './roots.ts';
import { SKILL_FILE } from './walk.ts';

export interface PluginOptions extends Surroundings {
  /** Undefined: `installed_plugins.json` in the plugins root. */
  readonly pluginsFile: string | undefined;
  /** Undefined: `~/.claude/plugins`. */
  readonly pluginsRoot: string | undefined;
  readonly followSymlinks: boolean;
}

export interface Plugins {
  readonly roots: readonly Root[];
  readonly problems: readonly Problem[];
  readonly watched: readonly Watched[];
}

/** Gives a function that finds the plugins that are installed when it is called. */
export function createPluginFinder(options: PluginOptions): () => Plugins {
  const { cwd, followSymlinks } = options;
  const within: Within = (directory) => (followSymlinks ? undefined : directory);
  const pluginsRoot = expandHome(options, options.pluginsRoot ?? join(claudeHome(options), 'plugins'));
  const file = expandHome(options, options.pluginsFile ?? join(pluginsRoot, 'installed_plugins.json'));
  const settings = settingsFiles(options, within);
  const readerFor = createJsonCache();

  return () => {
    const problems: Problem[] = [];
    const read = readerFor(problems);
    const enabled = new Map(settings.flatMap((one) => Object.entries(enabledIn(one, read))));
    const installed = read(file, Installed, { role: 'the plugins file' });
    if (installed.kind === 'missing' && options.pluginsFile !== undefined) {
      problems.push({ where: file, what: 'the plugins file is missing' });
    }
    const entries = installed.kind === 'read' ? Object.entries(installed.value.plugins) : [];
    const roots = entries.flatMap(([id, value]) => {
      if (enabled.get(id) === false) return [];
      const report = (what: string) =>
        void problems.push({ where: file, what: `plugin "${shorten(id, LONGEST_ID)}" ${what}` });
      const path = installPath(value, pluginsRoot, cwd, report);
      if (path === undefined) return [];
      const plugin = pluginOf(id);
      const named = namedSkills(path, plugin, pluginsRoot, read, within);
      const root = { ...PLUGIN_ROOT, within: within(path), plugin };
      return skillDirectories(path, named, report).map((found) => ({ ...root, ...found }));
    });
    return { roots, problems, watched: [file, ...settings.map(({ path }) => path)].map(watchEntry) };
  };
}

// --- internal ---

// How much of a text from a file a message shows.
const LONGEST_ID = 100;
const LONGEST_PATH = 300;

const PLUGIN_ROOT = { provider: 'claude', location: 'plugin' } as const;

const Installed = v.object({ plugins: v.record(v.string(), v.unknown()) });
const Installation = v.object({
  installPath: v.pipe(v.string(), v.nonEmpty()),
  scope: v.optional(v.string()),
  projectPath: v.optional(v.string()),
});
type Installation = v.InferOutput<typeof Installation>;
const Settings = v.object({ enabledPlugins: v.optional(v.record(v.string(), v.unknown()), {}) });
const SkillPaths = v.optional(v.union([v.string(), v.array(v.string())], 'must be a path or a list of paths'));
const Manifest = v.object({ skills: SkillPaths });
const MarketplaceEntry = v.object({ name: v.string(), skills: SkillPaths });
/** By name; the first of several entries counts. Made once per change of the file, not once per plugin. */
const Marketplace = v.pipe(
  v.object({ plugins: v.array(v.unknown()) }),
  v.transform(({ plugins }) => {
    const entries = new Map<string, v.InferOutput<typeof MarketplaceEntry>>();
    for (const one of plugins) {
      const entry = v.safeParse(MarketplaceEntry, one);
      if (entry.success && !entries.has(entry.output.name)) entries.set(entry.output.name, entry.output);
    }
    return entries;
  }),
);
const KnownMarketplaces = v.record(v.string(), v.unknown());
const KnownMarketplace = v.object({ installLocation: v.string() });

/** The directory that links of its files must not leave; undefined when they may. */
type Within = (directory: string) => string | undefined;

interface SettingsFile {
  readonly path: string;
  readonly within: string | undefined;
}

/** In order: a later file overrides an earlier one. */
function settingsFiles(options: PluginOptions, within: Within): readonly SettingsFile[] {
  const { cwd, home } = options;
  const user = { path: join(claudeHome(options), 'settings.json'), within: undefined };
  // In the home directory the project's files are the user's own.
  const project = isSameDirectory(cwd, home) ? undefined : within(cwd);
  const own = ['settings.json', 'settings.local.json'].map((name) => join(cwd, '.claude', name));
  return [user, ...own.map((path) => ({ path, within: project }))];
}

function enabledIn({ path, within }: SettingsFile, read: JsonReader): Readonly<Record<string, unknown>> {
  const settings = read(path, Settings, { within });
  return settings.kind === 'read' ? settings.value.enabledPlugins : {};
}

/** `plugin@marketplace`; the name of a plugin may contain an @, that of a marketplace may not. */
function pluginOf(id: string): Plugin {
  const at = id.lastIndexOf('@');
  return at > 0 ? { name: id.slice(0, at), marketplace: id.slice(at + 1) } : { name: id, marketplace: 'local' };
}

// The narrower scope comes first; any other scope is for every project.
const SCOPES: readonly (string | undefined)[] = ['local', 'project'];

/** The directory of the installation for this project. `value`: one installation (version 1) or a list of them. */
function installPath(
  value: unknown,
  pluginsRoot: string,
  cwd: string,
  report: (what: string) => void,
): string | undefined {
  const all = [value].flat().flatMap((one) => {
    const parsed = v.safeParse(Installation, one);
    return parsed.success ? [parsed.output] : [];
  });
  if (all.length === 0) report('has no usable installPath');
  const rank = ({ scope }: Installation) => (SCOPES.includes(scope) ? SCOPES.indexOf(scope) : SCOPES.length);
  const paths = all
    .filter((one) => !SCOPES.includes(one.scope) || isSameProject(one.projectPath, cwd))
    .sort((a, b) => rank(a) - rank(b))
    .map((one) => resolve(pluginsRoot, one.installPath));
  const path = paths.find((one) => kindAt(one).kind === 'directory');
  if (path !== undefined || paths[0] === undefined) return path;
  const found = kindAt(paths[0]);
  const why = found.kind === 'closed' ? `which cannot be read (${found.why})` : 'where there is no directory';
  report(`is installed at ${shorten(paths[0], LONGEST_PATH)}, ${why}`);
  return undefined;
}

function isSameProject(projectPath: string | undefined, cwd: string): boolean {
  return projectPath !== undefined && isAbsolute(projectPath) && isSameDirectory(projectPath, cwd);
}

type Kind =
  | { readonly kind: 'directory' | 'file' | 'missing' }
  /** The system refuses: no access, a circle of links, an impossible name. */
  | { readonly kind: 'closed'; readonly why: string };

/** Never throws: a bad path in one plugin must not affect the others. */
function kindAt(path: string): Kind {
  try {
    return { kind: statSync(path).isDirectory() ? 'directory' : 'file' };
  } catch (error) {
    return isMissing(error) ? { kind: 'missing' } : { kind: 'closed', why: codeOf(error) || messageOf(error) };
  }
}

/**
 * The paths in the manifest or the marketplace entry; undefined when neither has the field.
 * While one of the files cannot be understood there are none: a guess could give the plugin another plugin's skills.
 */
function namedSkills(
  path: string,
  plugin: Plugin,
  pluginsRoot: string,
  read: JsonReader,
  within: Within,
): readonly string[] | undefined {
  const manifest = read(join(path, '.claude-plugin', 'plugin.json'), Manifest, { within: within(path) });
  if (manifest.kind === 'faulty') return [];
  if (manifest.kind === 'read' && manifest.value.skills !== undefined) return [manifest.value.skills].flat();
  for (const home of marketplaceHomes(path, plugin, pluginsRoot, read)) {
    const marketplace = read(join(home, '.claude-plugin', 'marketplace.json'), Marketplace, { within: within(home) });
    if (marketplace.kind === 'faulty') return [];
    const entry = marketplace.kind === 'read' ? marketplace.value.get(plugin.name) : undefined;
    if (entry) return entry.skills === undefined ? undefined : [entry.skills].flat();
  }
  return undefined;
}

/** Where the marketplace of a plugin may be; the plugin may also be a copy of the whole marketplace. */
function marketplaceHomes(path: string, { marketplace }: Plugin, pluginsRoot: string, read: JsonReader): string[] {
  const known = read(join(pluginsRoot, 'known_marketplaces.json'), KnownMarketplaces);
  const entry = known.kind === 'read' ? v.safeParse(KnownMarketplace, known.value[marketplace]) : undefined;
  const located = entry?.success ? [resolve(pluginsRoot, entry.output.installLocation)] : [];
  return [join(pluginsRoot, 'marketplaces', marketplace), ...located, path];
}

/** Each named path is a skill or a directory of skills. */
function skillDirectories(
  path: string,
  named: readonly string[] | undefined,
  report: (what: string) => void,
): readonly Pick<Root, 'directory' | 'depth'>[] {
  if (named === undefined) return [{ directory: join(path, 'skills'), depth: 1 }];
  if (named.length > MOST_NAMED) report(`names ${named.length} paths of skills; only the first ${MOST_NAMED} are used`);
  return named.slice(0, MOST_NAMED).flatMap((relative) => {
    const target = resolve(path, relative);
    // Some manifests give the file instead of its directory.
    const isHead = basename(target) === SKILL_FILE && kindAt(target).kind === 'file';
    const directory = isHead ? dirname(target) : target;
    if (!isBelow(directory, path)) {
      report(`names skills outside itself: ${shorten(relative, LONGEST_PATH)}`);
      return [];
    }
    const found = kindAt(directory);
    if (found.kind === 'file' || found.kind === 'closed') {
      const why = found.kind === 'closed' ? found.why : 'it is not a directory';
      report(`names skills at ${shorten(relative, LONGEST_PATH)}, which cannot be read (${why})`);
      return [];
    }
    const isSkill = kindAt(join(directory, SKILL_FILE)).kind !== 'missing';
    return [{ directory, depth: isSkill ? 0 : 1 }];
  });
}
