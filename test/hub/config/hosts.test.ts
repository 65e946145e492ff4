/** Where hosts keep their files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOST_NAMES } from '../../../src/config.ts';
import { HOSTS, hostFiles, type System } from '../../../src/hub/config/hosts.ts';

const LINUX: System = { platform: 'linux', home: '/home/a', env: {}, cwd: '/project' };
const MAC: System = { platform: 'darwin', home: '/Users/a', env: {}, cwd: '/project' };
const WINDOWS: System = {
  platform: 'win32',
  home: 'C:\\Users\\a',
  env: { APPDATA: 'C:\\Users\\a\\AppData\\Roaming' },
  cwd: 'D:\\work',
};

/** By host: the file that is used when none exists yet. */
const userFiles = (system: System) =>
  Object.fromEntries(HOSTS.map(({ name }) => [name, hostFiles(name, system).user.at(-1)]));

test('the user files are where each host has them on Linux, macOS and Windows', () => {
  assert.deepEqual(userFiles(LINUX), {
    'claude-code': '/home/a/.claude.json',
    'claude-desktop': '/home/a/.config/Claude/claude_desktop_config.json',
    codex: '/home/a/.codex/config.toml',
    cursor: '/home/a/.cursor/mcp.json',
    vscode: '/home/a/.config/Code/User/mcp.json',
    gemini: '/home/a/.gemini/settings.json',
    zed: '/home/a/.config/zed/settings.json',
    opencode: '/home/a/.config/opencode/opencode.json',
    windsurf: '/home/a/.codeium/windsurf/mcp_config.json',
    copilot: '/home/a/.copilot/mcp-config.json',
  });
  const mac = userFiles(MAC);
  assert.equal(mac['claude-desktop'], '/Users/a/Library/Application Support/Claude/claude_desktop_config.json');
  assert.equal(mac.vscode, '/Users/a/Library/Application Support/Code/User/mcp.json');
  assert.equal(mac.zed, '/Users/a/.config/zed/settings.json');
  assert.deepEqual(userFiles(WINDOWS), {
    'claude-code': 'C:\\Users\\a\\.claude.json',
    'claude-desktop': 'C:\\Users\\a\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
    codex: 'C:\\Users\\a\\.codex\\config.toml',
    cursor: 'C:\\Users\\a\\.cursor\\mcp.json',
    vscode: 'C:\\Users\\a\\AppData\\Roaming\\Code\\User\\mcp.json',
    gemini: 'C:\\Users\\a\\.gemini\\settings.json',
    zed: 'C:\\Users\\a\\AppData\\Roaming\\Zed\\settings.json',
    opencode: 'C:\\Users\\a\\.config\\opencode\\opencode.json',
    windsurf: 'C:\\Users\\a\\.codeium\\windsurf\\mcp_config.json',
    copilot: 'C:\\Users\\a\\.copilot\\mcp-config.json',
  });
});

test('the variables that move a file are followed, an empty one is not', () => {
  const env = {
    CLAUDE_CONFIG_DIR: '/c',
    CODEX_HOME: 'relative',
    GEMINI_CLI_HOME: '/g',
    COPILOT_HOME: '/p',
    XDG_CONFIG_HOME: '/x',
  };
  const moved = userFiles({ ...LINUX, env });
  assert.equal(moved['claude-code'], '/c/.claude.json');
  assert.equal(moved.codex, '/project/relative/config.toml');
  assert.equal(moved.gemini, '/g/.gemini/settings.json');
  assert.equal(moved.copilot, '/p/mcp-config.json');
  assert.equal(moved.opencode, '/x/opencode/opencode.json');
  assert.equal(moved.vscode, '/x/Code/User/mcp.json');
  const empty = Object.fromEntries(Object.keys(env).map((name) => [name, '']));
  assert.deepEqual(userFiles({ ...LINUX, env: empty }), userFiles(LINUX));
  assert.deepEqual(userFiles({ ...LINUX, env: { XDG_CONFIG_HOME: 'relative' } }), userFiles(LINUX));
});

test('the files of a project are in its directory', () => {
  const files = Object.fromEntries(HOSTS.map(({ name }) => [name, hostFiles(name, LINUX).project?.at(-1)]));
  assert.deepEqual(files, {
    'claude-code': '/project/.mcp.json',
    'claude-desktop': undefined,
    codex: '/project/.codex/config.toml',
    cursor: '/project/.cursor/mcp.json',
    vscode: '/project/.vscode/mcp.json',
    gemini: '/project/.gemini/settings.json',
    zed: '/project/.zed/settings.json',
    opencode: '/project/opencode.json',
    windsurf: undefined,
    copilot: '/project/.github/mcp.json',
  });
});

test('the command line and the library know the same hosts, and of any other there are no files', () => {
  assert.deepEqual(HOSTS.map(({ name }) => name).toSorted(), HOST_NAMES.toSorted());
  assert.deepEqual(hostFiles('constructor', LINUX), { user: [], project: undefined });
});
