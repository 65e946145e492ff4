import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { CLIENTS, foldersOf, type SetupClient } from '../../src/cli/clients.ts';
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
  ['no servers yet', CURSOR, '{ "mcpServers": null }', json('  ')],
  ['four spaces', CURSOR, '{\n    "a": 1\n}', json('    ', { a: 1 })],
  ['tabs and a key that is a number', CURSOR, '{\n\t"1": "// no comment"\n}', json('\t', { 1: '// no comment' })],
  ['CRLF', CURSOR, '{\r\n  "a": 1\r\n}\r\n', json('  ', { a: 1 }).replaceAll('\n', '\r\n')],
  ['the same entry', CURSOR, '{"mcpServers":{"skillwire":{"args":["x"],"command":"node"}}}', undefined],
  ['another entry', CURSOR, '{"mcpServers":{"skillwire":{"command":"npx"}}}', /it has another entry "skillwire"/],
  ['a comment', CURSOR, '{ // servers\n}', /it is not plain JSON/],
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
  const folders = foldersOf({ platform: process.platform, home: tree.at('home'), env: {} });
  const fileOf = ({ files }: SetupClient) => files(folders).at(-1) ?? '';
  return { tree, run, fileOf, read: (name: string) => readFileSync(tree.at(name), 'utf8') };
}

test('it shows what --write puts there; the same entry again changes nothing; without a client it lists all files', (t) => {
  const { run, fileOf } = makeHome(t);
  const listed = (state: string) => {
    const lines = CLIENTS.map((client) => `${client.name.padEnd(16)}${fileOf(client)}${state}\n`);
    return { status: 0, stdout: lines.join(''), stderr: '' };
  };
  assert.deepEqual(run([]), listed(' (does not exist)'));
  for (const client of CLIENTS) {
    const [{ name, title, exclude }, file] = [client, fileOf(client)];
    const own = exclude === undefined ? [] : ['--exclude', exclude];
    const text = withEntry(client, '', client.entry(process.execPath, [PROGRAM, ...own]));
    const said = (line: string) => ({ status: 0, stdout: `${title}: ${line}\n`, stderr: '' });
    assert.deepEqual(run([name]), said(`${file}\n\n${text}\n--write puts it there.`));
    assert.equal(existsSync(file), false);
    assert.deepEqual(run([name, '--write']), said(`the entry is in ${file} now; restart ${title}`));
    assert.deepEqual(run([name, '--write']), said(`the entry was in ${file} already`));
    assert.deepEqual([readFileSync(file, 'utf8'), existsSync(`${file}.bak`)], [text, false]);
  }
  assert.deepEqual(run([]), listed(''));
});

test('a client can start what was written; paths after -- become absolute, and nothing that a terminal obeys is shown', async (t) => {
  const { tree, run, read } = makeHome(t);
  tree.write('more/pdf/SKILL.md', skillText('pdf'));
  const odd = '/c\u202e\u{e0041}"';
  const given = [...'-q --skill-dir more --root=~/b --include=* --no-default-dirs --plugins-file'.split(' '), odd];
  const { stdout } = run(['windsurf', '--', ...given]);
  assert.doesNotMatch(stdout, /[\u202e\u{e0041}]/u);
  run(['windsurf', '--write', '--', ...given]);
  const [, shown = ''] = /\n\n(\{[\s\S]*\})\n\n/.exec(stdout) ?? [];
  const { command, args } = JSON.parse(read('home/.codeium/windsurf/mcp_config.json')).mcpServers.skillwire;
  assert.deepEqual(JSON.parse(shown).mcpServers.skillwire, { command, args });
  const absolute = `-q --skill-dir ${tree.at('more')} --root=${tree.at('home/b')} --include=*`;
  assert.equal(args.join(' '), `${PROGRAM} ${absolute} --no-default-dirs --plugins-file ${odd}`);
  const program = startProgram(t, { tree: makeTree(t), args: args.slice(1) });
  assert.deepEqual(await program.names(), ['pdf']);
});

test('a file is replaced with a backup, its mode and the link to it', (t) => {
  const { tree, run, read } = makeHome(t);
  const before = '{\n  "theme": "dark"\n}\n';
  chmodSync(tree.write('home/dotfiles/mcp.json', before), 0o666);
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
    ['{ // mine\n}', 'it is not plain JSON (it has a comment, a fault, or a spelling that would be lost)'],
    [Buffer.from('{"a":"\xe9"}', 'latin1'), 'it is not UTF-8'],
  ] as const) {
    const file = tree.write('home/.cursor/mcp.json', before);
    const { status, stdout, stderr } = run(['cursor', '--write']);
    const line = `skillwire: ${file}: ${why}; nothing was changed, put the entry there by hand\n`;
    assert.deepEqual([status, stderr], [1, line]);
    assert.equal(JSON.parse(stdout).mcpServers.skillwire.command, process.execPath);
    assert.deepEqual(readFileSync(file), Buffer.from(before));
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
  const rows: readonly (readonly [args: readonly string[], line: RegExp, env?: object])[] = [
    [['codx'], /unknown client "codx"; did you mean codex\?; it can be claude-code, .*copilot/],
    [['--write'], /name the client: claude-code, .*copilot/],
    [['--', '--hub'], /name the client/],
    [['codex', '--hub'], /setup has no option --hub; options of the server come after --/],
    [['codex', '--', '--skil-dir', 'x'], /unknown option --skil-dir/],
    [['codex', '--', 'serve'], /unexpected argument "serve" after --/],
    [['codex', '--', '--transport', 'http'], /leave out --transport/],
    [['codex', '--', '-h'], /leave out .*--help/],
    [['codex', '--write'], /the home directory is not known; set HOME/, { HOME: 'relative' }],
  ];
  for (const [args, line, env] of rows) {
    const { status, stdout, stderr } = run(args, env);
    assert.deepEqual([status, stdout], [2, ''], args.join(' '));
    assert.match(stderr, line);
  }
});
