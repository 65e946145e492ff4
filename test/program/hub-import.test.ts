/** The program with the servers that hosts have in their own files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../harness/command.ts';
import { startHub, upstream } from '../harness/hub.ts';
import { makeTree } from '../harness/tree.ts';

const has =
  (...wanted: readonly string[]) =>
  (names: readonly string[]) =>
    wanted.every((name) => names.includes(name));

const { command, args } = upstream();
const SKILLWIRE = { command: 'npx', args: ['-y', 'skillwire', '--hub', '--import', 'claude-code'] };

test('servers of several hosts are served side by side, and the entry of skillwire itself is not started', async (t) => {
  const tree = makeTree(t, {
    'home/.codex/config.toml': `# As codex mcp add writes it, and a comment.
[mcp_servers.toml]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}
enabled_tools = ["echo", "env"]
env_vars = ["GIVEN"]
[mcp_servers.skillwire]
command = "npx"
args = ["-y", "skillwire", "--hub", "--import", "codex"]
`,
    'home/.config/opencode/opencode.jsonc': `{
      "mcp": { "code": { "type": "local", "command": ${JSON.stringify([command, ...args])}, "enabled": true }, }, // mine
    }`,
    'vscode.json': JSON.stringify({ servers: { vs: { type: 'stdio', command, args } } }),
  });
  tree.write(
    'home/.claude.json',
    JSON.stringify({
      mcpServers: { skillwire: SKILLWIRE },
      projects: { [tree.path]: { mcpServers: { local: { type: 'stdio', command, args, env: {} } } } },
    }),
  );
  const hosts = ['claude-code', 'codex', 'opencode'].flatMap((host) => ['--import', host]);
  const hub = await startHub(t, {}, { tree, args: [...hosts, '--config', 'vscode.json'], env: { GIVEN: 'yes' } });
  const names = await hub.waitForTools(has('toml:echo', 'code:echo', 'vs:echo', 'local:echo'), 'all of them');
  assert.deepEqual(
    names.filter((name) => /^(?:toml|skillwire):/.test(name)),
    ['toml:echo', 'toml:env'],
  );
  assert.equal((await hub.call('toml:env', { name: 'GIVEN' })).content[0].text, 'yes');
  assert.doesNotMatch(hub.stderr(), /warn/);
});

test('the doctor shows why a server of a host is not started, and where a host was looked for', (t) => {
  const tree = makeTree(t, {
    'skills/x/SKILL.md': '---\nname: x\ndescription: About x\n---\n',
    'home/.config/Code/User/mcp.json': `{
      "inputs": [{ "id": "key", "type": "promptString", "password": true }],
      "servers": { "asks": { "command": "x", "env": { "KEY": "\${input:key}" } }, "mine": ${JSON.stringify(SKILLWIRE)} },
    }`,
    '.vscode/mcp.json': JSON.stringify({ servers: { theirs: { command: 'x' } } }),
  });
  const { status, stdout } = runCommand(tree, ['doctor', '--hub', '--import', 'vscode', '--import', 'zed']);
  assert.equal(status, 1);
  assert.match(stdout, /\n {2}asks: failed: env\.KEY: \$\{input:key\} has no value: its host asks a person for it/);
  assert.match(stdout, /\n {2}mine: disabled: it starts skillwire, which is running already /);
  assert.match(stdout, /\n {2}theirs: untrusted: .*run "\S+ \/\S+\/dist\/skillwire\.cjs trust \.vscode\/mcp\.json"/);
  assert.match(stdout, /--import zed: no file was found; looked at \S+\/home\/\.config\/zed\/settings\.json, \S+\n/);
});

test("a host that is not known is one line with the nearest name, exit 2; help and README's table name them all", (t) => {
  const tree = makeTree(t);
  const { status, stderr } = runCommand(tree, ['serve', '--hub', '--import', 'codx']);
  assert.equal(status, 2);
  assert.match(
    stderr,
    /^skillwire: --import must be one of claude-code, [^\n]*, not "codx"; did you mean codex\?[^\n]*\n$/,
  );
  const { stdout } = runCommand(tree, ['help', 'serve']);
  assert.match(
    stdout.replace(/\s+/g, ' '),
    /--import HOST Also read the MCP servers of a host: claude-code, .*, windsurf\./,
  );
});

test('with an empty HOME a project is not the home: its file needs trust', (t) => {
  const tree = makeTree(t, {
    '.kode.json': JSON.stringify({ mcpServers: { theirs: { command: 'x' } } }),
    '.config/skillwire/trust.json': '{"files": {}}',
  });
  const { stdout } = runCommand(tree, ['doctor', '--hub', '--no-default-dirs'], { HOME: '' });
  assert.match(stdout, /theirs: untrusted: /);
});
