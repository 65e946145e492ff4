/**
 * The roots that installed Claude plugins contribute.
 * Owns: the meaning of installed_plugins.json, settings, manifests and marketplaces. Leaves alone: the skills (scan.ts).
 * Always true: a plugin gives only the skills it names, never the rest of a repository that several plugins share; a file
 * that cannot be understood is a Problem and affects nothing else.
 */
import { isAbsolute, join, resolve } from 'node:path';
import * as v from 'valibot';
import type { Settings } from '../config.ts';
import { createJsonReader } from '../files/json.ts';
import { isBelow, lookAt, realPathOrSame } from '../files/stat.ts';
import type { Plugin, Problem } from '../model.ts';
import { echo } from '../text.ts';
import { claudeHome, expandHome, prefixOf, type Root, SKILL_FILE } from './roots.ts';

/** Gives a function that finds the plugins that are installed when it is called. */
export function createPluginFinder(settings: Settings): (problems: Problem[]) => readonly Root[] {
  const { cwd, followSymlinks } = settings;
  const pluginsRoot = expandHome(settings, settings.pluginsRoot ?? join(claudeHome(settings), 'plugins'));
  const file = expandHome(settings, settings.pluginsFile ?? join(pluginsRoot, 'installed_plugins.json'));
  const readInstalled = createJsonReader(Installed);
  const readSettings = createJsonReader(ClaudeSettings);
  const findNamed = createNamedSkills(pluginsRoot);
  // In order: a later file overrides an earlier one.
  const settingsFiles = [
    join(claudeHome(settings), 'settings.json'),
    join(cwd, '.claude', 'settings.json'),
    join(cwd, '.claude', 'settings.local.json'),
  ];

  return (problems) => {
    const enabled = new Map(
      settingsFiles.flatMap((path) => Object.entries(readSettings(path, problems).value?.enabledPlugins ?? {})),
    );
    const installed = readInstalled(file, problems);
    if (!installed.value && !installed.fault && (settings.pluginsFile ?? settings.pluginsRoot) !== undefined)
      problems.push({ where: file, what: 'does not exist', hint: 'Correct --plugins-file or --plugins-root.' });
    return Object.entries(installed.value?.plugins ?? {}).flatMap(([id, value]) => {
      if (enabled.get(id) === false) return [];
      const report: Report = (what) => problems.push({ where: file, what: `plugin "${echo(id)}" ${what}`, hint: HINT });
      const path = findInstallation([value].flat(), pluginsRoot, cwd, report);
      if (path === undefined) return [];
      const { name, marketplace } = pluginOf(id);
      const root = {
        provider: 'claude',
        location: 'plugin',
        plugin: { name: prefixOf(name), marketplace: prefixOf(marketplace) },
        within: followSymlinks ? undefined : path,
      } as const;
      const named = findNamed(path, { name, marketplace }, problems);
      return skillDirectories(path, named, report).map((found) => ({ ...root, ...found }));
    });
  };
}

// --- internal ---

type Report = (what: string) => void;

const HINT = 'Install the plugin again, or remove it, with /plugin in Claude Code.';

/** Version 1 has one installation for each plugin, version 2 a list of them; both are read, whatever the file calls itself. */
const Installed = v.object({ plugins: v.record(v.string(), v.unknown()) });
const Installation = v.object({
  installPath: v.pipe(v.string(), v.nonEmpty()),
  scope: v.optional(v.string()),
  projectPath: v.optional(v.string(), ''),
});
const ClaudeSettings = v.object({ enabledPlugins: v.optional(v.record(v.string(), v.unknown()), {}) });
const SkillPaths = v.optional(v.union([v.string(), v.array(v.string())], 'must be a path or a list of paths'));
const Manifest = v.object({ skills: SkillPaths });
const MarketplaceEntry = v.object({ name: v.string(), skills: SkillPaths });
/** Gives the entries by name, made once per change of the file. */
const Marketplace = v.pipe(
  v.object({ plugins: v.array(v.unknown()) }),
  v.transform(({ plugins }) => {
    const entries = plugins.filter((one) => v.is(MarketplaceEntry, one));
    return new Map(entries.map(({ name, skills }) => [name, skills]));
  }),
);

/** `plugin@marketplace`; the name of a plugin may contain an @, that of a marketplace may not. */
function pluginOf(id: string): Plugin {
  const at = id.lastIndexOf('@');
  return at > 0 ? { name: id.slice(0, at), marketplace: id.slice(at + 1) } : { name: id, marketplace: 'local' };
}

// The narrower scope comes first; any other scope is for every project.
const SCOPES: readonly (string | undefined)[] = ['local', 'project'];

/** The directory of the installation for this project. */
function findInstallation(entries: readonly unknown[], pluginsRoot: string, cwd: string, report: Report) {
  const all = entries.flatMap((one) => {
    const parsed = v.safeParse(Installation, one);
    return parsed.success ? [parsed.output] : [];
  });
  if (all.length === 0) report('has no usable installPath');
  const isHere = (projectPath: string) =>
    isAbsolute(projectPath) && realPathOrSame(projectPath) === realPathOrSame(cwd);
  const narrow = SCOPES.flatMap((scope) => all.filter((one) => one.scope === scope && isHere(one.projectPath)));
  const wide = all.filter(({ scope }) => !SCOPES.includes(scope));
  const paths = [...narrow, ...wide].map(({ installPath }) => resolve(pluginsRoot, installPath));
  const [first] = paths;
  const usable = paths.find((path) => lookAt(path)?.isDirectory());
  if (!usable && first) report(`is installed at ${echo(first)}, where there is no directory`);
  return usable;
}

/**
 * Gives a function that finds the paths in a plugin's manifest or marketplace entry; undefined when neither has the field.
 * While one of the files cannot be understood there are none: a guess could give the plugin another plugin's skills.
 */
function createNamedSkills(pluginsRoot: string) {
  const readManifest = createJsonReader(Manifest);
  const readMarketplace = createJsonReader(Marketplace);

  return (path: string, plugin: Plugin, problems: Problem[]): readonly string[] | undefined => {
    const manifest = readManifest(join(path, '.claude-plugin', 'plugin.json'), problems);
    if (manifest.value?.skills !== undefined) return [manifest.value.skills].flat();
    if (manifest.fault && !manifest.value) return [];
    // The plugin may also be a copy of the whole marketplace.
    for (const home of [join(pluginsRoot, 'marketplaces', plugin.marketplace), path]) {
      const { value, fault } = readMarketplace(join(home, '.claude-plugin', 'marketplace.json'), problems);
      if (fault && !value) return [];
      const skills = value?.get(plugin.name);
      if (skills !== undefined) return [skills].flat();
    }
    return undefined;
  };
}

/** Each named path is a skill or a directory of skills. */
function skillDirectories(path: string, named: readonly string[] | undefined, report: Report) {
  if (named === undefined) return [{ directory: join(path, 'skills'), depth: 1 }];
  return named.flatMap((relative) => {
    const directory = resolve(path, relative);
    const isInside = isBelow(directory, path);
    if (isInside && lookAt(directory)?.isDirectory())
      return [{ directory, depth: lookAt(join(directory, SKILL_FILE))?.isFile() ? 0 : 1 }];
    report(`names ${echo(relative)}, which is ${isInside ? 'no directory' : 'outside of it'}`);
    return [];
  });
}
