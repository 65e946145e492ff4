/** How servers are started and ended. That none is left when a hub ends or is killed is in test/program/hub-life.test.ts. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { platform } from 'node:os';
import { test } from 'node:test';
import { commandLine, inheritedFrom, startProcess } from '../../src/hub/process.ts';
import { command, eventually, isAlive } from '../harness/connections.ts';
import { makeTree } from '../harness/tree.ts';

const skip = platform() === 'win32';
const MODULE = new URL('../../src/hub/process.js', import.meta.url).href;
test('a child gets paths, language and proxies of ours, its own variables, and how many hubs are before it', {
  skip,
}, async () => {
  const ours = { PATH: process.env.PATH, HOME: '/h', https_proxy: 'http://p', NO_PROXY: 'x', LC_ALL: 'C', LANG: 'de' };
  const env = { ...ours, API_KEY: 'no', SKILLWIRE_TOKEN: 'no', USER: 'no' };
  assert.deepEqual(inheritedFrom(env), ours);
  const { child, end } = startProcess(command('env', [], { OWN: '1' }), env, 2);
  let printed = '';
  for await (const chunk of child.stdout) printed += chunk;
  await end();
  const expected = Object.entries({ ...ours, OWN: '1', SKILLWIRE_HOPS: '2' }).map(
    ([name, value]) => `${name}=${value}`,
  );
  assert.deepEqual(printed.trim().split('\n').sort(), expected.sort());
});

test('a server is ended with its whole group, its guard keeps nobody running, and a last word is no signal', {
  skip,
}, async () => {
  const stubborn = JSON.stringify(`trap '' TERM; sleep 100 & echo $$ $!; wait; sleep 100`);
  const script = `import { startProcess } from ${JSON.stringify(MODULE)};
    const start = (script) => startProcess({ command: 'sh', args: ['-c', script], env: {}, cwd: '/' }, process.env, 1);
    const all = [start(${stubborn}), start('trap "echo signal" TERM; cat; echo bye')];
    for (const { child } of all) child.stdout.on('data', (chunk) => process.stdout.write(chunk));
    all[0].child.stdout.once('data', () => { for (const one of all) one.end(); });`;
  const node = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  assert.match(`${node.status} ${node.stdout}`, /^0 \d+ \d+\nbye\n$/);
  await eventually(() => !node.stdout.split(/\s/).map(Number).filter(Boolean).some(isAlive), 'the end of both');
});

test('without file descriptors a server is not started, and the reason is given', { skip }, () => {
  const script = `import { openSync } from 'node:fs';
    import { startProcess } from ${JSON.stringify(MODULE)};
    try { for (;;) openSync('/dev/null'); } catch {}
    try { startProcess({ command: 'cat', args: [], env: {}, cwd: '/' }, process.env, 1); }
    catch (error) { console.log(error.message); }`;
  const node = [process.execPath, '--input-type=module', '-e', script];
  const { stdout } = spawnSync('sh', ['-c', 'ulimit -n 60; exec "$@"', 'sh', ...node], { encoding: 'utf8' });
  assert.equal(stdout, 'there are no file descriptors left for it\n');
});

test('a command is found as the system finds it, and a batch file on Windows is run by cmd.exe', (t) => {
  const tree = makeTree(t, { 'sub/tool.cmd': '', 'sub/run.exe': '', 'bin/npx.cmd': '', 'bin/node.exe': '' });
  const windows = { Path: tree.at('bin'), PATHEXT: '.exe;.cmd', ComSpec: 'C:\\cmd.exe' };
  const lineOf = (name: string, args: readonly string[], env: Record<string, string> | undefined) =>
    commandLine({ command: name, args, env: {}, cwd: tree.at('sub') }, env ?? {}, env ? 'win32' : 'linux');
  const rows: readonly (readonly [name: string, env: Record<string, string> | undefined, command: string])[] = [
    ['sh', undefined, 'sh'],
    ['/bin/sh', undefined, '/bin/sh'],
    ['./server.js', undefined, tree.at('sub/server.js')],
    ['./run', windows, tree.at('sub/run.exe')],
    ['node', windows, tree.at('bin/node.exe')],
    ['node.exe', windows, tree.at('bin/node.exe')],
    ['missing', windows, 'missing'],
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
