/** How servers are started. What they are given, and that none is left, is in test/program: hub and hub-life. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { commandLine, inheritedFrom } from '../../src/hub/process.ts';
import { makeTree } from '../harness/tree.ts';

const MODULE = JSON.stringify(new URL('../../src/hub/process.js', import.meta.url).href);
const run = (script: string) => ['--input-type=module', '-e', script];

test('a child gets paths, language and proxies of ours, and nothing else', () => {
  const ours = { PATH: '/bin', HOME: '/h', https_proxy: 'http://p', NO_PROXY: 'x', LC_ALL: 'C', LANG: 'de' };
  const others = { API_KEY: 'no', SKILLWIRE_TOKEN: 'no', USER: 'no', MY_PATH: 'no', TEMP: 'of Windows alone' };
  assert.deepEqual(inheritedFrom({ ...ours, ...others }, 'linux'), ours);
});

test('a server that ends with its stdin gets no signal, and then nothing keeps us running', () => {
  const script = `import { startProcess } from ${MODULE};
    const args = ['-c', 'trap "echo signal" TERM; cat; echo bye'];
    const { child, end } = startProcess({ command: 'sh', args, env: {}, cwd: '/' }, process.env, 1);
    child.stdout.pipe(process.stdout);
    end();`;
  const { status, stdout } = spawnSync(process.execPath, run(script), { encoding: 'utf8', timeout: 20_000 });
  assert.deepEqual([status, stdout], [0, 'bye\n']);
});

test('without file descriptors a server is not started, and the reason is given', () => {
  const script = `import { openSync } from 'node:fs';
    import { startProcess } from ${MODULE};
    try { for (;;) openSync('/dev/null'); } catch {}
    try { startProcess({ command: 'cat', args: [], env: {}, cwd: '/' }, process.env, 1); }
    catch (error) { console.log(error.message); }`;
  const few = ['-c', 'ulimit -n 60; exec "$@"', 'sh', process.execPath, ...run(script)];
  assert.equal(spawnSync('sh', few, { encoding: 'utf8' }).stdout, 'there are no file descriptors left for it\n');
});

test('a command is found as the system finds it, and a batch file on Windows is run by cmd.exe', (t) => {
  const tree = makeTree(t, { 'sub/tool.cmd': '', 'sub/run.exe': '', 'bin/npx.cmd': '', 'bin/node.exe': '' });
  const windows = { Path: tree.at('bin'), PATHEXT: '.exe;.cmd', ComSpec: 'C:\\cmd.exe' };
  const lineOf = (name: string, args: readonly string[], env: Record<string, string> | undefined) =>
    commandLine({ command: name, args, env: {}, cwd: tree.at('sub') }, env ?? {}, env ? 'win32' : 'linux');
  const rows: readonly (readonly [name: string, env: Record<string, string> | undefined, command: string])[] = [
    ['sh', undefined, 'sh'],
    ['./server.js', undefined, tree.at('sub/server.js')],
    ['./run', windows, tree.at('sub/run.exe')],
    ['node', windows, tree.at('bin/node.exe')],
    // A directory of PATH that is relative would be one of the project's.
    ['run', { ...windows, Path: '.' }, 'run'],
    ['npx', windows, 'C:\\cmd.exe'],
    ['./tool', { SystemRoot: 'D:\\Win', PATHEXT: '.cmd' }, 'D:\\Win\\System32\\cmd.exe'],
    ['./tool', { SystemRoot: 'here', PATHEXT: '.cmd' }, 'C:\\Windows\\System32\\cmd.exe'],
  ];
  for (const [name, env, expected] of rows) assert.equal(lineOf(name, [], env).command, expected, name);
  const { args, verbatim } = lineOf('npx', ['-y', 'a b', '100%', '"&calc'], windows);
  assert.deepEqual([verbatim, args.slice(0, 3)], [true, ['/d', '/s', '/c']]);
  assert.match(args[3] ?? '', /npx\.cmd \^\^\^"-y\^\^\^" \^\^\^"a\^\^\^ b\^\^\^" \^\^\^"100\^\^\^%\^\^\^" /);
  assert.match(args[3] ?? '', /\\\^\^\^"\^\^\^&calc\^\^\^""$/);
});
