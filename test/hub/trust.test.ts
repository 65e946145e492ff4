/** Which project files may start servers. What a person is shown is in test/cli/trust.test.ts. */
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { createTrust, trustProject } from '../../src/hub/trust.ts';
import { makeTree } from '../harness/tree.ts';

const FILE = '{"mcpServers":{"one":{"command":"./server"}}}';
const OTHER = FILE.replace('./server', './other');
const RECORD = 'home/.config/skillwire/trust.json';
const isTrusted = (cwd: string, home: string, text = FILE, env = {}) =>
  createTrust({ cwd, home, env })(JSON.parse(text), []);

test('trust belongs to the content and to the directory, by whichever way it is reached', async (t) => {
  const tree = makeTree(t, { 'good/.kode.json': FILE, 'copy/.kode.json': FILE });
  tree.link('way', tree.at('good'));
  const home = tree.at('home');
  const trusted = () => ['good', 'way', 'copy'].filter((name) => isTrusted(tree.at(name), home));
  assert.deepEqual(trusted(), []);
  await trustProject({ cwd: tree.at('good'), home, env: {} });
  assert.deepEqual([trusted(), isTrusted(tree.at('good'), home, OTHER)], [['good', 'way'], false]);
  await trustProject({ cwd: tree.at('copy'), home, env: {} });
  assert.deepEqual(trusted(), ['good', 'way', 'copy']);
});

test('the record is replaced in one step, for its owner alone, where XDG says if that is absolute', async (t) => {
  const tree = makeTree(t, { 'p/.kode.json': FILE });
  const places = { cwd: tree.at('p'), home: tree.at('home') };
  // Exactly what was shown is recorded, whatever is written meanwhile.
  await trustProject({ ...places, env: { XDG_CONFIG_HOME: 'relative' } }, (file, content) => {
    assert.deepEqual([file, content], [tree.at('p/.kode.json'), JSON.parse(FILE)]);
    tree.write('p/.kode.json', OTHER);
  });
  assert.ok(isTrusted(places.cwd, places.home));
  assert.deepEqual(readdirSync(dirname(tree.at(RECORD))), ['trust.json']);
  assert.equal(statSync(tree.at(RECORD)).mode & 0o777, 0o600);
  assert.equal(isTrusted(places.cwd, places.home, FILE, { XDG_CONFIG_HOME: tree.at('xdg') }), false);
});

test('a file or a record that cannot be read trusts nothing', async (t) => {
  const tree = makeTree(t, { 'bad/.kode.json': '{', 'p/.kode.json': FILE, [RECORD]: '{"files": 7}' });
  const trust = (name: string) => trustProject({ cwd: tree.at(name), home: tree.at('home'), env: {} });
  await assert.rejects(trust('bad'), /bad\/\.kode\.json cannot be read: it is not valid JSON/);
  assert.equal(isTrusted(tree.at('p'), tree.at('home')), false);
  await trust('p');
  assert.ok(isTrusted(tree.at('p'), tree.at('home')));
});
