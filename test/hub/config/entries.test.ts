/** Where upstream servers come from: files, trust, live edits, variables, and what is kept secret. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { parseEntry, type UpstreamConfig } from '../../../src/hub/config/entries.ts';
import { expand } from '../../../src/hub/config/expand.ts';
import { readConfiguration } from '../../../src/hub/config/files.ts';
import { createRedact, secretsOf } from '../../../src/hub/config/redact.ts';
import { commandLine, inheritedEnvironment } from '../../../src/hub/connection/command.ts';
import { startHub, upstream } from '../../harness/hub.ts';
import { PROGRAM } from '../../harness/program.ts';
import { startUpstreamWeb } from '../../harness/sdk-servers.ts';
import { makeTree, type Tree } from '../../harness/tree.ts';
import { startWeb } from '../../harness/web.ts';

const variables = {
  env: { KEY: 'k-123', EMPTY: '', NEST: '${KEY}' },
  workspaceFolder: '/project',
  userHome: '/home/you',
};
const config = (entry: unknown, name = 'one'): UpstreamConfig =>
  parseEntry(name, entry, { from: '/f.json', variables });
const reason = (entry: unknown, name?: string) => {
  const { target } = config(entry, name);
  return target.kind === 'none' ? `${target.state}: ${target.reason}` : target.kind;
};

test('an entry is understood by its type, or by what it has', () => {
  const rows: readonly (readonly [entry: object, kind: string])[] = [
    [{ command: 'a' }, 'stdio'],
    [{ type: 'stdio', command: 'a', args: ['b'], env: { C: 'd' }, cwd: 'e', timeout: 5 }, 'stdio'],
    [{ url: 'http://a/' }, 'http'],
    [{ type: 'http', url: 'https://a/', headers: { Authorization: 'Bearer x' } }, 'http'],
    [{ type: 'streamable-http', url: 'https://a/' }, 'http'],
    [{ type: 'sse', url: 'https://a/' }, 'sse'],
    [{ command: 'a', alwaysAllow: ['x'], autoApprove: true }, 'stdio'],
    [{ command: 'a', disabled: true }, 'disabled: disabled in its configuration'],
  ];
  for (const [entry, kind] of rows) assert.equal(reason(entry), kind, JSON.stringify(entry));
});

test('what is wrong with an entry is said with the name of the field', () => {
  const rows: readonly (readonly [entry: unknown, why: string, name?: string])[] = [
    [{}, 'command is required'],
    [{ command: 1 }, 'command must be text'],
    [{ command: '' }, 'command is empty'],
    [{ command: 'a', args: 'b' }, 'args must be a list of texts'],
    [{ command: 'a', args: ['b', 1] }, 'args.1 must be text'],
    [{ command: 'a', env: { PORT: 1 } }, 'env.PORT must be text'],
    [{ command: 'a', timeout: '5' }, 'timeout must be a number of milliseconds'],
    [{ command: 'a', timeout: 0 }, 'timeout must be at least 1'],
    [{ command: 'a', disabled: 'no' }, 'disabled must be true or false'],
    [{ type: 'sse' }, 'url is required'],
    [{ type: 'ftp', url: 'x' }, 'type must be one of stdio, sse, http'],
    [{ url: 'not an address' }, 'url must be an http or https address'],
    [{ url: 'file:///etc/passwd' }, 'url must be an http or https address'],
    [{ url: 'http://a/', headers: { 'a b': 'c' } }, 'headers.a… is not a valid header name'],
    [{ url: 'http://a/', headers: { a: 'c\nd' } }, 'headers.a holds a character that no header can hold'],
    ['text', 'must be an object'],
    [{ command: '${NOPE}' }, 'command: the variable NOPE is not set'],
    [{ command: 'a', args: ['${input:x}'] }, 'args[0]: ${input:x} is not a variable that can be expanded here'],
    [{ url: 'http://a/', headers: { a: '${NOPE}' } }, 'headers.a: the variable NOPE is not set'],
    [{ command: 'a' }, 'its name holds a colon, slash, blank or control character', 'a:b'],
    [{ command: 'a' }, 'its name holds a colon, slash, blank or control character', 'a\u0000'],
    [{ command: 'a' }, 'its name is over 64 characters', 'x'.repeat(65)],
    [{ command: 'a' }, 'a server without a name', ''],
  ];
  for (const [entry, why, name] of rows) assert.equal(reason(entry, name), `failed: ${why}`);
});

test('variables are expanded in one pass', () => {
  const rows: readonly (readonly [text: string, expanded: string])[] = [
    ['${KEY}', 'k-123'],
    ['a${env:KEY}b', 'ak-123b'],
    ['${NOPE:-fallback}', 'fallback'],
    ['${EMPTY:-fallback}', 'fallback'],
    ['${NOPE:-}', ''],
    ['${EMPTY}', ''],
    ['${KEY:-fallback}', 'k-123'],
    ['${workspaceFolder}/x ${userHome}', '/project/x /home/you'],
    ['${NEST}', '${KEY}'],
    ['$KEY $$ {KEY} ${', '$KEY $$ {KEY} ${'],
  ];
  for (const [text, expanded] of rows) assert.equal(expand(text, variables).text, expanded, text);
});

test('secrets are redacted in every spelling', () => {
  const secrets = secretsOf({
    args: [
      '--token',
      's3cr3t-one',
      '--api-key=s3cr3t-two',
      'postgres://u5er:pa55word@host/db',
      'sk-live-abcdef123456',
      'plain',
    ],
    env: { A: 's3cr3t "three"' },
    headers: { Authorization: 'Bearer s3cr3t-four' },
    url: 'https://host/mcp?key=s3cr3t%2Ffive',
    inserted: ['s3cr3t-six'],
  });
  const text = `s3cr3t-one s3cr3t-two u5er pa55word sk-live-abcdef123456 s3cr3t "three" s3cr3t \\"three\\" s3cr3t-four s3cr3t/five s3cr3t%2Ffive s3cr3t-six plain host`;
  const redacted = createRedact(secrets)(text);
  assert.doesNotMatch(redacted, /s3cr3t|u5er|pa55|sk-live/);
  assert.match(redacted, /plain host$/);
});

test('of arguments only flags, words, packages and paths that are there are shown', (t) => {
  const tree = makeTree(t, { 'data/x1.db': '' });
  const rows: readonly (readonly [args: readonly string[], shown: string])[] = [
    [['-y', '@scope/server-name@1.2.3', 'run', '--verbose'], '-y @scope/server-name@1.2.3 run --verbose'],
    [['--db', 'data/x1.db', 'data/x2.db'], '--db data/x1.db [redacted]'],
    [['API_KEY=hunter', 'MODE=fast', 'PIN=12345'], 'API_KEY=[redacted] MODE=fast PIN=[redacted]'],
    [['-H', 'Authorization: Bearer abcdef'], '-H [redacted]'],
    [['--pwd', 'hunter', '-p', 'swordfish'], '--pwd [redacted] -p [redacted]'],
    [['-c', 'exit 9; run hunter2', 'exit', 'hunter2'], '-c [redacted] exit [redacted]'],
    [['-c', 'export API_TOKEN=ghp_123; exec run', 'ghp_123', 'exec'], '-c [redacted] [redacted] exec'],
    [['-c', 'PASSWORD=hunter; run', 'hunter'], '-c PASSWORD=[redacted] [redacted]'],
    [['-lc', `A_KEY="s3cr3t" B_KEY='it'"s 5" && run`, 's3cr3t', 'its 5'], '-lc A_KEY=[redacted] [redacted] [redacted]'],
    [['-c', 'A_KEY=abcd && echo "denied to all"', 'abcd', 'denied'], '-c A_KEY=[redacted] [redacted] denied'],
    [['-c', 'export MODE=fast LEVEL="quick"; run', 'fast', 'quick'], '-c [redacted] fast quick'],
    [['-c', 'curl -H "X-Me: Bearer gh0" (gh12);', 'gh12', 'curl'], '-c [redacted] [redacted] curl'],
    [['-c', 'TOKEN=${OTHER} KEY= run', '${OTHER}', 'run'], '-c TOKEN=[redacted] ${OTHER} run'],
    [['Tr0ub4dor', 'correcthorsebatterystaple'], '[redacted] [redacted]'],
    [['https://me:word@host/hook/T0K3N?q=abcd'], 'https://me:[redacted]@host/hook/[redacted]?[redacted]'],
  ];
  for (const [args, shown] of rows) {
    const redact = createRedact(secretsOf({ args, cwd: tree.path, inserted: [] }));
    assert.equal(redact(args.join(' ')), shown);
  }
});

test('a child inherits paths, language and proxies, and no keys', () => {
  const env = {
    PATH: '/bin',
    HOME: '/h',
    https_proxy: 'http://p',
    NO_PROXY: 'x',
    LC_ALL: 'C',
    API_KEY: 'no',
    AWS_SECRET: 'no',
  };
  assert.deepEqual(inheritedEnvironment(env), {
    PATH: '/bin',
    HOME: '/h',
    https_proxy: 'http://p',
    NO_PROXY: 'x',
    LC_ALL: 'C',
  });
});

test('a batch file on Windows is run by cmd.exe, everything else as it is', (t) => {
  const tree = makeTree(t, { 'npx.cmd': '', 'node.exe': '' });
  const env = { PATH: tree.path, PATHEXT: '.EXE;.cmd', ComSpec: 'C:\\cmd.exe' };
  const batch = commandLine('npx', ['-y', 'a b', '100%'], env, 'win32', '/');
  assert.equal(batch.command, 'C:\\cmd.exe');
  assert.deepEqual(batch.args.slice(0, 3), ['/d', '/s', '/c']);
  assert.match(batch.args[3] ?? '', /npx\.cmd \^\^\^"-y\^\^\^" \^\^\^"a\^\^\^ b\^\^\^" \^\^\^"100\^\^\^%\^\^\^""$/);
  assert.equal(batch.verbatim, true);
  assert.deepEqual(commandLine('npx', ['x'], env, 'linux', '/'), { command: 'npx', args: ['x'], verbatim: false });
});

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

test('an edit is told of each server that it touches, once', async (t) => {
  const tree = makeTree(t);
  const off = { ...upstream(), disabled: true };
  const hub = await startHub(
    t,
    { same: upstream(), gone: upstream(), paused: upstream(), changed: upstream(), off },
    { tree },
  );
  await hub.waitForTools(has('same:pid', 'gone:pid', 'paused:pid', 'changed:pid'), 'all of them');
  const before = hub.stderr().length;
  const paused = { ...upstream(), disabled: true };
  edit(t, tree, 'home/.kode.json', { same: upstream(), paused, changed: upstream('tools=1'), off: upstream() });
  await hub.waitForTools(has('changed:tool-0', 'off:pid'), 'the edit');
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

test('a file that is being written stops nothing; one that is removed does', async (t) => {
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

test("a home that is a link is still the user's own", (t) => {
  const tree = makeTree(t, { 'real/.kode.json': file({ mine: { command: 'x' } }) });
  symlinkSync(tree.at('real'), tree.at('home'));
  const options = { env: {}, configFiles: [], trustProject: false };
  const { configs } = readConfiguration({ ...options, cwd: tree.at('real'), home: tree.at('home') });
  assert.deepEqual(
    configs.map(({ name, target }) => [name, target.kind]),
    [['mine', 'stdio']],
  );
});

test('a file that is broken, missing or odd is a problem with its name, and nothing else', async (t) => {
  const tree = makeTree(t, {
    'a.json': '{"mcpServers": {',
    'b.json': '{"mcpServers": []}',
    'c.json': file({ bad: { command: 1 } }),
  });
  const args = ['a.json', 'b.json', 'c.json', 'd.json'].flatMap((name) => ['--config', name]);
  const hub = await startHub(t, { good: upstream() }, { tree, args });
  await hub.waitForTools(has('good:echo'), 'the good one');
  await hub.waitForStderr(/a\.json: is not a JSON object/);
  await hub.waitForStderr(/b\.json: mcpServers must be an object/);
  await hub.waitForStderr(/c\.json: server "bad": command must be text/);
  await hub.waitForStderr(/d\.json: does not exist/);
});

test('a server gets its environment, its directory, and nothing that is not its business', async (t) => {
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

test('no secret is ever printed: not at debug level, not in an error, not by the doctor', async (t) => {
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
    assert.equal(status, 0, stderr);
    assert.match(stdout, /headers/);
    assert.doesNotMatch(stdout + stderr, /s3cr3t/);
  }
});

test('what a web server says that is no message is never quoted: of a secret that is cut the rest is not found', async (t) => {
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
  assert.equal(status, 0);
  const report = JSON.parse(stdout);
  assert.deepEqual(report.roots, [
    { directory: tree.at('.claude/skills'), provider: 'claude', location: 'project', skills: 1 },
  ]);
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
  assert.match(text, /^Skills: 1\n {2}1 in \S+ \(claude, project\)\n\nProblems: 1\n {2}\S+/);
  assert.match(text, /Servers: not checked \(--hub checks them\)\n$/);
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
