/** Configuration files: which are read, and their faults. */
import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { test } from 'node:test';
import { HOST_NAMES } from '../../../src/config.ts';
import type { UpstreamConfig } from '../../../src/hub/config/entries.ts';
import { createConfiguration, type FileOptions } from '../../../src/hub/config/files.ts';
import { MAX_SERVERS } from '../../../src/hub/config/limits.ts';
import { hashOf } from '../../../src/text.ts';
import { startHub, upstream } from '../../harness/hub.ts';
import { makeTree, type Tree } from '../../harness/tree.ts';

const file = (servers: object) => JSON.stringify({ mcpServers: servers });

const has =
  (...wanted: readonly string[]) =>
  (names: readonly string[]) =>
    wanted.every((name) => names.includes(name));

test("a home that is a link is still the user's own", async (t) => {
  const tree = makeTree(t, { 'real/.kode.json': file({ mine: { command: 'x' } }) });
  symlinkSync(tree.at('real'), tree.at('home'));
  const options = { env: {}, configFiles: [], trustProject: false };
  const { configs } = await createConfiguration({ ...options, cwd: tree.at('real'), home: tree.at('home') })();
  assert.deepEqual(
    configs.map(({ name, target }) => [name, target.kind]),
    [['mine', 'stdio']],
  );
});

test('a ~ in the path of a configuration file stands for the home, because clients start us without a shell', async (t) => {
  const tree = makeTree(t, { 'home/own.json': file({ mine: { command: 'x' } }) });
  const options = { env: {}, cwd: tree.path, home: tree.at('home'), trustProject: false };
  const { configs, problems } = await createConfiguration({ ...options, configFiles: ['~/own.json'] })();
  assert.deepEqual([configs.map(({ name }) => name), problems], [['mine'], []]);
});

test('a file that is broken or missing is a problem that names it, and affects no other', async (t) => {
  const tree = makeTree(t, {
    'a.json': '{"mcpServers": {',
    'b.json': '{"mcpServers": []}',
    'c.json': file({ bad: { command: 1 } }),
  });
  const args = ['a.json', 'b.json', 'c.json', 'd.json'].flatMap((name) => ['--config', name]);
  const hub = await startHub(t, { good: upstream() }, { tree, args });
  await hub.waitForTools(has('good:echo'), 'the good one');
  await hub.waitForStderr(/a\.json: is not a JSON object: line 1, column 17: expected a key in double quotes or "\}"/);
  await hub.waitForStderr(/b\.json: mcpServers must be an object/);
  await hub.waitForStderr(/c\.json: server "bad": command must be text/);
  await hub.waitForStderr(/d\.json: does not exist; correct --config/);
});

test('a directory or an empty file in place of a configuration is one problem that says what to do (13.19)', async (t) => {
  const tree = makeTree(t, { 'dir/mcp.json': '{}', 'empty.json': '', 'blank.json': '\ufeff \n', 'empty.toml': '' });
  const options = { env: {}, cwd: tree.path, home: tree.at('home'), trustProject: false };
  const configFiles = ['dir', 'empty.json', 'blank.json', 'empty.toml'];
  const { problems } = await createConfiguration({ ...options, configFiles })();
  const empty = 'is empty; write {"mcpServers": {}} into it, or remove it or the option that names it';
  assert.deepEqual(
    problems.map(({ where, what }) => [where.slice(tree.path.length + 1), what.replace(/keys: .*/, 'keys')]),
    [
      ['dir', 'is not read: it is a directory; give the file itself'],
      ['empty.json', empty],
      ['blank.json', empty],
      ['empty.toml', 'has no servers under any of these keys'],
    ],
  );
});

test('an edited file counts as it is now, and a removed one no longer (10.5)', async (t) => {
  const tree = makeTree(t, { 'home/.kode.json': file({ one: { command: 'x' } }) });
  const options = { env: {}, cwd: tree.path, home: tree.at('home'), configFiles: [], trustProject: false };
  const read = createConfiguration(options);
  const names = async () => (await read()).configs.map(({ name }) => name);
  assert.deepEqual(await names(), ['one']);
  tree.write('home/.kode.json', file({ two: { command: 'x' } }));
  assert.deepEqual(await names(), ['two']);
  tree.write('home/.kode.json', '{');
  assert.deepEqual(await names(), ['two']);
  tree.remove('home/.kode.json');
  assert.deepEqual(await names(), []);
});

test('of too many entries the first are used (10.5)', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`s${at}`, { command: 'x' }]));
  const tree = makeTree(t, { 'many.json': file(many) });
  const options = { env: {}, cwd: tree.path, home: tree.at('home'), trustProject: false };
  const { configs, problems } = await createConfiguration({ ...options, configFiles: ['many.json'] })();
  assert.equal(configs.length, MAX_SERVERS);
  assert.deepEqual(
    problems.map(({ what }) => what),
    ['names 100000 servers; only the first 500 are looked at'],
  );
});

test('faults of entries that another file replaces are not reported (11.26)', async (t) => {
  const tree = makeTree(t, {
    'home/.kode.json': file({ both: { command: 1 }, given: { command: 2 }, mine: { command: 3 } }),
    '.kode.json': file({ both: { command: 'x' }, given: { command: 'x' }, off: { disabled: true } }),
    'given.json': file({ given: { command: 'y' } }),
  });
  const look = (trustProject: boolean) =>
    createConfiguration({
      env: {},
      cwd: tree.path,
      home: tree.at('home'),
      configFiles: ['given.json'],
      trustProject,
    })();
  const faults = async (trustProject: boolean) =>
    (await look(trustProject)).problems.map(({ what }) => what.slice(0, 30));
  assert.deepEqual(await faults(true), ['server "mine": command must be']);
  // One that is not trusted replaces nothing yet.
  const untrusted = (name: string) => `server "${name}": not started: this`.slice(0, 30);
  assert.deepEqual(await faults(false), [
    'server "both": command must be',
    'server "mine": command must be',
    untrusted('off'),
    untrusted('both'),
  ]);
});

/** What is configured where everything is below one tree: the project in `project`, the home in `home`. */
function configured(tree: Tree, importHosts: readonly string[], more: Partial<FileOptions> = {}) {
  const options = { env: {}, configFiles: [], trustProject: false, platform: 'linux' as const, importHosts, ...more };
  const read = createConfiguration({ ...options, cwd: tree.at('project'), home: tree.at('home') });
  return async () => {
    const { configs, problems } = await read();
    const state = ({ name, target }: UpstreamConfig) =>
      `${name} ${target.kind === 'none' ? `${target.state}: ${target.reason}` : target.kind}`;
    return {
      states: configs.map(state),
      from: configs.map(({ from }) => from.slice(tree.path.length + 1)),
      problems: problems.map(({ where, what }) => `${where}: ${what}`.replaceAll(`${tree.path}/`, '')),
    };
  };
}

const UNTRUSTED = (...words: readonly string[]) =>
  `untrusted: not started: this project is not trusted; look at the file, then run "${['skillwire trust', ...words].join(' ')}"`;

test('--import reads the file of each host, in the format of that host', async (t) => {
  const one = { command: 'x' };
  const tree = makeTree(t, {
    'project/x': '',
    'home/.claude.json': JSON.stringify({
      mcpServers: { a: one },
      projects: { '/elsewhere': { mcpServers: { z: one } } },
    }),
    'home/.config/Claude/claude_desktop_config.json': file({ b: one }),
    'home/.codex/config.toml': '# mine\n[mcp_servers.c]\ncommand = "x"\n',
    'home/.cursor/mcp.json': '{ "mcpServers": { /* mine */ "d": { "url": "https://x.example" }, }, }',
    'home/.config/Code/User/mcp.json': '\ufeff{ "servers": { "e": { "command": "x" }, } } // mine',
    'home/.gemini/settings.json': file({ f: { httpUrl: 'https://x.example' } }),
    'home/.config/opencode/opencode.jsonc': '{ "mcp": { "g": { "type": "local", "command": ["x"], }, }, }',
    'home/.config/opencode/opencode.json': file({ ignored: one }),
    'home/.config/zed/settings.json': '// mine\n{ "context_servers": { "h": { "command": "x", "args": [] } } }',
    'home/.copilot/mcp-config.json': file({ i: { type: 'local', ...one } }),
    'home/.codeium/windsurf/mcp_config.json': file({ j: { serverUrl: 'https://x.example' } }),
  });
  const { states, problems } = await configured(tree, HOST_NAMES)();
  const kinds = states.toSorted().map((state) => state.slice(0, 6));
  assert.deepEqual(kinds, [
    'a stdi',
    'b stdi',
    'c stdi',
    'd http',
    'e stdi',
    'f http',
    'g stdi',
    'h stdi',
    'i stdi',
    'j http',
  ]);
  assert.deepEqual(problems, []);
});

test('a host without a file is a problem that says where it was looked for; a broken file says where it is broken', async (t) => {
  const tree = makeTree(t, {
    'project/x': '',
    'home/.codex/config.toml': 'model = "x"\n[mcp_servers.a\ncommand = 7\n',
    'home/.cursor/mcp.json': '{\n  "mcpServers": {\n    "a": { "command": "s3cr3t }\n',
    'home/.gemini/settings.json': '{ "theme": "dark" }',
  });
  const { states, problems } = await configured(tree, ['vscode', 'windsurf', 'codex', 'cursor', 'gemini', 'emacs'])();
  assert.deepEqual(states, []);
  assert.deepEqual(problems, [
    '--import vscode: no file was found; looked at home/.config/Code/User/mcp.json, project/.vscode/mcp.json',
    '--import windsurf: no file was found; looked at home/.codeium/windsurf/mcp_config.json',
    'home/.codex/config.toml: is not valid TOML: line 2, column 15: expected "]"',
    'home/.cursor/mcp.json: is not a JSON object: line 3, column 32: a line break or control character must be an escape here',
    'home/.gemini/settings.json: has no servers under any of these keys: mcpServers, projects, servers, context_servers, mcp, mcp_servers',
    '--import emacs: is not one of claude-code, claude-desktop, codex, cursor, vscode, gemini, zed, opencode, windsurf, copilot',
  ]);
});

test("a host's file in the project starts nothing until it is trusted, whatever its format", async (t) => {
  const tree = makeTree(t, {
    'home/.config/Code/User/mcp.json': '{ "servers": { "mine": { "command": "x" }, "both": { "command": "x" } } }',
    'project/.vscode/mcp.json': '{ "servers": { "theirs": { "command": "x" }, "both": { "command": "y" } } }',
    'project/.codex/config.toml': '[mcp_servers.toml]\ncommand = "x"\n',
    'project/.mcp.json': file({ claude: { command: 'x' }, ours: { command: 'npx', args: ['-y', 'skillwire'] } }),
    'project/.kode.json': JSON.stringify({ context_servers: { own: { command: 'x' } } }),
  });
  const hosts = ['vscode', 'codex', 'claude-code'];
  const { states, from } = await configured(tree, hosts)();
  assert.deepEqual(states, [
    'mine stdio',
    'both stdio',
    `own ${UNTRUSTED()}`,
    `theirs ${UNTRUSTED('.vscode/mcp.json')}`,
    `toml ${UNTRUSTED('.codex/config.toml')}`,
    `claude ${UNTRUSTED('.mcp.json')}`,
    'ours disabled: it starts skillwire, which is running already',
  ]);
  assert.equal(from[1], 'home/.config/Code/User/mcp.json');
  const trusted = await configured(tree, hosts, { trustProject: true })();
  assert.deepEqual(trusted.states.toSorted(), [
    'both stdio',
    'claude stdio',
    'mine stdio',
    'ours disabled: it starts skillwire, which is running already',
    'own stdio',
    'theirs stdio',
    'toml stdio',
  ]);
});

test("in the home directory a host's file of the project is the user's own, and is read once", async (t) => {
  const tree = makeTree(t, { 'home/.cursor/mcp.json': file({ a: { command: 'x' } }) });
  const options = { env: {}, configFiles: [], trustProject: false, importHosts: ['cursor'] };
  const { configs, problems } = await createConfiguration({
    ...options,
    cwd: tree.at('home'),
    home: tree.at('home'),
  })();
  assert.deepEqual(
    configs.map(({ name, target }) => [name, target.kind]),
    [['a', 'stdio']],
  );
  assert.deepEqual(problems, []);
});

test('a variable does not make a file of the project one of the user', async (t) => {
  const tree = makeTree(t, { 'project/.codex/config.toml': '[mcp_servers.a]\ncommand = "x"\n' });
  const at = async (path: string) => (await configured(tree, ['codex'], { env: { CODEX_HOME: path } })()).states;
  assert.deepEqual(await at('.codex'), [`a ${UNTRUSTED('.codex/config.toml')}`]);
  assert.deepEqual(await at('../project/.codex'), [`a ${UNTRUSTED('.codex/config.toml')}`]);
  assert.deepEqual(await at(tree.at('project/.codex')), [`a ${UNTRUSTED('.codex/config.toml')}`]);
});

test('an entry that starts skillwire itself is left out of the files of hosts, and of ours it is not', async (t) => {
  const skillwire = { command: 'npx', args: ['-y', 'skillwire', '--hub'] };
  const tree = makeTree(t, {
    'home/.claude.json': file({ skillwire, a: { command: 'x' } }),
    'home/.kode.json': file({ nested: skillwire }),
    'project/other.json': file({ given: skillwire }),
  });
  const { states, problems } = await configured(tree, ['claude-code'], { configFiles: ['other.json'] })();
  assert.deepEqual(states, [
    'nested stdio',
    'skillwire disabled: it starts skillwire, which is running already',
    'a stdio',
    'given disabled: it starts skillwire, which is running already',
  ]);
  assert.deepEqual(problems, []);
});

test('Claude Code knows a project by the directory that has its .git, from any directory below', async (t) => {
  const tree = makeTree(t, { 'repo/.git/HEAD': '', 'repo/packages/a/x': '' });
  tree.write(
    'home/.claude.json',
    JSON.stringify({ projects: { [tree.at('repo')]: { mcpServers: { a: { command: 'x' } } } } }),
  );
  const options = {
    env: {},
    home: tree.at('home'),
    configFiles: [],
    trustProject: false,
    importHosts: ['claude-code'],
  };
  const names = async (cwd: string) =>
    (await createConfiguration({ ...options, cwd })()).configs.map(({ name }) => name);
  assert.deepEqual(await names(tree.at('repo/packages/a')), ['a']);
  assert.deepEqual(await names(tree.at('repo')), ['a']);
  assert.deepEqual(await names(tree.path), []);
  assert.deepEqual(await names(tree.at('gone')), []);
  symlinkSync(tree.at('repo'), tree.at('link'));
  assert.deepEqual(await names(tree.at('link')), ['a']);
});

test('the first file of a host that exists counts, also when it comes later', async (t) => {
  const tree = makeTree(t, {
    'project/x': '',
    'home/.config/opencode/opencode.json': '{"mcp":{"a":{"command":["x"]}}}',
  });
  const read = configured(tree, ['opencode']);
  assert.deepEqual((await read()).states, ['a stdio']);
  tree.write('home/.config/opencode/opencode.jsonc', '{"mcp":{"b":{"command":["x"]}}}');
  assert.deepEqual((await read()).states, ['b stdio']);
  tree.remove('home/.config/opencode/opencode.jsonc');
  assert.deepEqual((await read()).states, ['a stdio']);
});

test('an entry replaces the one that is written alike, and a file without trust renames no server (13.14)', async (t) => {
  const tree = makeTree(t, {
    'home/.kode.json': file({ 'My Server': { command: 'x' }, 'Other One': { command: 'x' } }),
    '.kode.json': file({ 'My-Server': { command: 'y' } }),
    'given.json': file({ 'Other One': { command: 'z' } }),
  });
  const options = { env: {}, cwd: tree.path, home: tree.at('home'), trustProject: false };
  const { configs } = await createConfiguration({ ...options, configFiles: ['given.json'] })();
  assert.deepEqual(
    configs.map(({ name, target }) => [name, target.kind === 'stdio' ? target.command : target.kind]),
    [
      ['My-Server', 'x'],
      ['Other-One', 'z'],
      [`My-Server-${hashOf('My-Server')}`, 'none'],
    ],
  );
});
