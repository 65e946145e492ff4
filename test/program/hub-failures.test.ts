/** Upstream servers that crash, hang, flood or send bad data: the result for them, and that other servers are not affected. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually, isAlive, startHub, upstream } from '../harness/hub.ts';
import { PROGRAM, startProgram } from '../harness/program.ts';
import { makeTree } from '../harness/tree.ts';
import { startWeb } from '../harness/web.ts';

const has =
  (...wanted: readonly string[]) =>
  (names: readonly string[]) =>
    wanted.every((name) => names.includes(name));

test('a server that crashes is connected again soon; the list does not change and a call meanwhile waits for it', async (t) => {
  const hub = await startHub(t, { one: upstream() });
  await hub.waitForTools(has('one:echo'), 'its tools');
  const first = (await hub.call('one:pid', {})).content[0].text;
  const crashed = await hub.call('one:crash', {});
  assert.equal(crashed.isError, true);
  assert.match(crashed.content[0].text, /one:crash could not be called: exited with code 3/);
  assert.ok((await hub.toolNames()).includes('one:echo'));
  const second = (await hub.call('one:pid', {})).content[0].text;
  assert.notEqual(second, first);
  assert.match(hub.stderr(), /warn: server one: disconnected: exited with code 3; next attempt in 1 s/);
  assert.equal(
    hub.received.some(({ method }) => method === 'notifications/tools/list_changed'),
    false,
  );
});

test('one broken server of each kind does not affect the others', async (t) => {
  const good = Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`good${at}`, upstream()]));
  const hub = await startHub(t, {
    ...good,
    missing: { command: 'no-such-command-anywhere' },
    hanging: upstream('hang'),
    leaving: upstream('exit=7', 'stderr=I.have.no.key'),
  });
  const names = await hub.waitForTools(
    (all) => Object.keys(good).every((name) => all.includes(`${name}:echo`)),
    'the good ones',
  );
  assert.deepEqual(
    names.filter((name) => /^(missing|hanging|leaving):/.test(name)),
    [],
  );
  await hub.waitForStderr(/server missing: failed: cannot be started: "no-such-command-anywhere" was not found/);
  await hub.waitForStderr(/server leaving: failed: exited with code 7; its stderr says: I have no key; next attempt/);
  const order = names.filter((name) => name.endsWith(':echo'));
  assert.deepEqual(order, order.toSorted());
});

test("a call to a server that was never connected waits as the first lists do, then fails with the server's state", async (t) => {
  const hub = await startHub(
    t,
    { late: upstream('slow-start=2500'), gone: upstream('exit=7'), hidden: { ...upstream('exit=7'), exclude: 'echo' } },
    { args: ['--exclude', 'gone:slow'] },
  );
  const late = await hub.call('late:echo', { text: 'here' });
  assert.match(late.content[0].text, /^late:echo could not be called: the server is not connected \(connecting/);
  await hub.waitForTools(has('late:echo'), 'the tools of the late server');
  assert.equal((await hub.call('late:echo', { text: 'here' })).content[0].text, 'here');
  const { isError, content } = await hub.call('gone:echo', {});
  assert.equal(isError, true);
  assert.match(content[0].text, /^gone:echo could not be called: the server is not connected \(.*exited with code 7/);
  for (const name of ['gone:slow', 'hidden:echo', 'late:nope', 'nobody:echo'])
    assert.match((await hub.request('tools/call', { name })).error.message, /unknown tool/, name);
});

test("a call to a server that stays down fails after a few seconds, with the server's state", async (t) => {
  const tree = makeTree(t);
  const hub = await startHub(t, { one: upstream(`once=${tree.at('mark')}`) }, { tree });
  await hub.waitForTools(has('one:echo'), 'its tools');
  await hub.call('one:crash', {});
  const { isError, content } = await hub.call('one:echo', {});
  assert.equal(isError, true);
  assert.match(
    content[0].text,
    /^one:echo could not be called: the server is not connected \((failed|connecting): exited/,
  );
});

for (const [name, traits] of [
  ['prints its log on stdout', ['garbage']],
  ['floods us with notices', ['flood']],
  ['ends when it is asked something it does not know', ['dies-on-unknown']],
  ['is silent when it is asked something it does not know', ['silent-on-unknown']],
  ['takes long to start', ['slow-start=3500']],
  ['takes long to start and is modern', ['slow-start=3500', 'modern']],
  ['gives its tools in pages', ['page=3']],
  ['gives pages without end', ['page=50', 'endless']],
] as const) {
  test(`a server that ${name} can be used nevertheless`, async (t) => {
    const hub = await startHub(t, { odd: upstream(...traits), plain: upstream() });
    await hub.waitForTools(has('plain:echo'), 'the plain one');
    const names = await hub.waitForTools(has('odd:echo', 'odd:cwd'), 'the odd one');
    assert.equal(new Set(names).size, names.length);
    assert.equal((await hub.call('odd:echo', { text: 'x' })).content[0].text, 'x');
    assert.deepEqual(hub.noise, []);
  });
}

for (const [what, script, verdict] of [
  [
    'nothing but lines that are no messages',
    'yes',
    /server odd: failed: the server printed 100000 lines that are not JSON-RPC/,
  ],
  ['nothing but empty lines', 'yes ""', undefined],
  ['its log without end', 'yes 1>&2', undefined],
] as const) {
  test(`a server that prints ${what} delays no other, and ends with the program`, async (t) => {
    const hub = await startHub(t, { odd: { command: 'sh', args: ['-c', script] }, plain: upstream() });
    await hub.waitForTools(has('plain:echo'), 'the plain one');
    const began = performance.now();
    for (let at = 0; at < 20; at++) await hub.call('plain:echo', { text: 'x' });
    // A tenth of this on a busy machine; before there was a limit to what is taken in at once, one call took minutes.
    assert.ok(performance.now() - began < 10_000);
    if (verdict) await hub.waitForStderr(verdict);
    assert.equal(await hub.end(), 0);
  });
}

test('a server whose first tools/list fails has the state failed and no tools', async (t) => {
  const hub = await startHub(t, { one: upstream('list-fails'), two: upstream() });
  const names = await hub.waitForTools(has('two:echo'), 'the other one');
  assert.equal(
    names.some((name) => name.startsWith('one:')),
    false,
  );
  await hub.waitForStderr(/server one: failed: listing failed: the list is broken/);
});

test('a server of an unknown protocol version is refused, and the version is named', async (t) => {
  const hub = await startHub(t, { one: upstream('version=unheard-of') });
  await hub.waitForStderr(/server one: failed: the server speaks protocol version "unheard-of", which we do not/);
});

test('hostile tool names cannot hide, break or imitate other tools', async (t) => {
  const inputSchema = { type: 'object' };
  const raw = [
    { name: '', inputSchema },
    { name: 'a\u0000b', inputSchema },
    { name: '\u202eevil', inputSchema },
    { name: 'line\nbreak', inputSchema },
    { name: '\u200b\u202e', inputSchema },
    { name: 'ech\u200bo', inputSchema },
    { name: 'x'.repeat(200), inputSchema },
    { name: 'no-schema' },
    { name: 7, inputSchema },
    { name: 'echo', description: 'an impostor', inputSchema },
    { name: 'with:colon', inputSchema },
    { name: '__proto__', inputSchema },
    'nonsense',
  ];
  const hub = await startHub(t, { one: upstream(`raw-tools=${JSON.stringify(raw)}`), skills: upstream() });
  const { result } = await hub.request('tools/list');
  const names: string[] = result.tools.map((tool: { name: string }) => tool.name);
  const odd = names.filter((name) => name.startsWith('one:')).slice(11);
  assert.deepEqual(odd, ['one:ab', 'one:evil', 'one:line break', 'one:with:colon', 'one:__proto__']);
  assert.equal((await hub.call('one:evil', {})).content[0].text, 'ran \u202eevil');
  assert.equal(names.filter((name) => name === 'one:echo').length, 1);
  assert.equal((await hub.call('one:with:colon', {})).content[0].text, 'ran with:colon');
  assert.equal(names.filter((name) => name === 'skill').length, 1);
  await hub.waitForStderr(/server one: tool "[^"]*" is left out: its name has no visible characters/);
  await hub.waitForStderr(/server one: tool "ech[^"]*o" is listed twice; the first is served/);
});

test('a server that no longer responds is marked disconnected and started again', async (t) => {
  const tree = makeTree(t);
  const journal = tree.at('journal');
  const hub = await startHub(
    t,
    { one: upstream('deaf-after-start', `journal=${journal}`) },
    { tree, args: ['--health-interval', '200'] },
  );
  await hub.waitForStderr(/server one: disconnected: health check failed: no answer to ping within 200 ms/);
  await eventually(() => (readFileSync(journal, 'utf8').match(/started/g) ?? []).length > 1, 'the second start');
});

test('a call in flight is answered when its server is removed by an edit', async (t) => {
  const tree = makeTree(t);
  const hub = await startHub(t, { other: upstream(), edited: upstream() }, { tree });
  await hub.waitForTools(has('other:echo', 'edited:slow'), 'their tools');
  const long = hub.call('edited:slow', { ms: 3_600_000 });
  await hub.call('other:echo', {});
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: { other: upstream() } }));
  assert.match((await long).content[0].text, /edited:slow could not be called: its configuration was changed/);
});

test('a line on stdout that is not UTF-8 answers no call', async (t) => {
  const hub = await startHub(t, { one: upstream('noise') }, { args: ['--log-level', 'debug'] });
  await hub.waitForTools(has('one:slow'), 'its tools');
  assert.equal((await hub.call('one:slow', { ms: 100 })).content[0].text, 'slow is done');
  await hub.waitForStderr(/\[one\] a line on its stdout is not UTF-8/);
});

test('a response over the size limit fails its call and no other', async (t) => {
  const hub = await startHub(t, { one: upstream(), two: upstream() });
  await hub.waitForTools(has('one:big', 'two:echo'), 'their tools');
  const big = await hub.call('one:big', { bytes: 33 * 1024 * 1024 });
  assert.match(big.content[0].text, /one:big could not be called: a message over 33554432 bytes was dropped/);
  assert.equal((await hub.call('one:echo', { text: 'fine' })).content[0].text, 'fine');
});

test('after the client has gone, a call that never ends does not keep the program running, and a quick one is still answered', async (t) => {
  const hub = await startHub(t, { one: upstream() });
  await hub.waitForTools(has('one:slow'), 'its tools');
  const slow = (id: string, ms: number) =>
    hub.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'one:slow', arguments: { ms } } });
  slow('quick', 300);
  slow('never', 3_600_000);
  assert.equal(await hub.end(), 0);
  const answerTo = (id: string) => hub.received.find((message) => message.id === id).result.content[0].text;
  assert.equal(answerTo('quick'), 'slow is done');
  assert.match(answerTo('never'), /could not be called: the hub was closed/);
});

for (const [how, end] of [
  ['its client goes', (hub: { end(): Promise<number | null> }) => hub.end()],
  ['it gets SIGTERM', terminate('SIGTERM')],
  ['it is killed', terminate('SIGKILL')],
] as const) {
  test(`no process of a server, of its children or of one that ignores signals is left when ${how}`, async (t) => {
    const tree = makeTree(t);
    const journal = tree.at('journal');
    const hub = await startHub(
      t,
      {
        family: upstream('grandchild', `journal=${journal}`),
        stubborn: upstream('stubborn', `journal=${journal}`),
        hanging: upstream('hang', `journal=${journal}`),
      },
      { tree },
    );
    await hub.waitForTools(has('family:echo', 'stubborn:echo'), 'their tools');
    const pids = [...readFileSync(journal, 'utf8').matchAll(/(?:started|grandchild) (\d+)/g)].map(([, pid]) =>
      Number(pid),
    );
    assert.equal(pids.length, 4);
    assert.ok(pids.every(isAlive));
    await end(hub);
    await eventually(() => !pids.some(isAlive), 'the end of all of them');
  });
}

function terminate(signal: NodeJS.Signals) {
  return async (hub: { child: { kill(signal: NodeJS.Signals): boolean }; exit(): Promise<number | null> }) => {
    hub.child.kill(signal);
    await hub.exit();
  };
}

test('a hub that runs itself stops after two hubs inside itself', async (t) => {
  const tree = makeTree(t);
  const hub = await startHub(
    t,
    {
      self: {
        command: process.execPath,
        args: [PROGRAM, '--hub', '--no-default-dirs'],
        env: { HOME: tree.at('home') },
      },
      one: upstream(),
    },
    { tree },
  );
  const names = await hub.waitForTools(has('self:one:echo', 'one:echo', 'self:self:skill'), 'all that run');
  assert.deepEqual(
    names.filter((name) => name.startsWith('self:self:self:') || name === 'self:self:one:echo'),
    [],
  );
});

test('hubs that reach themselves over HTTP, directly or through another, are refused', async (t) => {
  const tree = makeTree(t);
  const args = ['--hub', '--no-default-dirs'];
  const near = await startWeb(t, { tree, args: [...args, '--config', 'near.json'] });
  const far = await startWeb(t, { tree: makeTree(t), args: [...args, '--config', tree.at('far.json')] });
  const write = (name: string, servers: object) => tree.write(name, JSON.stringify({ mcpServers: servers }));
  const refused = '.*: the request has passed too many hubs';
  write('near.json', { far: { url: far.url } });
  await near.program.waitForStderr(/server far: ready/);
  write('far.json', { near: { url: near.url } });
  await near.program.waitForStderr(new RegExp(`server far: ${refused}`));
  const alone = await startWeb(t, { tree: makeTree(t), args: [...args, '--config', tree.at('alone.json')] });
  write('alone.json', { self: { url: alone.url } });
  await alone.program.waitForStderr(new RegExp(`server self: ${refused}`));
});

test('without --hub nothing is started and none of its code runs', async (t) => {
  const tree = makeTree(t);
  const journal = tree.at('journal');
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: { one: upstream(`journal=${journal}`) } }));
  const program = startProgram(t, { tree });
  await program.handshake();
  await program.request('tools/list');
  assert.equal(await program.end(), 0);
  assert.equal(existsSync(journal), false);

  // The same program in its modules tells which of them were loaded.
  const modules = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));
  const env = { PATH: process.env.PATH, HOME: tree.at('home'), NODE_V8_COVERAGE: tree.at('coverage') };
  const input = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })}\n`;
  const { status, stdout } = spawnSync(process.execPath, [modules], {
    cwd: tree.path,
    env,
    input,
    encoding: 'utf8',
    timeout: 20_000,
  });
  assert.equal(status, 0);
  assert.match(stdout, /"id":1/);
  const [report = ''] = readdirSync(tree.at('coverage'));
  const { result } = JSON.parse(readFileSync(join(tree.at('coverage'), report), 'utf8')) as {
    result: { url: string }[];
  };
  const loaded = result.map(({ url }) => url).filter((url) => url.includes('/dist/'));
  assert.ok(loaded.some((url) => url.endsWith('/dist/server.js')));
  assert.deepEqual(
    loaded.filter((url) => url.includes('/dist/hub/')),
    [],
  );
});
