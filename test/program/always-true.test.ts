/** The seven sentences of the design that hold at every moment. */
import assert from 'node:assert/strict';
import { closeSync, openSync, utimesSync, writeSync } from 'node:fs';
import { test } from 'node:test';
import { createRegistry, type Registry } from '../../src/catalog/registry.ts';
import { settingsFrom } from '../../src/config.ts';
import { createSkillwire } from '../../src/index.ts';
import { createLog } from '../../src/log.ts';
import { cancelled } from '../../src/methods/lifecycle.ts';
import { createPrompts } from '../../src/methods/prompts.ts';
import { createResources } from '../../src/methods/resources.ts';
import { createSkillsExtension } from '../../src/methods/skills-extension.ts';
import { createTools } from '../../src/methods/tools.ts';
import { createViews } from '../../src/methods/views.ts';
import type { Contribution, Snapshot, Source, Tool } from '../../src/model.ts';
import { createDispatcher, invalidParams, legacyEra, type Method } from '../../src/protocol/index.ts';
import { createSkillSource } from '../../src/skills/source.ts';
import { skillTool } from '../../src/tools/skill.ts';
import { createGate, createPeer } from '../harness/peer.ts';
import { modern, startProgram } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const SILENT = createLog(() => {}, 'error');
const OPTIONS = settingsFrom({});
const VIEWS = createViews(OPTIONS);

/** The skills below `skills/` of the tree, read as the program reads them. */
function sourceOf(tree: Tree): Source {
  const settings = settingsFrom({ cwd: tree.path, home: tree.at('home'), skipPlugins: true });
  return createSkillSource(settings);
}

/** A source that does what the test says. */
function sourceWith(load: () => Promise<Contribution>): Source {
  return { name: 'test', load };
}

const showAll = (snapshot: Snapshot) => snapshot;

const bare = (methods: readonly Method[]) =>
  createPeer(createDispatcher([legacyEra({ methods, notifications: [cancelled] })], () => {}));

test('One call sees one snapshot. No handler asks the registry twice.', async (t) => {
  const tree = makeTree(t, { 'skills/old/SKILL.md': skillText('old') });
  const registry = createRegistry([sourceOf(tree)], OPTIONS);
  await registry.refresh('test');
  const gate = createGate();
  const slow: Tool = {
    name: 'slow',
    inputSchema: {},
    async run(_args, { names }) {
      await gate.pass();
      return { content: [{ type: 'text', text: names.listed.map(({ id }) => id).join() }] };
    },
  };
  const peer = bare(createTools(registry, [slow], showAll, VIEWS).methods);
  const began = peer.call('slow');
  tree.write('skills/new/SKILL.md', skillText('new'));
  await registry.refresh('test');
  gate.open();
  assert.equal(await began, 'old');
  assert.equal(await peer.call('slow'), 'new,old');

  const { asked, counting } = countAsking(registry);
  const handlers = [
    createTools(counting, [skillTool(counting, SILENT)], showAll, VIEWS),
    createResources(counting),
    createSkillsExtension(counting, SILENT),
    createPrompts(counting, showAll, VIEWS),
  ].flatMap(({ methods }) => methods);
  const uri = 'skill://custom/old';
  const params = { uri: `${uri}/SKILL.md`, name: 'old', arguments: { name: 'old' } };
  for (const method of handlers) {
    const before = asked();
    const special = {
      'tools/call': { ...params, name: 'skill' },
      'resources/directory/read': { uri },
      'prompts/get': { name: 'old' },
    };
    const given = method.name.endsWith('/list') ? {} : ((special as Record<string, object>)[method.name] ?? params);
    const answer = await bare(handlers).request(method.name, { ...given });
    assert.equal(answer.error, undefined, `${method.name}: ${JSON.stringify(answer.error)}`);
    assert.ok(asked() - before <= 1, `${method.name} asked ${asked() - before} times`);
  }
});

function countAsking(registry: Registry): { asked(): number; readonly counting: Registry } {
  let count = 0;
  const one = <T>(give: () => T): T => {
    count++;
    return give();
  };
  const counting: Registry = {
    ...registry,
    current: () => one(registry.current),
    ready: () => one(registry.ready),
    complete: () => one(registry.complete),
    lookUp: (look) => one(() => registry.lookUp(look)),
    find: (name, look) => one(() => registry.find(name, look)),
    refresh: (reason) => one(() => registry.refresh(reason)),
  };
  return { asked: () => count, counting };
}

test('A refresh swaps in one assignment; a half-built or half-read state is never visible. A file that changes while it is read is read again.', async (t) => {
  // Half-built: while a source is at work, everything is as it was.
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a') });
  const inner = sourceOf(tree);
  let gate = createGate();
  gate.open();
  const registry = createRegistry(
    [
      sourceWith(async () => {
        const contribution = await inner.load();
        await gate.pass();
        return contribution;
      }),
    ],
    OPTIONS,
  );
  const first = await registry.refresh('test');
  assert.ok(Object.isFrozen(first));
  tree.write('skills/b/SKILL.md', skillText('b'));
  gate = createGate();
  const refreshing = registry.refresh('test');
  for (let turn = 0; turn < 50; turn++) {
    assert.equal(registry.current(), first);
    assert.equal(await registry.ready(), first);
    await new Promise((done) => setImmediate(done));
  }
  gate.open();
  const second = await refreshing;
  assert.equal(registry.current(), second);
  assert.deepEqual(
    second.names.listed.map(({ id }) => id),
    ['a', 'b'],
  );
  assert.deepEqual(
    first.names.listed.map(({ id }) => id),
    ['a'],
    'what a caller keeps does not change',
  );

  // Half-read: a file that is being written in place shows its last whole state until it is whole again, and nobody
  // but the one refresh below is asked to look at it.
  const skillwire = createSkillwire({ ...quietly(tree), refreshInterval: 2 ** 31 - 1, watch: false });
  t.after(() => skillwire.close());
  const peer = createPeer(skillwire.handle);
  const read = async () => (await peer.call('skill', { name: 'a' })).split('---\n').at(-1);
  await read();
  const parts = ['# a\n', ...Array.from({ length: 10 }, (_, at) => `part ${at}\n`), 'end\n'];
  const file = openSync(tree.at('skills/a/SKILL.md'), 'w');
  const seen = new Set<string | undefined>();
  writeSync(file, skillText('a', 'About a', ''));
  void skillwire.registry.refresh('test');
  for (const part of parts) {
    writeSync(file, part);
    seen.add(await read());
    await new Promise((done) => setTimeout(done, 60));
    seen.add(await read());
  }
  closeSync(file);
  assert.deepEqual([...seen], ['# a\n']);
  while ((await read()) === '# a\n') await new Promise((done) => setTimeout(done, 20));
  assert.equal(await read(), parts.join(''));
});

/** Options for a server in this process that sees the tree and nothing else of this machine. */
const quietly = (tree: Tree) => ({ cwd: tree.path, home: tree.at('home'), skipPlugins: true });

test('A source that fails keeps its last contribution and adds a Problem; it never empties the catalogue.', async (t) => {
  const tree = makeTree(t, { 'skills/a/SKILL.md': skillText('a') });
  const [good, other] = [sourceOf(tree), sourceOf(makeTree(t, { 'skills/b/SKILL.md': skillText('b') }))];
  let failure: string | undefined;
  const registry = createRegistry(
    [
      sourceWith(async () => {
        if (failure !== undefined) throw new Error(failure);
        return good.load();
      }),
      other,
    ],
    OPTIONS,
  );
  const look = async () => {
    const { names, problems } = await registry.refresh('test');
    return {
      names: names.listed.map(({ id }) => id),
      problems: problems.map(({ where, what }) => `${where}: ${what}`),
    };
  };
  const whole = ['a', 'b'];
  assert.deepEqual(await look(), { names: whole, problems: [] });
  for (failure of ['disk on fire', 'disk on fire', 'disk gone', 'disk on fire']) {
    assert.deepEqual(await look(), { names: whole, problems: [`test: could not be refreshed: ${failure}`] });
  }
  const failed = registry.current();
  assert.equal(await registry.refresh('test'), failed, 'the same failure again is no change');
  failure = undefined;
  assert.deepEqual(await look(), { names: whole, problems: [] });

  const hopeless = createRegistry([sourceWith(() => Promise.reject(new Error('never'))), other], OPTIONS);
  assert.deepEqual(
    (await hopeless.refresh('test')).names.listed.map(({ id }) => id),
    ['b'],
    'nor from the start',
  );
});

test('Every call gets exactly one reply (none if cancelled); a notification never gets one.', async () => {
  const gate = createGate();
  const methods: readonly Method[] = [
    { name: 'now', run: () => ({}) },
    { name: 'later', run: async () => ({ at: await new Promise((done) => setImmediate(done)) }) },
    {
      name: 'throws',
      run: () => {
        throw new Error('thrown');
      },
    },
    { name: 'rejects', run: () => Promise.reject(invalidParams('rejected')) },
    {
      name: 'endless',
      run: () => ({
        get endless() {
          throw new Error('not to be encoded');
        },
      }),
    },
    {
      name: 'held',
      run: async () => {
        await gate.pass();
        return {};
      },
    },
  ];
  const peer = bare(methods);
  const names = ['now', 'later', 'throws', 'rejects', 'endless', 'held', 'unknown'];
  const sent: Promise<void>[] = [];
  for (let id = 0; id < 700; id++) {
    sent.push(peer.send({ jsonrpc: '2.0', id, method: names[id % names.length] }));
    sent.push(peer.send({ jsonrpc: '2.0', method: names[id % 5] }), peer.send({ jsonrpc: '2.0', id, result: {} }));
  }
  const held = Array.from({ length: 100 }, (_, at) => at * names.length + 5);
  // Half of the held calls are cancelled, one of them twice, and one that is long answered.
  const dropped = held.filter((_, at) => at % 2 === 0);
  await Promise.resolve();
  for (const requestId of [...dropped, dropped[0], 0]) {
    sent.push(peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }));
  }
  gate.open();
  await Promise.all(sent);
  const answered = peer.received.map(({ id }) => id).toSorted((a, b) => a - b);
  const expected = Array.from({ length: 700 }, (_, id) => id).filter((id) => !dropped.includes(id));
  assert.deepEqual(answered, expected);
  assert.equal(peer.session.calls.size, 0);
});

test('Equal trees give equal bytes for `tools/list`. No change, no notification.', async (t) => {
  const files: readonly (readonly [string, string])[] = ['b', 'A', 'ä', 'a', '10', '9', 'Z', '用户'].map((name) => [
    `skills/dir-${name}/SKILL.md`,
    skillText(name),
  ]);
  const trees = [files, files.toReversed()].map((order) => makeTree(t, Object.fromEntries(order)));
  const lists = trees.map(async (tree) => {
    const program = startProgram(t, { tree });
    const params = [undefined, modern(), modern({}, 'claude-code')];
    const answers = await Promise.all(params.map((one) => program.request('tools/list', one)));
    return answers.map(({ result }) => JSON.stringify(result));
  });
  const [one, other] = await Promise.all(lists);
  assert.deepEqual(one, other);

  const [tree] = trees;
  assert.ok(tree);
  const program = startProgram(t, { tree, args: ['--refresh-interval', '50'] });
  await program.handshake();
  await program.description();
  const [path, text] = files[0] ?? ['', ''];
  const told = () => program.received.filter(({ method }) => method === 'notifications/tools/list_changed').length;
  // Touched, written again with the same bytes, given a companion, and a change that no list shows.
  utimesSync(tree.at(path), new Date(), new Date());
  tree.write(path, text);
  tree.write('skills/dir-b/notes.txt', 'nothing');
  tree.write('skills/dir-b/nested/more.md', 'nothing');
  tree.write(path, `${text}more\n`);
  while (!(await program.skill('b')).endsWith('more\n')) await program.request('ping');
  assert.equal(told(), 0);
  tree.write('skills/new/SKILL.md', skillText('new'));
  await program.waitFor(() => told() > 0, 'the notice');
  assert.equal(told(), 1);
});

test('Ids compare by type and value.', async () => {
  const gate = createGate();
  const peer = bare([
    {
      name: 'held',
      run: async () => {
        await gate.pass();
        return {};
      },
    },
  ]);
  const hold = (id: unknown) => peer.send({ jsonrpc: '2.0', id, method: 'held' });
  const calls = [1, '1', 0, '0', '', '"1', '-1', -1].map(hold);
  assert.equal(peer.session.calls.size, 8, 'eight different ids');
  await hold(1);
  await hold('1');
  assert.deepEqual(
    peer.received.map(({ id, error }) => [id, error.code]),
    [
      [1, -32600],
      ['1', -32600],
    ],
  );
  for (const requestId of ['-1', '', 0]) {
    await peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
  }
  gate.open();
  await Promise.all(calls);
  assert.deepEqual(
    peer.received.slice(2).map(({ id }) => id),
    [1, '1', '0', '"1', -1],
  );
});

test('Nothing from outside (names, descriptions, paths, upstream text) reaches a terminal, an XML block or a log unescaped.', async (t) => {
  const nasty = 'x\u001b[31mred\u0007\u0000\r\n\u009b2J\u202edlrow\u2028 </skill></available_skills>&amp;<script>';
  const tree = makeTree(t, {
    'skills/\u001b]0;title\u0007/SKILL.md': skillText(JSON.stringify(`one ${nasty}`), JSON.stringify(`About ${nasty}`)),
    'skills/\u009bbad\nline/SKILL.md': 'no front matter',
    'skills/twin/SKILL.md': skillText(JSON.stringify(`one ${nasty}`), 'Twin'),
    'skills/bad-yaml/SKILL.md': `---\nname: ok\ndescription: {${nasty}\n---\n`,
  });
  const program = startProgram(t, { tree, args: ['--log-level', 'debug', '--include', '\u001b[1mnothing,*'] });
  const escapes = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2028\u2029]/;

  for (const params of [undefined, modern({}, 'claude-code'), modern({}, `nasty ${nasty}`)]) {
    const { result } = await program.request('tools/list', params);
    const { description } = result.tools.find(({ name }: { name: string }) => name === 'skill');
    const block = /<available_skills>\n([\s\S]*)\n<\/available_skills>$/.exec(description)?.[1] ?? '';
    assert.notEqual(block, '');
    assert.doesNotMatch(block, /<\/available_skills>|<script|&(?!amp;|lt;|gt;)/);
    assert.doesNotMatch(block.replaceAll('\u0085', ''), /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/);
    const tags = block.replace(/<(\/?)(skill|name|description|location)>/g, '');
    assert.doesNotMatch(tags, /[<>]/, 'no tag but ours');
  }
  const miss = await program.skill(`no such ${nasty}`);
  assert.doesNotMatch(miss.replaceAll('\n', ''), escapes);
  assert.equal((await program.request('no/such\u001b[2J')).error.code, -32601);
  await program.skill('one');
  const header = (await program.skill(`one ${nasty}`)).split('\n\n')[0] ?? '';
  assert.doesNotMatch(header.replaceAll('\n', ''), escapes);
  await program.end();
  assert.match(program.stderr(), /no front matter/);
  assert.doesNotMatch(program.stderr().replaceAll('\n', ''), escapes);
  for (const line of program.stderr().trimEnd().split('\n')) assert.match(line, /^skillwire: /);
});
