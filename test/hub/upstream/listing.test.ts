/** Listings of upstream servers over time: changes are seen, and no server can cause listings or notifications without end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHub } from '../../../src/hub/index.ts';
import { stopClock } from '../../harness/clock.ts';
import { eventually, scripted, startHub, upstream } from '../../harness/hub.ts';
import { type Answer, modern, PROGRAM } from '../../harness/program.ts';
import { makeTree, skillText } from '../../harness/tree.ts';

const SCHEMA = { type: 'object', properties: {} };
const tools = (...names: string[]) => ({ tools: names.map((name) => ({ name, inputSchema: SCHEMA })) });
const CHANGED = 'notifications/tools/list_changed';
const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));

test('a change that is announced before the first listing is complete is not lost (10.9)', async (t) => {
  const tree = makeTree(t);
  const up = scripted(tree, 'up', {
    answers: { 'tools/list': [tools('one'), tools('one', 'two')] },
    after: { 'tools/list': [CHANGED] },
  });
  const hub = await startHub(t, { up: up.entry }, { tree });
  await hub.waitForTools((names) => names.includes('up:two'), 'the tool that came late');
});

test('a list that changes all the time is requested and announced less and less often (10.6)', async (t) => {
  const tree = makeTree(t);
  const up = scripted(tree, 'up', {
    answers: { 'tools/list': Array.from({ length: 10_000 }, (_, at) => tools(`tool-${at % 2}`)) },
    restless: { ms: 2, method: CHANGED },
  });
  const hub = await startHub(t, { up: up.entry }, { tree });
  await hub.waitForTools((names) => names.some((name) => name.startsWith('up:')), 'its tools');
  await wait(4000);
  const announced = hub.received.filter(({ method }) => method === CHANGED).length;
  assert.ok(announced <= 8, `${announced} notifications in 4 s`);
  assert.ok(up.count('tools/list') <= 8, `listed ${up.count('tools/list')} times in 4 s`);
});

test('a list of large items ends at a number of bytes, and other servers are not affected (10.6)', async (t) => {
  const tree = makeTree(t);
  const flood = { method: 'tools/list', key: 'tools', bytes: 900_000 };
  const big = scripted(tree, 'big', { answers: {}, flood });
  const good = scripted(tree, 'good', { answers: { 'tools/list': tools('fine') } });
  const hub = await startHub(t, { big: big.entry, good: good.entry }, { tree });
  await hub.waitForTools((names) => names.includes('big:n0') && names.includes('good:fine'), 'both servers');
  assert.ok(big.count('tools/list') < 20, `${big.count('tools/list')} pages`);
  await hub.waitForStderr(/server big: over 8388608 bytes of tools; 9 tools are served/);
});

test('one item that is far too large is left out alone (10.6)', async (t) => {
  const tree = makeTree(t);
  const huge = { name: 'huge', inputSchema: SCHEMA, description: 'x'.repeat(9_000_000) };
  const up = scripted(tree, 'up', { answers: { 'tools/list': { tools: [huge, ...tools('fine').tools] } } });
  const hub = await startHub(t, { up: up.entry }, { tree });
  const names = await hub.waitForTools((all) => all.includes('up:fine'), 'the other tool');
  assert.ok(!names.includes('up:huge'));
  await hub.waitForStderr(/server up: tool "huge" is left out: it is over 1048576 bytes/);
});

test('of a page with 150,000 tools the first 10,000 are served (10.11)', async (t) => {
  const hub = await startHub(t, { up: upstream('tools=150000') });
  const names = await hub.waitForTools((all) => all.includes('up:tool-0'), 'its tools');
  assert.equal(names.filter((name) => name.startsWith('up:')).length, 10_000);
  await hub.waitForStderr(/server up: over 10000 tools; 10000 tools are served/);
});

test('when a list fails once, the last one is kept until it works again (11.21)', async (t) => {
  const tree = makeTree(t);
  const skill = {
    uri: 'skill://pdf/SKILL.md',
    frontmatter: { name: 'pdf', description: 'x' },
    resources: [{ uri: 'skill://pdf/SKILL.md', digest: `sha256:${'0'.repeat(64)}`, size: 1 }],
  };
  const error = { error: { code: -32603, message: 'not now' } };
  const lists = (...uris: string[]) => ({ resources: uris.map((uri) => ({ uri, name: uri })) });
  const up = scripted(tree, 'up', {
    capabilities: {
      tools: { listChanged: true },
      resources: { listChanged: true },
      extensions: { 'io.modelcontextprotocol/skills': {} },
    },
    answers: {
      'tools/list': [tools('one'), tools('one', 'two')],
      'resources/list': [lists('x:old'), error, error, lists('x:old', 'x:new')],
      'resources/templates/list': { resourceTemplates: [] },
      'skills/list': [{ skills: [skill] }, error, { skills: [skill] }],
    },
    after: { 'tools/list': [CHANGED] },
  });
  const hub = await startHub(t, { up: up.entry }, { tree });
  await hub.waitForTools((names) => names.includes('up:two'), 'the second listing');
  const uris = async () => {
    const { result } = await hub.request('resources/list');
    return result.resources.map(({ uri }: Answer) => uri);
  };
  await hub.waitForStderr(/server up: resources\/list failed, the last list is kept: not now/);
  assert.deepEqual(await uris(), ['skill://up/pdf/SKILL.md', 'x:old']);
  assert.match(await hub.description(), /<name>up:pdf</);
  await hub.waitFor(({ method }) => method === 'notifications/resources/list_changed', 'the list that came back');
  assert.deepEqual(await uris(), ['skill://up/pdf/SKILL.md', 'x:new', 'x:old']);
});

test('a server that fails to list its tools for a short time keeps them, and its calls continue (11.21)', async (t) => {
  const tree = makeTree(t);
  const error = { error: { code: -32603, message: 'not now' } };
  const up = scripted(tree, 'up', {
    answers: { 'tools/list': [tools('one'), error, tools('one', 'two')] },
    after: { 'tools/list': [CHANGED] },
  });
  const hub = await startHub(t, { up: up.entry }, { tree });
  await hub.waitForTools((names) => names.includes('up:one'), 'its tools');
  await hub.waitForStderr(/server up: tools\/list failed, the last list is kept: not now/);
  assert.ok((await hub.toolNames()).includes('up:one'));
  await hub.waitForTools((names) => names.includes('up:two'), 'the list that came back');
  assert.equal(up.count('initialize'), 1);
});

test('a list method that a server does not know is not a problem, and is not requested again (11.21)', async (t) => {
  const tree = makeTree(t);
  const up = scripted(tree, 'up', {
    capabilities: { tools: {}, resources: {} },
    answers: { 'tools/list': tools('one'), 'resources/list': { resources: [] } },
  });
  const hub = await startHub(t, { up: up.entry }, { tree });
  await hub.waitForTools((names) => names.includes('up:one'), 'its tools');
  await wait(2500);
  assert.equal(up.count('resources/templates/list'), 1);
  assert.doesNotMatch(hub.stderr(), /templates/);
});

test('templates that come late are listed when they come', async (t) => {
  const tree = makeTree(t);
  const up = scripted(tree, 'up', {
    capabilities: { tools: {}, resources: {} },
    answers: {
      'tools/list': tools('one'),
      'resources/list': { resources: [] },
      'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'late://{x}', name: 'late' }] },
    },
    delay: { 'resources/templates/list': 3500 },
  });
  const hub = await startHub(t, { up: up.entry }, { tree });
  await hub.waitForTools((names) => names.includes('up:one'), 'its tools');
  await hub.waitFor(({ method }) => method === 'notifications/resources/list_changed', 'the templates');
  const { result } = await hub.request('resources/templates/list');
  assert.ok(result.resourceTemplates.some(({ name }: Answer) => name === 'late'));
});

test('a server that announces nothing is listed again when its ttlMs has passed, once a minute at most (11.18)', async (t) => {
  const tree = makeTree(t);
  const script = (...names: string[]) => ({
    modern: true,
    capabilities: { tools: {} },
    answers: { 'tools/list': { ...tools(...names), ttlMs: 1000, cacheScope: 'private' } },
  });
  const up = scripted(tree, 'up', script('one'));
  stopClock(t);
  const hub = createHub({
    mcpServers: { up: up.entry },
    env: { PATH: process.env.PATH ?? '' },
    healthInterval: 10_000_000,
  });
  const alive = setInterval(() => {}, 1000);
  t.after(() => t.mock.timers.reset());
  t.after(() => hub.close());
  t.after(() => clearInterval(alive));
  await hub.connect();
  const names = () => hub.tools().map(({ name }) => name);
  assert.deepEqual(names(), ['up:one']);
  up.rewrite(script('one', 'two'));
  const changed = new Promise<void>((done) => void hub.on('change', () => done()));
  const turn = () => new Promise((done) => setImmediate(done));
  // One after the other: the timer that matters is only set when another has gone off.
  for (const ms of [500, 30_000, 29_000]) {
    t.mock.timers.tick(ms);
    await turn();
  }
  assert.equal(up.count('tools/list'), 1);
  t.mock.timers.tick(1500);
  await changed;
  assert.deepEqual(names(), ['up:one', 'up:two']);
});

test('skills of an upstream skillwire are read in their new version after an edit (11.18)', async (t) => {
  const tree = makeTree(t, {
    'up/pdf/SKILL.md': skillText('pdf', 'About pdf', 'body one\n'),
    'up/pdf/a.md': 'file one\n',
  });
  const args = [PROGRAM, '--no-default-dirs', '--no-plugins', '--skill-dir', tree.at('up')];
  const hub = await startHub(t, { up: { command: process.execPath, args } }, { tree });
  await hub.waitForTools((names) => names.some((name) => name.startsWith('up:')), 'the upstream');
  const file = async () => (await hub.call('skills.read', { name: 'up:pdf', path: 'a.md' })).content[0].text;
  assert.match(await hub.skill('up:pdf'), /body one/);
  assert.equal(await file(), 'file one\n');
  const [{ uri }] = (await hub.request('skills/list', modern())).result.skills;

  tree.write('up/pdf/SKILL.md', skillText('pdf', 'About pdf', 'body two\n'));
  tree.write('up/pdf/a.md', 'file two\n');
  tree.write('up/pdf/b.md', 'new file\n');
  await pollFor(() => hub.skill('up:pdf'), /body two/);
  await pollFor(file, /^file two$/m);
  const added = await hub.call('skills.read', { name: 'up:pdf', path: 'b.md' });
  assert.equal(added.content[0].text, 'new file\n');

  // A client that was promised digests asks again, and then reads what it was promised.
  const { result } = await hub.request('skills/get', modern({ uri }));
  assert.equal(result.skill.resources.length, 3);
  const read = await hub.request('resources/read', modern({ uri }));
  assert.match(read.result.contents[0].text, /body two/);
});

async function pollFor(read: () => Promise<string>, wanted: RegExp): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const seen = await read();
    if (wanted.test(seen)) return;
    if (Date.now() > deadline) assert.fail(`time ran out while waiting for ${wanted}; last: ${seen}`);
    await wait(50);
  }
}

test('a list that hangs does not withhold the tools, nor their changes', async (t) => {
  const tree = makeTree(t);
  const up = scripted(tree, 'up', {
    capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} },
    answers: { 'tools/list': [tools('one'), tools('one', 'two')] },
    after: { 'tools/list': [CHANGED] },
    silent: ['prompts/list', 'resources/list'],
  });
  const began = performance.now();
  const hub = await startHub(t, { up: up.entry }, { tree });
  await hub.waitForTools((names) => names.includes('up:two'), 'its tools');
  // Each of the others has a minute.
  assert.ok(performance.now() - began < 30_000);
});

test('a server that announces nothing and lists its tools late is asked again', async (t) => {
  const tree = makeTree(t);
  const script = { capabilities: {}, answers: { 'tools/list': tools('one') } };
  const up = scripted(tree, 'up', { ...script, delay: { 'tools/list': 4000 } });
  const hub = await startHub(t, { up: up.entry }, { tree });
  await eventually(() => up.count('tools/list') === 1, 'the first request');
  up.rewrite(script);
  await hub.waitForTools((names) => names.includes('up:one'), 'its tools');
});
