/** What is said of a file at fault, and which entries do not count. Which file wins is in test/program: hub, seed-004. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SkillwireOptions, settingsFrom } from '../../src/config.ts';
import { createConfiguration } from '../../src/hub/config.ts';
import { makeTree, type Tree } from '../harness/tree.ts';

const file = (servers: object) => JSON.stringify({ mcpServers: servers });
const run = (command: string) => ({ command });

/** The command or address of each server, and the problems. */
function look(tree: Tree, options: SkillwireOptions) {
  const settings = settingsFrom({ cwd: tree.path, home: tree.at('home'), ...options });
  const { configs, problems } = createConfiguration(settings)();
  const places = configs.map(({ name, target }) => [name, 'command' in target ? target.command : Object(target).url]);
  return { servers: Object.fromEntries(places), problems };
}

test("in the home directory, also behind a link, the project's file is the user's own", (t) => {
  const tree = makeTree(t, { 'home/.kode.json': file({ mine: run('x') }) });
  tree.link('way', tree.at('home'));
  for (const [cwd, home] of [['home', 'home'] as const, ['way', 'home'] as const, ['home', 'way'] as const])
    assert.deepEqual(look(tree, { cwd: tree.at(cwd), home: tree.at(home) }), {
      servers: { mine: 'x' },
      problems: [],
    });
});

const FAULTS: readonly (readonly [name: string, text: string | undefined, what: RegExp])[] = [
  ['that is missing', undefined, /^does not exist$/],
  ['with comments', '{\n  // mine\n  "mcpServers": {}\n}', /has a comment/],
  ['without servers', '{"theme": "dark"}', /^has no mcpServers$/],
  ['with a list of servers', '{"mcpServers": []}', /mcpServers must be an object/],
  ['with a name that is none', file({ '\u200b': run('x') }), /^server ".*": its name has an invisible character$/],
];
for (const [name, text, what] of FAULTS)
  test(`a --config file ${name} is one Problem, and no other file suffers`, (t) => {
    const tree = makeTree(t, { 'home/.kode.json': file({ mine: run('x') }) });
    if (text !== undefined) tree.write('given.json', text);
    const { servers, problems } = look(tree, { configFiles: ['given.json'] });
    assert.deepEqual([servers.mine, problems.length, problems[0]?.where], ['x', 1, tree.at('given.json')]);
    assert.match(problems[0]?.what ?? '', what);
  });

test('an entry that starts skillwire is left out of --config files, and one with our own address out of any', (t) => {
  const [self, web] = [{ command: 'npx', args: ['-y', 'skillwire'] }, { url: 'http://localhost:3333/mcp' }];
  const files = { 'home/given.json': file({ self, web }), 'home/.kode.json': file({ ours: self, here: web }) };
  const { servers, problems } = look(makeTree(t, files), { configFiles: ['~/given.json'], address: '127.0.0.1:3333' });
  assert.deepEqual([Object.keys(servers), problems], [['ours'], []]);
});
