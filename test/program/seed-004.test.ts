/** Every scenario of the requirements for MCP integration, by its name, with the built program and real servers. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { eventually, isAlive, LEGACY, startWeb } from '../harness/connections.ts';
import {
  fileOf,
  has,
  noted,
  pidsIn,
  startHub,
  startOlder,
  statesOf,
  tool,
  upstream,
  withTools,
} from '../harness/hub.ts';
import { type Answer, startProgram } from '../harness/program.ts';
import { makeTree, type Tree } from '../harness/tree.ts';

const RESULTS: Answer = { initialize: LEGACY, 'tools/list': { tools: [tool('one')] }, 'tools/call': { content: [] } };
const startSse = (t: TestContext) => startOlder(t, (method) => RESULTS[method] ?? {});

test('STDIO 连接: the command is started, and spoken to on stdin and stdout in JSON-RPC 2.0', async (t) => {
  const tree = makeTree(t);
  const { command, args } = upstream();
  const up = { type: 'stdio', command: 'sh', args: ['-c', 'tee "$0" | "$@"', tree.at('stdin'), command, ...args] };
  const hub = await startHub(t, { up }, { tree });
  assert.equal(await hub.waitForTools(has('up:echo')).then(() => hub.textOf('up:echo', { text: 'hi' })), 'hi');
  const sent = readFileSync(tree.at('stdin'), 'utf8').trim().split('\n');
  const messages = sent.map((line): Answer => JSON.parse(line));
  for (const { jsonrpc } of messages) assert.equal(jsonrpc, '2.0');
  const methods = messages.map(({ method }) => method);
  assert.deepEqual(methods, ['server/discover', 'initialize', 'notifications/initialized', 'tools/list', 'tools/call']);
});

test('SSE 连接: a stream from the URL brings the messages, POST sends them, in JSON-RPC 2.0', async (t) => {
  const web = await startSse(t);
  const hub = await startHub(t, { up: { type: 'sse', url: web.url } });
  await hub.waitForTools(has('up:one'));
  assert.deepEqual(await hub.call('up:one', { a: 1 }), { content: [] });
  const [opened, ...posts] = web.exchanges;
  assert.deepEqual([opened?.verb, opened?.path, opened?.headers.accept], ['GET', '/mcp', 'text/event-stream']);
  for (const { verb, path, body } of posts)
    assert.deepEqual([verb, path, body.jsonrpc], ['POST', '/post', '2.0'], JSON.stringify(body));
  const methods = posts.map(({ method }) => method);
  assert.deepEqual(methods, ['initialize', 'notifications/initialized', 'tools/list', 'tools/call']);
});

test('处理连接失败: the state is an error that has the reason', async (t) => {
  const web = await startWeb(t, ({ response }) => Boolean(response.writeHead(500).end()));
  const rows: readonly (readonly [name: string, entry: object, reason: RegExp])[] = [
    ['missing', { command: 'no-such-command' }, /cannot be started: "no-such-command" was not found/],
    ['leaving', upstream('exit=7', 'stderr=I.have.no.key'), /exited with code 7; its stderr says: I have no key/],
    ['nobody', { type: 'sse', url: 'http://127.0.0.1:9/sse' }, /ECONNREFUSED/],
    ['broken', { type: 'http', url: web.url }, /HTTP 500/],
    ['foreign', upstream('version=unheard-of'), /protocol version "unheard-of"/],
  ];
  const servers = Object.fromEntries(rows.map(([name, entry]) => [name, entry]));
  const hub = await startHub(t, servers);
  const states = await statesOf(hub.tree);
  for (const [name, , reason] of rows) {
    await hub.waitForStderr(new RegExp(`warn: server ${name}: failed: .*${reason.source}`));
    assert.equal(states[name].state, 'failed', name);
    assert.match(states[name].reason, reason);
  }
});

test('请求工具列表: after the handshake the tools are asked for, page by page, and listed', async (t) => {
  const tree = makeTree(t);
  const hub = await startHub(t, { up: upstream('page=5', `journal=${tree.at('journal')}`) }, { tree });
  const names = await hub.waitForTools(has('up:grow'));
  assert.equal(names.filter((name) => name.startsWith('up:')).length, 11);
  const asked = readFileSync(tree.at('journal'), 'utf8').match(/^(?:notifications\/initialized|tools\/list).*$/gm);
  assert.deepEqual(asked, [
    'notifications/initialized {}',
    ...['tools/list {}', 'tools/list {"cursor":"5"}', 'tools/list {"cursor":"10"}'],
  ]);
});

test('工具元数据: name, description and the JSON Schema of the parameters are taken over', async (t) => {
  const properties = { path: { type: 'string', description: 'Where' }, depth: { type: 'integer', minimum: 0 } };
  const inputSchema = { type: 'object', properties, required: ['path'], additionalProperties: false };
  const whole = { description: 'Reads a file', inputSchema, annotations: { readOnlyHint: true }, _meta: { kept: 1 } };
  const hub = await startHub(t, { up: withTools(tool('read', whole)) });
  await hub.waitForTools(has('up:read'));
  const { tools } = (await hub.request('tools/list')).result;
  const read = tools.find(({ name }: Answer) => name === 'up:read');
  assert.deepEqual(read, { name: 'up:read', ...whole });
});

test('处理工具列表错误: the server is in an error state, and nothing of it is listed', async (t) => {
  const hub = await startHub(t, { bad: upstream('list-fails'), good: upstream() });
  const names = await hub.waitForTools(has('good:echo'));
  assert.ok(!names.some((name) => name.startsWith('bad:')));
  await hub.waitForStderr(/server bad: failed: tools\/list failed: the list is broken; next attempt in \d s/);
  const { bad, good } = await statesOf(hub.tree);
  assert.deepEqual([bad.state, bad.tools, good.state], ['failed', 0, 'ready']);
});

for (const modern of [[], ['modern']])
  test(`调用工具: tools/call has name and arguments, and the result comes back whole ${modern}`, async (t) => {
    const tree = makeTree(t);
    const hub = await startHub(t, { up: upstream(`journal=${tree.at('journal')}`, ...modern) }, { tree });
    await hub.waitForTools(has('up:echo'));
    const { content, structuredContent, _meta } = await hub.call('up:echo', { text: 'hi', deep: { a: [1] } });
    assert.deepEqual(content, [
      { type: 'text', text: 'hi' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource_link', uri: 'file:///x', name: 'x' },
    ]);
    assert.deepEqual(structuredContent.args, { text: 'hi', deep: { a: [1] } });
    assert.deepEqual(_meta, { 'test/result': true });
    await noted(tree, 'journal', /^tools\/call \{"name":"echo","arguments":\{"text":"hi","deep":\{"a":\[1\]\}\}/m);
  });

test('处理工具错误: what the server says of a failure comes back with its details', async (t) => {
  const hub = await startHub(t, { up: upstream() });
  await hub.waitForTools(has('up:fail'));
  assert.deepEqual(await hub.call('up:fail', {}), {
    content: [{ type: 'text', text: 'it broke: details' }],
    isError: true,
  });
  const { error } = await hub.request('tools/call', { name: 'up:refuse' });
  assert.deepEqual(error, { code: -32099, message: 'refused by the server', data: { why: 'because' } });
  const asking = await hub.call('up:ask', {});
  assert.deepEqual([asking.isError, /asks for input/.test(asking.content[0].text)], [true, true]);
});

test('异步工具调用: a long call reports progress, can be cancelled, and delays nothing else', async (t) => {
  const tree = makeTree(t);
  const journal = `journal=${tree.at('journal')}`;
  const hub = await startHub(t, { up: upstream(journal), other: upstream() }, { tree });
  await hub.waitForTools(has('up:slow', 'other:echo'));
  const call = (id: string, args: object) => {
    const params = { name: 'up:slow', arguments: args, _meta: { progressToken: id } };
    hub.send({ jsonrpc: '2.0', id, method: 'tools/call', params });
  };
  call('never', { ms: 700 });
  call('steps', { ms: 90, steps: 3 });
  for (const name of ['up:echo', 'other:echo']) assert.equal(await hub.textOf(name, { text: 'x' }), 'x');
  assert.ok(has('up:echo')(await hub.toolNames()));
  await hub.waitFor(({ id }) => id === 'steps', 'the answer');
  const reports = hub.received.filter(({ params }) => params?.progressToken === 'steps');
  const progress = reports.map(({ params }) => params.progress);
  assert.deepEqual(progress, [1, 2, 3]);
  hub.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'never' } });
  await noted(tree, 'journal', /^slow was cancelled$/m);
  assert.ok(!hub.received.some(({ id }) => id === 'never'));
});

test('启动服务器: what is configured is connected and initialized at the start, without a client', async (t) => {
  const tree = makeTree(t);
  tree.write('home/.kode.json', fileOf({ up: upstream(`journal=${tree.at('journal')}`) }));
  const program = startProgram(t, { tree, args: ['--hub'] });
  await program.waitForStderr(/server up: ready, with 11 tools/);
  assert.match(readFileSync(tree.at('journal'), 'utf8'), /^initialize \{[\s\S]*^notifications\/initialized/m);
});

test('健康检查: a server is pinged again and again, and one that does not answer is disconnected', async (t) => {
  const tree = makeTree(t);
  const [well, deaf] = [`journal=${tree.at('well')}`, `journal=${tree.at('deaf')}`];
  const servers = { well: upstream(well), deaf: upstream('deaf-after-start', deaf), modern: upstream('modern') };
  const hub = await startHub(t, servers, { tree, args: ['--health-interval', '100'] });
  await hub.waitForStderr(/server deaf: disconnected: health check failed: no answer to ping within 100 ms/);
  await noted(tree, 'well', /(?:^ping.*\n(?:.*\n)*?){3}/m);
  await noted(tree, 'deaf', /(?:^started.*\n(?:.*\n)*?){2}/m);
  assert.doesNotMatch(hub.stderr(), /server (?:well|modern): disconnected/);
});

test('自动重连: a server that was lost is connected again, one that fails later and later', async (t) => {
  const tree = makeTree(t);
  const servers = { one: upstream(), dead: upstream('exit=7') };
  const hub = await startHub(t, servers, { tree, args: ['--log-level', 'debug'] });
  await hub.waitForTools(has('one:pid'));
  const before = await hub.textOf('one:pid');
  const crashed = await hub.call('one:crash', {});
  assert.match(crashed.content[0].text, /^one:crash could not be called: exited with code 3/);
  // It stays listed, and a call waits for the attempt that is under way.
  assert.ok(has('one:echo')(await hub.toolNames()));
  assert.notEqual(await hub.textOf('one:pid'), before);
  const waits = () => [...hub.stderr().matchAll(/server dead: failed: exited with code 7; next attempt in (\d) s/g)];
  await hub.until(() => waits().length > 2 || undefined, 'three attempts');
  const seconds = waits().map(([, wait]) => Number(wait));
  assert.deepEqual(seconds.slice(0, 2), [1, 2]);
  assert.ok(Number(seconds[2]) > 2);
});

test('停止服务器: processes are ended in an orderly way, and sessions and streams are closed', async (t) => {
  const tree = makeTree(t);
  const http = await startWeb(t, ({ method, id, json }) =>
    method === 'tools/list' ? json(200, { id, result: { tools: [tool('one')] } }) : undefined,
  );
  const sse = await startSse(t);
  const { command, args } = upstream(`journal=${tree.at('journal')}`);
  // Whether the process came to its end by itself.
  const whole = ['-c', '"$@"; echo "exited with $?" >> "$0"', tree.at('journal'), command, ...args];
  const servers = { up: { command: 'sh', args: whole }, http: { url: http.url }, sse: { type: 'sse', url: sse.url } };
  const hub = await startHub(t, servers, { tree });
  await hub.waitForTools(has('up:echo', 'http:one', 'sse:one'));
  hub.child.kill('SIGTERM');
  assert.equal(await hub.exit(), 0);
  assert.match(readFileSync(tree.at('journal'), 'utf8'), /^exited with 0$/m);
  assert.ok(!pidsIn(tree.at('journal')).some(isAlive));
  const ended = http.exchanges.filter(({ verb }) => verb === 'DELETE').map(({ headers }) => headers['mcp-session-id']);
  assert.deepEqual(ended, ['session-1']);
  await eventually(() => sse.exchanges[0]?.response.destroyed === true, 'the end of the stream');
});

test('注册 MCP 工具: a tool that is found is served by itself, with the server before its name', async (t) => {
  const hub = await startHub(t, { up: upstream() });
  await hub.waitForTools(has('up:grow'));
  await hub.call('up:grow', { name: 'grown' });
  await hub.waitForTools(has('up:grown'));
  assert.equal(await hub.textOf('up:grown'), 'ran grown');
});

test('工具命名: server_name:tool_name, so that equal names do not clash', async (t) => {
  const hub = await startHub(t, { a: withTools(tool('skill')), b: withTools(tool('skills.list')) });
  const names = await hub.waitForTools(has('a:pid', 'b:pid', 'a:skill', 'b:skills.list', 'skill', 'skills.list'));
  assert.equal(new Set(names).size, names.length);
  assert.notEqual(await hub.textOf('a:pid'), await hub.textOf('b:pid'));
  assert.deepEqual([await hub.textOf('a:skill'), await hub.textOf('b:skills.list')], ['ran skill', 'ran skills.list']);
});

test('过滤 MCP 工具: what filters leave out is neither listed nor callable', async (t) => {
  const own = { ...upstream(), include: ['e*', 'pid'], exclude: 'env' };
  const args = ['--include', 'own,whole:p*', '--exclude', 'own:p*'];
  const hub = await startHub(t, { own, whole: upstream(), other: upstream() }, { args });
  const names = await hub.waitForTools(has('own:echo', 'whole:pid'));
  const served = names.filter((name) => name.includes(':'));
  assert.deepEqual(served, ['own:echo', 'whole:pid']);
  for (const name of ['own:env', 'own:pid', 'own:cwd', 'whole:echo', 'other:pid'])
    assert.match((await hub.request('tools/call', { name })).error.message, /unknown tool/, name);
});

test('全局 MCP 配置: servers in ~/.kode.json are there in every project, with their type and parameters', async (t) => {
  const home = makeTree(t);
  const web = await startSse(t);
  const servers = { pipe: { type: 'stdio', ...upstream() }, web: { type: 'sse', url: web.url } };
  for (const project of [makeTree(t), makeTree(t)]) {
    home.write('.kode.json', fileOf(servers));
    const program = startProgram(t, { tree: project, home: home.path, args: ['--hub'] });
    const { tools } = (await program.request('tools/list')).result;
    assert.ok(has('pipe:echo', 'web:one')(tools.map(({ name }: Answer) => name)));
  }
});

test('项目 MCP 配置: servers in ./.kode.json are those of one project, and replace global ones', async (t) => {
  const [home, project, other] = [makeTree(t), makeTree(t), makeTree(t)];
  home.write('.kode.json', fileOf({ both: withTools(tool('global')) }));
  project.write('.kode.json', fileOf({ both: withTools(tool('project')), more: upstream() }));
  const namesIn = async (tree: Tree) => {
    const program = startProgram(t, { tree, home: home.path, args: ['--hub', '--trust-project'] });
    const { tools } = (await program.request('tools/list')).result;
    return tools.map(({ name }: Answer) => name).filter((name: string) => /global|project|more:echo/.test(name));
  };
  assert.deepEqual(await namesIn(project), ['both:project', 'more:echo']);
  assert.deepEqual(await namesIn(other), ['both:global']);
});

test('STDIO 配置: a command is required; its arguments and its environment are optional', async (t) => {
  const env = { GIVEN: 'yes' };
  const servers = { up: { type: 'stdio', ...upstream(), env }, bare: { type: 'stdio', args: ['x'] } };
  const hub = await startHub(t, servers);
  await hub.waitForTools(has('up:env'));
  assert.equal(await hub.textOf('up:env', { name: 'GIVEN' }), 'yes');
  await hub.waitForStderr(/\.kode\.json: server "bare": command is required/);
});

test('SSE 配置: a url is required; headers for authorization are optional', async (t) => {
  const web = await startSse(t);
  const up = { type: 'sse', url: web.url, headers: { Authorization: 'Bearer ${TOKEN}' } };
  const servers = { up, bare: { type: 'sse', headers: {} } };
  const hub = await startHub(t, servers, { env: { TOKEN: 'tok-1234' } });
  await hub.waitForTools(has('up:one'));
  for (const { headers } of web.exchanges) assert.equal(headers.authorization, 'Bearer tok-1234');
  await hub.waitForStderr(/\.kode\.json: server "bare": url must be an http or https address/);
});

const NOTE = { uri: 'file:///note', name: 'note', title: 'A note', mimeType: 'text/plain', size: 6 };
const noteServer = () => upstream(`resources=${JSON.stringify([{ ...NOTE, text: 'a note' }])}`);

test('列出资源: the resources of a server are listed with their URI and metadata', async (t) => {
  const hub = await startHub(t, { up: noteServer() });
  assert.deepEqual((await hub.request('resources/list')).result.resources, [NOTE]);
});

test('读取资源: a resource is read by resources/read, and its contents come back', async (t) => {
  const hub = await startHub(t, { up: noteServer() });
  const { result } = await hub.request('resources/read', { uri: NOTE.uri });
  assert.deepEqual(result.contents, [{ uri: NOTE.uri, text: 'a note' }]);
  const { error } = await hub.request('resources/read', { uri: 'file:///other' });
  assert.equal(error.code, -32602);
});
