import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLIENTS, foldersOf } from '../../src/cli/clients.ts';
import type { Environment } from '../../src/config.ts';

const files = (platform: string, env: Environment = {}) => {
  const folders = foldersOf({ platform, home: '/h', env });
  return Object.fromEntries(CLIENTS.map((client) => [client.name, client.files(folders).at(-1)]));
};

const PLAIN = { command: 'c', args: ['a'] };
const OPENCODE = { type: 'local', command: ['c', 'a'], enabled: true };
/** By client: its file, the key below which servers are, the providers that its entry leaves out, and the entry. */
const ROWS: Readonly<Record<string, readonly unknown[]>> = {
  'claude-code': ['/h/.claude.json', 'mcpServers', '@claude', PLAIN],
  'claude-desktop': ['/h/.config/Claude/claude_desktop_config.json', 'mcpServers', undefined, PLAIN],
  codex: ['/h/.codex/config.toml', 'mcp_servers', '@codex', PLAIN],
  cursor: ['/h/.cursor/mcp.json', 'mcpServers', '@cursor', PLAIN],
  vscode: ['/h/.config/Code/User/mcp.json', 'servers', '@github,@copilot', { type: 'stdio', ...PLAIN }],
  gemini: ['/h/.gemini/settings.json', 'mcpServers', '@gemini', PLAIN],
  zed: ['/h/.config/zed/settings.json', 'context_servers', undefined, PLAIN],
  opencode: ['/h/.config/opencode/opencode.json', 'mcp', '@opencode', OPENCODE],
  windsurf: ['/h/.codeium/windsurf/mcp_config.json', 'mcpServers', undefined, PLAIN],
  copilot: ['/h/.copilot/mcp-config.json', 'mcpServers', '@github,@copilot', { type: 'local', ...PLAIN, tools: ['*'] }],
};

test('every client gets the entry that it understands, in its own file', () => {
  const linux = files('linux');
  for (const { name, servers, exclude, entry } of CLIENTS)
    assert.deepEqual([linux[name], servers, exclude, entry('c', ['a'])], ROWS[name], name);
  assert.equal(CLIENTS.map(({ name }) => name).join(), Object.keys(ROWS).join());
});

test('files are where the system and the environment say', () => {
  const rows: readonly (readonly [platform: string, env: Environment, name: string, file: string])[] = [
    ['darwin', {}, 'vscode', '/h/Library/Application Support/Code/User/mcp.json'],
    ['darwin', {}, 'zed', '/h/.config/zed/settings.json'],
    ['win32', { APPDATA: '/a' }, 'vscode', '/a/Code/User/mcp.json'],
    ['win32', { APPDATA: '/a' }, 'zed', '/a/zed/settings.json'],
    ['linux', { CLAUDE_CONFIG_DIR: '/c' }, 'claude-code', '/c/.claude.json'],
    ['linux', { CODEX_HOME: '/c' }, 'codex', '/c/config.toml'],
    ['linux', { COPILOT_HOME: '/c' }, 'copilot', '/c/mcp-config.json'],
    ['linux', { XDG_CONFIG_HOME: '/x' }, 'opencode', '/x/opencode/opencode.json'],
    ['linux', { XDG_CONFIG_HOME: 'relative' }, 'zed', '/h/.config/zed/settings.json'],
  ];
  for (const [platform, env, name, file] of rows) assert.equal(files(platform, env)[name], file);
});
