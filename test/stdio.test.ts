/** The program that serves skills on stdin and stdout and can do nothing else. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { STDIO_OPTIONS } from '../src/cli/options.ts';
import { VERSION } from '../src/version.ts';
import { type Answer, startProgram } from './harness/program.ts';
import { makeTree, skillText } from './harness/tree.ts';

const STDIO = fileURLToPath(new URL('../../dist/skillwire-stdio.cjs', import.meta.url));

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [STDIO, ...args], { encoding: 'utf8', input: '' });
  return { status, stdout, stderr };
}

test('it serves the skills that its options name, and ends with its input', async (t) => {
  const tree = makeTree(t, { 'a/pdf/SKILL.md': skillText('pdf'), 'a/git/SKILL.md': skillText('git') });
  const program = startProgram(t, { tree, entry: STDIO, args: ['--skill-dir', 'a', '--exclude', 'git'] });
  await program.handshake();
  const { tools } = (await program.request('tools/list')).result;
  assert.deepEqual(
    tools.map(({ name }: Answer) => name),
    ['skills.list', 'skill', 'skills.search', 'skills.read'],
  );
  assert.match(await program.skill('pdf'), /^Loading: pdf\n/);
  assert.match(await program.skill('git'), /not found/);
  assert.equal(await program.end(), 0);
  assert.deepEqual(program.noise, []);
  assert.match(program.stderr(), /stopped: the client closed its end\n$/);
});

test('a signal ends it with exit 0', async (t) => {
  const program = startProgram(t, { tree: makeTree(t), entry: STDIO });
  await program.handshake();
  program.child.kill('SIGTERM');
  assert.equal(await program.exit(), 0);
  assert.match(program.stderr(), /stopped: SIGTERM\n$/);
});

test('it has the options of skills and no others', () => {
  const { status, stdout } = run('--help');
  assert.equal(status, 0);
  const shown = [...stdout.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm)].map(([, name]) => name);
  assert.deepEqual(shown, Object.keys(STDIO_OPTIONS));
  for (const args of [['--hub'], ['--port', '1'], ['--transport', 'http'], ['--config', 'x'], ['doctor'], ['trust']]) {
    const refused = run(...args);
    assert.equal(refused.status, 2, args.join(' '));
    assert.match(refused.stderr, /^skillwire: unknown (?:option|command) [^\n]*\n$/);
  }
  assert.deepEqual(run('--version'), { status: 0, stdout: `${VERSION}\n`, stderr: '' });
});
