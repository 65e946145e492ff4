/**
 * The roots that installed Claude plugins contribute.
 * Owns: the meaning of installed_plugins.json, settings, manifests and marketplaces. Leaves alone: the skills (scan.ts).
 * Always true: a plugin gives only the skills it names, never the rest of a repository that several plugins share; a file
 * that cannot be understood is a Problem and affects nothing else.
 */
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import * as v from 'valibot';
import { createFileCache, type Links, parseJson } from '../files/parsed.ts';
import { isBelow, isSameDirectory, kindAt, watchEntry } from '../files/stats.ts';
import { lazy } from '../lazy.ts';
import type { Plugin, Problem } from '../model.ts';
import { shorten } from '../text.ts';
import { MOST_NAMED } from './limits.ts';
import { claudeHome, expandHome, prefixOf, type Root, SKILL_FILE, type Surroundings } from './roots.ts';

export interface PluginOptions extends Surroundings {
  /** Undefined: `installed_plugins.json` in the plugins root. */
  readonly pluginsFile: string | undefined;
  /** Undefined: `~/.claude/plugins`. */
  readonly pluginsRoot: string | undefined;
  readonly followSymlinks: boolean;
}

/** What has become of one entry of the plugins file. */
interface PluginState extends Plugin {
  readonly scope: string;
  /** `elsewhere`: it is installed for another project. `broken`: a Problem says why. */
  readonly state: 'enabled' | 'disabled' | 'elsewhere' | 'broken';
}

/** Gives a function that finds the plugins that are installed when it is called. */
export function createPluginFinder(options: PluginOptions) {
  const { cwd, home, followSymlinks } = options;
  const pluginsRoot = expandHome(options, options.pluginsRoot ?? join(claudeHome(options), 'plugins'));
  const file = expandHome(options, options.pluginsFile ?? join(pluginsRoot, 'installed_plugins.json'));
  const inside = (directory: string): Links => (followSymlinks ? 'all' : { within: directory });
  const readInstalled = jsonFile(installedSchema, 'the plugins file');
  const readSettings = jsonFile(settingsSchema);
  const findNamed = createNamedSkills(pluginsRoot, inside);
  const own = ['settings.json', 'settings.local.json'].map((name) => join(cwd, '.claude', name));
  // In order: a later file overrides an earlier one. In the home directory the project's files are the user's own.
  const settings: readonly (readonly [path: string, links: Links])[] = [
    [join(claudeHome(options), 'settings.json'), 'all'],
    ...own.map((path) => [path, isSameDirectory(cwd, home) ? 'all' : inside(cwd)] as const),
  ];

  return () => {
    const problems: Problem[] = [];
    const states: PluginState[] = [];
    const enabled = new Map(
      settings.flatMap(([path, links]) =>
        Object.entries(readSettings(path, links, problems).value?.enabledPlugins ?? {}),
      ),
    );
    const installed = readInstalled(file, 'all', problems);
    if (!installed.value && !installed.isFaulty && options.pluginsFile !== undefined)
      problems.push({ where: file, what: 'the plugins file is missing' });
    const roots = Object.entries(installed.value?.plugins ?? {}).flatMap(([id, value]) => {
      const report = (what: string) => void problems.push({ where: file, what: `plugin "${id}" ${what}` });
      const all = [value].flat().filter((one): one is Installation => v.is(installationSchema(), one));
      const isDisabled = enabled.get(id) === false;
      const reported = problems.length;
      const installation = isDisabled ? undefined : findInstallation(all, pluginsRoot, cwd, report);
      const { name, marketplace } = pluginOf(id);
      const plugin = { name: prefixOf(name), marketplace: prefixOf(marketplace) };
      const lost = isDisabled ? 'disabled' : problems.length > reported ? 'broken' : 'elsewhere';
      const { scope = 'user' } = installation ?? all[0] ?? {};
      states.push({ ...plugin, scope: prefixOf(scope), state: installation ? 'enabled' : lost });
      if (!installation) return [];
      const { path } = installation;
      const within = followSymlinks ? undefined : path;
      const root = { provider: 'claude', location: 'plugin', plugin, within } as const;
      const named = findNamed(path, { name, marketplace }, problems);
      return skillDirectories(path, named, report).map((found) => ({ ...root, ...found }));
    });
    const watched = [file, ...settings.map(([path]) => path)].map(watchEntry);
    return { roots, problems: problems.map(shortened), states, watched };
  };
}

// --- internal ---

/** Names, paths and the messages of schemas are texts from files, of any length. */
const shortened = ({ where, what }: Problem): Problem => ({ where, what: shorten(what, 1000) });

// Real files have a few KiB.
const MAX_JSON_BYTES = 4 * 1024 * 1024;

// Functions: jsonFile makes each schema when it reads the first file. The two that are used without it are lazy themselves.
const installedSchema = () => v.object({ plugins: v.record(v.string(), v.unknown()) });
const installationSchema = lazy(() =>
  v.object({
    installPath: v.pipe(v.string(), v.nonEmpty()),
    scope: v.optional(v.string()),
    projectPath: v.optional(v.string()),
  }),
);
type Installation = v.InferOutput<ReturnType<typeof installationSchema>>;
const settingsSchema = () => v.object({ enabledPlugins: v.optional(v.record(v.string(), v.unknown()), {}) });
const skillPaths = () => v.optional(v.union([v.string(), v.array(v.string())], 'must be a path or a list of paths'));
const manifestSchema = () => v.object({ skills: skillPaths() });
/** Gives paths by plugin; the first of several entries counts. The map is made once per change of the file. */
const marketplaceSchema = () => {
  const entry = v.object({ name: v.string(), skills: skillPaths() });
  return v.pipe(
    v.object({ plugins: v.array(v.unknown()) }),
    v.transform(({ plugins }) => {
      const entries = plugins.filter((one) => v.is(entry, one));
      return new Map(
        entries.toReversed().map(({ name, skills }) => [name, skills === undefined ? skills : [skills].flat()]),
      );
    }),
  );
};
const knownMarketplacesSchema = () => v.record(v.string(), v.unknown());
const knownMarketplaceSchema = lazy(() => v.object({ installLocation: v.string() }));

/** Gives a function that reads files of one shape, and reports what is wrong with them. `role`: what the file is for. */
function jsonFile<T>(makeSchema: () => v.GenericSchema<unknown, T>, role?: string) {
  const schema = lazy(makeSchema);
  const read = createFileCache(MAX_JSON_BYTES, (bytes) => v.safeParse(schema(), parseJson(bytes)));
  return (path: string, links: Links, problems: Problem[]) => {
    const { value, fault } = read(path, links);
    const report = (what: string) => problems.push({ where: path, what });
    if (fault) report(`cannot be read${role ? ` as ${role}` : ''}: ${fault.why}`);
    const issue = value?.issues?.[0];
    if (issue) report(`${role ? `is ${role}; ` : ''}${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`);
    const isFaulty = issue !== undefined || (value === undefined && fault !== undefined);
    return { value: value?.success ? value.output : undefined, isFaulty };
  };
}

/** `plugin@marketplace`; the name of a plugin may contain an @, that of a marketplace may not. */
function pluginOf(id: string): Plugin {
  const at = id.lastIndexOf('@');
  return at > 0 ? { name: id.slice(0, at), marketplace: id.slice(at + 1) } : { name: id, marketplace: 'local' };
}

// The narrower scope comes first; any other scope is for every project.
const SCOPES: readonly (string | undefined)[] = ['local', 'project'];

/** The installation for this project, and its directory. */
function findInstallation(
  all: readonly Installation[],
  pluginsRoot: string,
  cwd: string,
  report: (what: string) => void,
): (Installation & { readonly path: string }) | undefined {
  if (all.length === 0) report('has no usable installPath');
  const rank = ({ scope }: Installation) => (SCOPES.includes(scope) ? SCOPES.indexOf(scope) : SCOPES.length);
  const isHere = ({ projectPath = '' }: Installation) => isAbsolute(projectPath) && isSameDirectory(projectPath, cwd);
  const here = all
    .filter((one) => !SCOPES.includes(one.scope) || isHere(one))
    .sort((a, b) => rank(a) - rank(b))
    .map((one) => ({ ...one, path: resolve(pluginsRoot, one.installPath) }));
  const usable = here.find(({ path }) => kindAt(path) === 'directory');
  if (usable || !here[0]) return usable;
  const kind = kindAt(here[0].path);
  const why = kind === 'file' || kind === 'missing' ? 'where there is no directory' : `which cannot be read (${kind})`;
  report(`is installed at ${here[0].path}, ${why}`);
  return undefined;
}

/**
 * Gives a function that finds the paths in a plugin's manifest or marketplace entry; undefined when neither has the field.
 * While one of the files cannot be understood there are none: a guess could give the plugin another plugin's skills.
 */
function createNamedSkills(pluginsRoot: string, inside: (directory: string) => Links) {
  const readManifest = jsonFile(manifestSchema);
  const readMarketplace = jsonFile(marketplaceSchema);
  const readKnown = jsonFile(knownMarketplacesSchema);

  return (path: string, plugin: Plugin, problems: Problem[]): readonly string[] | undefined => {
    const manifest = readManifest(join(path, '.claude-plugin', 'plugin.json'), inside(path), problems);
    if (manifest.isFaulty) return [];
    if (manifest.value?.skills !== undefined) return [manifest.value.skills].flat();
    const known = readKnown(join(pluginsRoot, 'known_marketplaces.json'), 'all', problems).value?.[plugin.marketplace];
    const located = v.is(knownMarketplaceSchema(), known) ? [resolve(pluginsRoot, known.installLocation)] : [];
    // The plugin may also be a copy of the whole marketplace.
    for (const home of [join(pluginsRoot, 'marketplaces', plugin.marketplace), ...located, path]) {
      const marketplace = readMarketplace(join(home, '.claude-plugin', 'marketplace.json'), inside(home), problems);
      if (marketplace.isFaulty) return [];
      if (marketplace.value?.has(plugin.name)) return marketplace.value.get(plugin.name);
    }
    return undefined;
  };
}

/** Each named path is a skill or a directory of skills. */
function skillDirectories(
  path: string,
  named: readonly string[] | undefined,
  report: (what: string) => void,
): readonly Pick<Root, 'directory' | 'depth'>[] {
  if (named === undefined) return [{ directory: join(path, 'skills'), depth: 1 }];
  if (named.length > MOST_NAMED) report(`names ${named.length} paths of skills; only the first ${MOST_NAMED} are used`);
  const found: Pick<Root, 'directory' | 'depth'>[] = [];
  for (const relative of named.slice(0, MOST_NAMED)) {
    const target = resolve(path, relative);
    // Some manifests give the file instead of its directory.
    const directory = basename(target) === SKILL_FILE && kindAt(target) === 'file' ? dirname(target) : target;
    const kind = kindAt(directory);
    const why = kind === 'file' ? 'it is not a directory' : kind;
    if (!isBelow(directory, path)) report(`names skills outside itself: ${relative}`);
    else if (kind !== 'directory' && kind !== 'missing')
      report(`names skills at ${relative}, which cannot be read (${why})`);
    else found.push({ directory, depth: kindAt(join(directory, SKILL_FILE)) === 'missing' ? 1 : 0 });
  }
  return found;
}
