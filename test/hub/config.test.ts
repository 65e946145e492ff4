/** Which files configure servers, which of them counts, and what is said of a file at fault. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type SkillwireOptions, settingsFrom } from '../../src/config.ts';
import { createConfiguration } from '../../src/hub/config.ts';
import { makeTree } from '../harness/tree.ts';

/** A text stands for the entry with that command. */
function file(servers: Readonly<Record<string, object | string>>, key = 'mcpServers'): string {
  return JSON.stringify({ [key]: servers }, (name, one) =>
    name !== 'command' && one === servers[name] && typeof one === 'string' ? { command: one } : one,
  );
}

function start(t: TestContext, files: Readonly<Record<string, string>>, options: SkillwireOptions = {}) {
  const tree = makeTree(t, files);
  const settings = settingsFrom({ cwd: tree.path, home: tree.at('home'), ...options });
  const read = createConfiguration(settings);
  /** What is reached of each server, or its state; and the problems. */
  const look = () => {
    const { configs, problems } = read();
    const reached = ({ target }: (typeof configs)[number]) =>
      target.kind === 'none' ? target.state : target.kind === 'stdio' ? target.command : target.url;
    return { servers: Object.fromEntries(configs.map((one) => [one.name, reached(one)])), problems };
  };
  return { tree, settings, look };
}

test('a project entry replaces the global one of its name, and a --config file both, as a whole', (t) => {
  const files = {
    'home/.kode.json': file({ one: { command: 'global', env: { A: '1' } }, two: 'global', three: 'global' }),
    '.kode.json': file({ two: 'project', three: 'project' }),
    'given.json': file({ three: 'given' }, 'servers'),
    'home/last.json': file({ four: 'last' }),
  };
  const { tree, look } = start(t, files, { configFiles: ['given.json', '~/last.json'], trustProject: true });
  const { servers, problems } = look();
  assert.deepEqual([servers, problems], [{ one: 'global', two: 'project', three: 'given', four: 'last' }, []]);
  tree.write('.kode.json', file({ two: 'edited' }));
  assert.equal(look().servers.two, 'edited');
  tree.remove('.kode.json');
  assert.equal(look().servers.two, 'global');
});

test("in the home directory, also behind a link, the project's file is the user's own", (t) => {
  const { tree } = start(t, { 'home/.kode.json': file({ mine: 'x' }) });
  tree.link('way', tree.at('home'));
  for (const [cwd = '', home = ''] of ['home home', 'way home', 'home way'].map((names) => names.split(' '))) {
    const { configs, problems } = createConfiguration(settingsFrom({ cwd: tree.at(cwd), home: tree.at(home) }))();
    assert.deepEqual([configs[0]?.target.kind, configs.length, problems], ['stdio', 1, []]);
  }
});

const MANY = Object.fromEntries(Array.from({ length: 501 }, (_, nth) => [`s${nth}`, 'x']));
const FAULTS: readonly (readonly [name: string, text: string | undefined, what: RegExp])[] = [
  ['that is missing', undefined, /^does not exist$/],
  ['with comments', '{\n  // mine\n  "mcpServers": {}\n}', /has a comment/],
  ['that is broken', '{"mcpServers": ', /not valid JSON/],
  ['that is a list', '[]', /not an object/],
  ['without servers', '{"theme": "dark"}', /^has no mcpServers$/],
  ['with a list of servers', '{"mcpServers": []}', /mcpServers must be an object/],
  ['with too many servers', file(MANY), /has 501 servers/],
  ['with a bad entry', file({ bad: { command: 1 }, good: 'x' }), /^server "bad": command must be text$/],
  ['with a name that is none', file({ '\u200b': 'x' }), /^server ".*": its name has an invisible character$/],
  ['with names that become equal', file({ 'a/b': 'x', 'a b': 'y' }), /^server "a b": another .* called a-b already$/],
];
for (const [name, text, what] of FAULTS)
  test(`a --config file ${name} is one Problem, and no other file suffers`, (t) => {
    const files = { 'home/.kode.json': file({ mine: 'x' }), ...(text === undefined ? {} : { 'given.json': text }) };
    const { tree, look } = start(t, files, { configFiles: ['given.json'] });
    const { servers, problems } = look();
    assert.deepEqual([servers.mine, problems.length, problems[0]?.where], ['x', 1, tree.at('given.json')]);
    assert.match(problems[0]?.what ?? '', what);
  });

test('an entry for skillwire itself is left out of --config files, and stays in our own', (t) => {
  const own = { sw: { command: 'npx', args: ['-y', 'skillwire'] }, web: { url: 'http://localhost:3333/mcp' } };
  const files = { 'given.json': file(own), 'home/.kode.json': file({ 'our-sw': own.sw, 'our-web': own.web }) };
  const { servers, problems } = start(t, files, { configFiles: ['given.json'], address: '127.0.0.1:3333' }).look();
  assert.deepEqual([Object.keys(servers), problems], [['our-sw', 'our-web'], []]);
});

test('inside of more than two hubs no server is started, and one Problem says so', (t) => {
  for (const [hops, isStarted] of Object.entries({ 2: true, 3: false, 999: false, no: true })) {
    const files = { 'home/.kode.json': file({ one: 'x' }) };
    const { servers, problems } = start(t, files, { env: { SKILLWIRE_HOPS: hops } }).look();
    const wheres = problems.map(({ where }) => where);
    assert.deepEqual([servers, wheres], isStarted ? [{ one: 'x' }, []] : [{}, ['SKILLWIRE_HOPS']], hops);
  }
});
