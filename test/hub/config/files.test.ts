/** Configuration files: which are read, and their faults. */
import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { test } from 'node:test';
import { type ConfigCache, readConfiguration } from '../../../src/hub/config/files.ts';
import { MAX_SERVERS } from '../../../src/hub/config/limits.ts';
import { startHub, upstream } from '../../harness/hub.ts';
import { makeTree } from '../../harness/tree.ts';

const file = (servers: object) => JSON.stringify({ mcpServers: servers });

const has =
  (...wanted: readonly string[]) =>
  (names: readonly string[]) =>
    wanted.every((name) => names.includes(name));

test("a home that is a link is still the user's own", (t) => {
  const tree = makeTree(t, { 'real/.kode.json': file({ mine: { command: 'x' } }) });
  symlinkSync(tree.at('real'), tree.at('home'));
  const options = { env: {}, configFiles: [], trustProject: false };
  const { configs } = readConfiguration({ ...options, cwd: tree.at('real'), home: tree.at('home') });
  assert.deepEqual(
    configs.map(({ name, target }) => [name, target.kind]),
    [['mine', 'stdio']],
  );
});

test('a file that is broken or missing is a problem that names it, and affects no other', async (t) => {
  const tree = makeTree(t, {
    'a.json': '{"mcpServers": {',
    'b.json': '{"mcpServers": []}',
    'c.json': file({ bad: { command: 1 } }),
  });
  const args = ['a.json', 'b.json', 'c.json', 'd.json'].flatMap((name) => ['--config', name]);
  const hub = await startHub(t, { good: upstream() }, { tree, args });
  await hub.waitForTools(has('good:echo'), 'the good one');
  await hub.waitForStderr(/a\.json: is not a JSON object/);
  await hub.waitForStderr(/b\.json: mcpServers must be an object/);
  await hub.waitForStderr(/c\.json: server "bad": command must be text/);
  await hub.waitForStderr(/d\.json: does not exist/);
});

test('a file that has not changed is not read again, and one that has is (10.5)', async (t) => {
  const tree = makeTree(t, { 'home/.kode.json': file({ one: { command: 'x' } }) });
  const options = { env: {}, cwd: tree.path, home: tree.at('home'), configFiles: [], trustProject: false };
  const memory: ConfigCache = new Map();
  const names = () => readConfiguration(options, memory).configs.map(({ name }) => name);
  // What was written this moment may be written again without a trace.
  await new Promise((done) => setTimeout(done, 600));
  assert.deepEqual(names(), ['one']);
  const [known] = memory.values();
  assert.deepEqual(names(), ['one']);
  assert.equal([...memory.values()][0], known);
  tree.write('home/.kode.json', file({ two: { command: 'x' } }));
  assert.deepEqual(names(), ['two']);
  tree.remove('home/.kode.json');
  assert.deepEqual(names(), []);
});

test('of too many entries the first are used (10.5)', (t) => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`s${at}`, { command: 'x' }]));
  const tree = makeTree(t, { 'many.json': file(many) });
  const options = { env: {}, cwd: tree.path, home: tree.at('home'), trustProject: false };
  const { configs, problems } = readConfiguration({ ...options, configFiles: ['many.json'] });
  assert.equal(configs.length, MAX_SERVERS);
  assert.deepEqual(
    problems.map(({ what }) => what),
    ['names 100000 servers; only the first 500 are looked at'],
  );
});

test('faults of entries that another file replaces are not reported (11.26)', (t) => {
  const tree = makeTree(t, {
    'home/.kode.json': file({ both: { command: 1 }, given: { command: 2 }, mine: { command: 3 } }),
    '.kode.json': file({ both: { command: 'x' }, given: { command: 'x' }, off: { disabled: true } }),
    'given.json': file({ given: { command: 'y' } }),
  });
  const look = (trustProject: boolean) =>
    readConfiguration({ env: {}, cwd: tree.path, home: tree.at('home'), configFiles: ['given.json'], trustProject });
  const faults = (trustProject: boolean) => look(trustProject).problems.map(({ what }) => what.slice(0, 30));
  assert.deepEqual(faults(true), ['server "mine": command must be']);
  // One that is not trusted replaces nothing yet.
  const untrusted = (name: string) => `server "${name}": not started: this`.slice(0, 30);
  assert.deepEqual(faults(false), [
    'server "both": command must be',
    'server "mine": command must be',
    untrusted('off'),
    untrusted('both'),
  ]);
});
