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

test('from an installed package it is the name where PATH leads to it, else the absolute path of the file', (t) => {
  const tree = makeTree(t, { 'lib/node_modules/skillwire/dist/skillwire.cjs': '', 'opt/node': '' });
  const file = tree.at('lib/node_modules/skillwire/dist/skillwire.cjs');
  tree.link('bin/node', '../opt/node');
  tree.link('bin/skillwire', '../lib/node_modules/skillwire/dist/skillwire.cjs');
  tree.link('lib/node_modules/.bin/skillwire', '../skillwire/dist/skillwire.cjs');
  const execPath = tree.at('opt/node');
  const running = { file: tree.at('bin/skillwire'), execPath, platform: 'linux', path: tree.at('bin') };
  assert.deepEqual(selfCommand(running), ['skillwire']);
  // npm and npx put such a directory into PATH for what they start, and take it away again.
  assert.deepEqual(selfCommand({ ...running, path: tree.at('lib/node_modules/.bin') }), [execPath, file]);
  assert.deepEqual(selfCommand({ ...running, file, path: '' }), [execPath, file]);
});

test('without the PATH of a shell both are absolute, and a link in PATH comes before its target', (t) => {
  const tree = makeTree(t, { 'skillwire.cjs': '', 'cellar/22.1/node': '' });
  tree.link('bin/node', '../cellar/22.1/node');
  tree.link('bin/skillwire', '../skillwire.cjs');
  const [file, execPath] = [tree.at('skillwire.cjs'), tree.at('cellar/22.1/node')];
  const running = { file, execPath, platform: 'linux', path: tree.at('bin') };
  assert.deepEqual(selfCommand(running, true), [tree.at('bin/node'), file]);
  assert.deepEqual(selfCommand({ ...running, path: '' }, true), [execPath, file]);
});

test('npx is named only where the program is in its cache', (t) => {
  const place = '.npm/_npx/1b2c3d4e5f607182/node_modules';
  const tree = makeTree(t, { [`${place}/skillwire/dist/skillwire.cjs`]: '' });
  const running = {
    file: tree.at(`${place}/skillwire/dist/skillwire.cjs`),
    execPath: '/usr/bin/node',
    platform: 'linux',
    path: tree.at(`${place}/.bin`),
  };
  assert.deepEqual(selfCommand(running), ['npx', '-y', 'skillwire']);
  assert.deepEqual(selfCommand({ ...running, platform: 'win32' }), ['cmd', '/c', 'npx', '-y', 'skillwire']);
});

test('for a shell, words are quoted where needed', () => {
  const words = ['node', '/a b/it\'s "$HOME" `x`.cjs', '--skill-dir', '/c', ''];
  const { stdout } = spawnSync('sh', ['-c', `printf '%s\\n' ${inShell(words)}`], { encoding: 'utf8' });
  assert.deepEqual(stdout.split('\n').slice(0, -1), words);
  assert.equal(inShell(['node', 'C:\\a b'], { platform: 'win32' }), 'node "C:\\a b"');
});
