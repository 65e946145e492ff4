import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLIENTS, foldersOf } from '../../src/cli/clients.ts';

const files = (platform: string, env: Readonly<Record<string, string>> = {}) => {
  const folders = foldersOf({ platform, home: '/h', env });
  return Object.fromEntries(CLIENTS.map((client) => [client.name, client.files(folders).at(-1)]));
};

test('desktop clients keep their files where the system does', () => {
  const support = '/h/Library/Application Support';
  const mac = files('darwin');
  assert.equal(mac['claude-desktop'], `${support}/Claude/claude_desktop_config.json`);
  assert.deepEqual([mac.vscode, mac.zed], [`${support}/Code/User/mcp.json`, '/h/.config/zed/settings.json']);
  const windows = files('win32', { APPDATA: '/a' });
  assert.deepEqual([windows.vscode, windows.zed], ['/a/Code/User/mcp.json', '/a/zed/settings.json']);
  assert.equal(windows.opencode, '/h/.config/opencode/opencode.json');
});

test('the directories that clients take from the environment are respected', () => {
  const env = { XDG_CONFIG_HOME: '/x', CODEX_HOME: '/cx', CLAUDE_CONFIG_DIR: '/cl', COPILOT_HOME: '/co' };
  const { codex, copilot, opencode, 'claude-code': claude } = files('linux', env);
  const expected = ['/cx/config.toml', '/co/mcp-config.json', '/x/opencode/opencode.json', '/cl/.claude.json'];
  assert.deepEqual([codex, copilot, opencode, claude], expected);
  assert.equal(files('linux', { XDG_CONFIG_HOME: 'relative' }).zed, '/h/.config/zed/settings.json');
});

test('every client gets the entry that it understands', () => {
  const plain = { command: 'c', args: ['a'] };
  const others: Readonly<Record<string, object>> = {
    vscode: { type: 'stdio', ...plain },
    opencode: { type: 'local', command: ['c', 'a'], enabled: true },
    copilot: { type: 'local', ...plain, tools: ['*'] },
  };
  for (const { name, entry } of CLIENTS) assert.deepEqual(entry('c', ['a']), others[name] ?? plain, name);
  const keys = { codex: 'mcp_servers', vscode: 'servers', zed: 'context_servers', opencode: 'mcp' };
  for (const { name, servers } of CLIENTS)
    assert.equal(servers, new Map(Object.entries(keys)).get(name) ?? 'mcpServers', name);
});
