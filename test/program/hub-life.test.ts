/**
 * The life of the hub in the built program: the start, the end, and servers that others have made. Trust, edits and servers
 * that fail are in hub.test.ts, the scenarios of the requirements in seed-004.test.ts.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { eventually, isAlive } from '../harness/connections.ts';
import { behind, fileOf, has, startHub, statesOf } from '../harness/hub.ts';
import { type Answer, modern, startProgram } from '../harness/program.ts';
import { everything, startEverything, startV2Web } from '../harness/sdk-servers.ts';
import { makeTree, skillText } from '../harness/tree.ts';
import { fixture, upstream } from '../harness/upstreams.ts';

const SKILL = skillText('pdf', 'From upstream');
const FILE = {
  uri: 'skill://pdf/SKILL.md',
  digest: `sha256:${createHash('sha256').update(SKILL).digest('hex')}`,
  size: SKILL.length,
};
const ENTRY = { uri: FILE.uri, frontmatter: { name: 'pdf', description: 'From upstream' }, resources: [FILE] };
/** A server with tools, a resource and a skill. */
const LIBRARY = upstream({
  capabilities: { tools: {}, resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } },
  answers: {
    'resources/list': { resources: [{ uri: 'file:///note', name: 'note' }] },
    'resources/read': { contents: [{ uri: FILE.uri, text: SKILL }] },
    'skills/list': { skills: [ENTRY] },
    'skills/get': { skill: ENTRY },
  },
});
const NEVER = { command: 'sleep', args: ['1000'] };

test('the first lists wait three seconds for servers that hang, and have what the others have; a handshake and a ping do not wait', async (t) => {
  const tree = makeTree(t, { 'home/.kode.json': fileOf({ up: LIBRARY, hang: NEVER, gone: { command: 'false' } }) });
  const began = performance.now();
  const program = startProgram(t, { tree, args: ['--hub', '--no-default-dirs', '--no-plugins'] });
  const lists = ['tools', 'resources', 'skills', 'prompts'];
  const asked = lists.map((name) => program.request(`${name}/list`));
  await program.handshake();
  await program.request('ping');
  assert.equal(program.received.length, 2);
  const [tools, resources, skills, prompts] = await Promise.all(asked);
  const took = performance.now() - began;
  assert.ok(took > 2900 && took < 10_000, `${took} ms`);
  const namesOf = (items: readonly Answer[]): readonly string[] => items.map(({ name, uri }) => name ?? uri);
  assert.ok(has('up:echo', 'skill')(namesOf(tools.result.tools)));
  assert.ok(has('note')(namesOf(resources.result.resources)));
  assert.deepEqual(namesOf(skills.result.skills), ['skill://up/pdf/SKILL.md']);
  assert.deepEqual(namesOf(prompts.result.prompts), ['up:pdf']);
  assert.deepEqual(await program.names(), ['up:pdf']);
  assert.ok((await program.skill('up:pdf')).endsWith(`\n\n${SKILL}`));
  // Only what comes later is told: a notification about the first list would have come before this one.
  await program.call('up:grow', { name: 'grown' });
  await program.waitFor(() => program.notices().length > 0, 'the notification');
  assert.equal(program.received.filter(({ method }) => method !== undefined).length, 1);
});

// They wait for most of their time, so they run side by side.
describe('the end', { concurrency: true }, () => {
  for (const [how, end] of [
    ['its client goes', 'end'],
    ['it gets SIGTERM', 'SIGTERM'],
    ['it is killed', 'SIGKILL'],
  ] as const)
    test(`no process of a server, of its children, or of one that ignores signals is left when ${how}`, async (t) => {
      const tree = makeTree(t, { pids: '' });
      const pids = () => readFileSync(tree.at('pids'), 'utf8').trim().split(/\s+/).map(Number);
      const family = behind('sleep 1000 & echo $$ $! >> "$0"; exec "$@"', tree.at('pids'), upstream());
      const stubborn = 'trap "" TERM; echo $$ >> "$0"; "$@"; sleep 1000';
      const servers = {
        family,
        stubborn: behind(stubborn, tree.at('pids'), upstream()),
        hanging: behind(stubborn, tree.at('pids'), NEVER),
      };
      const hub = await startHub(t, servers, { tree });
      for (const name of ['family', 'stubborn']) await hub.waitForStderr(new RegExp(`server ${name}: ready`));
      await eventually(() => pids().length === 4, 'all of them');
      const started = pids();
      assert.deepEqual(started.map(isAlive), [true, true, true, true]);
      if (end === 'end') hub.child.stdin.end();
      else hub.child.kill(end);
      assert.equal(await hub.exit(), end === 'SIGKILL' ? null : 0);
      await eventually(() => !started.some(isAlive), 'the end of all of them');
    });

  for (const how of ['the end of stdin', 'SIGTERM'])
    test(`after ${how} a call in flight is answered: with its result or, if it never ends, with an error`, async (t) => {
      const hub = await startHub(t, { one: upstream() });
      await hub.waitForTools(has('one:slow'));
      for (const [id, ms] of Object.entries({ quick: 500, never: 3_600_000 }))
        hub.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'one:slow', arguments: { ms } } });
      await hub.textOf('one:pid'); // Behind them: they have been read.
      const began = performance.now();
      if (how === 'SIGTERM') hub.child.kill('SIGTERM');
      else hub.child.stdin.end();
      assert.equal(await hub.exit(), 0);
      assert.ok(performance.now() - began < 11_000);
      const answerTo = (id: string) => hub.received.find((message) => message.id === id)?.result.content[0].text;
      assert.equal(answerTo('quick'), 'slow is done');
      assert.match(answerTo('never'), /^one:slow could not be called: the connection was closed/);
      assert.match(hub.stderr(), /\nskillwire: stopped: .*\n$/);
    });
});

for (const transport of ['stdio', 'HTTP'])
  test(`a server of SDK v2 by ${transport} is listed, called, read and followed, by clients of both eras`, async (t) => {
    const up = transport === 'stdio' ? fixture('sdk-v2') : { type: 'http', url: await startV2Web(t) };
    const hub = await startHub(t, { up });
    await hub.waitForTools(has('up:echo'));
    for (const era of [(params: object) => params, modern]) {
      const ask = (method: string, params: object): Promise<Answer> => hub.request(method, era(params));
      const called = await ask('tools/call', { name: 'up:echo', arguments: { text: 'hi' } });
      assert.equal(called.result.content[0].text, 'modern hi');
      const prompt = await ask('prompts/get', { name: 'up:welcome', arguments: { who: 'bob' } });
      assert.equal(prompt.result.messages[0].content.text, 'Greet bob');
      assert.equal((await ask('resources/read', { uri: 'memo://one' })).result.contents[0].text, 'a memo');
    }
    await hub.request('tools/call', { name: 'up:slow', arguments: { text: 'x' }, _meta: { progressToken: 'p' } });
    await hub.waitFor(({ params }) => params?.progressToken === 'p' && params.progress === 1, 'progress');
    assert.match(await hub.skill('up:greet'), /# Greet\n$/);
    const { result } = await hub.request('resources/read', { uri: 'note://2026/plan' });
    assert.equal(result.contents[0].text, 'plan of 2026');
    await hub.call('up:grow', {});
    await hub.waitForTools(has('up:grown'));
    await hub.waitForPrompts(has('up:grown'));
    assert.equal((await statesOf(hub.tree)).up.protocol, '2026-07-28');
    assert.equal(await hub.end(), 0);
  });

const EVERYTHING: Readonly<Record<string, (t: TestContext) => Promise<object>>> = {
  stdio: async () => everything,
  HTTP: async (t) => ({ type: 'http', url: await startEverything(t, 'streamableHttp') }),
  SSE: async (t) => ({ type: 'sse', url: await startEverything(t, 'sse') }),
  'SSE, without a type': async (t) => ({ url: await startEverything(t, 'sse') }),
};
for (const [transport, entry] of Object.entries(EVERYTHING))
  test(`the published server-everything of SDK v1 by ${transport}: its tools, prompts, resources and progress`, async (t) => {
    const hub = await startHub(t, { all: await entry(t) });
    await hub.waitForTools(has('all:echo', 'all:get-sum'));
    assert.equal(await hub.textOf('all:echo', { message: 'hi' }), 'Echo: hi');
    const structured = await hub.call('all:get-structured-content', { location: 'New York' });
    assert.equal(typeof structured.structuredContent.temperature, 'number');
    const params = { name: 'all:trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } };
    await hub.request('tools/call', { ...params, _meta: { progressToken: 7 } });
    const reports = hub.received.filter((message) => message.params?.progressToken === 7);
    assert.equal(reports.length, 2);
    await hub.waitForPrompts(has('all:simple-prompt'));
    const [{ uri }] = (await hub.request('resources/list')).result.resources;
    assert.equal((await hub.request('resources/read', { uri })).result.contents[0].uri, uri);
    assert.equal((await statesOf(hub.tree)).all.protocol, '2025-11-25');
    assert.equal(await hub.end(), 0);
  });
