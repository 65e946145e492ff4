/**
 * The life of the hub in the built program: calls that run once, the start and the end, and servers that others have made.
 * Configuration, failures and names are in hub.test.ts, the scenarios of the requirements in seed-004.test.ts.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { DONE, eventually, isAlive, startWeb, type WebExchange } from '../harness/connections.ts';
import * as hubs from '../harness/hub.ts';
import { fileOf, fixture, has, pidsIn, startHub, tool, upstream } from '../harness/hub.ts';
import * as programs from '../harness/program.ts';
import { type Answer, ERAS, startProgram, TOP } from '../harness/program.ts';
import { startV1Web, startV2Web } from '../harness/sdk-servers.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

// --- a call reaches its server at most once ---

const refuse = ({ response }: WebExchange) => Boolean(response.writeHead(404).end());
const breakOff = ({ response }: WebExchange) =>
  Boolean(response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: 1\nretry: 0\ndata:\n\n'));
const ofSession = ({ method, headers }: WebExchange) => method !== 'initialize' && 'mcp-session-id' in headers;

for (const [what, about, outcome, sent] of [
  [
    'whose stream breaks and is not taken up again',
    (one: WebExchange) => (one.method === 'tools/call' ? breakOff(one) : 'last-event-id' in one.headers && refuse(one)),
    /the stream of the answer broke .*HTTP 404/,
    1,
  ],
  ['whose session is refused for ever', (one: WebExchange) => ofSession(one) && refuse(one), /HTTP 404/, 2],
] as const)
  test(`a call ${what} is sent no more often than the server asks for`, async (t) => {
    const web = await startWeb(t, (exchange) => {
      const { method, id, json } = exchange;
      return method === 'tools/list' ? json(200, { id, result: { tools: [tool('one')] } }) : about(exchange);
    });
    const hub = await startHub(t, { up: { type: 'http', url: web.url } });
    await hub.waitForTools(has('up:one'));
    assert.match(JSON.stringify(await hub.request('tools/call', { name: 'up:one' })), outcome);
    assert.equal(web.count('tools/call'), sent);
  });

test('a call goes on, and is not sent again, when another call of its session is refused', async (t) => {
  let finish: (() => void) | undefined;
  const web = await startWeb(t, (exchange) => {
    const { method, body, id, json, headers } = exchange;
    if (method === 'tools/list') return json(200, { id, result: { tools: [tool('one'), tool('two')] } });
    if (Object(body.params).name === 'one') finish = () => json(200, { id, result: DONE });
    if (Object(body.params).name === 'one') return true;
    return finish && headers['mcp-session-id'] === 'session-1' && ofSession(exchange) && refuse(exchange);
  });
  const hub = await startHub(t, { up: { type: 'http', url: web.url } });
  await hub.waitForTools(has('up:one'));
  const call = hub.request('tools/call', { name: 'up:one' });
  await eventually(() => finish !== undefined, 'the call');
  await hub.call('up:two', {});
  finish?.();
  assert.deepEqual((await call).result, DONE);
  assert.equal(web.exchanges.filter(({ body }) => Object(body.params).name === 'one').length, 1);
});

// --- the start ---

const SKILL = skillText('pdf', 'From upstream');
const FILE = {
  uri: 'skill://pdf/SKILL.md',
  digest: `sha256:${createHash('sha256').update(SKILL).digest('hex')}`,
  size: SKILL.length,
};
const ENTRY = { uri: FILE.uri, frontmatter: { name: 'pdf', description: 'From upstream' }, resources: [FILE] };
const NOTE = { uri: 'file:///note', name: 'note', text: 'a note' };
/** A server with tools, a resource and a skill. */
const library = (...traits: readonly string[]) =>
  upstream(
    `resources=${JSON.stringify([NOTE, { uri: FILE.uri, name: 'pdf', text: SKILL }])}`,
    `skills=${JSON.stringify([ENTRY])}`,
    ...traits,
  );
const LISTS = ['tools/list', 'resources/list', 'resources/templates/list', 'skills/list', 'prompts/list'];

/** The program, with a handshake and these in its pipe before it has started; the id of each is its method. */
function startWith(t: TestContext, tree: Tree, servers: object, methods: readonly string[]) {
  tree.write('home/.kode.json', fileOf(servers));
  const program = startProgram(t, { tree, args: ['--hub', '--no-default-dirs', '--no-plugins'] });
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  program.send({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params });
  program.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  for (const method of methods) program.send({ jsonrpc: '2.0', id: method, method });
  return { ...program, answers: () => Promise.all(methods.map((one) => program.waitFor(({ id }) => id === one, one))) };
}

test('the first lists have what quick servers have, and no notification follows', async (t) => {
  const program = startWith(t, makeTree(t), { up: library(), gone: upstream('exit=7') }, LISTS);
  const [tools, resources, , skills, prompts] = (await program.answers()).map(({ result }) => result);
  assert.ok(has('up:echo')(tools.tools.map(({ name }: Answer) => name)));
  assert.match(tools.tools.find(({ name }: Answer) => name === 'skill').description, /<name>up:pdf<\/name>/);
  assert.ok(resources.resources.some(({ uri }: Answer) => uri === NOTE.uri));
  const uris = skills.skills.map(({ uri }: Answer) => uri);
  assert.deepEqual(uris, ['skill://up/pdf/SKILL.md']);
  assert.ok(prompts.prompts.some(({ name }: Answer) => name === 'up:pdf'));
  assert.ok((await program.skill('up:pdf')).endsWith(`\n\n${SKILL}`));
  // What comes later is told: a notification about the first list would have come before this one.
  await program.call('up:grow', { name: 'grown' });
  await program.waitFor(({ method }) => method === 'notifications/tools/list_changed', 'the notification');
  assert.equal(program.received.filter(({ method }) => method !== undefined).length, 1);
});

test('a server that hangs delays the first lists by three seconds, a handshake and a ping not at all', async (t) => {
  const began = performance.now();
  const program = startWith(t, makeTree(t), { hang: upstream('hang'), up: library() }, [...LISTS, 'ping']);
  await program.waitFor(({ id }) => id === 'ping', 'the ping');
  const [tools] = await program.answers();
  const took = performance.now() - began;
  assert.ok(took > 2900 && took < 6000, `${took} ms`);
  const first = program.received.slice(0, 2).map(({ id }) => id);
  assert.deepEqual(first, ['hello', 'ping']);
  assert.ok(has('up:echo')(tools.result.tools.map(({ name }: Answer) => name)));
});

test('without --hub nothing is started, and none of its code is loaded', async (t) => {
  const tree = makeTree(t);
  tree.write('home/.kode.json', fileOf({ one: upstream(`journal=${tree.at('journal')}`) }));
  const env = { ...programs.environmentOf(tree), NODE_V8_COVERAGE: tree.at('coverage') };
  // The same program in its modules tells which of them were loaded.
  const { status, stdout } = spawnSync(process.execPath, [join(TOP, 'dist', 'cli.js')], {
    ...{ cwd: tree.path, env, encoding: 'utf8', timeout: 20_000 },
    input: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n',
  });
  assert.deepEqual([status, /"id":1/.test(stdout), existsSync(tree.at('journal'))], [0, true, false]);
  const [report = ''] = readdirSync(tree.at('coverage'));
  const { result } = JSON.parse(readFileSync(join(tree.at('coverage'), report), 'utf8'));
  const loaded = result.map(({ url }: Answer) => url).filter((url: string) => url.includes('/dist/'));
  assert.ok(loaded.some((url: string) => url.endsWith('/dist/server.js')));
  const late = loaded.filter((url: string) => /\/dist\/(?:hub|transports\/http)\//.test(url));
  assert.deepEqual(late, []);
});

test('a hub that starts itself stops after two hubs inside itself', async (t) => {
  const tree = makeTree(t);
  const args = [programs.PROGRAM, '--hub', '--no-default-dirs', '--no-plugins'];
  const self = { command: process.execPath, args, env: { HOME: tree.at('home') } };
  const hub = await startHub(t, { self, one: upstream() }, { tree });
  const names = await hub.waitForTools(has('self:self:one:echo', 'self:one:echo', 'one:echo', 'self:self:self:skill'));
  const deeper = names.filter((name) => /^(?:self:){3}(?:self|one):/.test(name));
  assert.deepEqual(deeper, []);
});

// --- the end ---

// They wait for most of their time, so they run side by side.
describe('the end', { concurrency: true }, () => {
  for (const [how, end] of [
    ['its client goes', 'end'],
    ['it gets SIGTERM', 'SIGTERM'],
    ['it is killed', 'SIGKILL'],
  ] as const)
    test(`no process of a server, of its children, or of one that ignores signals is left when ${how}`, async (t) => {
      const tree = makeTree(t);
      const journal = `journal=${tree.at('journal')}`;
      const servers = { family: upstream('grandchild', journal), stubborn: upstream('stubborn', journal) };
      const hub = await startHub(t, { ...servers, hanging: upstream('hang', 'stubborn', journal) }, { tree });
      for (const name of Object.keys(servers)) await hub.waitForStderr(new RegExp(`server ${name}: ready`));
      await eventually(() => pidsIn(tree.at('journal')).length === 4, 'all of them');
      const pids = pidsIn(tree.at('journal'));
      assert.deepEqual(pids.map(isAlive), [true, true, true, true]);
      if (end === 'end') hub.child.stdin.end();
      else hub.child.kill(end);
      assert.equal(await hub.exit(), end === 'SIGKILL' ? null : 0);
      await eventually(() => !pids.some(isAlive), 'the end of all of them');
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

  test('a program that ends while it starts ends its servers, and starts none again', async (t) => {
    const tree = makeTree(t);
    const servers = { hang: upstream('hang', 'stubborn', `journal=${tree.at('journal')}`) };
    const program = startWith(t, tree, servers, ['tools/list']);
    await eventually(() => existsSync(tree.at('journal')), 'the start');
    assert.equal(await program.end(), 0);
    const pids = pidsIn(tree.at('journal'));
    assert.equal(pids.length, 1);
    await eventually(() => !pids.some(isAlive), 'its end');
  });
});

// --- servers that others have made ---

const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

const MADE: readonly (readonly [
  name: string,
  protocol: string,
  lead: string,
  entry: (t: TestContext) => Promise<object>,
])[] = [
  ['v1 on stdio', '2025-11-25', '', async () => fixture('sdk-v1')],
  ['v1 over HTTP', '2025-11-25', '', async (t) => ({ type: 'http', url: (await startV1Web(t)).url })],
  ['v1 over SSE', '2025-11-25', '', async (t) => ({ type: 'sse', url: (await startV1Web(t)).at('/sse') })],
  ['v1 over SSE, without a type', '2025-11-25', '', async (t) => ({ url: (await startV1Web(t)).at('/sse') })],
  ['v2 on stdio', '2026-07-28', 'modern ', async () => fixture('sdk-v2')],
  ['v2 over HTTP', '2026-07-28', 'modern ', async (t) => ({ type: 'http', url: (await startV2Web(t)).url })],
];
for (const [name, protocol, lead, entry] of MADE)
  test(`a server of SDK ${name} is listed, called, read and followed, by clients of both eras`, async (t) => {
    const hub = await startHub(t, { up: await entry(t) });
    await hub.waitForTools(has('up:echo'));
    for (const [era, speak] of ERAS) {
      const ask = speak(hub);
      const params = { name: 'up:echo', arguments: { text: 'hi' } };
      assert.equal((await ask('tools/call', params)).result.content[0].text, `${lead}hi`, era);
      const prompt = await ask('prompts/get', { name: 'up:welcome', arguments: { who: 'bob' } });
      assert.equal(prompt.result.messages[0].content.text, 'Greet bob');
      assert.equal((await ask('resources/read', { uri: 'memo://one' })).result.contents[0].text, 'a memo');
    }
    const _meta = { progressToken: 'p' };
    await hub.request('tools/call', { name: 'up:slow', arguments: { text: 'x' }, _meta });
    await hub.waitFor(({ params }) => params?.progressToken === 'p' && params.progress === 1, 'progress');
    if (lead !== '') {
      assert.match(await hub.skill('up:greet'), /# Greet\n$/);
      const { result } = await hub.request('resources/read', { uri: 'note://2026/plan' });
      assert.equal(result.contents[0].text, 'plan of 2026');
    }
    await hub.call('up:grow', {});
    await hub.waitForTools(has('up:grown'));
    await hub.waitForPrompts(has('up:grown'));
    assert.equal((await hubs.statesOf(hub.tree)).up.protocol, protocol);
    assert.equal(await hub.end(), 0);
  });

test('a session that a server of SDK v1 has forgotten is replaced, and the call is answered', async (t) => {
  const web = await startV1Web(t);
  const hub = await startHub(t, { up: { type: 'http', url: web.url } });
  await hub.waitForTools(has('up:echo'));
  web.sessions.clear();
  assert.equal(await hub.textOf('up:echo', { text: 'again' }), 'again');
});

test('the published server-everything: its tools, prompts, resources and progress', async (t) => {
  const hub = await startHub(t, { all: { command: process.execPath, args: [EVERYTHING] } });
  await hub.waitForTools(has('all:echo', 'all:get-sum'));
  assert.equal(await hub.textOf('all:echo', { message: 'hi' }), 'Echo: hi');
  const structured = await hub.call('all:get-structured-content', { location: 'New York' });
  assert.equal(typeof structured.structuredContent.temperature, 'number');
  const params = { name: 'all:trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } };
  await hub.request('tools/call', { ...params, _meta: { progressToken: 7 } });
  const reports = hub.received.filter((message) => message.params?.progressToken === 7);
  assert.equal(reports.length, 2);
  await hub.waitForPrompts(has('all:simple-prompt'));
  const { resources } = (await hub.request('resources/list')).result;
  const { result } = await hub.request('resources/read', { uri: resources[0].uri });
  assert.equal(result.contents[0].uri, resources[0].uri);
});
