/**
 * The roots that installed Claude plugins contribute.
 * Owns: reading installed_plugins.json, settings, manifests and marketplaces. Leaves alone: the skills inside (scan.ts).
 * Always true: a plugin gives only the skills it names, never the rest of a repository it shares with others;
 * a file that is missing is no fault, one that cannot be understood is a Problem of its own and stops nothing else.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import * as v from 'valibot';
import { messageOf } from '../log.ts';
import type { Plugin, Problem, Watched } from '../model.ts';
import { isInside, isMissing, readRegularFile } from './files.ts';
import { claudeHome, type Root, type Surroundings } from './roots.ts';

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

export function findPlugins(options: PluginOptions): Plugins {
  const { cwd } = options;
  const pluginsRoot = options.pluginsRoot ? resolve(cwd, options.pluginsRoot) : join(claudeHome(options), 'plugins');
  const file = options.pluginsFile ? resolve(cwd, options.pluginsFile) : join(pluginsRoot, 'installed_plugins.json');
  const settings = settingsFiles(options);
  const problems: Problem[] = [];
  const read: JsonReader = (path, schema) => {
    const reading = readJson(path, schema);
    if (reading.kind === 'faulty') problems.push({ where: path, what: reading.why });
    return reading.kind === 'read' ? reading.value : undefined;
  };

  const enabled = new Map(settings.flatMap((path) => Object.entries(read(path, Settings)?.enabledPlugins ?? {})));
  const roots: Root[] = [];
  for (const [id, value] of Object.entries(read(file, Installed)?.plugins ?? {})) {
    if (enabled.get(id) === false) continue;
    const parsed = v.safeParse(Installations, value);
    if (!parsed.success) {
      problems.push({
        where: file,
        what: `plugin "${id}" has no usable installPath`,
      });
      continue;
    }
    const installations = [parsed.output]
      .flat()
      .filter((one) => appliesTo(one, cwd))
      .sort(bySpecificity);
    if (installations.length === 0) continue;
    const paths = installations.map(({ installPath }) => resolve(pluginsRoot, installPath));
    const path = paths.find((one) => existsSync(one));
    if (path === undefined)
      problems.push({
        where: file,
        what: `plugin "${id}" is installed at ${paths[0]}, which does not exist`,
      });
    else roots.push(...pluginRoots(path, pluginOf(id), pluginsRoot, read, problems));
  }
  const confine = options.followSymlinks ? (root: Root): Root => ({ ...withoutBounds(root) }) : (root: Root) => root;
  const watched = [file, ...settings].map((path) => ({
    directory: dirname(path),
    only: basename(path),
  }));
  return { roots: roots.map(confine), problems, watched };
}

// --- internal ---

const SkillPaths = v.optional(v.fallback(v.union([v.string(), v.array(v.string())]), []));
const Installation = v.object({
  installPath: v.pipe(v.string(), v.nonEmpty()),
  scope: v.optional(v.string()),
  projectPath: v.optional(v.string()),
});
type Installation = v.InferOutput<typeof Installation>;
/** Version 1 has one installation per plugin, version 2 a list of them. */
const Installations = v.union([Installation, v.array(Installation)]);
const Installed = v.object({ plugins: v.record(v.string(), v.unknown()) });
const Settings = v.object({
  enabledPlugins: v.optional(v.fallback(v.record(v.string(), v.unknown()), {})),
});
const Manifest = v.object({ skills: SkillPaths });
const Marketplace = v.object({
  plugins: v.array(v.looseObject({ name: v.string(), skills: SkillPaths })),
});
const KnownMarketplaces = v.record(v.string(), v.unknown());
const KnownMarketplace = v.object({ installLocation: v.string() });

// Real ones have a few KiB.
const MAX_JSON_BYTES = 4 * 1024 * 1024;

type JsonReader = <T>(path: string, schema: v.GenericSchema<unknown, T>) => T | undefined;

function settingsFiles(options: PluginOptions): readonly string[] {
  const project = join(options.cwd, '.claude');
  const user = join(claudeHome(options), 'settings.json');
  // Later ones win.
  return [user, join(project, 'settings.json'), join(project, 'settings.local.json')];
}

/** `plugin@marketplace`; a plugin's own name may hold an @, a marketplace's may not. */
function pluginOf(id: string): Plugin {
  const at = id.lastIndexOf('@');
  return at > 0 ? { name: id.slice(0, at), marketplace: id.slice(at + 1) } : { name: id, marketplace: 'local' };
}

function appliesTo({ scope, projectPath }: Installation, cwd: string): boolean {
  if (scope !== 'project' && scope !== 'local') return true;
  if (projectPath === undefined || !isAbsolute(projectPath)) return false;
  try {
    return isInside(cwd, projectPath) && isInside(projectPath, cwd);
  } catch {
    return false; // The other project is gone.
  }
}

function bySpecificity(a: Installation, b: Installation): number {
  const rank = ({ scope }: Installation) => ['local', 'project'].indexOf(scope ?? '') >>> 0;
  return rank(a) - rank(b);
}

function pluginRoots(path: string, plugin: Plugin, pluginsRoot: string, read: JsonReader, problems: Problem[]): Root[] {
  const manifest = read(join(path, '.claude-plugin', 'plugin.json'), Manifest)?.skills;
  const named = manifest ?? marketplaceSkills(path, plugin, pluginsRoot, read);
  const root = {
    provider: 'claude',
    location: 'plugin',
    plugin,
    within: path,
  } as const;
  if (named === undefined) return [{ ...root, directory: join(path, 'skills'), depth: 1 }];
  return [named].flat().flatMap((relative) => {
    const directory = resolve(path, relative);
    if (directory !== path && !directory.startsWith(join(path, '/'))) {
      problems.push({
        where: path,
        what: `plugin "${plugin.name}" names skills outside itself: ${relative}`,
      });
      return [];
    }
    return [
      {
        ...root,
        directory,
        depth: existsSync(join(directory, 'SKILL.md')) ? 0 : 1,
      },
    ];
  });
}

/** The `skills` of the plugin's entry in its marketplace, wherever that marketplace lies. */
function marketplaceSkills(
  path: string,
  plugin: Plugin,
  pluginsRoot: string,
  read: JsonReader,
): string | string[] | undefined {
  const known = read(join(pluginsRoot, 'known_marketplaces.json'), KnownMarketplaces)?.[plugin.marketplace];
  const location = v.safeParse(KnownMarketplace, known);
  const homes = [
    join(pluginsRoot, 'marketplaces', plugin.marketplace),
    ...(location.success ? [resolve(pluginsRoot, location.output.installLocation)] : []),
    path,
  ];
  for (const home of homes) {
    const entries = read(join(home, '.claude-plugin', 'marketplace.json'), Marketplace)?.plugins ?? [];
    const entry = entries.find(({ name }) => name === plugin.name);
    if (entry) return entry.skills;
  }
  return undefined;
}

function withoutBounds({ within: _within, ...root }: Root): Root {
  return root;
}

type JsonReading<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'missing' }
  | { readonly kind: 'faulty'; readonly why: string };

function readJson<T>(path: string, schema: v.GenericSchema<unknown, T>): JsonReading<T> {
  try {
    const text = readRegularFile(path, MAX_JSON_BYTES)
      .bytes.toString()
      .replace(/^\ufeff/, '');
    const parsed = v.safeParse(schema, JSON.parse(text));
    if (parsed.success) return { kind: 'read', value: parsed.output };
    const [issue] = parsed.issues;
    return {
      kind: 'faulty',
      why: `${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`,
    };
  } catch (error) {
    return isMissing(error) ? { kind: 'missing' } : { kind: 'faulty', why: `cannot be read: ${messageOf(error)}` };
  }
}
