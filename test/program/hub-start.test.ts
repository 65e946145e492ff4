/** The start of the hub: which requests wait for upstream servers, and which do not. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createHub } from '../../src/hub/index.ts';
import { eventually, isAlive, upstream } from '../harness/hub.ts';
import { type Answer, type Program, startProgram } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const SKILL = skillText('pdf', 'From upstream');
const NOTE = { uri: 'file:///note', name: 'note', text: 'a note' };
const FILE = {
  uri: 'skill://pdf/SKILL.md',
  digest: `sha256:${createHash('sha256').update(SKILL).digest('hex')}`,
  size: SKILL.length,
};
const ENTRY = { uri: FILE.uri, frontmatter: { name: 'pdf', description: 'From upstream' }, resources: [FILE] };

/** A server with a tool, a resource and a skill. */
const library = (...traits: string[]) =>
  upstream(
    `resources=${JSON.stringify([NOTE, { uri: FILE.uri, name: 'pdf', text: SKILL }])}`,
    `skills=${JSON.stringify([ENTRY])}`,
    ...traits,
  );

const REQUESTS: Readonly<Record<string, readonly [method: string, params?: object]>> = {
  tools: ['tools/list'],
  resources: ['resources/list'],
  templates: ['resources/templates/list'],
  skills: ['skills/list'],
  prompts: ['prompts/list'],
  skill: ['tools/call', { name: 'skill', arguments: { name: 'own' } }],
  missing: ['tools/call', { name: 'skill', arguments: { name: 'nowhere' } }],
  list: ['tools/call', { name: 'skills.list', arguments: {} }],
  search: ['tools/call', { name: 'skills.search', arguments: { query: 'own' } }],
  read: ['tools/call', { name: 'skills.read', arguments: { name: 'own', path: 'SKILL.md' } }],
  prompt: ['prompts/get', { name: 'own' }],
  resource: ['resources/read', { uri: 'skill://claude/own/SKILL.md' }],
  get: ['skills/get', { uri: 'skill://claude/own/SKILL.md' }],
  upstreamTool: ['tools/call', { name: 'up:echo', arguments: { text: 'heard' } }],
  upstreamSkill: ['tools/call', { name: 'skill', arguments: { name: 'up:pdf' } }],
  upstreamFile: ['tools/call', { name: 'skills.read', arguments: { name: 'up:pdf', path: 'SKILL.md' } }],
  upstreamPrompt: ['prompts/get', { name: 'up:pdf' }],
  upstreamResource: ['resources/read', { uri: NOTE.uri }],
  upstreamGet: ['skills/get', { uri: 'skill://up/pdf/SKILL.md' }],
};
const LISTS = ['tools', 'resources', 'templates', 'skills', 'prompts'];

/** The program, with all of these in its pipe before it has started; the id of each is its name. */
function startWith(
  t: Parameters<typeof startProgram>[0],
  tree: Tree,
  servers: object,
  names: readonly string[],
): Program {
  tree.write('.claude/skills/own/SKILL.md', skillText('own'));
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: servers }));
  const program = startProgram(t, { tree, args: ['--hub', '--no-plugins'] });
  const messages = [
    {
      id: 'hello',
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    },
    { method: 'notifications/initialized' },
    ...names.map((id) => ({ id, method: REQUESTS[id]?.[0], params: REQUESTS[id]?.[1] ?? {} })),
  ];
  program.sendRaw(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
  return program;
}

const answersTo = (program: Program, names: readonly string[]) =>
  Promise.all(names.map((name): Promise<Answer> => program.waitFor(({ id }) => id === name, name)));
const textIn = ({ result }: Answer): string => result.content[0].text;

test('a server that hangs delays the first lists for about a second, and nothing else', async (t) => {
  const calls = ['skill', 'missing', 'list', 'search', 'read', 'prompt', 'resource', 'get'];
  const program = startWith(t, makeTree(t), { hang: upstream('hang') }, [...LISTS, ...calls]);
  const answers = await answersTo(program, [...LISTS, ...calls]);
  for (const { id, error } of answers) assert.equal(error, undefined, id);
  const order = program.received.map(({ id }) => id);
  assert.deepEqual(new Set(order.slice(0, -LISTS.length)), new Set(['hello', ...calls]), 'first what need not wait');
  assert.match(textIn(answers[LISTS.length]), /^Loading: own\n/);
  assert.match(textIn(answers[LISTS.length + 1]), /^Skill 'nowhere' not found/);
});

test('the first lists contain the tools of quick servers, and no notification follows', async (t) => {
  const program = startWith(t, makeTree(t), { up: library(), gone: upstream('exit=7') }, LISTS);
  const [tools, resources, , skills, prompts] = (await answersTo(program, LISTS)).map(({ result }) => result);
  assert.ok(tools.tools.some(({ name }: Answer) => name === 'up:echo'));
  assert.match(tools.tools.find(({ name }: Answer) => name === 'skill').description, /<name>up:pdf<\/name>/);
  assert.ok(resources.resources.some(({ uri }: Answer) => uri === NOTE.uri));
  assert.ok(skills.skills.some(({ uri }: Answer) => uri === 'skill://up/pdf/SKILL.md'));
  assert.ok(prompts.prompts.some(({ title }: Answer) => title === 'up:pdf'));
  // What comes after it is told: a notice for the first list would have come before this one.
  await program.call('up:grow', { name: 'grown' });
  await program.waitFor(({ method }) => method === 'notifications/tools/list_changed', 'the notice');
  const notices = program.received.filter(({ method }) => method !== undefined);
  assert.deepEqual(
    notices.map(({ method }) => method),
    ['notifications/tools/list_changed'],
  );
});

test("a server's tool can be called by name before the first list is answered", async (t) => {
  const names = Object.keys(REQUESTS).filter((name) => name.startsWith('upstream'));
  const program = startWith(t, makeTree(t), { up: library(), hang: upstream('hang') }, ['tools', ...names]);
  const [tool, skill, file, prompt, resource, got] = await answersTo(program, names);
  assert.equal(textIn(tool), 'heard');
  assert.match(textIn(skill), /^Loading: up:pdf\n/);
  assert.equal(textIn(file), SKILL);
  assert.ok(prompt.result.messages[0].content.text.endsWith(SKILL));
  assert.equal(resource.result.contents[0].text, NOTE.text);
  assert.equal(got.result.skill.frontmatter.name, 'pdf');
});

test('a tool of a server that has just become ready can be called before it is listed', async (t) => {
  const program = startWith(t, makeTree(t), { up: library(), hang: upstream('hang') }, []);
  await program.waitForStderr(/server up: ready/);
  assert.equal((await program.call('up:echo', { text: 'heard' })).content[0].text, 'heard');
});

test("loading a skill of a late server waits as the first lists do, then the result is the server's state", async (t) => {
  const servers = { late: library('slow-start=4000'), gone: upstream('exit=7') };
  const program = startWith(t, makeTree(t), servers, []);
  await program.request('ping');
  for (const [name, state] of [
    ['late:pdf', /connecting/],
    ['gone:pdf', /code 7/],
  ] as const) {
    // A server that exits at our first request is started once more before it counts as failed.
    if (name === 'gone:pdf') await program.waitForStderr(/server gone: failed/);
    const { isError, content } = await program.call('skill', { name });
    assert.equal(isError, true);
    assert.match(content[0].text, new RegExp(`^Skill '${name}' cannot be loaded: the server is not connected \\(`));
    assert.match(content[0].text, state);
  }
  await program.waitForStderr(/server late: ready/);
  assert.match(await program.skill('late:pdf'), /^Loading: late:pdf\n/);
  assert.match(await program.skill('late:nope'), /^Skill 'late:nope' not found/);
});

test('a program that is ended while it starts does not start servers again', async (t) => {
  const tree = makeTree(t);
  const journal = tree.at('journal');
  const program = startWith(t, tree, { hang: upstream('hang', 'stubborn', `journal=${journal}`) }, ['skill']);
  await eventually(() => existsSync(journal), 'the start');
  assert.equal(await program.end(), 0);
  const pids = [...readFileSync(journal, 'utf8').matchAll(/started (\d+)/g)].map(([, pid]) => Number(pid));
  assert.equal(pids.length, 1);
  await eventually(() => !pids.some(isAlive), 'its end');
});

test("as a library too, a call to a server that is not connected fails with the server's state", async (t) => {
  const hub = createHub({ mcpServers: { late: upstream('slow-start=1500'), gone: upstream('exit=7') } });
  t.after(() => hub.close());
  const connecting = hub.connect();
  await assert.rejects(hub.call('late:echo'), /^UpstreamError: the server is not connected \(connecting/);
  await connecting;
  const { content } = (await hub.call('late:echo', { text: 'here' })) as Answer;
  assert.equal(content[0].text, 'here');
  await assert.rejects(hub.call('gone:echo'), /^UpstreamError: the server is not connected \(.*exited with code 7/);
  for (const name of ['late:nope', 'nobody:echo']) await assert.rejects(hub.call(name), /no tool is called/);
});
