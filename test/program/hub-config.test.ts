/** The program with configured servers: trust, edits, secrets, doctor. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { startHub, upstream } from '../harness/hub.ts';
import { PROGRAM } from '../harness/program.ts';
import { startUpstreamWeb } from '../harness/sdk-servers.ts';
import { makeTree, type Tree } from '../harness/tree.ts';
import { startWeb } from '../harness/web.ts';

const file = (servers: object) => JSON.stringify({ mcpServers: servers });

const has =
  (...wanted: readonly string[]) =>
  (names: readonly string[]) =>
    wanted.every((name) => names.includes(name));

const run = (tree: Tree, ...args: string[]) =>
  spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: tree.path,
    env: { PATH: process.env.PATH, HOME: tree.at('home') },
    encoding: 'utf8',
  });

/** Writes until the test is over: the first watch is set a moment after the first list, and an edit before that is seen late. */
function edit(t: TestContext, tree: Tree, name: string, servers: object): void {
  const write = () => tree.write(name, file(servers));
  write();
  const timer = setInterval(write, 1000);
  t.after(() => clearInterval(timer));
}

test("a project's file starts nothing until it is trusted, as it is; then its entries replace the user's", async (t) => {
  const tree = makeTree(t);
  const journal = tree.at('journal');
  tree.write(
    '.kode.json',
    file({ both: upstream('raw-tools=[{"name":"mine","inputSchema":{}}]', `journal=${journal}`), new: upstream() }),
  );
  const before = await startHub(t, { both: upstream() }, { tree });
  const names = await before.waitForTools(has('both:echo'), "the user's own");
  assert.equal(names.includes('both:mine'), false);
  assert.equal(names.includes('new:echo'), false);
  await before.waitForStderr(/\.kode\.json: server "new": not started: this project is not trusted/);

  const trusted = run(tree, 'trust');
  assert.equal(trusted.status, 0, trusted.stderr);
  assert.match(
    trusted.stdout,
    /^With --hub, \S+\.kode\.json starts:\n {2}both: \S+ .*\nTrusted \S+ as it is now\.\n$/s,
  );
  await before.waitForTools(has('both:mine', 'new:echo'), 'the trusted ones');

  // Trust is in the content: an edit takes it away again.
  edit(t, tree, '.kode.json', { new: upstream('tools=1') });
  await before.waitForTools((all) => !all.includes('new:echo') && has('both:echo')(all), 'the loss of trust');
});

test('--trust-project and --config start servers at once; --config wins, and its file may be an .mcp.json', async (t) => {
  const tree = makeTree(t);
  tree.write('.kode.json', file({ project: upstream(), both: upstream() }));
  tree.write('other.mcp.json', file({ given: upstream(), both: upstream('tools=1') }));
  const hub = await startHub(t, {}, { tree, args: ['--trust-project', '--config', 'other.mcp.json'] });
  await hub.waitForTools(has('project:echo', 'given:echo', 'both:tool-0'), 'all of them');
});

test('an edit restarts what it changes and leaves the rest alone', async (t) => {
  const tree = makeTree(t);
  const hub = await startHub(t, { same: upstream(), changed: upstream(), removed: upstream() }, { tree });
  await hub.waitForTools(has('same:pid', 'changed:pid', 'removed:pid'), 'all of them');
  const pid = async (name: string) => (await hub.call(`${name}:pid`, {})).content[0].text;
  const before = await pid('same');
  edit(t, tree, 'home/.kode.json', { same: upstream(), changed: upstream('tools=1'), added: upstream() });
  const names = await hub.waitForTools(has('changed:tool-0', 'added:echo'), 'the edit');
  assert.equal(
    names.some((name) => name.startsWith('removed:')),
    false,
  );
  assert.equal(await pid('same'), before);
});

test('an edit is logged once for each server that it changes', async (t) => {
  const tree = makeTree(t);
  const off = { ...upstream(), disabled: true };
  const hub = await startHub(
    t,
    { same: upstream(), gone: upstream(), paused: upstream(), changed: upstream(), off },
    { tree },
  );
  await hub.waitForTools(has('same:pid', 'gone:pid', 'paused:pid', 'changed:pid'), 'all of them');
  // stderr is read apart from stdout, so its lines may come later than the list.
  await hub.waitForStderr(/(?:^skillwire: server \w+: ready\n(?:.*\n)*?){4}/m);
  const before = hub.stderr().length;
  const paused = { ...upstream(), disabled: true };
  edit(t, tree, 'home/.kode.json', { same: upstream(), paused, changed: upstream('tools=1'), off: upstream() });
  await hub.waitForTools(has('changed:tool-0', 'off:pid'), 'the edit');
  await hub.waitForStderr(/restarting(?:.*\n)+skillwire: server changed: ready\n/);
  await hub.waitForStderr(/^skillwire: server off: ready\n/m);
  const told =
    hub
      .stderr()
      .slice(before)
      .match(/(?<=^skillwire: )server .*/gm) ?? [];
  assert.deepEqual(told.toSorted(), [
    'server changed: ready',
    'server changed: restarting: its configuration was changed',
    'server gone: removed from the configuration',
    'server off: ready',
    'server paused: disabled: disabled in its configuration',
  ]);
});

test('a file that is being written stops no server; a removed file does', async (t) => {
  const tree = makeTree(t, { 'other.json': file({ given: upstream() }) });
  const hub = await startHub(t, { one: upstream() }, { tree, args: ['--config', 'other.json'] });
  await hub.waitForTools(has('one:pid', 'given:pid'), 'its tools');
  const before = (await hub.call('one:pid', {})).content[0].text;
  tree.write('home/.kode.json', '{"mcpServers": {"one"');
  await hub.waitForStderr(/\.kode\.json: is not a JSON object/);
  assert.equal((await hub.call('one:pid', {})).content[0].text, before);
  rmSync(tree.at('other.json'));
  const names = await hub.waitForTools((all) => !all.includes('given:pid'), 'the removal');
  assert.ok(names.includes('one:pid'));
});

test('a server gets its environment and its directory, and no other variables', async (t) => {
  const tree = makeTree(t, { 'sub/x': '' });
  const env = { SECRET_OF_OURS: 'no', TOKEN: 'tok-1234', HTTPS_PROXY: 'http://proxy' };
  const hub = await startHub(
    t,
    { one: { ...upstream(), env: { GIVEN: '${TOKEN}' } }, two: { ...upstream(), cwd: 'sub' } },
    { tree, env },
  );
  await hub.waitForTools(has('one:env', 'two:cwd'), 'its tools');
  const envOf = async (name: string) => (await hub.call('one:env', { name })).content[0].text;
  assert.equal(await envOf('GIVEN'), 'tok-1234');
  assert.equal(await envOf('SECRET_OF_OURS'), 'not set');
  assert.equal(await envOf('TOKEN'), 'not set');
  assert.equal(await envOf('HTTPS_PROXY'), 'http://proxy');
  assert.equal((await hub.call('one:cwd', {})).content[0].text, tree.path);
  assert.equal((await hub.call('two:cwd', {})).content[0].text, tree.at('sub'));
});

test('no secret is printed: not at debug level, not in an error, not by the doctor', async (t) => {
  const tree = makeTree(t);
  const servers = {
    env: { ...upstream('stderr=my.key.is.', 'exit=1'), env: { KEY: 's3cr3t-env' } },
    args: { command: 'no-such-thing', args: ['--token', 's3cr3t-arg'] },
    url: { url: 'http://user:s3cr3t-pass@127.0.0.1:9/mcp?key=s3cr3t-query' },
    headers: { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: 'Bearer s3cr3t-header' } },
    long: { ...upstream(`stderr=${'x.'.repeat(146)}`, 'exit=1'), env: { KEY: 's3cr3t-long-one' } },
    script: { command: 'sh', args: ['-c', 'export A_KEY="s3cr3t-script"; echo "not $A_KEY" >&2; exit 1'] },
    variable: upstream('exit=1', 'stderr=see ${THEIRS}'),
  };
  const hub = await startHub(t, servers, { tree, args: ['--log-level', 'debug'], env: { THEIRS: 's3cr3t-var' } });
  for (const name of Object.keys(servers)) await hub.waitForStderr(new RegExp(`server ${name}: failed`));
  assert.doesNotMatch(hub.stderr(), /s3cr3t/);
  assert.match(hub.stderr(), /\[env\] my key is \[redacted\]/);
  assert.match(hub.stderr(), /\[script\] not \[redacted\]/);
  for (const json of [[], ['--json']]) {
    const { stdout, stderr, status } = run(tree, 'doctor', '--hub', ...json);
    assert.equal(status, 1, stderr);
    assert.match(stdout, /headers/);
    assert.doesNotMatch(stdout + stderr, /s3cr3t/);
  }
});

test('a body that is not a message is never quoted, because part of a secret would not be redacted', async (t) => {
  const web = await startUpstreamWeb(t, (request, response) => {
    const [status, type] = request.url === '/error' ? [403, 'application/json'] : [200, request.url?.slice(1)];
    const start = type === 'text/event-stream' ? 'data: ' : '';
    response.writeHead(status, { 'content-type': type }).end(`${start}${request.headers['x-key']} is refused\n\n`);
  });
  const reasons = new Map([
    ['/application/json', /the body does not respond to the request \(application\/json, 34 characters\)/],
    ['/text/event-stream', /the stream ended without an answer/],
    ['/text/plain', /the answer is text\/plain, not JSON/],
    ['/error', /HTTP 403/],
  ]);
  const headers = { 'X-Key': 's3cr3t-0123456789-abc' };
  const servers = [...reasons.keys()].map((path, at) => [`s${at}`, { type: 'http', url: web.at(path), headers }]);
  const hub = await startHub(t, Object.fromEntries(servers), { args: ['--log-level', 'debug'] });
  for (const [at, reason] of [...reasons.values()].entries())
    await hub.waitForStderr(new RegExp(`server s${at}: failed: .*${reason.source}`));
  assert.doesNotMatch(hub.stderr(), /s3cr/);
});

test('doctor shows where skills are, what is wrong, and how every server is doing', (t) => {
  const tree = makeTree(t, {
    '.claude/skills/pdf/SKILL.md': '---\nname: pdf\ndescription: About pdf\n---\n',
    '.claude/skills/bad/SKILL.md': 'no front matter',
    'home/.kode.json': file({
      good: upstream(),
      off: { ...upstream(), disabled: true },
      gone: { command: 'no-such-thing' },
    }),
    '.kode.json': file({ project: upstream() }),
  });
  const { stdout, status } = run(tree, 'doctor', '--hub', '--json');
  assert.equal(status, 1);
  const report = JSON.parse(stdout);
  const filled = report.roots.filter(({ names }: { names: readonly string[] }) => names.length > 0);
  const claude = { provider: 'claude', location: 'project', names: ['pdf'] };
  assert.deepEqual(filled, [{ directory: tree.at('.claude/skills'), ...claude }]);
  assert.ok(report.problems.some(({ where }: { where: string }) => where.endsWith('bad/SKILL.md')));
  const states = report.upstreams.map(({ name, state }: { name: string; state: string }) => [name, state]);
  assert.deepEqual(states, [
    ['gone', 'failed'],
    ['good', 'ready'],
    ['off', 'disabled'],
    ['project', 'untrusted'],
  ]);
  assert.ok(report.upstreams[0].reason.includes('no-such-thing'));
  const text = run(tree, 'doctor').stdout;
  assert.match(text, /^Skills: 1; .*\n {2}1 in \S+ \(claude, project\)\n {4}pdf\n/);
  assert.match(text, /\nProblems: 1\n[\s\S]*\n\nServers: not checked \(--hub checks them\)\n\n1 thing to mend\n$/);
});

test('GET /healthz says how every server is doing', async (t) => {
  const tree = makeTree(t);
  tree.write('home/.kode.json', file({ good: upstream(), gone: { command: 'no-such-thing' } }));
  const web = await startWeb(t, { tree, args: ['--hub', '--no-default-dirs'] });
  await web.program.waitForStderr(/server good: ready/);
  await web.program.waitForStderr(/server gone: failed/);
  const health = (await (await fetch(web.at('/healthz'))).json()) as { upstreams: Record<string, unknown>[] };
  const [gone, good] = health.upstreams;
  assert.equal(good?.state, 'ready');
  assert.equal(good?.tools, 11);
  assert.equal(gone?.name, 'gone');
  assert.match(String(gone?.reason), /no-such-thing/);
  assert.ok(Date.parse(String(gone?.nextAttempt)) > 0);
});

test('no line of a secret is in the log or shown by the doctor (10.18)', async (t) => {
  const tree = makeTree(t);
  const env = { KEY: '-----BEGIN KEY-----\nMIIEvQIBADANs3cr3t-one\nhkiG9w0BAQEFs3cr3t-two\n-----END KEY-----' };
  const servers = { one: { command: 'sh', args: ['-c', 'printf "%s\\n" "$KEY" >&2; exit 1'], env } };
  const hub = await startHub(t, servers, { tree, args: ['--log-level', 'debug'] });
  await hub.waitForStderr(/server one: failed/);
  assert.match(hub.stderr(), /\[one\] \[redacted\]/);
  assert.doesNotMatch(hub.stderr(), /MIIE|hkiG|s3cr3t-one/);
  const { stdout, status } = spawnSync(process.execPath, [PROGRAM, 'doctor', '--hub'], {
    cwd: tree.path,
    env: { PATH: process.env.PATH, HOME: tree.at('home') },
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.doesNotMatch(stdout, /MIIE|hkiG|s3cr3t-one/);
});

test('a faulty entry affects no other (10.5)', async (t) => {
  const tree = makeTree(t);
  const servers = {
    half: { ...upstream(), env: { KEY: 'x\ud800' } },
    nul: { ...upstream(), args: ['a\0b'] },
    list: [upstream()],
    nothing: null,
    __proto__: upstream(),
    ['n'.repeat(100_000)]: upstream(),
    percent: { ...upstream(), args: [...upstream().args, 'postgres://user:p%ss@host'] },
    good: upstream(),
  };
  // Keys that an object literal gives another meaning, and nesting that no reader of it may fall over.
  const text = file(servers).replace(
    '"good":',
    `"__proto__":{"command":1,"x":${'['.repeat(50_000)}${']'.repeat(50_000)}},"good":`,
  );
  tree.write('odd.json', text);
  const hub = await startHub(t, {}, { tree, args: ['--config', 'odd.json'] });
  await hub.waitForTools(has('good:echo', 'percent:echo'), 'the good ones');
  await hub.waitForStderr(/server "half": env\.KEY: it has half of a surrogate pair/);
  await hub.waitForStderr(/server "nul": args\[0\]: it has a NUL character/);
  await hub.waitForStderr(/server "list": command is required/);
  await hub.waitForStderr(/server "nothing": must be an object/);
  await hub.waitForStderr(/server "__proto__": command must be text/);
  await hub.waitForStderr(/server "n{63}…": its name is over 64 characters/);
  assert.ok(hub.stderr().length < 10_000);
});
