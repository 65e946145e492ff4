/** The command line: what is asked for goes to stdout, what is wrong is one line on stderr. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { ALL_OPTIONS } from '../../src/cli/all-options.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { optionRows } from '../../src/cli/options.ts';
import { VERSION } from '../../src/version.ts';
import { PROGRAM, startProgram } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8', input: '' });
  return { status, stdout, stderr };
}

test('--help prints every option on stdout and exits 0', () => {
  for (const flag of ['--help', '-h']) {
    const { status, stdout, stderr } = run(flag);
    assert.equal(status, 0);
    assert.equal(stderr, '');
    const words = stdout.replace(/\s+/g, ' ');
    for (const [option, help] of optionRows(ALL_OPTIONS)) assert.ok(words.includes(` ${option} ${help}`), option);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 100, line);
  }
});

test('every command has its own help, in three spellings, within 100 columns', () => {
  for (const { name, help, options, examples } of COMMANDS) {
    const { status, stdout, stderr } = run(name, '--help');
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    const words = stdout.replace(/\s+/g, ' ');
    for (const text of [help, ...examples, ...Object.keys(options).map((option) => `--${option}`)])
      assert.ok(words.includes(text), `${name}: ${text}`);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 100, line);
    assert.equal(run('help', name).stdout, stdout);
    assert.equal(run(name, '-h').stdout, stdout);
  }
  assert.equal(run('help').stdout, run('--help').stdout);
});

test('an option has one meaning in all commands', () => {
  const known = new Map<string, object>();
  for (const { options } of COMMANDS)
    for (const [name, option] of Object.entries(options)) {
      assert.deepEqual(known.get(name) ?? option, option, name);
      known.set(name, option);
    }
});

test('--version prints the version on stdout and exits 0', () => {
  for (const flag of ['--version', '-v'])
    assert.deepEqual(run(flag), { status: 0, stdout: `${VERSION}\n`, stderr: '' });
});

test('a Node that is too old is one line that says which one is needed, and exit 1 (13.9)', (t) => {
  const tree = makeTree(t);
  const start = (version: string) => {
    const code = `Object.defineProperty(process, 'version', { value: '${version}' });`;
    const args = ['--require', tree.write(`${version}.cjs`, code), PROGRAM, '--version'];
    return spawnSync(process.execPath, args, { encoding: 'utf8' });
  };
  for (const version of ['v18.20.4', 'v20.11.1']) {
    const { status, stdout, stderr } = start(version);
    assert.deepEqual({ status, stdout }, { status: 1, stdout: '' });
    assert.match(stderr, new RegExp(`^skillwire: Node 20\\.12 or later is needed, and \\S+ is ${version}\\n$`));
  }
  for (const version of ['v20.12.0', 'v21.0.0', 'v26.1.0']) assert.equal(start(version).status, 0, version);
});

test('whatever is wrong is one line on stderr with the nearest right one, and exit 2 (11.10)', () => {
  const cases: readonly (readonly [args: readonly string[], line: RegExp])[] = [
    [['--skil-dir', 'x'], /unknown option --skil-dir; did you mean --skill-dir\?/],
    [['--no-refesh'], /unknown option --no-refesh; did you mean --no-refresh\?/],
    [['--xyzzyxyzzy'], /unknown option --xyzzyxyzzy; see/],
    [['-x'], /unknown option -x/],
    [['sevre'], /unknown command "sevre"; did you mean serve\?/],
    [['lst'], /unknown command "lst"; did you mean list\?/],
    [['show'], /show needs NAME/],
    [['show', 'a', 'b'], /unexpected argument "b"/],
    [['serve', '--long'], /serve has no option --long; list has/],
    [['frobnicate'], /unknown command "frobnicate"; see/],
    [['serve', 'more'], /unexpected argument "more"/],
    [['trust', '--hub'], /trust has no option --hub; serve has/],
    [['--skill-dir'], /--skill-dir/],
    [['--refresh-interval', 'soon'], /--refresh-interval must be a whole number from 1 to 2147483647, not "soon"/],
    [['--refresh-interval', '0'], /--refresh-interval must be/],
    [['--refresh-interval', '-5'], /--refresh-interval/],
    [['--refresh-interval', '99999999999'], /--refresh-interval must be/],
    [['--description-budget', '1.5'], /--description-budget must be/],
    [['--names', 'save'], /--names must be one of auto, plain, safe, not "save"; did you mean safe\?/],
    [['--describe', ''], /--describe must be one of/],
    [['--log-level', 'loud'], /--log-level must be one of error, warn, info, debug, not "loud"/],
    [['--skill-dir', ''], /--skill-dir must be the path of a directory, not ""/],
    [['--skill-dir', 'x', '--skill-dir', ' '], /--skill-dir must be/],
    [['--root='], /--root must be the path of a directory/],
    [['--plugins-file', ''], /--plugins-file must be the path of a file/],
    [['--host', '', '--transport', 'http', '--port', '0'], /--host must be a name or an address, not ""/],
    [['try', '--as', ''], /--as must be the name of a client, not ""/],
    [['doctor', '--config', ''], /--config must be the path of a file/],
    [['--quiet=yes'], /--quiet/],
    [['--\u001b[31mred'], /unknown option --\\u001b\[31mred/],
    [['line\nbreak'], /unknown command "line\\nbreak"/],
  ];
  for (const [args, line] of cases) {
    const { status, stdout, stderr } = run(...args);
    assert.equal(status, 2, args.join(' '));
    assert.equal(stdout, '', args.join(' '));
    // The help of the command at hand; that of serve is part of the help of the program.
    const own = COMMANDS.slice(1).find(({ name }) => name === args[0]);
    const help = own ? `${own.name} --help` : '--help';
    assert.match(
      stderr,
      new RegExp(`^skillwire: [^\\n]+; see \\S+ /\\S+/dist/skillwire\\.cjs ${help}\\n$`),
      args.join(' '),
    );
    assert.match(stderr, line);
  }
});

test('started in a directory that was deleted, every command says so in one line and exits 2', (t) => {
  for (const words of [
    '',
    'list',
    'show x',
    'search x',
    'try',
    'check',
    'setup codex',
    'doctor',
    'trust',
    '--transport http --port 0',
  ]) {
    const gone = makeTree(t).path;
    const command = `cd '${gone}' && rmdir '${gone}' && exec '${process.execPath}' '${PROGRAM}' ${words}`;
    const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8', input: '', timeout: 20_000 });
    assert.equal(status, 2, `${words} ${stderr}`);
    assert.match(stderr, /^skillwire: cannot use the working directory, it may have been deleted [^\n]+\n$/, words);
  }
});

for (const words of [[], ['serve'], ['mcp'], ['mcp-server']]) {
  test(`"skillwire ${words.join(' ')}" serves`, async (t) => {
    const program = startProgram(t, { tree: makeTree(t), args: words });
    await program.handshake();
    assert.equal(await program.end(), 0);
  });
}

test('--quiet says nothing but errors, --log-level how much else', async (t) => {
  const tree = makeTree(t, { 'skills/bad/SKILL.md': 'no front matter', 'skills/pdf/SKILL.md': skillText('pdf') });
  const said = async (...args: string[]) => {
    const program = startProgram(t, { tree, args });
    await program.description();
    await program.end();
    return program.stderr();
  };
  assert.equal(await said('--quiet'), '');
  assert.equal(await said('--log-level', 'error'), '');
  assert.match(await said('--log-level', 'warn'), /^skillwire: warn: .*there is no front matter\n$/);
  assert.match(await said(), /scanning[\s\S]*warn[\s\S]*ready[\s\S]*stopped/);
});

test('options that do nothing without another are one warning each, and so is a machine without skills', async (t) => {
  const tree = makeTree(t, { 'low/pdf/skill.md': skillText('pdf') });
  const said = async (...args: string[]) => {
    const program = startProgram(t, { tree, args: ['--log-level', 'warn', ...args] });
    await program.description();
    await program.end();
    return program.stderr().replaceAll(tree.path, '.');
  };
  const warn = (text: string) => `skillwire: warn: ${text}\n`;
  assert.match(await said(), /^skillwire: warn: no skills: looked in \.\/skills, [^\n]+\n$/);
  const low = ['--no-default-dirs', '--skill-dir', 'low'];
  const renamed = warn('./low/pdf/skill.md: is not read; rename it to SKILL.md');
  assert.equal(await said(...low), renamed);
  assert.equal(await said(...low, '--config', 'x'), warn('--config has no effect without --hub; add that') + renamed);
  assert.equal(
    await said(...low, '--import', 'codex', '--import', 'zed'),
    warn('--import has no effect without --hub; add that') + renamed,
  );
  const http = 'has no effect without --transport http (or sse); add that';
  assert.equal(await said(...low, '--port', '3333'), warn(`--port ${http}`) + renamed);
  assert.equal(await said(...low, '--host', '127.0.0.1'), warn(`--host ${http}`) + renamed);
  assert.match(await said(...low, '--hub', '--config', 'x'), /\.\/x: does not exist; correct --config\n/);
});

test('a reader that closes the pipe early is no error', (t) => {
  const files = Array.from({ length: 300 }, (_, nth) => [`skills/s${nth}/SKILL.md`, skillText(`s${nth}`)]);
  const tree = makeTree(t, Object.fromEntries(files));
  for (const words of ['list', 'list --long', 'search About', 'doctor', 'try', 'show s1']) {
    const command = `'${process.execPath}' '${PROGRAM}' ${words} | head -c 1`;
    const env = { PATH: process.env.PATH, HOME: tree.at('home') };
    const { stderr } = spawnSync('sh', ['-c', command], { cwd: tree.path, env, encoding: 'utf8', timeout: 60_000 });
    assert.equal(stderr, '', words);
  }
});

test('an output that cannot be written is exit 1 and one line', { skip: !existsSync('/dev/full') }, (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a') });
  const commands = [
    'list',
    'show a',
    'search a',
    'doctor --json',
    'try',
    'check',
    'check --json',
    'setup',
    'setup codex',
  ];
  for (const words of commands) {
    const command = `'${process.execPath}' '${PROGRAM}' ${words} > /dev/full`;
    const env = { PATH: process.env.PATH, HOME: tree.at('home') };
    const { status, stderr } = spawnSync('sh', ['-c', command], { cwd: tree.path, env, encoding: 'utf8' });
    assert.equal(status, 1, words);
    assert.match(stderr, /^skillwire: the output cannot be written: [^\n]+\n$/);
  }
});
