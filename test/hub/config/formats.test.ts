/** What hosts write into their files, and what it means here. Entries are as the hosts' own commands and documents have them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJsonc } from '../../../src/files/jsonc.ts';
import { parseToml } from '../../../src/files/toml.ts';
import { configOf, type UpstreamConfig } from '../../../src/hub/config/entries.ts';
import { serversIn } from '../../../src/hub/config/formats.ts';
import { MAX_SERVERS } from '../../../src/hub/config/limits.ts';

const variables = {
  env: { TOKEN: 't0ken', KEY: 'k-123', HOME: '/home/you' },
  workspaceFolder: '/project',
  userHome: '/home/you',
};
const PROJECTS = ['/project', '/'];

/** By name. */
function read(file: unknown, path = '/f.json'): ReadonlyMap<string, UpstreamConfig> {
  const { servers } = serversIn(file as Readonly<Record<string, unknown>>, { path, projects: PROJECTS });
  return new Map([...servers].map(([name, entry]) => [name, configOf(name, entry, path, variables)]));
}

const target = (file: unknown, name = 'one', path?: string) => read(file, path).get(name)?.target;
const reason = (file: unknown, name = 'one') => {
  const found = target(file, name);
  return found?.kind === 'none' ? `${found.state}: ${found.reason}` : found?.kind;
};
const stdio = (command: string, args: readonly string[] = [], env = {}, cwd = '/project') => ({
  kind: 'stdio',
  command,
  args,
  env,
  cwd,
});
const remote = (kind: 'http' | 'sse', url: string, headers = {}) => ({ kind, url: new URL(url), headers });

test('VS Code: servers, with the defaults of inputs', () => {
  const { value } = parseJsonc(`{
    // Asked for by VS Code.
    "inputs": [
      { "type": "promptString", "id": "key", "description": "API key", "password": true },
      { "type": "pickString", "id": "level", "options": ["low", "high"], "default": "low" },
      { "type": "promptString", "id": "odd", "default": "\${HOME} $1" },
    ],
    "servers": {
      "one": { "type": "stdio", "command": "npx", "args": ["-y", "x", "--level=\${input:level}", "\${input:odd}"],
               "env": { "T": "\${env:TOKEN}" }, "cwd": "\${workspaceFolder}/sub", "envFile": ".env" },
      "web": { "type": "http", "url": "https://x.example/mcp", "headers": { "Authorization": "Bearer \${input:key}" } },
    },
  }`);
  assert.deepEqual(
    target(value),
    stdio('npx', ['-y', 'x', '--level=low', '${HOME} $1'], { T: 't0ken' }, '/project/sub'),
  );
  assert.equal(
    reason(value, 'web'),
    'failed: headers.Authorization: ${input:key} has no value: its host asks a person for it; write the value or a ${VARIABLE} in its place',
  );
});

test('OpenCode: mcp, with commands as lists, and its second version', () => {
  const mcp = {
    one: {
      type: 'local',
      command: ['bun', 'x', 'it', '{env:KEY}', '$HOME ${HOME} ${env:KEY}'],
      environment: { T: '{env:TOKEN}' },
      cwd: 'sub',
      enabled: true,
      timeout: 9000,
    },
    web: { type: 'remote', url: 'https://x.example/mcp', headers: { Authorization: 'Bearer {env:TOKEN}' }, oauth: {} },
    off: { type: 'local', command: [1], enabled: false },
    unset: { type: 'local', command: ['x', '{env:NOPE}'] },
    file: { type: 'local', command: ['x'], environment: { T: '{file:~/.secret}' } },
    bad: { type: 'local', command: 'x y' },
    worse: { type: 'locl', command: ['x'] },
  };
  const expected = stdio('bun', ['x', 'it', 'k-123', '$HOME ${HOME} $k-123'], { T: 't0ken' }, '/project/sub');
  assert.deepEqual(target({ mcp }), expected);
  assert.equal(read({ mcp }).get('one')?.connectTimeout, 9000);
  assert.equal(read({ mcp }).get('one')?.timeout, 300_000);
  assert.deepEqual(target({ mcp }, 'web'), remote('http', 'https://x.example/mcp', { Authorization: 'Bearer t0ken' }));
  assert.equal(reason({ mcp }, 'off'), 'disabled: disabled in its configuration');
  assert.equal(reason({ mcp }, 'unset'), 'failed: args[0]: the variable NOPE is not set');
  assert.equal(reason({ mcp }, 'file'), 'failed: {file:…} is not read here; write {env:VARIABLE} in its place');
  assert.equal(reason({ mcp }, 'worse'), 'failed: type must be one of stdio, sse, http');
  const second = {
    mcp: {
      timeout: { startup: 1 },
      servers: {
        ...mcp,
        one: { ...mcp.one, disabled: true },
        two: { ...mcp.one, timeout: { startup: 7, request: 8 } },
      },
    },
  };
  assert.equal(reason(second), 'disabled: disabled in its configuration');
  assert.deepEqual(target(second, 'two'), expected);
  assert.deepEqual([read(second).get('two')?.connectTimeout, read(second).get('two')?.timeout], [7, 8]);
  assert.equal(target({ mcp: { servers: mcp.one } }, 'servers')?.kind, 'stdio');
});

test('Gemini CLI: httpUrl, variables without braces, and its own settings under mcp', () => {
  const path = '/home/you/.gemini/settings.json';
  const file = {
    mcp: { allowed: ['one'], excluded: [], serverCommand: 'x' },
    mcpServers: {
      one: {
        command: 'x',
        args: ['$KEY'],
        env: { A: '$TOKEN', B: '${TOKEN}', C: 'costs $5, ${NOPE:-$KEY}' },
        trust: true,
      },
      web: { httpUrl: 'https://x.example/mcp', url: 'https://x.example/sse', headers: { A: 'Bearer $TOKEN' } },
      unset: { command: 'x', env: { A: '$NOPE' } },
    },
  };
  assert.deepEqual(target(file, 'one', path), stdio('x', ['k-123'], { A: 't0ken', B: 't0ken', C: 'costs $5, k-123' }));
  assert.deepEqual(target(file, 'web', path), remote('http', 'https://x.example/mcp', { A: 'Bearer t0ken' }));
  assert.deepEqual([...read(file, path).keys()], ['one', 'web', 'unset']);
  // Elsewhere it is a text like any other.
  assert.deepEqual(target(file, 'unset'), stdio('x', [], { A: '$NOPE' }));
});

test('lists of tools become filters, also when a tool has the name of its server', () => {
  const rows: readonly (readonly [entry: object, include: readonly string[], exclude: readonly string[]])[] = [
    [{ includeTools: ['one', 'run(a,b)'], excludeTools: ['two'] }, ['*:one', '*:run'], ['*:two']],
    [{ tools: ['*'] }, ['*:*'], []],
    [{ tools: ['one'] }, ['*:one'], []],
    [{ tools: [] }, [''], []],
    [{ tools: { one: {} }, disabledTools: ['x'] }, [], ['*:x']],
    [{ include: 'a*', includeTools: ['one'] }, ['a*'], []],
  ];
  for (const [entry, include, exclude] of rows)
    assert.deepEqual(read({ mcpServers: { one: { command: 'x', ...entry } } }).get('one')?.filter, {
      include,
      exclude,
    });
  const codex = {
    command: 'x',
    enabled_tools: ['one'],
    disabled_tools: ['two'],
    tools: { one: { approval_mode: 'auto' } },
  };
  assert.deepEqual(read({ mcp_servers: { one: codex } }).get('one')?.filter, {
    include: ['*:one'],
    exclude: ['*:two'],
  });
});

test('Copilot CLI and Windsurf: a local server, and serverUrl', () => {
  const one = { type: 'local', command: 'npx', args: ['x'], env: { A: 'b' }, tools: ['*'] };
  const file = { mcpServers: { one, web: { serverUrl: 'https://x.example/mcp', disabledTools: [] } } };
  assert.deepEqual(target(file), stdio('npx', ['x'], { A: 'b' }));
  assert.deepEqual(target(file, 'web'), remote('http', 'https://x.example/mcp'));
});

test('Claude Code: the servers of this project besides those of the user, and of no other project', () => {
  const servers = (command: string) => ({ one: { type: 'stdio', command, args: [], env: {} } });
  const projects = { '/project': { mcpServers: servers('mine') }, '/other': { mcpServers: { two: { command: 'x' } } } };
  const file = { mcpServers: { ...servers('all'), three: { command: 'y' } }, projects };
  assert.deepEqual([...read(file).keys()], ['one', 'three']);
  assert.deepEqual(target(file), stdio('mine'));
  assert.deepEqual(target({ ...file, projects: { '/': projects['/project'] } }), stdio('mine'));
  for (const odd of [
    undefined,
    null,
    [],
    7,
    { '/project': null },
    { '/project': { mcpServers: undefined } },
    { '/project': [] },
  ])
    assert.deepEqual(target({ ...file, projects: odd }), stdio('all'));
});

test('Zed: context_servers, in the present and the older form, without variables', () => {
  const { value } = parseJsonc(`{
    "context_servers": {
      "one": { "source": "custom", "command": "npx", "args": ["\${HOME}"], "env": { "A": "b" }, "timeout": 60 },
      "old": { "command": { "path": "uvx", "args": ["x"], "env": { "A": "b" } }, "settings": {} },
      "web": { "url": "https://x.example/mcp", "headers": { "Authorization": "Bearer \${TOKEN}" } },
      "off": { "source": "extension", "enabled": false, "settings": {} },
      "extension": { "source": "extension", "settings": {} },
      "bare": { "settings": {} },
      "bad": { "command": "x", "timeout": "60" }, /* a comment */
    },
  }`);
  assert.deepEqual(target(value), stdio('npx', ['${HOME}'], { A: 'b' }));
  assert.equal(read(value).get('one')?.timeout, 60_000);
  assert.deepEqual(target(value, 'old'), stdio('uvx', ['x'], { A: 'b' }));
  assert.deepEqual(target(value, 'web'), remote('http', 'https://x.example/mcp', { Authorization: 'Bearer ${TOKEN}' }));
  assert.equal(reason(value, 'off'), 'disabled: disabled in its configuration');
  for (const name of ['extension', 'bare'])
    assert.equal(reason(value, name), 'failed: has no command or url: an extension of its host starts it');
  assert.equal(reason(value, 'bad'), 'failed: timeout must be a number of seconds');
});

test('Codex: mcp_servers in TOML, with the names of variables in fields of their own', () => {
  const { value } = parseToml(`
    model = "gpt-5"
    [mcp_servers.one]
    command = "npx"
    args = ["-y", "x", "\${HOME}"]
    env_vars = ["TOKEN", "NOPE", { name = "KEY", source = "local" }]
    cwd = "/srv"
    startup_timeout_sec = 0.5
    tool_timeout_sec = 45
    enabled = true
    required = true
    [mcp_servers.one.env]
    A = "\${TOKEN}"
    [mcp_servers.web]
    url = "https://x.example/mcp"
    bearer_token_env_var = "TOKEN"
    http_headers = { "X-Region" = "eu \${TOKEN}" }
    env_http_headers = { "X-Key" = "KEY" }
    startup_timeout_ms = 900
    [mcp_servers.off]
    enabled = false
    [mcp_servers.unset]
    url = "https://x.example/mcp"
    bearer_token_env_var = "NOPE"
    [mcp_servers.bad]
    command = "x"
    tool_timeout_sec = "45"
    [mcp_servers.worse]
    url = "https://x.example/mcp"
    http_headers = "no"
    [mcp_servers.wrong]
    command = "x"
    env_vars = [7]
    [mcp_servers]
    flat = 7
  `);
  assert.deepEqual(
    target(value),
    stdio('npx', ['-y', 'x', '${HOME}'], { TOKEN: 't0ken', KEY: 'k-123', A: '${TOKEN}' }, '/srv'),
  );
  assert.deepEqual([read(value).get('one')?.connectTimeout, read(value).get('one')?.timeout], [500, 45_000]);
  assert.deepEqual(
    target(value, 'web'),
    remote('http', 'https://x.example/mcp', {
      'X-Region': 'eu ${TOKEN}',
      'X-Key': 'k-123',
      Authorization: 'Bearer t0ken',
    }),
  );
  assert.equal(read(value).get('web')?.connectTimeout, 900);
  assert.equal(reason(value, 'off'), 'disabled: disabled in its configuration');
  assert.equal(reason(value, 'unset'), 'failed: headers.Authorization: the variable NOPE is not set');
  assert.equal(reason(value, 'bad'), 'failed: tool_timeout_sec must be a number of seconds');
  assert.equal(reason(value, 'worse'), 'failed: headers must be an object of texts');
  assert.equal(reason(value, 'wrong'), 'failed: envVars.0 must be text');
  assert.equal(reason(value, 'flat'), 'failed: must be an object');
});

test('servers that are not an object are a fault of the file', () => {
  for (const key of ['mcpServers', 'servers', 'context_servers', 'mcp_servers'])
    for (const value of [null, [], 'x', 7])
      assert.throws(() => read({ [key]: value }), { message: `${key} must be an object` });
});

test('a broken entry of any format affects no other', () => {
  const odd = [
    null,
    7,
    'x',
    [],
    {},
    { command: {} },
    { command: [] },
    { url: 7 },
    { env: 7 },
    { args: { a: 1 } },
    { timeout: {} },
  ];
  for (const key of ['mcpServers', 'servers', 'context_servers', 'mcp', 'mcp_servers'])
    for (const entry of odd) {
      const file = JSON.parse(`{"${key}":{"__proto__":${JSON.stringify(entry)},"good":{"command":"x"}}}`);
      const found = read(file);
      assert.deepEqual(found.get('good')?.target, stdio('x'), key);
      assert.notEqual(found.get('__proto__')?.target.kind, 'http', key);
    }
});

test('all formats together have one limit, and hostile ones take linear time and memory', () => {
  const many = Object.fromEntries(Array.from({ length: MAX_SERVERS }, (_, at) => [`s${at}`, { command: 'x' }]));
  const { servers, faults } = serversIn({ mcpServers: many, servers: { late: {} } }, { path: '/f', projects: [] });
  assert.equal(servers.size, MAX_SERVERS);
  assert.deepEqual(faults, [`names ${MAX_SERVERS + 1} servers; only the first ${MAX_SERVERS} are looked at`]);
  const began = performance.now();
  const inputs = [{ id: 'x', default: 'y'.repeat(1_000_000) }, ...Array(50_000).fill({ id: 'z', default: '' })];
  const text = '${input:x}'.repeat(100_000);
  assert.equal(reason({ inputs, servers: { one: 7, ...many } }), 'failed: must be an object');
  assert.equal(reason({ inputs, servers: { one: { command: text } } }), 'failed: its inputs are too long');
  for (const part of ['${input:', '{env:', '${', '$A', '{file:'])
    for (const key of ['servers', 'mcp', 'mcp_servers'])
      read({ [key]: { one: { command: part.repeat(100_000), timeout: 1 } } }, '/.gemini/settings.json');
  // Half a second on a machine that has nothing else to do.
  assert.ok(performance.now() - began < 10_000);
});
