/**
 * The directories that are searched for skills, in order of precedence.
 * Owns: the table of providers. Leaves alone: the skills below a root (scan.ts), plugins (plugins.ts).
 * Always true: custom roots come first, then `agents`, then the other providers by name; project before global.
 */
import { readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { compare } from '../compare.ts';
import { isSameDirectory, kindAt } from '../files/stats.ts';
import type { Location, Plugin } from '../model.ts';
import { cut, visibleLine } from '../text.ts';
import { LONGEST_NAME, MAX_DEPTH } from './limits.ts';

/** The file that makes a directory a skill. */
export const SKILL_FILE = 'SKILL.md';

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
  const { cwd, home, root, skillDirs, scanDefaultDirs, followSymlinks } = options;
  const asked = root === undefined ? skillDirs : [...skillDirs, root];
  const custom = asked.map((directory) => rootAt(expandHome(options, directory), 'custom', 'custom'));
  if (!scanDefaultDirs) return custom;
  // In the home directory the skills are the global ones, and the project has none of its own.
  const atHome = isSameDirectory(cwd, home);
  const global = globalRoots(options, atHome);
  const own = root === undefined ? ownRoots(cwd, global) : [];
  const project = atHome ? [] : dotDirectories(cwd).map((name) => rootAt(join(cwd, name, 'skills'), name, 'project'));
  // The links of a cloned repository must not lead out of it.
  const confined = [...own, ...project].map((one) => ({ ...one, within: followSymlinks ? undefined : cwd }));
  // The sort is stable, so project stays before global.
  return [...custom, ...confined, ...global].sort((a, b) => compare(rankOf(a), rankOf(b)));
}

/** `$CLAUDE_CONFIG_DIR` or `~/.claude`. */
export function claudeHome(surroundings: Surroundings): string {
  return expandHome(surroundings, surroundings.env.CLAUDE_CONFIG_DIR || '~/.claude');
}

/** `$CODEX_HOME` or `~/.codex`. */
export function codexHome(surroundings: Surroundings): string {
  return expandHome(surroundings, surroundings.env.CODEX_HOME || '~/.codex');
}

/** An absolute path. Clients start this program without a shell, so a `~` is not expanded yet. */
export function expandHome({ home, cwd }: Surroundings, path: string): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : resolve(cwd, path);
}

/** A provider or plugin name as it stands before a skill's name and a colon. Directories and files choose them. */
export function prefixOf(name: string): string {
  return cut(visibleLine(name), LONGEST_NAME);
}

// --- internal ---

const UNIVERSAL = 'agents';

// Roots even while they do not exist, so that they are watched and the first skill in one of them is noticed at once.
const WELL_KNOWN = ['.agents', '.claude', '.codex'];

/** Custom first, then universal, then by provider. */
const rankOf = ({ location, provider }: Root) => (location === 'custom' ? '' : provider === UNIVERSAL ? ' ' : provider);

/** `./skills`. In a provider's own directory, such as `~/.claude`, it belongs to that provider. */
function ownRoots(cwd: string, global: readonly Root[]): Root[] {
  const directory = join(cwd, 'skills');
  if (global.some((root) => isSameDirectory(root.directory, directory))) return [];
  const name = basename(cwd);
  return [/^\.\w/.test(name) ? rootAt(directory, name, 'project') : rootAt(directory, 'custom', 'custom')];
}

/** `atHome`: the usual directories are searched too when the user has moved them; elsewhere they are the project's. */
function globalRoots(options: RootOptions, atHome: boolean): Root[] {
  const { home } = options;
  const moved = new Map([
    ['.claude', claudeHome(options)],
    ['.codex', codexHome(options)],
  ]);
  const own = dotDirectories(home).flatMap((name) => {
    const usual = join(home, name);
    const places = new Set([moved.get(name) ?? usual, ...(atHome ? [usual] : [])]);
    return [...places].map((place) => rootAt(join(place, 'skills'), name, 'global'));
  });
  const config = join(home, '.config');
  const configured = withSkills(config, () => true);
  return [...own, ...configured.map((name) => rootAt(join(config, name, 'skills'), name, 'global'))];
}

function rootAt(directory: string, name: string, location: Location): Root {
  return { directory, provider: providerOf(name), location, plugin: undefined, depth: MAX_DEPTH, within: undefined };
}

/** `.agent` is an older spelling of `.agents`. */
function providerOf(name: string): string {
  const provider = prefixOf(name.replace(/^\./, '').toLowerCase());
  return provider === 'agent' ? UNIVERSAL : provider;
}

/** `.agents` before its older spelling. */
function dotDirectories(parent: string): readonly string[] {
  const found = withSkills(parent, (name) => name.length > 1 && name.startsWith('.') && name !== '.config');
  return [...new Set([...WELL_KNOWN, ...found])];
}

/** The entries of a directory that have skills, by name. One that is missing or closed has none; this is not reported. */
function withSkills(parent: string, isMeant: (name: string) => boolean): readonly string[] {
  try {
    return readdirSync(parent)
      .filter((name) => isMeant(name) && kindAt(join(parent, name, 'skills')) === 'directory')
      .sort();
  } catch {
    return [];
  }
}
