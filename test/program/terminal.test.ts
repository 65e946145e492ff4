/** The commands for people on a real terminal, which the program `script` of Linux provides. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { widthOf } from '../../src/cli/output.ts';
import { PROGRAM } from '../harness/program.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const skip = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0 ? false : 'no script here';

/** What a terminal of 60 columns is sent. */
function onTerminal(
  t: TestContext,
  words: string,
  env: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): string {
  const tree = makeTree(t, {
    ...files,
    'skills/pdf/SKILL.md': skillText('pdf', `About forms, ${'at length '.repeat(20)}`, 'Fill the form.\u001b[2J\r\n'),
    'skills/漢字/SKILL.md': skillText('漢字', '長い説明'.repeat(20)),
    'skills/bad/SKILL.md': 'x',
  });
  const command = `stty cols 60; '${process.execPath}' '${PROGRAM}' ${words}`;
  const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
    cwd: tree.path,
    env: { PATH: process.env.PATH, HOME: tree.at('home'), TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
    encoding: 'utf8',
    timeout: 60_000,
  });
  // Under load a scan may take long enough to show its progress, which is erased.
  return stdout.replaceAll('\r\n', '\n').replace(/^[\s\S]*\u001b\[K/, '');
}

const STYLE = /\u001b\[\d+m/g;

test('a table has the width of the terminal, and names are bold', { skip }, (t) => {
  const text = onTerminal(t, 'list');
  assert.match(text, /^\u001b\[1mpdf\u001b\[22m {3}custom/m);
  const lines = text.replace(STYLE, '').split('\n');
  for (const line of lines.slice(1, 3))
    assert.ok(line.endsWith('…') && widthOf(line) > 55 && widthOf(line) <= 60, line);
  assert.match(text, /^skillwire: faults were found; \S+ \/\S+\/dist\/skillwire\.cjs doctor shows them$/m);
});

test('list says how to see faults with the same options', { skip }, (t) => {
  const options = "--skill-dir nowhere --exclude 'x y,nope' --port 1 --skip-own";
  const text = onTerminal(t, `list --long ${options} --include pdf`).replace(/\n/g, '');
  const [, command] = /faults were found; \S+ \S+\.cjs (doctor .*) shows them/.exec(text) ?? [];
  assert.equal(command, "doctor --port=1 --skill-dir=nowhere --include=pdf '--exclude=x y,nope' --skip-own");
  assert.match(onTerminal(t, command ?? '').replace(STYLE, ''), /\n\d+ things to mend\n$/);
});

test('a server that is not ready in time is named', { skip }, (t) => {
  // It never answers.
  const slow = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] };
  const files = { 'home/.kode.json': JSON.stringify({ mcpServers: { slow } }) };
  const text = onTerminal(t, 'list --hub', {}, files);
  assert.match(text, /skillwire: slow is still connecting; what it has is not shown\n/);
});

test('words that were searched for are highlighted', { skip }, (t) => {
  assert.match(onTerminal(t, 'search form'), /Fill the \u001b\[33mform\u001b\[39m\./);
});

test('no line is wider than the terminal, unless it is one long word', { skip }, (t) => {
  for (const words of ['doctor', 'doctor --skill-dir nowhere', 'try pdf', 'try 漢字 --as nobody'])
    for (const line of onTerminal(t, words).replace(STYLE, '').split('\n'))
      assert.ok(widthOf(line) <= 60 || !/\S \S/.test(line), `${words}: ${line}`);
});

test('--no-color and NO_COLOR leave no style', { skip }, (t) => {
  assert.doesNotMatch(onTerminal(t, 'list --no-color'), STYLE);
  assert.doesNotMatch(onTerminal(t, 'doctor', { NO_COLOR: '1' }), STYLE);
});

test('a terminal never obeys the text of a skill', { skip }, (t) => {
  for (const words of ['show pdf', 'try pdf', 'search form', 'list --long']) {
    const text = onTerminal(t, words).replace(STYLE, '');
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f]/, words);
    if (words.endsWith('pdf')) assert.match(text, /Fill the form\.\\u001b\[2J\n/);
  }
});
