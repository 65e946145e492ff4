/**
 * The directories that are searched for skills, in order of precedence.
 * Owns: the table of providers. Leaves alone: the skills below a root (scan.ts), plugins (plugins.ts).
 * Always true: custom roots come first, then `agents`, then the other providers by name; project before global.
 */
import { readdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { compare } from '../compare.ts';
import { isSameDirectory } from '../files/stats.ts';
import type { Location, Plugin } from '../model.ts';
import { MAX_DEPTH } from './limits.ts';

export interface Root {
  readonly directory: string;
  readonly provider: string;
  readonly location: Location;
  readonly plugin: Plugin | undefined;
  /** How many levels below the directory a skill may lie. */
  readonly depth: number;
  /** Symbolic links that leave this directory are not followed. Undefined: all are. */
  readonly within: string | undefined;
}

export interface Surroundings {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface RootOptions extends Surroundings {
  readonly skillDirs: readonly string[];
  /** Undefined: `./skills`, when it exists. */
  readonly root: string | undefined;
  readonly scanDefaultDirs: boolean;
  readonly followSymlinks: boolean;
}

/** Providers that exist even while they have no skill. */
export const WELL_KNOWN_PROVIDERS: readonly string[] = ['agents', 'claude', 'codex', 'custom'];

export function findRoots(options: RootOptions): readonly Root[] {
  const { cwd, scanDefaultDirs, followSymlinks } = options;
  // The links of a cloned repository must not lead out of it.
  const within = followSymlinks ? undefined : cwd;
  const custom = (directory: string) => rootAt(expandHome(options, directory), 'custom', 'custom');
  const asked = [...options.skillDirs, ...(options.root === undefined ? [] : [options.root])].map(custom);
  if (!scanDefaultDirs) return asked;
  // In the home directory the skills are the global ones, and the project has none of its own.
  const atHome = isSameDirectory(cwd, options.home);
  const global = globalRoots(options, atHome);
  const own = options.root === undefined ? ownRoots(cwd, global).map((root) => ({ ...root, within })) : [];
  const project = atHome ? [] : projectRoots(cwd).map((root) => ({ ...root, within }));
  const [first, rest] = [own.filter(isCustom), own.filter((root) => !isCustom(root))];
  return [...asked, ...first, ...[...rest, ...project, ...global].sort(byPrecedence)];
}

/** `$CLAUDE_CONFIG_DIR` or `~/.claude`. */
export function claudeHome(surroundings: Surroundings): string {
  return expandHome(surroundings, surroundings.env.CLAUDE_CONFIG_DIR || '~/.claude');
}

/** An absolute path. Clients start this program without a shell, so a `~` is not expanded yet. */
export function expandHome({ home, cwd }: Surroundings, path: string): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : resolve(cwd, path);
}

// --- internal ---

const UNIVERSAL = 'agents';

// Roots even while they do not exist, so that they are watched and the first skill in one of them is noticed at once.
const WELL_KNOWN = ['.agents', '.claude', '.codex'];

const isCustom = ({ location }: Root) => location === 'custom';

/** `./skills`. In a provider's own directory, such as `~/.claude`, it belongs to that provider. */
function ownRoots(cwd: string, global: readonly Root[]): Root[] {
  const directory = join(cwd, 'skills');
  if (global.some((root) => isSameDirectory(root.directory, directory))) return [];
  const name = basename(cwd);
  return [/^\.\w/.test(name) ? rootAt(directory, name, 'project') : rootAt(directory, 'custom', 'custom')];
}

function projectRoots(cwd: string): Root[] {
  return dotDirectories(cwd).map((name) => rootAt(join(cwd, name, 'skills'), name, 'project'));
}

/** `atHome`: the usual directories are searched too when the user has moved them; elsewhere they are the project's. */
function globalRoots(options: RootOptions, atHome: boolean): Root[] {
  const { home, env } = options;
  const moved = new Map([
    ['.claude', claudeHome(options)],
    ['.codex', expandHome(options, env.CODEX_HOME || '~/.codex')],
  ]);
  const own = dotDirectories(home).flatMap((name) => {
    const usual = join(home, name);
    const places = new Set([moved.get(name) ?? usual, ...(atHome ? [usual] : [])]);
    return [...places].map((place) => rootAt(join(place, 'skills'), name, 'global'));
  });
  const config = join(home, '.config');
  const configured = withSkills(config, namesIn(config)).map((name) => {
    return rootAt(join(config, name, 'skills'), name, 'global');
  });
  return [...own, ...configured];
}

function rootAt(directory: string, name: string, location: Location): Root {
  return { directory, provider: providerOf(name), location, plugin: undefined, depth: MAX_DEPTH, within: undefined };
}

/** By name, but the older spelling after the current one. */
function byAge(a: string, b: string): number {
  const key = (name: string) => (name === '.agent' ? '.agents ' : name);
  return compare(key(a), key(b));
}

/** `.agent` is an older spelling of `.agents`. */
function providerOf(name: string): string {
  const provider = name.replace(/^\./, '').toLowerCase();
  return provider === 'agent' ? UNIVERSAL : provider;
}

function dotDirectories(parent: string): readonly string[] {
  const found = namesIn(parent).filter((name) => name.length > 1 && name.startsWith('.') && name !== '.config');
  return [...new Set([...WELL_KNOWN, ...withSkills(parent, found)])].sort(byAge);
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return []; // A home directory that is missing or closed has no skills; this is not reported.
  }
}

function withSkills(parent: string, names: readonly string[]): readonly string[] {
  return names.filter((name) => isDirectory(join(parent, name, 'skills')));
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // Missing, or no access.
  }
}

/** Universal first, then by provider; the sort is stable, so project stays before global. */
function byPrecedence(a: Root, b: Root): number {
  return compare(rank(a), rank(b));
}

function rank({ provider }: Root): string {
  return provider === UNIVERSAL ? '' : provider;
}
