/**
 * The clients that `skillwire setup` knows, one row each: where their configuration is and how an entry is spelled in it.
 * Leaves alone: the file itself and the command in an entry (setup.ts).
 */
import { isAbsolute, join } from 'node:path';
import type { Environment } from '../config.ts';

export interface SetupClient {
  readonly name: string;
  /** Its name for people. */
  readonly title: string;
  readonly format: 'json' | 'toml';
  /** The key below which servers are. */
  readonly servers: string;
  /** The user's files. The first one that exists counts; for a new one, the last. */
  readonly files: (folders: Folders) => readonly string[];
  readonly entry: (command: string, args: readonly string[]) => ClientEntry;
  /** The providers whose directories it reads by itself, wholly: its model should not see those skills twice. */
  readonly exclude: string | undefined;
}

export type ClientEntry = Readonly<Record<string, unknown>>;

/** The directories of a machine that the rows below start from. */
export function foldersOf({ platform, home, env }: { platform: string; home: string; env: Environment }) {
  const at = (...names: readonly string[]) => join(home, ...names);
  // Its specification says that a relative path is ignored.
  const base = env.XDG_CONFIG_HOME ?? '';
  const xdg = isAbsolute(base) ? base : at('.config');
  const windows = platform === 'win32' ? env.APPDATA || at('AppData', 'Roaming') : undefined;
  const appData = windows ?? (platform === 'darwin' ? at('Library', 'Application Support') : xdg);
  return { at, xdg, config: windows ?? xdg, appData, home, env };
}

export const CLIENTS: readonly SetupClient[] = [
  row('claude-code', 'Claude Code', '@claude', ({ env, home, at }) => [
    // The older name, which it still reads if it is there.
    join(env.CLAUDE_CONFIG_DIR || at('.claude'), '.config.json'),
    join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
  ]),
  row('claude-desktop', 'Claude Desktop', undefined, ({ appData }) => [
    join(appData, 'Claude', 'claude_desktop_config.json'),
  ]),
  {
    ...row('codex', 'Codex', '@codex', ({ env, at }) => [join(env.CODEX_HOME || at('.codex'), 'config.toml')]),
    format: 'toml',
    servers: 'mcp_servers',
  },
  row('cursor', 'Cursor', '@cursor', ({ at }) => [at('.cursor', 'mcp.json')]),
  {
    ...row('vscode', 'VS Code', '@github,@copilot', ({ appData }) => [join(appData, 'Code', 'User', 'mcp.json')]),
    servers: 'servers',
    entry: (command, args) => ({ type: 'stdio', command, args }),
  },
  row('gemini', 'Gemini CLI', '@gemini', ({ env, home }) => [
    join(env.GEMINI_CLI_HOME || home, '.gemini', 'settings.json'),
  ]),
  {
    ...row('zed', 'Zed', undefined, ({ config }) => [join(config, 'zed', 'settings.json')]),
    servers: 'context_servers',
  },
  {
    ...row('opencode', 'OpenCode', '@opencode', ({ xdg }) =>
      ['opencode.jsonc', 'opencode.json'].map((name) => join(xdg, 'opencode', name)),
    ),
    servers: 'mcp',
    entry: (command, args) => ({ type: 'local', command: [command, ...args], enabled: true }),
  },
  row('windsurf', 'Windsurf', undefined, ({ at }) => [at('.codeium', 'windsurf', 'mcp_config.json')]),
  {
    ...row('copilot', 'Copilot CLI', '@github,@copilot', ({ env, at }) => [
      join(env.COPILOT_HOME || at('.copilot'), 'mcp-config.json'),
    ]),
    entry: (command, args) => ({ type: 'local', command, args, tools: ['*'] }),
  },
];

// --- internal ---

type Folders = ReturnType<typeof foldersOf>;

/** What most clients have: plain JSON, and the entry of Claude Desktop, which came first. */
function row(name: string, title: string, exclude: string | undefined, files: SetupClient['files']): SetupClient {
  const entry = (command: string, args: readonly string[]) => ({ command, args });
  return { name, title, exclude, files, format: 'json', servers: 'mcpServers', entry };
}
