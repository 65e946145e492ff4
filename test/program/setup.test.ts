/** `skillwire setup`: what it shows, writes and takes back, and that a client can start what it wrote. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CLIENTS } from '../../src/cli/setup/clients.ts';
import { parseJsonc } from '../../src/files/jsonc.ts';
import { parseToml } from '../../src/files/toml.ts';
import { type Answer, CACHE_HOME, PROGRAM } from '../harness/program.ts';
import { withoutPrivilege } from '../harness/rights.ts';
import { makeTree } from '../harness/tree.ts';

/** A project in a home directory, both empty, and the program in it. */
function makeHome(t: TestContext, files: Readonly<Record<string, string>> = {}) {
  const tree = makeTree(t, { 'project/x': '', ...files });
  const env = { PATH: process.env.PATH, HOME: tree.path, XDG_CACHE_HOME: CACHE_HOME };
  const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const [command = '', ...rest] = [...withoutPrivilege, process.execPath, PROGRAM, 'setup', ...args];
    const options = { cwd: tree.at('project'), env: { ...env, ...more }, encoding: 'utf8', input: '' } as const;
    const { status, stdout, stderr } = spawnSync(command, rest, options);
    return { status, stdout, stderr };
  };
  /** The output as data. */
  const json = (...args: readonly string[]): Answer => {
    const { status, stdout, stderr } = run(['--json', ...args]);
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' }, args.join(' '));
    return JSON.parse(stdout);
  };
  const read = (path: string) => readFileSync(path, 'utf8');
  return { tree, env, run, json, read };
}

const JSON_TEXT = '{\r\n\t// mine\r\n\t"a": [1, 2], // why\r\n}\r\n';
const PLAIN_TEXT = '{"a": [1, 2],\n "mcpServers": {"other": {"command": "x"}}}';
const TOML_TEXT = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"';
const TEXTS = { json: PLAIN_TEXT, jsonc: JSON_TEXT, toml: TOML_TEXT };

test('without a client it lists all of them, where their files are and whether they exist', (t) => {
  const { tree, run, json } = makeHome(t, { '.codex/config.toml': '', 'project/opencode.jsonc': '{}' });
  const { status, stdout } = run([]);
  assert.equal(status, 0);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(/ +/));
  assert.deepEqual(
    rows.filter(([name]) => name !== '').map(([name]) => name),
    CLIENTS.map(({ name }) => name),
  );
  assert.ok(stdout.includes(`codex           exists  ${tree.at('.codex/config.toml')} (has no such entry)\n`), stdout);
  assert.ok(stdout.includes(`                missing ${tree.at('project/.mcp.json')} (--project)\n`), stdout);
  assert.ok(stdout.includes(`exists  ${tree.at('project/opencode.jsonc')} (has no such entry) (--project)\n`), stdout);
  const { version, clients } = json();
  assert.equal(version, 1);
  assert.deepEqual(clients[0], {
    name: 'claude-code',
    title: 'Claude Code',
    user: { file: tree.at('.claude.json'), exists: false },
    project: { file: tree.at('project/.mcp.json'), exists: false },
  });
});

test('what it shows is a whole file that says the same as the entry, and nothing is written', (t) => {
  const { tree, run, json } = makeHome(t);
  const before = readdirSync(tree.path);
  for (const { name, title, format, servers } of CLIENTS) {
    const { snippet, entry, ...rest } = json(name);
    const value: Answer = format === 'toml' ? parseToml(snippet).value : JSON.parse(snippet);
    assert.deepEqual(value, { [servers]: { skillwire: entry } });
    assert.deepEqual(
      { ...rest, file: undefined },
      { version: 1, client: name, file: undefined, existed: false, action: 'shown', notes: [] },
    );
    const shown = `${title}: ${rest.file} (does not exist yet)\n\n${snippet}\n--write puts it there.\n`;
    if (['codex', 'opencode'].includes(name)) assert.equal(run([name]).stdout, shown);
  }
  assert.deepEqual(readdirSync(tree.path), before);
});

test('whether the file has the entry is said, for one client and in the list of all', (t) => {
  const { tree, run, json } = makeHome(t, { '.codex/config.toml': 'a = 1\n', 'project/.codex/config.toml': '[b\n' });
  const file = tree.at('.codex/config.toml');
  const shown = (...args: readonly string[]) => run(['codex', ...args]).stdout.split('\n');
  const inList = () =>
    run([])
      .stdout.split('\n')
      .filter((line) => line.includes('.codex'));
  assert.equal(shown()[0], `Codex: ${file} (has no such entry)`);
  assert.deepEqual(json('codex').found, { state: 'missing' });
  json('codex', '--write');
  assert.equal(shown()[0], `Codex: ${file} (has this entry)`);
  assert.ok(!shown().includes('--write puts it there.'));
  assert.equal(shown('--hub')[0], `Codex: ${file} (has an entry that differs)`);
  assert.deepEqual(json('codex', '--hub').found, { state: 'differs' });
  const fault = `${tree.at('project/.codex/config.toml')}:1:3: expected "]"`;
  assert.equal(shown('--project')[0], `Codex: ${fault}`);
  assert.ok(!shown('--project').includes('--write puts it there.'));
  assert.deepEqual(json('codex', '--project').found, { error: 'expected "]"', line: 1, column: 3 });
  assert.deepEqual(inList(), [
    `codex           exists  ${file} (has this entry)`,
    `                exists  ${fault} (--project)`,
  ]);
  const codex = json().clients.find(({ name }: Answer) => name === 'codex');
  assert.deepEqual([codex.user.found, codex.project.found.line], [{ state: 'there' }, 1]);
});

for (const { name, format, servers } of CLIENTS) {
  test(`setup ${name}: written once, started by what was written, taken back to the byte`, (t) => {
    const { tree, env, json, read } = makeHome(t);
    const { file } = json(name);
    const text = TEXTS[format];
    tree.write(relative(tree.path, file), text);
    const written = json(name, '--write');
    assert.deepEqual(written, { ...AS_WRITTEN, client: name, file, entry: written.entry, backup: `${file}.bak` });
    const once = read(file);
    assert.deepEqual(json(name, '--write'), {
      ...{ version: 1, client: name, file, existed: true, action: 'none', entry: written.entry },
    });
    assert.equal(read(file), once);
    const value: Answer = format === 'toml' ? parseToml(once).value : parseJsonc(once).value;
    assert.deepEqual(value[servers].skillwire, written.entry);
    const [command, ...args] = [written.entry.command, written.entry.args ?? []].flat();
    const { stdout } = spawnSync(command, args, { cwd: '/', env, input: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n' });
    assert.equal(stdout.toString(), '{"jsonrpc":"2.0","id":1,"result":{}}\n');
    assert.equal(json(name, '--remove').action, 'removed');
    assert.equal(read(file), text);
    assert.deepEqual(namesLike(file), ['', '.bak', '.bak.1']);
  });
}

const AS_WRITTEN = { version: 1, existed: true, action: 'written', notes: [] };

/** What the names beside a file that begin as its own end with. */
function namesLike(file: string): readonly string[] {
  const all = existsSync(dirname(file)) ? readdirSync(dirname(file)) : [];
  const names = all.filter((one) => one.startsWith(basename(file)));
  return names.map((one) => one.slice(basename(file).length)).toSorted();
}

test('a file that was not there is made, and deleted again when nothing else was put into it', (t) => {
  const { tree, json, run, read } = makeHome(t);
  for (const args of [['codex'], ['vscode'], ['vscode', '--project']]) {
    const { file, action } = json(...args, '--write');
    assert.equal(action, 'written');
    assert.ok(read(file).endsWith('\n'));
    assert.deepEqual(namesLike(file), ['']);
    assert.equal(run([...args, '--remove']).stdout.split(': ')[1], `deleted ${file}, which had nothing else in it\n`);
    assert.equal(json(...args, '--remove').action, 'none');
    assert.deepEqual(namesLike(file), []);
  }
  assert.deepEqual(readdirSync(tree.at('project')), ['x']);
  assert.deepEqual(readdirSync(tree.at('.codex')), []);
});

test('directories that were made in a project for its files are deleted with them, others are not', (t) => {
  const { tree, json } = makeHome(t, { 'project/.vscode/settings.json': '{}' });
  tree.link('project/.zed', tree.at('project/linked'));
  tree.write('project/linked/x', '');
  const names = CLIENTS.filter(({ name }) => !['claude-desktop', 'windsurf'].includes(name)).map(({ name }) => name);
  for (const name of names) assert.equal(json(name, '--project', '--write').action, 'written');
  assert.ok(readdirSync(tree.at('project')).includes('.gemini'));
  for (const name of names) assert.equal(json(name, '--project', '--remove').action, 'deleted');
  assert.deepEqual(readdirSync(tree.at('project')), ['.vscode', '.zed', 'linked', 'x']);
});

test('what was put into a new file besides the entry stays', (t) => {
  const { json, read } = makeHome(t);
  const { file } = json('cursor', '--write');
  const text = read(file).replace('"mcpServers": {', '"mcpServers": {\n    "other": {},');
  writeFileSync(file, text);
  assert.equal(json('cursor', '--remove').action, 'removed');
  assert.equal(read(file), '{\n  "mcpServers": {\n    "other": {}\n  }\n}\n');
});

test('a file that is broken is not touched, and the fault has its place', (t) => {
  const cases: readonly (readonly [args: string, file: string, text: string, fault: string])[] = [
    ['claude-code --write', '.claude.json', '{\n  "a": 1\n  "b": 2\n}', ':3:3: expected "," or "}"'],
    ['claude-code --write', '.claude.json', '{\n  // note\n}', ':2:3: a comment is not plain JSON'],
    ['cursor --write', '.cursor/mcp.json', '{\n  "mcpServers": []\n}', ':2:17: expected an object'],
    ['zed --remove', '.config/zed/settings.json', '// settings\n', ':2:1: expected a value'],
    ['codex --remove', '.codex/config.toml', 'a = 1\n[b\n', ':2:3: expected "]"'],
    ['codex --write', '.codex/config.toml', 'mcp_servers = {}\n', ':1:1: the entry is written here in a form'],
    [
      'gemini --remove',
      '.gemini/settings.json',
      '{"mcpServers":{"skillwire":1,"skillwire":2}}',
      ': it is written in a',
    ],
  ];
  for (const [args, file, text, fault] of cases) {
    const { tree, run, read } = makeHome(t, { [file]: text });
    const { status, stdout, stderr } = run(args.split(' '));
    assert.deepEqual({ status, stdout }, { status: 1, stdout: '' }, `${args} ${text}`);
    assert.ok(stderr.startsWith(`skillwire: ${tree.at(file)}${fault}`), stderr);
    assert.ok(stderr.endsWith('; nothing was changed\n'), stderr);
    const json = run([...args.split(' '), '--json']);
    const { error, line, column, ...rest } = JSON.parse(json.stdout);
    const place = line === undefined ? '' : `:${line}:${column}`;
    assert.equal(json.stderr, stderr);
    assert.ok(`${place}: ${error}`.startsWith(fault), json.stdout);
    assert.deepEqual(rest, { version: 1, client: args.split(' ')[0], file: tree.at(file), action: 'failed' });
    assert.equal(read(tree.at(file)), text);
    assert.deepEqual(namesLike(tree.at(file)), ['']);
  }
});

test('without the right to write it says so, and changes nothing', (t) => {
  const { tree, run, read } = makeHome(t, { '.cursor/mcp.json': '{}', '.codex/config.toml': '', '.gemini/x': '' });
  chmodSync(tree.at('.cursor/mcp.json'), 0o444);
  chmodSync(tree.at('.codex'), 0o555);
  chmodSync(tree.at('.gemini'), 0o000);
  for (const client of ['cursor', 'codex', 'gemini']) {
    const { status, stdout, stderr } = run([client, '--write']);
    assert.deepEqual({ status, stdout }, { status: 1, stdout: '' }, client);
    assert.match(stderr, /^skillwire: [^\n]*EACCES[^\n]*; nothing was changed\n$/);
    assert.equal(run([]).status, 0);
  }
  for (const name of ['.codex', '.gemini']) chmodSync(tree.at(name), 0o755);
  assert.equal(read(tree.at('.cursor/mcp.json')), '{}');
  assert.deepEqual(readdirSync(tree.at('.codex')), ['config.toml']);
  assert.deepEqual(readdirSync(tree.at('.cursor')), ['mcp.json']);
});

test("options for the server go into its arguments, with absolute paths unless the file is the project's", (t) => {
  const { tree, json } = makeHome(t);
  const args = (...words: readonly string[]) => json('cursor', ...words).entry.args.slice(1);
  const given = ['--', '--skill-dir', 'a', '--root=-b', '-q', '--include', 'x', '--hub'];
  const absolute = [tree.at('project/a'), tree.at('project/-b')];
  assert.deepEqual(args(...given), [
    '--skip-own',
    '--skill-dir',
    absolute[0],
    `--root=${absolute[1]}`,
    '-q',
    '--include',
    'x',
    '--hub',
  ]);
  assert.deepEqual(args('--project', ...given), ['--skip-own', ...given.slice(1)]);
  assert.deepEqual(args('--hub'), ['--hub', '--skip-own']);
  assert.deepEqual(args('--hub', '--', '--hub', '--skip-own'), ['--hub', '--skip-own']);
});

test('a ~ that no shell has expanded stands for the home, except in a file of the project', (t) => {
  const { tree, json } = makeHome(t);
  const args = (...words: readonly string[]) => json('codex', ...words).entry.args.slice(2);
  const given = ['--', '--skill-dir=~/a', '--plugins-file', '~/b', '--hub', '--config=~', '--root=~x'];
  assert.deepEqual(args(...given), [
    `--skill-dir=${tree.at('a')}`,
    '--plugins-file',
    tree.at('b'),
    '--hub',
    `--config=${tree.path}`,
    `--root=${tree.at('project/~x')}`,
  ]);
  assert.deepEqual(args('--project', ...given), given.slice(1));
});

test('a desktop application gets the absolute path of the runtime, because it does not have the PATH of a shell', (t) => {
  const { tree, run } = makeHome(t);
  tree.link('bin/node', process.execPath);
  const commandFor = (client: string) => {
    const { entry } = JSON.parse(run([client, '--json'], { PATH: `${tree.at('bin')}:${process.env.PATH}` }).stdout);
    return [entry.command].flat()[0];
  };
  for (const client of ['claude-desktop', 'cursor', 'vscode', 'zed', 'windsurf'])
    assert.equal(commandFor(client), tree.at('bin/node'), client);
  for (const client of ['claude-code', 'codex', 'gemini', 'opencode', 'copilot'])
    assert.equal(commandFor(client), 'node', client);
});

test('--http and --url name an address instead, and a token by its variable', (t) => {
  const { run, json } = makeHome(t);
  assert.deepEqual(json('cursor', '--http').entry, { url: 'http://127.0.0.1:3333/mcp' });
  assert.match(json('cursor', '--http').notes[0], /^Start the server: .* --transport http --skip-own$/);
  assert.deepEqual(json('codex', '--url', 'https://skills.example.com/mcp').entry, {
    url: 'https://skills.example.com/mcp',
  });
  const startOf = (url: string) =>
    json('codex', '--url', url).notes.map((note: string) => note.replace(/^.*\.cjs /, ''));
  assert.deepEqual(startOf('http://127.0.0.1:4444/mcp'), ['--transport http --port 4444 --skip-own']);
  assert.deepEqual(startOf('http://localhost/mcp'), ['--transport http --host localhost --port 80 --skip-own']);
  assert.deepEqual(startOf('http://[::1]:3333/mcp'), ["--transport http --host '[::1]' --skip-own"]);
  for (const other of ['https://127.0.0.1/mcp', 'http://skills.example.com/mcp', 'http://127.0.0.1:3333/other'])
    assert.deepEqual(startOf(other), []);
  const token = { SKILLWIRE_TOKEN: 'tell-nobody' };
  const outputs = CLIENTS.filter(({ http }) => http).map(({ name }) => run([name, '--http', '--write'], token));
  for (const { status, stdout } of outputs) {
    assert.equal(status, 0);
    assert.match(stdout, /SKILLWIRE_TOKEN|Put the token into the entry by hand/);
    assert.doesNotMatch(stdout, /tell-nobody/);
  }
  const { entry } = json('opencode', '--http');
  assert.deepEqual(entry, { type: 'remote', url: 'http://127.0.0.1:3333/mcp', enabled: true });
  // Going back to a command takes address and header away.
  assert.equal(json('cursor', '--write').action, 'written');
  assert.deepEqual(Object.keys(json('cursor', '--write').entry), ['command', 'args']);
});

test('a mistake is one line on stderr and exit 2', (t) => {
  const { run } = makeHome(t);
  const cases: readonly (readonly [args: readonly string[], line: RegExp])[] = [
    [['codx'], /unknown client "codx"; did you mean codex\?; it can be claude-code, .*copilot/],
    [['claude'], /unknown client "claude"; did you mean claude-code\?/],
    [['xyzzyxyzzy'], /unknown client "xyzzyxyzzy"; it can be/],
    [['\u001b[31m'], /unknown client "\\u001b\[31m"/],
    [['codex', '--write', '--remove'], /--write and --remove exclude each other/],
    [['windsurf', '--project'], /Windsurf has no file for a project/],
    [['claude-desktop', '--http'], /the file of Claude Desktop can only name programs/],
    [['codex', '--http', '--hub'], /give these options to the server/],
    [['codex', '--http', '--', '-q'], /give these options to the server/],
    [['codex', '--url', 'ftp://x'], /--url must be http:\/\/\.\.\. or https:\/\/\.\.\., not "ftp:\/\/x"/],
    [['codex', '--url', ''], /--url must be/],
    [['codex', '--skill-dir', 'x'], /setup has no option --skill-dir; serve has: write it after --;/],
    [['codex', '--long'], /setup has no option --long; list has;/],
    [['--write'], /--write is for one CLIENT; it can be claude-code, .*copilot/],
    [['--remove'], /--remove is for one CLIENT/],
    [['--project', '--json'], /--project is for one CLIENT/],
    [['--url', 'http://x'], /--url is for one CLIENT/],
    [['codex', 'cursor'], /unexpected argument "cursor"/],
    [['codex', '--', '--skil-dir', 'x'], /unknown option --skil-dir; did you mean --skill-dir\?/],
    [['codex', '--', '--tools', 'x'], /--tools takes/],
    [['codex', '--', '--transport', 'http'], /a client starts the server on stdin and stdout; see --http/],
    [['codex', '--', '--help'], /the program does not serve/],
  ];
  for (const [args, line] of cases) {
    const { status, stdout, stderr } = run(args);
    assert.deepEqual({ status, stdout }, { status: 2, stdout: '' }, args.join(' '));
    assert.match(stderr, /^skillwire: [^\n]+; see \S+ \/\S+\/dist\/skillwire\.cjs setup --help\n$/);
    assert.match(stderr, line);
  }
  assert.match(run(['codex', '--write'], { HOME: 'relative' }).stderr, /the home directory is not known; set HOME/);
});

test('a path that a terminal would obey is shown escaped, and written as it is', (t) => {
  const { json, run, read } = makeHome(t);
  const odd = '/a\u202eb \u{e0041}"c';
  const { stdout } = run(['cursor', '--', '--skill-dir', odd]);
  assert.doesNotMatch(stdout, /[\u202e\u{e0041}]/u);
  assert.equal(
    JSON.parse(stdout.slice(stdout.indexOf('{'), stdout.lastIndexOf('}') + 1)).mcpServers.skillwire.args.at(-1),
    odd,
  );
  const { file } = json('cursor', '--write', '--', '--skill-dir', odd);
  assert.equal(JSON.parse(read(file)).mcpServers.skillwire.args.at(-1), odd);
});
