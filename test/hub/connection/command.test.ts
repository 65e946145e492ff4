/** Command lines and environments of server processes. */
import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { test } from 'node:test';
import { commandLine, inheritedEnvironment } from '../../../src/hub/connection/command.ts';
import { startHub, upstream } from '../../harness/hub.ts';
import { makeTree } from '../../harness/tree.ts';

const has =
  (...wanted: readonly string[]) =>
  (names: readonly string[]) =>
    wanted.every((name) => names.includes(name));

test("a relative command is looked up in the entry's own directory (10.21)", async (t) => {
  const tree = makeTree(t, { 'sub/tool.cmd': '', 'sub/run.exe': '', 'run.exe': '' });
  const launch = (command: string, platform: NodeJS.Platform) =>
    commandLine(command, [], { PATH: '.', PATHEXT: '.exe;.cmd', ComSpec: 'cmd' }, platform, tree.at('sub'));
  assert.equal(launch('./run', 'win32').command, tree.at('sub/run.exe'));
  assert.match(launch('./tool', 'win32').args.join(' '), /sub.tool\.cmd/);
  assert.equal(launch('./server.js', 'linux').command, tree.at('sub/server.js'));
  assert.equal(launch('/bin/sh', 'linux').command, '/bin/sh');
  assert.equal(launch('sh', 'linux').command, 'sh');
  // A directory of PATH that is relative would be one of the project's.
  assert.equal(launch('run', 'win32').command, 'run');

  const { command, args } = upstream();
  tree.write('sub/server', `#!/bin/sh\nexec ${[command, ...args].map((one) => `'${one}'`).join(' ')}\n`);
  chmodSync(tree.at('sub/server'), 0o755);
  const hub = await startHub(t, { one: { command: './server', cwd: 'sub' } }, { tree });
  await hub.waitForTools(has('one:echo'), 'its tools');
});

test('a child inherits paths, language and proxies, and no keys', () => {
  const env = {
    PATH: '/bin',
    HOME: '/h',
    https_proxy: 'http://p',
    NO_PROXY: 'x',
    LC_ALL: 'C',
    API_KEY: 'no',
    AWS_SECRET: 'no',
  };
  assert.deepEqual(inheritedEnvironment(env), {
    PATH: '/bin',
    HOME: '/h',
    https_proxy: 'http://p',
    NO_PROXY: 'x',
    LC_ALL: 'C',
  });
});

test('a batch file on Windows is run by cmd.exe, everything else as it is', (t) => {
  const tree = makeTree(t, { 'npx.cmd': '', 'node.exe': '' });
  const env = { PATH: tree.path, PATHEXT: '.EXE;.cmd', ComSpec: 'C:\\cmd.exe' };
  const batch = commandLine('npx', ['-y', 'a b', '100%'], env, 'win32', '/');
  assert.equal(batch.command, 'C:\\cmd.exe');
  assert.deepEqual(batch.args.slice(0, 3), ['/d', '/s', '/c']);
  assert.match(batch.args[3] ?? '', /npx\.cmd \^\^\^"-y\^\^\^" \^\^\^"a\^\^\^ b\^\^\^" \^\^\^"100\^\^\^%\^\^\^""$/);
  assert.equal(batch.verbatim, true);
  assert.deepEqual(commandLine('npx', ['x'], env, 'linux', '/'), { command: 'npx', args: ['x'], verbatim: false });
});
