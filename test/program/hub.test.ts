/**
 * The hub in the built program, beyond the scenarios of seed-004.test.ts: configuration and trust, servers that fail or
 * send nonsense, names. Calls that run once, the start, the end and published servers are in hub-life.test.ts.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as odd from '../fixtures/odd.ts';
import { DONE, LEGACY, startWeb } from '../harness/connections.ts';
import * as hubs from '../harness/hub.ts';
import { fileOf, fixture, has, OFTEN, startHub, tool, upstream, withTools } from '../harness/hub.ts';
import * as programs from '../harness/program.ts';
import { type Answer, runCommand, TOP } from '../harness/program.ts';
import { startHandler } from '../harness/sdk-servers.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const none = (start: string) => (names: readonly string[]) => !names.some((name) => name.startsWith(start));

// --- configuration ---

test("a project's file starts nothing until it is trusted as it is; a user's entry of the name goes on", async (t) => {
  const tree = makeTree(t, { '.kode.json': fileOf({ both: withTools(tool('mine')), new: upstream() }) });
  const hub = await startHub(t, { both: upstream() }, { tree, args: OFTEN });
  const names = await hub.waitForTools(has('both:echo'));
  assert.ok(none('new:')(names) && none('both:mine')(names));
  await hub.waitForStderr(/warn: \S+\.kode\.json: its servers are not started, because this project is not trusted/);
  assert.equal((await hubs.statesOf(tree)).new.state, 'untrusted');

  const trusted = runCommand(tree, ['trust']);
  assert.equal(trusted.status, 0, trusted.stderr);
  assert.match(trusted.stdout, /^With --hub, \S+\.kode\.json starts.*:\n {2}both: \{[\s\S]*\nTrusted as it is now: /);
  await hub.waitForTools(has('both:mine', 'new:echo'), 'the trusted ones');

  // Trust is in the content: an edit takes it away again.
  tree.write('.kode.json', fileOf({ new: upstream('page=1') }));
  await hub.waitForTools((all) => none('new:')(all) && none('both:mine')(all) && has('both:echo')(all), 'the loss');
});

test('--trust-project and --config start servers at once; the later file wins, and may be that of another host', async (t) => {
  const tree = makeTree(t, { '.kode.json': fileOf({ project: upstream(), both: upstream() }) });
  const servers = { 'io.github.x/GitHub MCP': upstream(), both: withTools(tool('won')) };
  tree.write('mcp.json', JSON.stringify({ servers }));
  const hub = await startHub(t, {}, { tree, args: ['--trust-project', '--config', 'mcp.json'] });
  await hub.waitForTools(has('project:echo', 'both:won', 'io.github.x-GitHub-MCP:echo'));
  assert.doesNotMatch(hub.stderr(), /warn/);
});

test('an edit restarts what it changes, says so once for each server, and leaves the rest and its calls alone', async (t) => {
  const off = { ...upstream(), disabled: true };
  const before = { same: upstream(), gone: upstream(), paused: upstream(), changed: upstream(), off };
  const hub = await startHub(t, before, { args: OFTEN });
  await hub.waitForTools(has('same:pid', 'gone:pid', 'paused:pid', 'changed:pid'));
  const pid = await hub.textOf('same:pid');
  const calls = ['same', 'gone'].map((name) => hub.call(`${name}:slow`, { ms: name === 'same' ? 2500 : 60_000 }));
  await hub.textOf('gone:pid'); // Behind the calls: they have been sent.
  const start = hub.stderr().length;
  const paused = { ...upstream(), disabled: true };
  const after = { same: upstream(), paused, changed: withTools(tool('new')), off: upstream() };
  hub.tree.write('home/.kode.json', fileOf(after));
  const names = await hub.waitForTools(has('changed:new', 'off:pid'));
  assert.ok(none('gone:')(names) && none('paused:')(names));
  assert.equal(await hub.textOf('same:pid'), pid);
  const [same, gone] = await Promise.all(calls);
  assert.equal(same.content[0].text, 'slow is done');
  assert.match(gone.content[0].text, /^gone:slow could not be called: the connection was closed/);
  const since = hub.stderr().slice(start);
  assert.deepEqual(since.match(/(?<=^skillwire: )server .*/gm)?.sort(), [
    ...['server changed: its entry was changed', 'server changed: ready, with 12 tools'],
    ...['server gone: its entry was removed', 'server off: its entry was changed', 'server off: ready, with 11 tools'],
    'server paused: its entry was changed',
  ]);
});

test('a file that is being written stops no server; a file that is removed does', async (t) => {
  const tree = makeTree(t, { 'other.json': fileOf({ given: upstream() }) });
  const hub = await startHub(t, { one: upstream() }, { tree, args: [...OFTEN, '--config', 'other.json'] });
  await hub.waitForTools(has('one:pid', 'given:pid'));
  const before = await hub.textOf('one:pid');
  tree.write('home/.kode.json', '{"mcpServers": {"one"');
  await hub.waitForStderr(/warn: \S+home\/\.kode\.json: .*not valid JSON/);
  assert.equal(await hub.textOf('one:pid'), before);
  rmSync(tree.at('other.json'));
  assert.ok(has('one:pid')(await hub.waitForTools(none('given:'))));
});

test('a server gets its environment and its directory, and no other variables', async (t) => {
  const tree = makeTree(t, { 'sub/x': '' });
  const env = { SECRET_OF_OURS: 'no', TOKEN: 'tok-1234', HTTPS_PROXY: 'http://proxy' };
  const one = { ...upstream(), env: { GIVEN: '${TOKEN}', HERE: '${workspaceFolder}', ELSE: '${NONE:-else}' } };
  const hub = await startHub(t, { one, two: { ...upstream(), cwd: 'sub' } }, { tree, env });
  await hub.waitForTools(has('one:env', 'two:cwd'));
  const seen = { GIVEN: 'tok-1234', HERE: tree.path, ELSE: 'else', HTTPS_PROXY: 'http://proxy', SKILLWIRE_HOPS: '1' };
  for (const [name, value] of Object.entries({ ...seen, SECRET_OF_OURS: 'not set', TOKEN: 'not set' }))
    assert.equal(await hub.textOf('one:env', { name }), value, name);
  assert.equal(await hub.textOf('one:cwd'), tree.path);
  assert.equal(await hub.textOf('two:cwd'), tree.at('sub'));
});

test('no secret is printed: not at debug level, not in an error, not by the doctor', async (t) => {
  const web = await startHandler(t, ({ url, headers }, response) => {
    const [status, type] = url === '/error' ? [403, 'application/json'] : [200, url?.slice(1)];
    response.writeHead(status, { 'content-type': type }).end(`data: ${headers['x-key']} is refused\n\n`);
  });
  const echoing = (path: string) => ({ type: 'http', url: web.at(path), headers: { 'X-Key': 's3cr3t-0123456789' } });
  const sh = (script: string, env = {}) => ({ command: 'sh', args: ['-c', script], env });
  const LONG_LINE = `stderr=${'x.'.repeat(1000)}`;
  const KEY = '-----BEGIN KEY-----\nMIIEvQIBADANs3cr3t-one\nhkiG9w0BAQEFs3cr3t-two\n-----END KEY-----';
  const rows: readonly (readonly [name: string, entry: object, seen: RegExp])[] = [
    ['env', { ...upstream('stderr=my.key.is.', 'exit=1'), env: { KEY: 's3cr3t-env' } }, /my key is \[redacted\]/],
    ['lines', sh('printf "%s\\n" "$KEY" >&2; exit 1', { KEY }), /\[redacted\]/],
    ['long', { ...upstream(LONG_LINE, 'exit=1'), env: { KEY: 's3cr3t-long-one' } }, /x \[redacted\]/],
    ['variable', upstream('exit=1', 'stderr=see.${THEIRS}'), /see \[redacted\]/],
    ['url', { url: 'http://user:s3cr3t-pass@127.0.0.1:9/mcp?key=s3cr3t-query' }, /ECONNREFUSED/],
    ['header', { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: 'Bearer s3cr3t-header' } }, /ECONNREFUSED/],
    // A body may hold a part of a secret, which would not be recognised, so it is never quoted.
    ['json', echoing('/application/json'), /the body of \d+ characters does not answer the request/],
    ['stream', echoing('/text/event-stream'), /the stream ended without an answer/],
    ['plain', echoing('/text/plain'), /the answer is text\/plain, not JSON/],
    ['error', echoing('/error'), /HTTP 403/],
  ];
  const servers = Object.fromEntries(rows.map(([name, entry]) => [name, entry]));
  const options = { args: ['--log-level', 'debug'], env: { THEIRS: 's3cr3t-var' } };
  const hub = await startHub(t, servers, options);
  for (const [name, , seen] of rows) await hub.waitForStderr(new RegExp(`server ${name}: failed: .*${seen.source}`));
  const [report, data] = await Promise.all([hubs.examine(hub.tree), hubs.examine(hub.tree, '--json')]);
  assert.deepEqual([report.code, data.code], [1, 1]);
  for (const text of [hub.stderr(), report.text, data.text]) assert.doesNotMatch(text, /s3cr|MIIE|hkiG/);
});

test('a faulty entry affects no other, and its fault names the field', async (t) => {
  const { args } = upstream();
  const servers = {
    ...{ nul: { ...upstream(), args: ['a\0b'] }, list: [upstream()], nothing: null, unset: { url: 'http://${NOPE}/' } },
    ...{ ['n'.repeat(100_000)]: upstream(), 'a:b': upstream(), 'a/b': upstream(), input: { command: '${input:x}' } },
    ...{ percent: { ...upstream(), args: [...args, 'postgres://user:p%ss@host'] }, good: upstream() },
  };
  // A key that an object literal gives another meaning, and nesting that no reader of it may fall over.
  const deep = `"__proto__":{"command":1,"x":${'['.repeat(5000)}${']'.repeat(5000)}},"good":`;
  const tree = makeTree(t, { 'odd.json': fileOf(servers).replace('"good":', deep) });
  const hub = await startHub(t, {}, { tree, args: ['--config', 'odd.json'] });
  await hub.waitForTools(has('good:echo', 'percent:echo', 'a-b:echo'));
  for (const [name, fault] of [
    ['nul', 'args\\[0\\]: it has a NUL character'],
    ['list', 'command is required'],
    ['nothing', 'must be an object'],
    ['unset', 'url: the variable NOPE is not set'],
    ['n+…', 'its name is over 64 characters'],
    ['a/b', 'another server is called a-b already'],
    ['input', 'command: .*its host asks a person for it'],
    ['__proto__', 'command must be text'],
  ])
    await hub.waitForStderr(new RegExp(`warn: \\S+odd\\.json: server "${name}": ${fault}`));
  assert.ok(hub.stderr().length < 10_000);
});

// --- servers that fail ---

test('a server that stays away is listed, and a call says how it is doing; one that never was ready has no names', async (t) => {
  const tree = makeTree(t);
  const hub = await startHub(t, { one: upstream(`once=${tree.at('mark')}`), never: upstream('exit=7') }, { tree });
  await hub.waitForTools(has('one:echo'));
  await hub.call('one:crash', {});
  await hub.waitForStderr(/warn: server one: disconnected: exited with code 3; next attempt in 0 s/);
  await hub.waitForStderr(/warn: server one: failed: exited with code 1; next attempt in 1 s/);
  const { isError, content } = await hub.call('one:echo', {});
  assert.equal(isError, true);
  const state = /^one:echo could not be called: the server is failed: exited with code 1; next attempt in \d s$/;
  assert.match(content[0].text, state);
  const names = await hub.toolNames();
  assert.ok(has('one:echo')(names) && none('never:')(names));
  for (const name of ['never:echo', 'nobody:echo', 'one:nope'])
    assert.match((await hub.request('tools/call', { name })).error.message, /unknown tool/, name);
  assert.deepEqual(hub.notices(), []);
});

// They wait for most of their time, so they run side by side.
describe('servers that take their time', { concurrency: true }, () => {
  const ODD: readonly (readonly [name: string, ...traits: string[]])[] = [
    ['prints its log and worse on stdout', 'garbage'],
    ['floods us with notifications', 'flood'],
    ['ends when it is asked something that it does not know', 'dies-on-unknown'],
    ['is silent when it is asked something that it does not know', 'silent-on-unknown'],
    ['takes long to start', 'slow-start=3500'],
    ['takes long to start and is modern', 'slow-start=3500', 'modern'],
    ['gives pages without end', 'page=50', 'endless'],
  ];
  test('a server that behaves oddly can be used nevertheless, and delays no other', async (t) => {
    const servers = ODD.map(([, ...traits], at) => [`odd${at}`, upstream(...traits)]);
    const hub = await startHub(t, { ...Object.fromEntries(servers), plain: upstream() });
    await hub.waitForTools(has('plain:echo'));
    for (const [at, [what]] of ODD.entries()) {
      const names = await hub.waitForTools(has(`odd${at}:echo`), `one that ${what}`);
      assert.equal(new Set(names).size, names.length);
      assert.equal(await hub.textOf(`odd${at}:echo`, { text: 'x' }), 'x', what);
    }
    assert.deepEqual(hub.noise, []);
  });

  test('servers that print without end delay no other, and end with the program', async (t) => {
    // Nice, so that the other tests go on meanwhile.
    const scripts = { lines: 'exec nice yes', blanks: 'exec nice yes ""', log: 'exec nice yes 1>&2' };
    const endless = Object.entries(scripts).map(([name, script]) => [name, { command: 'sh', args: ['-c', script] }]);
    const hub = await startHub(t, { ...Object.fromEntries(endless), plain: upstream() });
    await hub.waitForTools(has('plain:echo'));
    const began = performance.now();
    for (let at = 0; at < 5; at++) await hub.textOf('plain:echo', { text: 'x' });
    // A tenth of this. Were all that there is to read read at once, each call would take seconds.
    assert.ok(performance.now() - began < 15_000);
    await hub.waitForStderr(/server lines: failed: the server printed 100000 lines that are not JSON-RPC/);
    assert.equal(await hub.end(), 0);
  });

  test('a filter that names something of a server which has nothing listed yet is not warned of', async (t) => {
    const tree = makeTree(t, { 'skills/own/SKILL.md': skillText('own'), 'skills/late/SKILL.md': skillText('late') });
    const args = [...OFTEN, '--include', 'slow:echo,hang,hang:x*,own,late', '--exclude', 'nowhere*'];
    const servers = { slow: upstream('slow-start=300'), hang: upstream('hang'), late: upstream('hang') };
    const hub = await startHub(t, servers, { tree, args });
    await hub.waitForTools(has('slow:echo'));
    await hub.nextRefresh();
    assert.doesNotMatch(hub.stderr(), /matches nothing/);
    hub.tree.write('home/.kode.json', fileOf({ hang: upstream() }));
    await hub.waitForTools(has('hang:echo'));
    await hub.waitForStderr(/warn: filter "slow:echo": matches nothing/);
  });
});

test('an answer over 16 MiB fails its call and no other, by every transport', async (t) => {
  const MIB = 1024 * 1024;
  const tools = ['json', 'event', 'fine'].map((name) => tool(name));
  const answer = (method: string, { name }: Answer) => {
    if (method !== 'tools/call') return method === 'tools/list' ? { tools } : LEGACY;
    return name === 'fine' ? DONE : { content: [{ type: 'text', text: 'x'.repeat(17 * MIB) }] };
  };
  const http = await startWeb(t, ({ method, id, json, event, body, response }) => {
    if (!/^tools/.test(method)) return undefined;
    const { name } = Object(body.params);
    const result = answer(method, { name });
    return name === 'event' ? event({ id, result }) && Boolean(response.end()) : json(200, { id, result });
  });
  const sse = await hubs.startOlder(t, answer);
  const hub = await startHub(t, { pipe: upstream(), http: { url: http.url }, sse: { type: 'sse', url: sse.url } });
  await hub.waitForTools(has('pipe:big', 'http:json', 'sse:event'));
  for (const name of ['pipe:big', 'http:json', 'http:event', 'sse:event']) {
    const { isError, content } = await hub.call(name, { bytes: 17 * MIB });
    assert.equal(isError, true);
    assert.match(content[0].text, /could not be called: a message over 16777216 bytes was dropped/, name);
  }
  for (const name of ['pipe:echo', 'http:fine', 'sse:fine']) assert.notEqual((await hub.call(name, {})).isError, true);
  const whole = await hub.textOf('pipe:big', { bytes: 15 * MIB });
  assert.equal(whole.length, 15 * MIB);
});

test('a new tool is listed within two seconds, also while another list of its server hangs', async (t) => {
  const hub = await startHub(t, { up: upstream('templates', 'hanging-templates') });
  await hub.waitForTools(has('up:grow'));
  await hub.call('up:grow', { name: 'grown' });
  const began = performance.now();
  await hub.waitForTools(has('up:grown'));
  assert.ok(performance.now() - began < 2000);
});

// --- names ---

const DIRT = '\u200b\u202e\u{e0041}\u001b[31m';

/** Fails when a text has a character that cannot be seen. */
function assertClean(what: string, value: unknown): void {
  const text = JSON.stringify(value, (_key, one) => (typeof one === 'string' ? one.replaceAll('\n', ' ') : one));
  assert.doesNotMatch(text, /[\u200b\u202e]|\u{e0041}|\\u001b/u, what);
}

test('hostile names cannot hide, break or imitate others, and what is listed can be called', async (t) => {
  const names = [
    ...['', 'a\0b', `ev${DIRT}il`, 'line\nbreak', '\u200b\u202e', 'ech\u200bo', 'x'.repeat(200)],
    ...['with:colon', '__proto__'],
  ];
  const raw = [...names.map((name) => tool(name)), { name: 'no-schema' }, tool('echo', { description: 'an impostor' })];
  const texts = { title: `t${DIRT}`, description: `d${DIRT}\ntwo` };
  const skills = [{ uri: 'skill://s/SKILL.md', frontmatter: { name: 's', ...texts }, resources: 'dynamic' }];
  const one = upstream(
    `tools=${JSON.stringify([...raw, tool('dirty', { ...texts, annotations: { title: DIRT } })])}`,
    `resources=${JSON.stringify([{ uri: 'file:///x', name: `n${DIRT}`, ...texts, text: 'x' }])}`,
    `templates=${JSON.stringify([{ uriTemplate: 'docs://{x}', name: `n${DIRT}`, ...texts }])}`,
    `prompts=${JSON.stringify([{ name: `p${DIRT}`, ...texts }])}`,
    `skills=${JSON.stringify(skills)}`,
  );
  const hub = await startHub(t, { one, skills: upstream() });
  const listed = await hub.waitForTools(has('one:dirty'));
  const own = listed.filter((name) => name.startsWith('one:')).slice(11);
  const clean = ['one:ab', 'one:ev[31mil', 'one:line break', 'one:with:colon', 'one:__proto__'];
  assert.deepEqual(own, [...clean, 'one:dirty']);
  assert.equal(listed.filter((name) => name === 'one:echo').length, 1);
  assert.equal(await hub.textOf('one:ev[31mil'), `ran ev${DIRT}il`);
  for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
    const { result } = await hub.request(method);
    assertClean(method, result);
    assert.match(JSON.stringify(result), /"description":"d\[31m\\ntwo"/, method);
  }
  assert.match(await hub.description(), /<description>d\[31m two<\/description>/);
  for (const [name, args] of Object.entries({
    'skills.list': {},
    'skills.search': { query: 'two' },
    skill: { name: 'x' },
  }))
    assertClean(name, await hub.call(name, args));
  assertClean('stderr', hub.stderr());
  await hub.waitForStderr(/warn: server one: tools ech\S*o: left out, because an earlier one has the same name/);
});

test('a name with invisible characters does not get past a filter', async (t) => {
  const up = { ...withTools(tool('dr\u200bop'), tool('keep')), exclude: ['keep'] };
  const hub = await startHub(t, { up }, { args: ['--exclude', 'up:drop'] });
  const names = await hub.waitForTools(has('up:echo'));
  assert.ok(!names.some((name) => /drop|keep/.test(name)));
  for (const name of ['up:drop', 'up:dr\u200bop', 'up:keep'])
    assert.ok((await hub.request('tools/call', { name })).error, name);
});

test('a clash of safe names sends no call to another server, and every other spelling answers', async (t) => {
  const both = { 'my.db': withTools(tool('drop')), my_db: withTools(tool('drop')) };
  const hub = await startHub(t, both, { args: ['--names', 'safe'] });
  const hashed = (all: readonly string[]) => all.filter((name) => /^my_db__drop_[0-9a-f]{8}$/.test(name));
  const names = await hub.waitForTools((all) => hashed(all).length === 2);
  const { error } = await hub.request('tools/call', { name: 'my_db__drop' });
  assert.equal(error.code, -32602);
  assert.match(error.message, /"my_db__drop"/);
  for (const name of ['my.db:drop', 'my_db:drop', ...hashed(names)])
    assert.equal(await hub.textOf(name), 'ran drop', name);
});

const SCHEMAS = join(TOP, 'test', 'fixtures', 'schemas');
const RESULTS = [
  ['tools/list', 'ListToolsResult', 'tools'],
  ['resources/list', 'ListResourcesResult', 'resources'],
  ['resources/templates/list', 'ListResourceTemplatesResult', 'resourceTemplates'],
  ['prompts/list', 'ListPromptsResult', 'prompts'],
] as const;

test('whatever a server sends, everything listed is valid in the revision of each client', async (t) => {
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
  const lists = {
    tools: odd.ODD_TOOLS,
    resources: odd.ODD_RESOURCES,
    prompts: odd.ODD_PROMPTS,
    skills: odd.ODD_SKILLS,
  };
  const answers = Object.fromEntries(Object.entries(lists).map(([key, items]) => [`${key}/list`, { [key]: items }]));
  const templates = { 'resources/templates/list': { resourceTemplates: odd.ODD_TEMPLATES } };
  const extensions = { 'io.modelcontextprotocol/skills': {} };
  const capabilities = { tools: {}, resources: {}, prompts: {}, extensions };
  tree.write('script.json', JSON.stringify({ capabilities, answers: { ...answers, ...templates } }));
  const hub = await startHub(t, { odd: fixture('scripted', tree.at('script.json')), plain: upstream() }, { tree });
  await hub.waitForTools((all) => all.some((name) => name.startsWith('odd:')));
  const revisions = readdirSync(SCHEMAS).filter((name) => name.endsWith('.json'));
  assert.equal(revisions.length, 5);
  for (const file of revisions) {
    const schema = JSON.parse(readFileSync(join(SCHEMAS, file), 'utf8'));
    const ajv = new (schema.$defs ? Ajv2020 : Ajv)({ strict: false });
    ajv.addFormat('uri', (uri: string) => URL.canParse(uri) && !/[\s\p{C}]/u.test(uri));
    ajv.addFormat('uri-template', (uri: string) => !/[\s\p{C}]/u.test(uri));
    ajv.addFormat('byte', true);
    ajv.addSchema(schema, 'official');
    const place = schema.$defs ? '$defs' : 'definitions';
    const isModern = file.startsWith('2026');
    if (!isModern) await hub.handshake(file.replace('.json', ''));
    for (const [method, name, key] of RESULTS) {
      const { result } = await hub.request(method, isModern ? programs.modern() : {});
      const validate = ajv.getSchema(`official#/${place}/${name}`) ?? assert.fail(name);
      validate(result);
      assert.deepEqual(validate.errors ?? [], [], `${file} ${name}`);
      assert.ok(result[key].length > 40, `${result[key].length} in ${name}`);
    }
  }
  const { skills } = (await hub.request('skills/list')).result;
  assert.ok(skills.some(({ uri }: Answer) => uri.startsWith('skill://odd/')));
});
