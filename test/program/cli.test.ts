/** The command line as a person meets it: help, mistakes, pipes and a real terminal. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { ALL_OPTIONS, COMMANDS } from '../../src/cli/commands.ts';
import { optionsHelp } from '../../src/cli/help.ts';
import { STDIO_OPTIONS } from '../../src/cli/options.ts';
import { VERSION } from '../../src/version.ts';
import { environmentOf, PROGRAM, runCommand, STDIO_PROGRAM } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const run = (t: TestContext, ...args: readonly string[]) => runCommand(makeTree(t), args);

/** What a shell gives in the tree. */
function inShell(tree: Tree, command: string, env: Readonly<Record<string, string>> = {}) {
  const options = { cwd: tree.path, env: { ...environmentOf(tree), ...env }, encoding: 'utf8', input: '' } as const;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { ...options, timeout: 60_000 });
  return { status, stdout, stderr };
}

test('help is on stdout, within 100 columns, and has every option; -h, --help and help are one', (t) => {
  const whole = run(t, '--help');
  assert.deepEqual([whole.status, whole.stderr], [0, '']);
  assert.ok(whole.stdout.endsWith(`\n\n${optionsHelp(ALL_OPTIONS)}\n`));
  for (const { name } of COMMANDS) assert.match(whole.stdout, new RegExp(`^ {2}skillwire \\[?${name}\\]?`, 'm'));
  const setup = run(t, 'setup', '-h').stdout;
  assert.match(
    setup,
    /^skillwire setup \[CLIENT\] \[-- OPTION\.\.\.\] \[options\]\n\n[^-]*--write[\s\S]*\n\nOptions:\n {2}--write/,
  );
  for (const line of `${whole.stdout}${setup}`.split('\n')) assert.ok(line.length <= 100, line);
  assert.equal(run(t, 'help').stdout, whole.stdout);
  assert.equal(run(t, 'help', 'setup').stdout, setup);
  const stdio = inShell(makeTree(t), `'${process.execPath}' '${STDIO_PROGRAM}' --help`);
  assert.ok(stdio.stdout.endsWith(`\n\n${optionsHelp(STDIO_OPTIONS)}\n`));
});

test('--version and -v print the version', (t) => {
  for (const args of [['--version'], ['-v'], ['list', '-v']])
    assert.deepEqual(run(t, ...args), { status: 0, stdout: `${VERSION}\n`, stderr: '' });
});

const MISTAKES: readonly (readonly [line: string, message: string])[] = [
  ['sevre', 'unknown command "sevre"; did you mean serve? (see --help)'],
  ['help nope', 'unknown command "nope" (see --help)'],
  ['show', 'show needs NAME (see --help)'],
  ['show a b', 'unexpected argument "b" (see --help)'],
  ['trust --hub', 'trust has no option --hub (see --help)'],
  ['--skil-dir x', 'unknown option --skil-dir; did you mean --skill-dir? (see --help)'],
  ['--\u001b[31mred', 'unknown option --\\u001b[31mred (see --help)'],
  ['a\nb', 'unknown command "a\\nb" (see --help)'],
];
test('a mistake is one line on stderr with the nearest right word, and exit 2', (t) => {
  for (const [line, message] of MISTAKES)
    assert.deepEqual(run(t, ...line.split(' ')), { status: 2, stdout: '', stderr: `skillwire: ${message}\n` });
  const stdio = inShell(makeTree(t), `'${process.execPath}' '${STDIO_PROGRAM}' --hub`);
  const stderr = 'skillwire: unknown option --hub (see --help)\n';
  assert.deepEqual(stdio, { status: 2, stdout: '', stderr });
});

test('a reader that closes the pipe early is no error', (t) => {
  const files = Array.from({ length: 300 }, (_, nth) => [`skills/s${nth}/SKILL.md`, skillText(`s${nth}`)]);
  const tree = makeTree(t, Object.fromEntries(files));
  for (const words of ['list', 'show s1', 'check --json', '--help'])
    assert.equal(inShell(tree, `'${process.execPath}' '${PROGRAM}' ${words} | head -c 1`).stderr, '', words);
});

// --- on a terminal, which the program `script` of Linux provides ---

const skip = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0 ? false : 'no script here';
const STYLE = /\u001b\[\d+m/g;

/** What a terminal of 60 columns is sent. */
function onTerminal(tree: Tree, words: string, env = {}): string {
  const command = `stty cols 60; "${process.execPath}" "${PROGRAM}" ${words}`;
  const all = { TERM: 'xterm-256color', SHELL: '/bin/sh', ...env };
  return inShell(tree, `script -qec '${command}' /dev/null`, all).stdout.replaceAll('\r\n', '\n');
}

test('a terminal gets lines of its width and colours, unless they are unwanted, and obeys no skill', { skip }, (t) => {
  const about = `Fills forms, ${'at length '.repeat(20)}`;
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf', about, 'Fill the form.\u001b[2J\u202e\r\n') });
  const list = onTerminal(tree, 'list');
  assert.match(list, /\u001b\[1mNAME .*\u001b\[22m\npdf .*…\n$/);
  for (const line of list.replace(STYLE, '').split('\n')) assert.ok(line.length <= 60, line);
  assert.doesNotMatch(onTerminal(tree, 'list --no-color'), STYLE);
  assert.doesNotMatch(onTerminal(tree, 'doctor', { NO_COLOR: '1' }), STYLE);
  for (const words of ['show pdf', 'show pdf --json', 'search form', 'doctor'])
    assert.doesNotMatch(onTerminal(tree, words).replace(STYLE, ''), /[\0-\x09\x0b-\x1f\x7f\u202e]/, words);
  assert.match(onTerminal(tree, 'show pdf'), /Fill the form\.\\u001b\[2J\\u202e\n$/);
});

test('serve says on a terminal what it waits for and how to connect a client', { skip }, (t) => {
  const text = onTerminal(makeTree(t), '');
  assert.match(text, /^skillwire: waiting for an MCP client .* Ctrl\+C ends it\n/);
  assert.ok(text.includes(`claude mcp add skillwire -- ${process.execPath} ${PROGRAM}`), text);
});
