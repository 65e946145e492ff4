import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { test } from 'node:test';
import {
  deleteClientFile,
  MAX_BACKUPS,
  newestBackup,
  readClientFile,
  replaceClientFile,
} from '../../../src/cli/setup/client-file.ts';
import { MAX_PROJECT_FILE } from '../../../src/hub/config/limits.ts';
import { makeTree } from '../../harness/tree.ts';

const content = (path: string) => readFileSync(path, 'utf8');
const mode = (path: string) => statSync(path).mode & 0o777;

test('a file is replaced with its rights, after a backup with the same rights', (t) => {
  const tree = makeTree(t, { 'config.json': '\ufeffold\r\n' });
  const path = tree.at('config.json');
  chmodSync(path, 0o640);
  const file = readClientFile(path, undefined);
  assert.equal(file.content?.text, '\ufeffold\r\n');
  assert.equal(replaceClientFile(file, 'new'), `${path}.bak`);
  assert.deepEqual([content(path), mode(path)], ['new', 0o640]);
  assert.deepEqual([content(`${path}.bak`), mode(`${path}.bak`)], ['\ufeffold\r\n', 0o640]);
  assert.deepEqual(readdirSync(tree.path), ['config.json', 'config.json.bak']);
});

test('no backup is overwritten, and the newest one is known', (t) => {
  const tree = makeTree(t, { 'config.json': '1', 'config.json.bak': 'mine' });
  const path = tree.at('config.json');
  const next = (text: string) => replaceClientFile(readClientFile(path, undefined), text);
  assert.equal(newestBackup(readClientFile(path, undefined)), 'mine');
  assert.equal(next('2'), `${path}.bak.1`);
  assert.equal(next('3'), `${path}.bak.2`);
  assert.equal(newestBackup(readClientFile(path, undefined)), '2');
  assert.deepEqual(
    ['.bak', '.bak.1', '.bak.2'].map((end) => content(path + end)),
    ['mine', '1', '2'],
  );
  // A link in the place of a backup is not followed.
  tree.link('config.json.bak.3', tree.at('elsewhere'));
  assert.equal(next('4'), `${path}.bak.4`);
  assert.equal(existsSync(tree.at('elsewhere')), false);
});

test('too many backups are a reason to stop', (t) => {
  const tree = makeTree(t, { 'config.json': '1', 'config.json.bak': '0' });
  for (let at = 1; at < MAX_BACKUPS; at++) tree.write(`config.json.bak.${at}`, '0');
  const file = readClientFile(tree.at('config.json'), undefined);
  assert.throws(() => replaceClientFile(file, '2'), /there are 1000 backups of it; delete some/);
  assert.equal(content(tree.at('config.json')), '1');
  assert.equal(readdirSync(tree.path).length, MAX_BACKUPS + 1);
});

test('a new file and its directories are the user alone to read, those of a project for all', (t) => {
  const tree = makeTree(t);
  assert.equal(replaceClientFile(readClientFile(tree.at('a/b/config.json'), undefined), 'x'), undefined);
  assert.deepEqual([mode(tree.at('a')), mode(tree.at('a/b')), mode(tree.at('a/b/config.json'))], [0o700, 0o700, 0o600]);
  replaceClientFile(readClientFile(tree.at('c/config.json'), tree.path), 'x');
  const umask = process.umask();
  assert.deepEqual([mode(tree.at('c')), mode(tree.at('c/config.json'))], [0o777 & ~umask, 0o666 & ~umask]);
});

test('a link to a file stays a link, and the file behind it changes', (t) => {
  const tree = makeTree(t, { 'dotfiles/config.json': 'old' });
  tree.link('config.json', 'dotfiles/config.json');
  const path = tree.at('config.json');
  assert.equal(replaceClientFile(readClientFile(path, undefined), 'new'), tree.at('dotfiles/config.json.bak'));
  assert.equal(readlinkSync(path), 'dotfiles/config.json');
  assert.equal(content(tree.at('dotfiles/config.json')), 'new');
  deleteClientFile(readClientFile(path, undefined));
  assert.deepEqual(readdirSync(tree.path), ['dotfiles']);
});

test('a link that leads nowhere, or to a directory, is refused', (t) => {
  const tree = makeTree(t, { 'home/x': '' });
  tree.link('config.json', 'gone/config.json');
  assert.throws(
    () => readClientFile(tree.at('config.json'), undefined),
    /it is a link to something that does not exist/,
  );
  assert.ok(lstatSync(tree.at('config.json')).isSymbolicLink());
  tree.link('directory.json', 'home');
  assert.throws(() => readClientFile(tree.at('directory.json'), undefined), /it is not a regular file/);
  tree.link('circle.json', 'circle.json');
  assert.throws(() => readClientFile(tree.at('circle.json'), undefined), /ELOOP/);
});

test('a link out of the project is not followed for a file of the project', (t) => {
  const tree = makeTree(t, { 'home/config.json': '{}', 'project/inside.json': '{}' });
  const project = tree.at('project');
  const refused = /it is behind a link that leaves the project/;
  tree.link('project/file.json', '../home/config.json');
  assert.throws(() => readClientFile(tree.at('project/file.json'), project), refused);
  tree.link('project/.cursor', '../home');
  assert.throws(() => readClientFile(tree.at('project/.cursor/config.json'), project), refused);
  assert.throws(() => readClientFile(tree.at('project/.cursor/new/mcp.json'), project), refused);
  tree.link('project/good.json', 'inside.json');
  assert.equal(readClientFile(tree.at('project/good.json'), project).target, tree.at('project/inside.json'));
  assert.equal(readClientFile(tree.at('project/.zed/settings.json'), project).content, undefined);
});

test('a file that changed, appeared or became read-only since it was read is not replaced', (t) => {
  const tree = makeTree(t, { 'config.json': 'old' });
  const path = tree.at('config.json');
  const file = readClientFile(path, undefined);
  writeFileSync(path, 'changed by another program');
  assert.throws(() => replaceClientFile(file, 'new'), /it is being written/);
  assert.throws(() => deleteClientFile(file), /it is being written/);
  const missing = readClientFile(tree.at('other.json'), undefined);
  tree.write('other.json', 'appeared');
  assert.throws(() => replaceClientFile(missing, 'new'), /it is being written/);
  assert.deepEqual(readdirSync(tree.path), ['config.json', 'other.json']);
  assert.equal(content(path), 'changed by another program');
});

test('what is too large, no text or no file is not read', (t) => {
  const tree = makeTree(t, { 'large.json': ' '.repeat(MAX_PROJECT_FILE + 1) });
  assert.throws(() => readClientFile(tree.at('large.json'), tree.path), /it has over 4194304 bytes/);
  assert.ok(readClientFile(tree.at('large.json'), undefined).content);
  tree.write('utf16.json', Buffer.from('\ufeff{}', 'utf16le'));
  assert.throws(() => readClientFile(tree.at('utf16.json'), undefined), /it is not text in UTF-8/);
  mkdirSync(tree.at('directory.json'));
  assert.throws(() => readClientFile(tree.at('directory.json'), undefined), /it is not a regular file/);
  tree.write('file', '');
  assert.throws(() => replaceClientFile(readClientFile(tree.at('file/config.json'), undefined), 'x'));
});
