import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CLIENTS, type SetupClient } from '../../src/cli/clients.ts';
import { withEntry } from '../../src/cli/setup.ts';
import { PROGRAM, runCommand, startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const ENTRY = { command: 'node', args: ['x'] };
const clientOf = (name: string) => CLIENTS.find((one) => one.name === name) as SetupClient;
const [CURSOR, CODEX] = [clientOf('cursor'), clientOf('codex')];
const json = (indent: string, before = {}) =>
  `${JSON.stringify({ ...before, mcpServers: { skillwire: ENTRY } }, undefined, indent)}\n`;
const TABLE = '[mcp_servers.skillwire]\ncommand = "node"\nargs = ["x"]\n';

type Row = readonly [name: string, client: SetupClient, before: string, after: string | RegExp | undefined];
/** `after`: undefined for a text that is left as it is; a pattern for the reason why it is refused. */
const TEXTS: readonly Row[] = [
  ['a new file', CURSOR, '', json('  ')],
  ['an empty object', CURSOR, ' {}\n', json('  ')],
  ['no servers yet', CURSOR, '{ "mcpServers": null }', json('  ')],
  ['four spaces', CURSOR, '{\n    "a": 1\n}', json('    ', { a: 1 })],
  ['tabs and a key that is a number', CURSOR, '{\n\t"1": "// no comment"\n}', json('\t', { 1: '// no comment' })],
  ['CRLF', CURSOR, '{\r\n  "a": 1\r\n}\r\n', json('  ', { a: 1 }).replaceAll('\n', '\r\n')],
  ['the same entry', CURSOR, '{"mcpServers":{"skillwire":{"args":["x"],"command":"node"}}}', undefined],
  ['another entry', CURSOR, '{"mcpServers":{"skillwire":{"command":"npx"}}}', /it has another entry "skillwire"/],
  ['a comment', CURSOR, '{ // servers\n}', /it is not plain JSON/],
  ['a comma too many', CURSOR, '{"a":1,}', /it is not plain JSON/],
  ['a key that is there twice', CURSOR, '{"a":1,"a":2}', /it is not plain JSON/],
  ['a number that would lose digits', CURSOR, '{"a":12345678901234567890}', /it is not plain JSON/],
  ['a list', CURSOR, '[]', /it is not an object with "mcpServers"/],
  ['a list of servers', CURSOR, '{"mcpServers":[]}', /it is not an object with "mcpServers"/],
  ['new TOML', CODEX, '', TABLE],
  ['TOML with comments', CODEX, '# mine\nmodel = "x"', `# mine\nmodel = "x"\n\n${TABLE}`],
  ['a directory of our name', CODEX, '[projects."/x/skillwire"]\n', `[projects."/x/skillwire"]\n\n${TABLE}`],
  ['a program of our name', CODEX, 'a = "skillwire.cjs"\n', `a = "skillwire.cjs"\n\n${TABLE}`],
  ['the same table among others', CODEX, `a = 1\r\n\r\n${TABLE.replaceAll('\n', '\r\n')}\r\n[b]\r\n`, undefined],
  ['another table', CODEX, '[mcp_servers.skillwire]\ncommand = "npx"\n', /it has another entry/],
  ['a table in it', CODEX, '[ mcp_servers . "skillwire" . env ]\n', /it has another entry/],
  ['a key of the table of servers', CODEX, '[mcp_servers]\nskillwire = { command = "npx" }\n', /it has another entry/],
  ['a dotted key', CODEX, 'mcp_servers.skillwire.command = "npx"\n', /it has another entry/],
  ['servers in one line', CODEX, 'mcp_servers = {}\n', /"mcp_servers" is not written as tables/],
];
for (const [name, client, before, after] of TEXTS)
  test(`the text of a file: ${name}`, () => {
    const write = () => withEntry(client, before, ENTRY);
    if (after instanceof RegExp) assert.throws(write, after);
    else assert.equal(write(), after ?? before);
  });

function makeHome(t: TestContext) {
  const tree = makeTree(t);
  const run = (args: readonly string[], env = {}) => runCommand(tree, ['setup', ...args], env);
  return { tree, run, read: (name: string) => readFileSync(tree.at(name), 'utf8') };
}

const NOT_LINUX = process.platform !== 'linux';
// By client: its file below the home, and which of its own providers the entry leaves out.
const FILES: Readonly<Record<string, readonly [file: string, exclude?: string]>> = {
  'claude-code': ['.claude.json', '@claude'],
  'claude-desktop': ['.config/Claude/claude_desktop_config.json'],
  codex: ['.codex/config.toml', '@codex'],
  cursor: ['.cursor/mcp.json', '@cursor'],
  vscode: ['.config/Code/User/mcp.json', '@github,@copilot'],
  gemini: ['.gemini/settings.json', '@gemini'],
  zed: ['.config/zed/settings.json'],
  opencode: ['.config/opencode/opencode.json', '@opencode'],
  windsurf: ['.codeium/windsurf/mcp_config.json'],
  copilot: ['.copilot/mcp-config.json', '@github,@copilot'],
};

test('without a client it lists all ten with their files; each is written', { skip: NOT_LINUX }, (t) => {
  const { tree, run, read } = makeHome(t);
  tree.write('home/.cursor/mcp.json', '{}');
  const lines = Object.entries(FILES).map(([name, [file]]) => {
    const state = name === 'cursor' ? '' : ' (does not exist)';
    return `${name.padEnd(16)}${tree.at(`home/${file}`)}${state}\n`;
  });
  assert.deepEqual(run([]), { status: 0, stdout: lines.join(''), stderr: '' });
  for (const [name, [file, exclude]] of Object.entries(FILES)) {
    const { title, entry } = clientOf(name);
    const stdout = `${title}: the entry is in ${tree.at(`home/${file}`)} now; restart ${title}\n`;
    assert.deepEqual(run([name, '--write']), { status: 0, stdout, stderr: '' });
    const own = exclude === undefined ? [] : ['--exclude', exclude];
    assert.equal(read(`home/${file}`), withEntry(clientOf(name), '', entry(process.execPath, [PROGRAM, ...own])));
  }
});

test('it shows what --write would put there; the same entry again changes nothing', (t) => {
  const { tree, run, read } = makeHome(t);
  for (const name of ['cursor', 'codex']) {
    const file = `home/${FILES[name]?.[0]}`;
    const shown = run([name]).stdout;
    assert.equal(existsSync(tree.at(file)), false);
    run([name, '--write']);
    const text = read(file);
    assert.equal(shown, `${clientOf(name).title}: ${tree.at(file)}\n\n${text}\n--write puts it there.\n`);
    const again = run([name, '--write']);
    assert.deepEqual([again.status, again.stderr, read(file)], [0, '', text]);
    assert.match(again.stdout, /: the entry was in \S+ already\n$/);
    assert.equal(readdirSync(dirname(tree.at(file))).length, 1);
  }
});

test('a client can start what was written, and it serves with the options that were given', async (t) => {
  const { tree, run, read } = makeHome(t);
  tree.write('more/pdf/SKILL.md', skillText('pdf'));
  assert.equal(run(['cursor', '--write', '--', '--skill-dir', 'more', '-q', '--no-default-dirs']).status, 0);
  const { command, args } = JSON.parse(read('home/.cursor/mcp.json')).mcpServers.skillwire;
  assert.deepEqual([command, args[0]], [process.execPath, PROGRAM]);
  const elsewhere = makeTree(t);
  const program = startProgram(t, { tree: elsewhere, args: args.slice(1) });
  assert.deepEqual(await program.names(), ['pdf']);
});

test('paths after -- become absolute; what a terminal would obey is shown escaped, and written as it is', (t) => {
  const { tree, run, read } = makeHome(t);
  const odd = '/c\u202e\u{e0041}"';
  const given = [...'--skill-dir a --root=~/b -q --include=-x --plugins-file ~ --config'.split(' '), odd];
  const { stdout } = run(['windsurf', '--', ...given]);
  assert.doesNotMatch(stdout, /[\u202e\u{e0041}]/u);
  run(['windsurf', '--write', '--', ...given]);
  const [, shown = ''] = /\n\n(\{[\s\S]*\})\n\n/.exec(stdout) ?? [];
  for (const text of [shown, read('home/.codeium/windsurf/mcp_config.json')])
    assert.deepEqual(JSON.parse(text).mcpServers.skillwire.args.slice(1), [
      ...['--skill-dir', tree.at('a'), `--root=${tree.at('home/b')}`, '-q', '--include=-x'],
      ...['--plugins-file', tree.at('home'), '--config', odd],
    ]);
});

test('a file is replaced with a backup, its mode and the link to it', (t) => {
  const { tree, run, read } = makeHome(t);
  const before = '{\n  "theme": "dark"\n}\n';
  tree.write('home/dotfiles/mcp.json', before);
  chmodSync(tree.at('home/dotfiles/mcp.json'), 0o666);
  tree.link('home/.cursor/mcp.json', '../dotfiles/mcp.json');
  assert.equal(run(['cursor', '--write']).status, 0);
  assert.ok(lstatSync(tree.at('home/.cursor/mcp.json')).isSymbolicLink());
  assert.equal(statSync(tree.at('home/dotfiles/mcp.json')).mode & 0o777, 0o666);
  assert.equal(read('home/dotfiles/mcp.json.bak'), before);
  assert.match(read('home/dotfiles/mcp.json'), /^\{\n {2}"theme": "dark",\n {2}"mcpServers"/);
  assert.deepEqual(readdirSync(tree.at('home/dotfiles')).sort(), ['mcp.json', 'mcp.json.bak']);
});

test('a file that cannot be edited is left alone: the entry is printed, one line says why, exit 1', (t) => {
  const { tree, run } = makeHome(t);
  for (const [before, why] of [
    ['{ // mine\n}', /it is not plain JSON \(it has a comment/],
    ['{"mcpServers":{"skillwire":{}}}', /it has another entry "skillwire"/],
    [Buffer.from('{"a":"\xe9"}', 'latin1'), /it is not UTF-8/],
  ] as const) {
    tree.write('home/.cursor/mcp.json', before);
    const { status, stdout, stderr } = run(['cursor', '--write']);
    assert.equal(status, 1);
    assert.equal(JSON.parse(stdout).mcpServers.skillwire.command, process.execPath);
    assert.match(stderr, /^skillwire: \S+\/mcp\.json: [^\n]*; nothing was changed, put the entry there by hand\n$/);
    assert.match(stderr, why);
    assert.deepEqual(readFileSync(tree.at('home/.cursor/mcp.json')), Buffer.from(before));
  }
  assert.deepEqual(readdirSync(tree.at('home/.cursor')), ['mcp.json']);
});

test('a program in the cache of npx is started by npx', (t) => {
  const { tree } = makeHome(t);
  const copy = tree.write('_npx/1/skillwire.cjs', readFileSync(PROGRAM));
  const { stdout } = spawnSync(process.execPath, [copy, 'setup', 'codex'], { encoding: 'utf8' });
  assert.match(stdout, /\ncommand = "npx"\nargs = \["-y","skillwire","--exclude","@codex"\]\n/);
});

test('a mistake is one line and exit 2', (t) => {
  const { run } = makeHome(t);
  const rows: readonly (readonly [args: readonly string[], line: RegExp])[] = [
    [['codx'], /unknown client "codx"; did you mean codex\?; it can be claude-code, .*copilot/],
    [['--write'], /name the client: claude-code, .*copilot/],
    [['--', '--hub'], /name the client/],
    [['codex', '--hub'], /setup has no option --hub; options of the server come after --/],
    [['codex', '--', '--skil-dir', 'x'], /unknown option --skil-dir; did you mean --skill-dir\?/],
    [['codex', '--', '--include', '*a*b*c*d*'], /--include has a pattern with over 4 stars/],
    [['codex', '--', 'serve'], /unexpected argument "serve" after --/],
    [['codex', '--', '--transport', 'http'], /leave out --transport/],
    [['codex', '--', '-h'], /leave out .*--help/],
  ];
  for (const [args, line] of rows) {
    const { status, stdout, stderr } = run(args);
    assert.deepEqual([status, stdout], [2, ''], args.join(' '));
    assert.match(stderr, /^skillwire: [^\n]+ \(see --help\)\n$/);
    assert.match(stderr, line);
  }
  assert.match(run(['codex', '--write'], { HOME: 'relative' }).stderr, /the home directory is not known; set HOME/);
});
