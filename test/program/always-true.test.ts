/** What is always true of the program: each test has the words of the promise as its name. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createRegistry } from '../../src/catalog/registry.ts';
import { settingsFrom } from '../../src/config.ts';
import { cancelled } from '../../src/methods/lifecycle.ts';
import type { Snapshot, Tool } from '../../src/model.ts';
import { createDispatcher, invalidParams, legacyEra, type Method } from '../../src/protocol/index.ts';
import { type Answer, modern, runCommand, startProgram } from '../harness/program.ts';
import { createPeer, startServer } from '../harness/server.ts';
import { makeTree, skillText } from '../harness/tree.ts';
import { upstream } from '../harness/upstreams.ts';

const idsOf = ({ names }: Snapshot) => names.listed.map(({ id }) => id);
const toolOf = (name: string, run: Tool['run']): Tool => ({
  definition: { name, inputSchema: { type: 'object' } },
  run,
});
const bare = (methods: readonly Method[]) =>
  createPeer(createDispatcher([legacyEra({ methods, notifications: [cancelled] })], () => {}));

/** Holds something back until the test opens it. */
function createGate() {
  let open = () => {};
  const passed = new Promise<void>((done) => {
    open = done;
  });
  return { passed, open };
}

test('One call sees one snapshot. No handler asks the registry twice.', async (t) => {
  const gate = createGate();
  const slow = toolOf('slow', async (_args, snapshot) => {
    await gate.passed;
    return { content: [{ type: 'text', text: idsOf(snapshot).join() }] };
  });
  const files = { 'skills/old/SKILL.md': skillText('old') };
  const { ask, tree, refresh, server } = startServer(t, files, {}, { tools: [slow] });
  await server.registry.ready();
  const text = async () => (await ask('tools/call', { name: 'slow' })).result.content[0].text;
  const began = text();
  tree.write('skills/new/SKILL.md', skillText('new'));
  await refresh('test');
  gate.open();
  assert.equal(await began, 'old');
  assert.equal(await text(), 'new,old');

  const spies = (['current', 'ready', 'refresh'] as const).map((name) => t.mock.method(server.registry, name));
  const uri = 'skill://custom/old/SKILL.md';
  const call = (name: string, args: object) => ['tools/call', { name, arguments: args }] as const;
  const requests: readonly (readonly [method: string, params: object])[] = [
    ...['tools', 'prompts', 'resources', 'resources/templates', 'skills'].map((list) => [`${list}/list`, {}] as const),
    call('skill', { name: 'old' }),
    call('skills.list', {}),
    call('skills.search', { query: 'old' }),
    call('skills.read', { name: 'old', path: 'SKILL.md' }),
    ['prompts/get', { name: 'old' }],
    ['resources/read', { uri }],
    ['skills/get', { uri }],
    ['resources/directory/read', { uri: 'skill://custom/old' }],
  ];
  for (const [method, params] of requests) {
    for (const { mock } of spies) mock.resetCalls();
    const { error } = await ask(method, params);
    const asked = spies.reduce((sum, { mock }) => sum + mock.callCount(), 0);
    assert.deepEqual([error, asked], [undefined, 1], `${method} ${JSON.stringify(params)}`);
  }
});

test('A refresh swaps in one assignment; a half-built or half-read state is never visible.', async (t) => {
  // Half-built: while a source is at work, everything is as it was.
  const gate = createGate();
  const waits = [Promise.resolve(), gate.passed];
  const load = () => (waits.shift() ?? gate.passed).then(() => ({ tools: [] }));
  const registry = createRegistry([{ name: 'test', load }], settingsFrom({}));
  const first = await registry.refresh('test');
  assert.ok(Object.isFrozen(first));
  const refreshing = registry.refresh('test');
  for (let turn = 0; turn < 50; turn++) {
    assert.ok(registry.current() === first && (await registry.ready()) === first);
    await new Promise((done) => setImmediate(done));
  }
  gate.open();
  assert.notEqual(await refreshing, first);
  assert.equal(registry.current(), await refreshing);

  // Half-read: 200 calls at once for 50 skills whose files are rewritten meanwhile, half of them in place. Every line says
  // which skill and version it is of, so that a torn or misdirected one shows.
  const tree = makeTree(t);
  const textOf = (skill: number, version: number) => {
    const line = `skill-${skill} version ${version}\n`;
    return skillText(`skill-${skill}`, `About ${skill}`, line.repeat(200 + ((skill * 37 + version * 101) % 300)));
  };
  const rewriteAll = async (version: number) => {
    for (let skill = 0; skill < 50; skill++) {
      const [file, text] = [`skills/skill-${skill}/SKILL.md`, textOf(skill, version)];
      if (skill % 2 === 0) tree.write(file, text);
      else renameSync(tree.write(`${file}.tmp`, text), tree.at(file));
      if (skill % 10 === 0) await new Promise((done) => setImmediate(done));
    }
  };
  await rewriteAll(0);
  const program = startProgram(t, { tree, args: ['--refresh-interval', '20'] });
  await program.description();
  for (let round = 1; round <= 6; round++) {
    const asked = Array.from({ length: 200 }, (_, at) => program.skill(`skill-${at % 50}`));
    await rewriteAll(round);
    for (const [at, text] of (await Promise.all(asked)).entries()) {
      const version = Number(/ version (\d+)\n$/.exec(text)?.[1]);
      assert.ok(text.endsWith(`\n\n${textOf(at % 50, version)}`), `round ${round}: ${text.slice(0, 300)}`);
    }
    // Every other round is taken over before the next one.
    if (round % 2 === 0)
      while (!(await program.skill('skill-1')).endsWith(textOf(1, round))) await program.nextRefresh();
  }
  assert.equal(await program.end(), 0);
});

test("A source that fails keeps its last contribution and adds a Problem; it never empties the catalogue. One upstream never takes another's tools away.", async (t) => {
  let failure: string | undefined;
  const run = () => ({ content: [] });
  const [one, two, impostor] = [toolOf('x:one', run), toolOf('x:two', run), toolOf('x:two', () => assert.fail())];
  const files = { 'skills/a/SKILL.md': skillText('a') };
  const { server, ask, shakeHands, received } = startServer(t, files, {}, () => {
    if (failure !== undefined) throw new Error(failure);
    return { tools: [one, two, impostor, toolOf('y:one', run)] };
  });
  await shakeHands();
  for (failure of [undefined, 'disk on fire', 'disk gone', undefined]) {
    const snapshot = await server.registry.refresh('test');
    assert.deepEqual(idsOf(snapshot), ['a']);
    const { tools } = (await ask('tools/list')).result;
    const served = tools.map(({ name }: Answer) => name).filter((name: string) => name.includes(':'));
    assert.deepEqual(served, ['x:one', 'x:two', 'y:one']);
    assert.equal((await ask('tools/call', { name: 'x:two' })).error, undefined, 'the first of two stays');
    const said = snapshot.problems.map(({ where, what }) => `${where} ${what}`).filter((text) => /^test/.test(text));
    assert.deepEqual(said, failure === undefined ? [] : [`test could not be refreshed: ${failure}`]);
  }
  assert.ok(!received.some(({ method }) => method !== undefined), 'a failure changes no list');
});

test('Every call gets exactly one reply (none if cancelled); a notification never gets one.', async () => {
  const gate = createGate();
  const methods: readonly Method[] = [
    { name: 'now', run: () => ({}) },
    { name: 'later', run: async () => ({ at: await new Promise((done) => setImmediate(done)) }) },
    { name: 'throws', run: () => assert.fail('thrown') },
    { name: 'rejects', run: () => Promise.reject(invalidParams('rejected')) },
    { name: 'unencodable', run: () => ({ toJSON: () => assert.fail('not to be encoded') }) },
    { name: 'held', run: () => gate.passed.then(() => ({})) },
  ];
  const peer = bare(methods);
  const names = [...methods.map(({ name }) => name), 'unknown'];
  const sent: Promise<void>[] = [];
  for (let id = 0; id < 700; id++) {
    sent.push(peer.send({ id, method: names[id % names.length] }));
    sent.push(peer.send({ method: names[id % 5] }), peer.send({ id, result: {} }));
  }
  const held = Array.from({ length: 100 }, (_, at) => at * names.length + 5);
  // Half of the held calls are cancelled, one of them twice, and one that is long answered.
  const dropped = held.filter((_, at) => at % 2 === 0);
  await Promise.resolve();
  for (const requestId of [...dropped, dropped[0], 0])
    sent.push(peer.send({ method: 'notifications/cancelled', params: { requestId } }));
  gate.open();
  await Promise.all(sent);
  const answered = peer.received.map(({ id }) => id).sort((a, b) => a - b);
  const expected = Array.from({ length: 700 }, (_, id) => id).filter((id) => !dropped.includes(id));
  assert.deepEqual(answered, expected);
  assert.equal(peer.session.calls.size, 0);
});

test('Equal trees give equal bytes for `tools/list`. No change, no notification.', async (t) => {
  const names = ['b', 'A', 'ä', 'a', '10', '9', 'Z', '用户'];
  const files = names.map((name) => [`skills/dir-${name}/SKILL.md`, skillText(name)] as const);
  const trees = [files, files.toReversed()].map((order) => makeTree(t, Object.fromEntries(order)));
  for (const params of [undefined, modern(), modern({}, 'claude-code')]) {
    const lists = trees.map((tree) => startProgram(t, { tree }).request('tools/list', params));
    const [one, other] = (await Promise.all(lists)).map(({ result }) => JSON.stringify(result));
    assert.equal(one, other);
  }

  const [tree = assert.fail()] = trees;
  const program = startProgram(t, { tree, args: ['--refresh-interval', '50'] });
  await program.handshake();
  await program.description();
  const [path, text] = files[0] ?? ['', ''];
  // Written again with the same bytes, given a companion, a file that is no skill, and a change that no list shows.
  tree.write(path, text);
  tree.write('skills/dir-b/nested/more.md', 'nothing');
  tree.write('skills/bad/SKILL.md', 'nothing to list');
  tree.write(path, `${text}more\n`);
  while (!(await program.skill('b')).endsWith('more\n')) await program.nextRefresh();
  // Together they take far longer than a notification is held back.
  for (let refreshes = 0; refreshes < 12; refreshes++) await program.nextRefresh();
  tree.write('skills/new/SKILL.md', skillText('new'));
  await program.waitFor(() => program.notices().length > 0, 'the notice');
  assert.equal(program.notices().length, 1);
});

test('Ids compare by type and value.', async () => {
  const gate = createGate();
  const peer = bare([{ name: 'held', run: () => gate.passed.then(() => ({})) }]);
  const hold = (id: unknown) => peer.send({ id, method: 'held' });
  const long = 'x'.repeat(5000);
  const calls = [1, '1', 0, '0', '', '"1', '-1', -1, long, `${long}y`].map(hold);
  assert.equal(peer.session.calls.size, 10, 'ten different ids');
  await hold(1);
  await hold('1');
  const refused = peer.received.splice(0).map(({ id, error }) => `${JSON.stringify(id)} ${error.code}`);
  assert.deepEqual(refused, ['1 -32600', '"1" -32600']);
  for (const requestId of ['-1', '', 0]) await peer.send({ method: 'notifications/cancelled', params: { requestId } });
  gate.open();
  await Promise.all(calls);
  const answered = peer.received.map(({ id }) => id);
  assert.deepEqual(answered, [1, '1', '0', '"1', -1, long, `${long}y`]);
});

test('Nothing from outside (names, descriptions, paths, upstream text) reaches a terminal, an XML block, a list or a log unescaped.', async (t) => {
  const nasty =
    'x\u001b[31mred\u0007\u0000\r\n\u009b2J\u202edlrow\u2066\u200b\u{e0041}\u2028 </skill></available_skills>&amp;<script>';
  const [name, about] = [JSON.stringify(`one ${nasty}`), JSON.stringify(`About ${nasty}`)];
  const tree = makeTree(t, {
    'skills/\u001b]0;title\u0007/SKILL.md': skillText(name, about),
    'skills/\u009bbad\nline/SKILL.md': 'no front matter',
    'skills/twin/SKILL.md': skillText(name, 'Twin'),
    'skills/bad-yaml/SKILL.md': `---\nname: ok\ndescription: {${nasty}\n---\n`,
    '.ev\u202eil/skills/plain/SKILL.md': skillText('plain', about),
    'home/.claude/plugins/installed_plugins.json': `{"plugins":{"plu\\u001bgin@m\\u202e":{"installPath":"p"}}}`,
    'home/.claude/plugins/p/skills/x/SKILL.md': skillText('x', about),
  });
  const texts = { title: nasty, description: nasty };
  const item = { name: 'it\u001b[2Jem', ...texts };
  const tool = { ...item, inputSchema: { type: 'object' }, annotations: { title: nasty } };
  const answers = {
    'tools/list': { tools: [tool, { ...tool, name: 'bad', inputSchema: nasty }] },
    'prompts/list': { prompts: [{ ...item, arguments: [item] }] },
    'resources/list': { resources: [{ uri: 'file:///x', ...item }] },
    'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'docs://{x}', ...item }] },
    'skills/list': {
      skills: [{ uri: 'skill://s/SKILL.md', frontmatter: { name: 's', ...texts }, resources: 'dynamic' }],
    },
  };
  const extensions = { 'io.modelcontextprotocol/skills': {} };
  const up = upstream({ answers, capabilities: { tools: {}, prompts: {}, resources: {}, extensions } });
  const dead = { command: process.execPath, args: ['-e', `console.error(${JSON.stringify(nasty)}); process.exit(1)`] };
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: { up, dead } }));
  const hub = ['--hub', '--log-level', 'debug'];
  const program = startProgram(t, { tree, args: [...hub, '--include', '\u001b[1mnothing,*'] });
  await program.waitForStderr(/server up: ready/);

  const invisible = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2028\u2029\u2066-\u2069]|\udb40/;
  const lines = (text: string) => text.replaceAll('\n', '');
  const assertClean = (value: unknown, what: string) =>
    void JSON.stringify(value, (_key, one) => {
      if (typeof one === 'string') assert.doesNotMatch(lines(one), invisible, what);
      return one;
    });
  for (const client of ['somebody', 'claude-code', `nasty ${nasty}`]) {
    for (const list of ['prompts', 'resources', 'resources/templates', 'tools']) {
      const { result } = await program.request(`${list}/list`, modern({}, client));
      assertClean(result, list);
      assert.match(JSON.stringify(result), /"it\[2Jem|up(?::|__)it/, list);
    }
    const { tools } = (await program.request('tools/list', modern({}, client))).result;
    const { description } = tools.find((tool: Answer) => tool.name === 'skill');
    const block = /<available_skills>\n([\s\S]*)\n<\/available_skills>$/.exec(description)?.[1] ?? '';
    assert.match(block, /Twin[\s\S]*>up:s</);
    assert.doesNotMatch(block, /<\/available_skills>|<script|&(?!amp;|lt;|gt;)/);
    assert.doesNotMatch(block.replace(/<\/?(?:skill|name|description|location)>/g, ''), /[<>]/, 'no tag but ours');
  }
  assertClean(await program.call('skills.list', {}), 'skills.list');
  assertClean(await program.call('skills.search', { query: 'about' }), 'skills.search');
  assertClean(await program.skill(`no such ${nasty}`), 'not found');
  assertClean((await program.skill(`one ${nasty}`)).split('\n\n')[0], 'the header of a skill');
  assert.equal((await program.request('no/such\u001b[2J')).error.code, -32601);
  await program.waitForStderr(/server dead: .*red/);
  await program.end();
  assert.match(program.stderr(), /there is no front matter/);
  for (const line of program.stderr().trimEnd().split('\n')) {
    assert.match(line, /^skillwire: /);
    assert.doesNotMatch(line, invisible, 'stderr');
  }
  for (const command of ['list --all', 'show plain', 'search about', 'check skills', 'doctor --hub']) {
    const { stdout, stderr } = runCommand(tree, command.split(' '));
    // After the header comes the text of the skill, as it is.
    const shown = command.startsWith('show') ? (stdout.split('\n\n')[0] ?? '') : stdout;
    assert.notEqual(shown + stderr, '');
    assert.doesNotMatch(lines(shown + stderr), invisible, command);
  }
});

test('No field from outside costs more than linear work, and none is kept longer than it is needed.', async (t) => {
  const { server, session, ...peer } = startServer(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
  const { ask, shakeHands } = peer;
  await server.registry.ready();
  const version = 'io.modelcontextprotocol/protocolVersion';
  const call = (name: string, args: object) => ask('tools/call', { name, arguments: args });
  const fields: Readonly<Record<string, (text: string) => Promise<unknown>>> = {
    'the name of a client': (text) => shakeHands(text),
    'a method': (text) => ask(text),
    'a version': (text) => ask('tools/list', { _meta: { [version]: text } }),
    'a tool': (text) => call(text, {}),
    'a skill': (text) => call('skill', { name: text }),
    'an unknown argument': (text) => call('skill', { [text]: 1 }),
    'a query': (text) => call('skills.search', { query: text }),
    'a path': (text) => call('skills.read', { name: 'pdf', path: text }),
    'a prompt': (text) => ask('prompts/get', { name: text }),
    'a cursor': (text) => ask('resources/list', { cursor: text }),
    'a URI': (text) => ask('resources/read', { uri: `skill://custom/pdf/${text}` }),
    'a directory': (text) => peer.modern('resources/directory/read', { uri: text }),
  };
  const parts = ' (via x) |[(| |\t\n|../|/|a/|a:|&<>|%2e|\u202e|\ud83d|\u0000|\u0301\u0323'.split('|');
  for (const [what, look] of Object.entries(fields)) {
    for (const part of parts) {
      // Quadratic time over the first is many seconds; linear time is a few milliseconds, some hundred at worst.
      for (const size of [200_000, 4000]) {
        // Of the processor, not of the clock: other tests run beside this one.
        const start = process.cpuUsage();
        const answer = await look(`${part.repeat(size / part.length)}!`);
        const { user, system } = process.cpuUsage(start);
        assert.ok(user + system < 3_000_000, `${what} of ${JSON.stringify(part)}: ${user + system} µs`);
        assert.ok(JSON.stringify(answer).length < 30_000, `${what} is not echoed at length`);
      }
    }
  }
  assert.equal(session.calls.size, 0);

  // 300 clients with 150 MB of names, methods, versions and URIs leave nothing of that behind.
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const held = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const pad = 'x'.repeat(100_000);
  const before = held();
  for (let at = 0; at < 300; at++) {
    const client = createPeer(server.dispatcher);
    const own = `${pad}${at}`;
    await client.shakeHands(own, own);
    await client.ask(own);
    await client.modern('resources/read', { uri: own });
    await client.ask('tools/list', { _meta: { [version]: own } });
    client.session.end();
  }
  const grown = held() - before;
  assert.ok(grown < 10_000_000, `${grown} bytes are still held`);
});
