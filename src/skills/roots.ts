/**
 * Which directories are looked into for skills, in order of precedence.
 * Owns: the table of providers. Leaves alone: what is inside a root (scan.ts), plugins (plugins.ts).
 * Always true: custom roots come first, then `agents`, then the other providers by name; project before global.
 */
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Location, Plugin } from '../model.ts';

export interface Root {
  readonly directory: string;
  readonly provider: string;
  readonly location: Location;
  readonly plugin?: Plugin;
  /** How many levels below the directory a skill may lie. */
  readonly depth: number;
  /** Links that leave this directory are not followed. */
  readonly within?: string;
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

/** A skill is rarely deeper than three levels; eight ends a runaway walk. */
export const MAX_DEPTH = 8;

export function findRoots(options: RootOptions): readonly Root[] {
  const { cwd, home, scanDefaultDirs, followSymlinks } = options;
  // Whatever a cloned repository brings along must not lead out of it.
  const inProject = followSymlinks ? {} : { within: cwd };
  const custom = (directory: string): Root => ({
    directory: resolve(cwd, directory),
    provider: 'custom',
    location: 'custom',
    depth: MAX_DEPTH,
  });
  const roots = options.skillDirs.map(custom);
  if (options.root !== undefined) roots.push(custom(options.root));
  else if (scanDefaultDirs) roots.push({ ...custom('skills'), ...inProject });
  if (!scanDefaultDirs) return roots;

  const project = cwd === home ? [] : projectRoots(cwd).map((root) => ({ ...root, ...inProject }));
  return [...roots, ...[...project, ...globalRoots(options)].sort(byPrecedence)];
}

/** `$CLAUDE_CONFIG_DIR` or `~/.claude`. */
export function claudeHome({ home, env, cwd }: Surroundings): string {
  return env.CLAUDE_CONFIG_DIR ? resolve(cwd, env.CLAUDE_CONFIG_DIR) : join(home, '.claude');
}

// --- internal ---

const UNIVERSAL = 'agents';

function projectRoots(cwd: string): Root[] {
  return dotDirectories(cwd).map((name) => root(join(cwd, name, 'skills'), providerOf(name), 'project'));
}

function globalRoots(options: RootOptions): Root[] {
  const { home, env, cwd } = options;
  const moved = new Map([
    ['.claude', claudeHome(options)],
    ['.codex', env.CODEX_HOME ? resolve(cwd, env.CODEX_HOME) : join(home, '.codex')],
  ]);
  const names = new Set([...dotDirectories(home), ...moved.keys()]);
  const own = [...names].map((name) => {
    const directory = moved.get(name) ?? join(home, name);
    return root(join(directory, 'skills'), providerOf(name), 'global');
  });
  const config = join(home, '.config');
  const configured = directoriesIn(config).map((name) => root(join(config, name, 'skills'), name, 'global'));
  return [...own, ...configured];
}

function root(directory: string, provider: string, location: Location): Root {
  return { directory, provider, location, depth: MAX_DEPTH };
}

/** `.agent` is an older spelling of `.agents`. */
function providerOf(dotName: string): string {
  const name = dotName.slice(1).toLowerCase();
  return name === 'agent' ? UNIVERSAL : name;
}

function dotDirectories(parent: string): string[] {
  return directoriesIn(parent).filter((name) => name.length > 1 && name.startsWith('.') && name !== '.config');
}

/** The names of directories in `parent` that have a `skills` directory, sorted. */
function directoriesIn(parent: string): string[] {
  let names: string[];
  try {
    names = readdirSync(parent);
  } catch {
    return []; // A missing or closed home directory has no skills: nothing to report.
  }
  return names.filter((name) => isDirectory(join(parent, name, 'skills'))).sort();
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // Missing, or not ours to look into.
  }
}

/** Universal before the rest, then by provider; the sort is stable, so project stays before global. */
function byPrecedence(a: Root, b: Root): number {
  const [first, second] = [rank(a), rank(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function rank({ provider }: Root): string {
  return provider === UNIVERSAL ? '' : provider;
}
