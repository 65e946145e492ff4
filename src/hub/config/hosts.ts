/**
 * Where hosts keep the files in which they name MCP servers, one row each.
 * Leaves alone: the format of the files (formats.ts, cli/setup/), reading and writing them.
 */
import { posix, win32 } from 'node:path';
import type { Environment } from '../connection/command.ts';

/** The machine, as far as the places of files depend on it. */
export interface System {
  readonly platform: string;
  readonly home: string;
  readonly env: Environment;
  /** The project. */
  readonly cwd: string;
}

export interface Host {
  readonly name: string;
  /** The user's files. The first one that exists counts; for a new one, the last. */
  readonly userFiles: (folders: Folders) => readonly string[];
  /** The same for files of a project, relative to it. Undefined when it reads none. */
  readonly projectFiles?: readonly string[];
}

export const HOSTS: readonly Host[] = [
  {
    name: 'claude-code',
    userFiles: ({ join, at, home, env }) => [
      // The older name, which it still reads if it is there.
      join(env.CLAUDE_CONFIG_DIR || at('.claude'), '.config.json'),
      join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
    ],
    projectFiles: ['.mcp.json'],
  },
  {
    name: 'claude-desktop',
    userFiles: ({ join, appData }) => [join(appData, 'Claude', 'claude_desktop_config.json')],
  },
  {
    name: 'codex',
    userFiles: ({ join, at, env }) => [join(env.CODEX_HOME || at('.codex'), 'config.toml')],
    projectFiles: ['.codex/config.toml'],
  },
  { name: 'cursor', userFiles: ({ at }) => [at('.cursor', 'mcp.json')], projectFiles: ['.cursor/mcp.json'] },
  {
    name: 'vscode',
    userFiles: ({ join, appData }) => [join(appData, 'Code', 'User', 'mcp.json')],
    projectFiles: ['.vscode/mcp.json'],
  },
  {
    name: 'gemini',
    userFiles: ({ join, home, env }) => [join(env.GEMINI_CLI_HOME || home, '.gemini', 'settings.json')],
    projectFiles: ['.gemini/settings.json'],
  },
  {
    name: 'zed',
    userFiles: ({ join, platform, appData, config }) => [
      platform === 'win32' ? join(appData, 'Zed', 'settings.json') : join(config, 'zed', 'settings.json'),
    ],
    projectFiles: ['.zed/settings.json'],
  },
  {
    name: 'opencode',
    userFiles: ({ join, config }) => ['opencode.jsonc', 'opencode.json'].map((name) => join(config, 'opencode', name)),
    projectFiles: ['opencode.jsonc', 'opencode.json'],
  },
  { name: 'windsurf', userFiles: ({ at }) => [at('.codeium', 'windsurf', 'mcp_config.json')] },
  {
    name: 'copilot',
    userFiles: ({ join, at, env }) => [join(env.COPILOT_HOME || at('.copilot'), 'mcp-config.json')],
    projectFiles: ['.github/mcp.json'],
  },
];

/** The files of a host, absolute: the user's, and those of the project if it reads any. A host that is not known has none. */
export function hostFiles(name: string, system: System) {
  const { userFiles = () => [], projectFiles }: Partial<Host> = HOSTS.find((host) => host.name === name) ?? {};
  const folders = foldersOf(system);
  const absolute = (file: string) => folders.resolve(system.cwd, file);
  return { user: userFiles(folders).map(absolute), project: projectFiles?.map(absolute) };
}

// --- internal ---

type Folders = ReturnType<typeof foldersOf>;

function foldersOf({ platform, home, env }: System) {
  const { join, resolve, isAbsolute } = platform === 'win32' ? win32 : posix;
  const at = (...names: readonly string[]) => join(home, ...names);
  // Its specification says that a relative path is ignored.
  const base = env.XDG_CONFIG_HOME ?? '';
  const config = isAbsolute(base) ? base : at('.config');
  const appData =
    platform === 'win32'
      ? env.APPDATA || at('AppData', 'Roaming')
      : platform === 'darwin'
        ? at('Library', 'Application Support')
        : config;
  return { platform, home, env, join, resolve, at, config, appData };
}
