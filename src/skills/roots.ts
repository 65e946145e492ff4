/**
 * The directories that are searched for skills, in order of precedence.
 * Owns: the table of providers. Leaves alone: the skills below a root (scan.ts), plugins (plugins.ts).
 * Always true: custom roots come first, then `agents`, then the other providers by name; project before global.
 */
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Settings } from '../config.ts';
import { codeOf, isSkipped, lookAt, realPathOrSame } from '../files/stat.ts';
import { MAX_DEPTH, MAX_NAME } from '../limits.ts';
import type { Location, Plugin } from '../model.ts';
import { compare, cut, visibleLine } from '../text.ts';

/** The file that makes a directory a skill. */
export const SKILL_FILE = 'SKILL.md';

export interface Root {
  readonly directory: string;
  readonly provider: string;
  readonly location: Location;
  readonly plugin?: Plugin;
  /** How many levels below the directory a skill may lie. */
  readonly depth: number;
  /** Symbolic links that leave this directory are not followed. Undefined: all are. */
  readonly within?: string | undefined;
  /** The option that names the directory. It must exist then. */
  readonly option?: string;
}

export function findRoots(settings: Settings): readonly Root[] {
  const { cwd, root, skillDirs, scanDefaultDirs, followSymlinks } = settings;
  const named = (directory: string, option: string) => ({
    ...rootAt(expandHome(settings, directory), 'custom', 'custom'),
    option,
  });
  const custom = skillDirs.map((directory) => named(directory, '--skill-dir'));
  if (root !== undefined) custom.push(named(root, '--root'));
  if (!scanDefaultDirs) return custom;
  const global = globalRoots(settings);
  // Started in the home directory, or in that of a provider, its skills are the global ones, and not a project's too.
  const taken = new Set(global.map(({ directory }) => realPathOrSame(directory)));
  const skillsHere = root === undefined ? [rootAt(join(cwd, 'skills'), 'custom', 'custom')] : [];
  const project = [
    ...skillsHere,
    ...dotDirectories(cwd).map((name) => rootAt(join(cwd, name, 'skills'), name, 'project')),
  ]
    .filter(({ directory }) => !taken.has(realPathOrSame(directory)))
    // The links of a cloned repository must not lead out of it.
    .map((one) => ({ ...one, within: followSymlinks ? undefined : cwd }));
  // The sort is stable, so project stays before global.
  return [...custom, ...project, ...global].sort((a, b) => compare(rankOf(a), rankOf(b)));
}

/** `$CLAUDE_CONFIG_DIR` or `~/.claude`. */
export function claudeHome(settings: Settings): string {
  return expandHome(settings, settings.env.CLAUDE_CONFIG_DIR || '~/.claude');
}

/** An absolute path. Clients start this program without a shell, so a `~` is not expanded yet. */
export function expandHome({ home, cwd }: Pick<Settings, 'home' | 'cwd'>, path: string): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : resolve(cwd, path);
}

/** A provider or plugin name as it stands before a skill's name and a colon. Directories and files choose them. */
export function prefixOf(name: string): string {
  return cut(visibleLine(name), MAX_NAME);
}

// --- internal ---

const UNIVERSAL = 'agents';

// Always tried: the directory around them may be closed to listing while they are open.
const WELL_KNOWN = ['.agents', '.claude', '.codex'];

// Custom first, then universal, then by provider: an empty text and a blank come before any name.
const rankOf = ({ location, provider }: Root) => (location === 'custom' ? '' : provider === UNIVERSAL ? ' ' : provider);

function globalRoots(settings: Settings): readonly Root[] {
  const { home, env } = settings;
  const config = join(home, '.config');
  const moved = new Map([
    ['.claude', claudeHome(settings)],
    ['.codex', expandHome(settings, env.CODEX_HOME || '~/.codex')],
  ]);
  return [
    ...dotDirectories(home).map((name) => rootAt(join(moved.get(name) ?? join(home, name), 'skills'), name, 'global')),
    ...withSkills(config, /^/).map((name) => rootAt(join(config, name, 'skills'), name, 'global')),
  ];
}

function rootAt(directory: string, name: string, location: Location): Root {
  const provider = prefixOf(name.replace(/^\./, '').toLowerCase());
  // `.agent` is an older spelling of `.agents`.
  return { directory, provider: provider === 'agent' ? UNIVERSAL : provider, location, depth: MAX_DEPTH };
}

/** `.agents` comes before its older spelling. */
function dotDirectories(parent: string): readonly string[] {
  return [...new Set([...WELL_KNOWN, ...withSkills(parent, /^\.(?!config$)/)])];
}

/** The entries of a directory that have skills, by name. One that is missing or closed has none; this is not reported. */
function withSkills(parent: string, wanted: RegExp): readonly string[] {
  try {
    const names = readdirSync(parent).filter((name) => wanted.test(name) && !isSkipped(name));
    return names.filter((name) => lookAt(join(parent, name, 'skills'))?.isDirectory()).sort();
  } catch (error) {
    // It says nothing about the directory, so the source fails and its last state is kept.
    if (['EMFILE', 'ENFILE'].includes(codeOf(error))) throw error;
    return [];
  }
}
