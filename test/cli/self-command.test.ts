import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { inShell, selfCommand } from '../../src/cli/self-command.ts';
import { makeTree } from '../harness/tree.ts';

test('from a checkout it is the absolute path of the file, by a runtime that is found in PATH', (t) => {
  const tree = makeTree(t, { 'dist/skillwire.cjs': '', 'opt/node': '', 'opt/deno': '', 'other/node': '' });
  tree.link('link.cjs', 'dist/skillwire.cjs');
  tree.link('bin/node', '../opt/node');
  const running = { file: tree.at('link.cjs'), execPath: tree.at('opt/node'), platform: 'linux', path: tree.at('bin') };
  const file = tree.at('dist/skillwire.cjs');
  assert.deepEqual(selfCommand(running), ['node', file]);
  assert.deepEqual(selfCommand({ ...running, path: '' }), [tree.at('opt/node'), file]);
  const another = `${tree.at('missing')}:${tree.at('other')}:${tree.at('bin')}`;
  assert.deepEqual(selfCommand({ ...running, path: another }), [tree.at('opt/node'), file]);
  const deno = { ...running, execPath: tree.at('opt/deno'), path: tree.at('opt') };
  assert.deepEqual(selfCommand(deno), ['deno', 'run', '-A', file]);
});

test('from an installed package it is the installed name, or npx', (t) => {
  const tree = makeTree(t, { 'lib/node_modules/skillwire/dist/skillwire.cjs': '', 'bin/node': '' });
  const file = tree.at('lib/node_modules/skillwire/dist/skillwire.cjs');
  tree.link('bin/skillwire', '../lib/node_modules/skillwire/dist/skillwire.cjs');
  tree.link('lib/node_modules/.bin/skillwire', '../skillwire/dist/skillwire.cjs');
  const running = {
    file: tree.at('bin/skillwire'),
    execPath: tree.at('bin/node'),
    platform: 'linux',
    path: tree.at('bin'),
  };
  assert.deepEqual(selfCommand(running), ['skillwire']);
  // npx puts such a directory into PATH for what it starts, and takes it away again.
  assert.deepEqual(selfCommand({ ...running, path: tree.at('lib/node_modules/.bin') }), ['npx', '-y', 'skillwire']);
  assert.deepEqual(selfCommand({ ...running, file, path: '' }), ['npx', '-y', 'skillwire']);
  assert.deepEqual(selfCommand({ ...running, platform: 'win32' }), ['cmd', '/c', 'npx', '-y', 'skillwire']);
});

test('for a shell, words are quoted where needed', () => {
  const words = ['node', '/a b/it\'s "$HOME" `x`.cjs', '--skill-dir', '/c', ''];
  const { stdout } = spawnSync('sh', ['-c', `printf '%s\\n' ${inShell(words)}`], { encoding: 'utf8' });
  assert.deepEqual(stdout.split('\n').slice(0, -1), words);
  assert.equal(inShell(['node', 'C:\\a b'], { platform: 'win32' }), 'node "C:\\a b"');
});
