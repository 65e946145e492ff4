/** Every scenario of seed 004, "MCP Integration Specification", by its name, with the built program and real servers. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { DONE, eventually, isAlive, sseServer, startWeb } from '../harness/connections.ts';
import { behind, fileOf, has, noted, startHub, statesOf } from '../harness/hub.ts';
import { type Answer, startProgram } from '../harness/program.ts';
import { makeTree, type Tree } from '../harness/tree.ts';
import { listing, tool, upstream } from '../harness/upstreams.ts';

// Each waits more than it works.
describe('seed 004', { concurrency: 4 }, () => {
  test('STDIO 连接: the command is started, and spoken to on stdin and stdout in JSON-RPC 2.0', async (t) => {
    const tree = makeTree(t);
    const up = { type: 'stdio', ...behind('tee "$0" | "$@"', tree.at('stdin'), upstream()) };
    const hub = await startHub(t, { up }, { tree });
    await hub.waitForTools(has('up:echo'));
    assert.equal(await hub.textOf('up:echo', { text: 'hi' }), 'hi');
    const sent = readFileSync(tree.at('stdin'), 'utf8').trim().split('\n');
    const messages = sent.map((line): Answer => JSON.parse(line));
    for (const { jsonrpc } of messages) assert.equal(jsonrpc, '2.0');
    assert.equal(
      messages.map(({ method }) => method).join(' '),
      'server/discover initialize notifications/initialized tools/list tools/call',
    );
  });

  test('SSE 连接; SSE 配置: a stream from the url brings messages, POST sends them, each with the headers', async (t) => {
    const web = await startWeb(t, sseServer('/post').about);
    const up = { type: 'sse', url: web.url, headers: { Authorization: 'Bearer ${TOKEN}' } };
    const hub = await startHub(t, { up, bare: { type: 'sse', headers: {} } }, { env: { TOKEN: 'tok-1234' } });
    await hub.waitForTools(has('up:one'));
    assert.deepEqual(await hub.call('up:one', { a: 1 }), DONE);
    const [opened, ...posts] = web.exchanges;
    assert.deepEqual([opened?.verb, opened?.path, opened?.headers.accept], ['GET', '/mcp', 'text/event-stream']);
    for (const { verb, path, body } of posts)
      assert.deepEqual([verb, path, body.jsonrpc], ['POST', '/post', '2.0'], JSON.stringify(body));
    const methods = posts.map(({ method }) => method);
    assert.deepEqual(methods, ['initialize', 'notifications/initialized', 'tools/list', 'tools/call']);
    for (const { headers } of web.exchanges) assert.equal(headers.authorization, 'Bearer tok-1234');
    await hub.waitForStderr(/\.kode\.json: server "bare": url must be an http or https address/);
  });

  test('处理连接失败; 处理工具列表错误: the state is an error that has the reason, and nothing is listed', async (t) => {
    const web = await startWeb(t, ({ response }) => Boolean(response.writeHead(500).end()));
    const foreign = { initialize: { protocolVersion: 'unheard-of', capabilities: {}, serverInfo: {} } };
    const listless = { 'tools/list': { error: { code: -32603, message: 'the list is broken' } } };
    const rows: readonly (readonly [name: string, entry: object, reason: RegExp])[] = [
      ['missing', { command: 'no-such-command' }, /cannot be started: "no-such-command" was not found/],
      ['leaving', behind('echo no key >&2; exit 7', '', upstream()), /exited with code 7; its stderr says: no key/],
      ['nobody', { type: 'sse', url: 'http://127.0.0.1:9/sse' }, /ECONNREFUSED/],
      ['broken', { type: 'http', url: web.url }, /HTTP 500/],
      ['foreign', upstream({ answers: foreign }), /protocol version "unheard-of"/],
      ['listless', upstream({ answers: listless }), /tools\/list failed: the list is broken/],
    ];
    const failing = Object.fromEntries(rows.map(([name, entry]) => [name, entry]));
    const hub = await startHub(t, { ...failing, good: upstream() });
    const names = await hub.waitForTools(has('good:echo'));
    assert.ok(names.every((name) => !name.includes(':') || name.startsWith('good:')));
    const states = await statesOf(hub.tree);
    for (const [name, , reason] of rows) {
      await hub.waitForStderr(new RegExp(`warn: server ${name}: failed: .*${reason.source}`));
      assert.deepEqual([states[name].state, states[name].tools], ['failed', 0], name);
      assert.match(states[name].reason, reason);
    }
    assert.equal(states.good.state, 'ready');
  });

  test('请求工具列表; 工具元数据: all pages are asked for; name, description and JSON Schema are taken over', async (t) => {
    const properties = { path: { type: 'string', description: 'Where' }, depth: { type: 'integer', minimum: 0 } };
    const inputSchema = { type: 'object', properties, required: ['path'], additionalProperties: false };
    const whole = { description: 'Reads a file', inputSchema, annotations: { readOnlyHint: true }, _meta: { kept: 1 } };
    const pages = [{ tools: [tool('first')], nextCursor: 'more' }, { tools: [tool('read', whole)] }];
    const journal = makeTree(t).at('journal');
    const hub = await startHub(t, { up: upstream({ answers: { 'tools/list': pages } }, journal) });
    await hub.waitForTools(has('up:first', 'up:read'));
    await noted(journal, /^notifications\/initialized \{\}\ntools\/list \{\}\ntools\/list \{"cursor":"more"\}$/m);
    const { tools } = (await hub.request('tools/list')).result;
    const read = tools.find(({ name }: Answer) => name === 'up:read');
    assert.deepEqual(read, { name: 'up:read', ...whole });
  });

  for (const modern of [false, true])
    test(`调用工具: name and arguments are sent, the result comes back whole (modern server: ${modern})`, async (t) => {
      const journal = makeTree(t).at('journal');
      const hub = await startHub(t, { up: upstream({ modern }, journal) });
      await hub.waitForTools(has('up:echo'));
      const args = { text: 'hi', deep: { a: [1] } };
      assert.deepEqual(await hub.call('up:echo', args), {
        content: [
          { type: 'text', text: 'hi' },
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
          { type: 'resource_link', uri: 'file:///x', name: 'x' },
        ],
        structuredContent: { args },
        _meta: { 'test/result': true },
      });
      await noted(journal, /^tools\/call \{"name":"echo","arguments":\{"text":"hi","deep":\{"a":\[1\]\}\}/m);
    });

  test('处理工具错误: what the server says of a failure comes back with its details', async (t) => {
    const failure = { content: [{ type: 'text', text: 'it broke: details' }], isError: true };
    const error = { code: -32099, message: 'refused by the server', data: { why: 'because' } };
    const answers = { ...listing('fail').answers, 'tools/call': [failure, { error }] };
    const hub = await startHub(t, { up: upstream({ answers }) });
    await hub.waitForTools(has('up:fail'));
    assert.deepEqual(await hub.call('up:fail', {}), failure);
    assert.deepEqual((await hub.request('tools/call', { name: 'up:fail' })).error, error);
  });

  test('异步工具调用: a long call reports progress, can be cancelled, and delays nothing else', async (t) => {
    const journal = makeTree(t).at('journal');
    const hub = await startHub(t, { up: upstream({}, journal), other: upstream() });
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
    await noted(journal, /^slow was cancelled$/m);
    assert.ok(!hub.received.some(({ id }) => id === 'never'));
  });

  test('启动服务器: what is configured is connected and initialized at the start, without a client', async (t) => {
    const tree = makeTree(t);
    tree.write('home/.kode.json', fileOf({ up: upstream({}, tree.at('journal')) }));
    const program = startProgram(t, { tree, args: ['--hub'] });
    await program.waitForStderr(/server up: ready, with 5 tools/);
    assert.match(readFileSync(tree.at('journal'), 'utf8'), /^initialize \{[\s\S]*^notifications\/initialized/m);
  });

  test('健康检查: a server is pinged again and again, and one that does not answer is disconnected', async (t) => {
    const tree = makeTree(t);
    const deaf = upstream({ silent: ['ping'] }, tree.at('deaf'));
    const servers = { well: upstream({}, tree.at('well')), deaf, modern: upstream({ modern: true }) };
    const hub = await startHub(t, servers, { args: ['--health-interval', '100'] });
    await hub.waitForStderr(/server deaf: disconnected: health check failed: no answer to ping within 100 ms/);
    await noted(tree.at('well'), /(?:^ping.*\n(?:.*\n)*?){3}/m);
    await noted(tree.at('deaf'), /(?:^initialize.*\n(?:.*\n)*?){2}/m);
    assert.doesNotMatch(hub.stderr(), /server (?:well|modern): disconnected/);
  });

  test('自动重连: a server that was lost is connected again, one that fails later and later', async (t) => {
    const tree = makeTree(t);
    // The second is there once, and never again.
    const once = behind('[ -e "$0" ] && exit 1; : > "$0"; exec "$@"', tree.at('mark'), upstream());
    const servers = { one: upstream(), once, dead: { command: 'false' } };
    const hub = await startHub(t, servers, { tree, args: ['--log-level', 'debug'] });
    await hub.waitForTools(has('one:pid', 'once:pid'));
    const before = await hub.textOf('one:pid');
    for (const name of ['one', 'once'])
      assert.match(await hub.textOf(`${name}:crash`), /:crash could not be called: exited with code 3/);
    // Both stay listed. A call waits for the attempt that is under way, or says how the server is doing.
    assert.notEqual(await hub.textOf('one:pid'), before);
    await hub.waitForStderr(/server once: failed: exited with code 1; next attempt in 1 s/);
    const away = /^once:pid could not be called: the server is failed: exited with code 1; next attempt in \d s$/;
    assert.match(await hub.textOf('once:pid'), away);
    const names = await hub.toolNames();
    assert.ok(has('one:echo', 'once:echo')(names) && !names.some((name) => name.startsWith('dead:')));
    const waits = () => [...hub.stderr().matchAll(/server dead: failed: exited with code 1; next attempt in (\d) s/g)];
    await hub.until(() => waits().length > 2 || undefined, 'three attempts');
    const [first, second, third] = waits().map(([, wait]) => Number(wait));
    assert.deepEqual([first, second, Number(third) > 2], [1, 2, true]);
  });

  test('停止服务器: processes are ended in an orderly way, and sessions and streams are closed', async (t) => {
    const tree = makeTree(t);
    const http = await startWeb(t, () => false);
    const sse = await startWeb(t, sseServer('/post').about);
    // Whether the process came to its end by itself.
    const up = behind('"$@"; echo "exited with $?" > "$0"', tree.at('end'), upstream());
    const hub = await startHub(t, { up, http: { url: http.url }, sse: { type: 'sse', url: sse.url } });
    await hub.waitForTools(has('up:echo', 'http:one', 'sse:one'));
    const pid = Number(await hub.textOf('up:pid'));
    hub.child.kill('SIGTERM');
    assert.equal(await hub.exit(), 0);
    assert.equal(readFileSync(tree.at('end'), 'utf8'), 'exited with 0\n');
    assert.ok(!isAlive(pid));
    const ended = http.exchanges.filter(({ verb }) => verb === 'DELETE');
    assert.equal(ended.map(({ headers }) => headers['mcp-session-id']).join(), 'session-1');
    await eventually(() => sse.exchanges[0]?.response.destroyed === true, 'the end of the stream');
  });

  test('注册 MCP 工具; 工具命名: found tools are served by themselves, as server_name:tool_name, without a clash', async (t) => {
    const script = { answers: { ...listing('skill').answers, 'tools/call': DONE } };
    const hub = await startHub(t, { a: upstream(), b: upstream(), c: upstream(script) });
    const names = await hub.waitForTools(has('skill', 'a:pid', 'b:pid', 'c:skill'));
    assert.equal(new Set(names).size, names.length);
    assert.notEqual(await hub.textOf('a:pid'), await hub.textOf('b:pid'));
    assert.equal(await hub.textOf('c:skill'), 'done');
    await hub.call('a:grow', { name: 'grown' });
    await hub.waitForTools(has('a:grown'));
    assert.equal(await hub.textOf('a:grown'), 'ran grown');
  });

  test('过滤 MCP 工具: what filters leave out is neither listed nor callable', async (t) => {
    const own = { ...upstream(), include: ['e*', 'pid', 'slow'], exclude: 'slow' };
    const args = ['--include', 'own,whole:p*', '--exclude', 'own:p*'];
    const hub = await startHub(t, { own, whole: upstream(), other: upstream() }, { args });
    const names = await hub.waitForTools(has('own:echo', 'whole:pid'));
    const served = names.filter((name) => name.includes(':'));
    assert.deepEqual(served, ['own:echo', 'whole:pid']);
    for (const name of ['own:slow', 'own:pid', 'own:grow', 'whole:echo', 'other:pid'])
      assert.match((await hub.request('tools/call', { name })).error.message, /unknown tool/, name);
  });

  test('全局 MCP 配置; 项目 MCP 配置: ~/.kode.json counts everywhere, ./.kode.json in its project and first', async (t) => {
    const [home, project, other] = [makeTree(t), makeTree(t), makeTree(t)];
    const web = await startWeb(t, sseServer('/post').about);
    const both = { type: 'stdio', ...upstream(listing('global')) };
    home.write('.kode.json', fileOf({ both, web: { type: 'sse', url: web.url } }));
    project.write('.kode.json', fileOf({ both: upstream(listing('project')), more: upstream(listing('two')) }));
    const namesIn = async (tree: Tree) => {
      const program = startProgram(t, { tree, home: home.path, args: ['--hub', '--trust-project'] });
      const { tools } = (await program.request('tools/list')).result;
      return tools.map(({ name }: Answer) => name).filter((name: string) => name.includes(':'));
    };
    assert.deepEqual(await namesIn(project), ['both:project', 'more:two', 'web:one']);
    assert.deepEqual(await namesIn(other), ['both:global', 'web:one']);
  });

  test('STDIO 配置: a command is required; its environment and directory are as the entry says, without secrets of ours', async (t) => {
    const tree = makeTree(t, { 'sub/x': '' });
    const look = behind('(pwd; env) > "$0"; exec "$@"', tree.at('seen'), upstream());
    const given = { KEY: '${TOKEN}', HERE: '${workspaceFolder}', ELSE: '${NONE:-else}' };
    const servers = { up: { type: 'stdio', ...look, env: given, cwd: 'sub' }, bare: { type: 'stdio', args: ['x'] } };
    const env = { TOKEN: 'tok-1234', SECRET_OF_OURS: 'no', HTTPS_PROXY: 'http://proxy' };
    const hub = await startHub(t, servers, { tree, env });
    await hub.waitForTools(has('up:echo'));
    const [directory, ...variables] = readFileSync(tree.at('seen'), 'utf8').split('\n');
    assert.equal(directory, tree.at('sub'));
    const wanted = ['KEY=tok-1234', `HERE=${tree.path}`, 'ELSE=else', 'HTTPS_PROXY=http://proxy', 'SKILLWIRE_HOPS=1'];
    assert.ok(has(...wanted)(variables), variables.join());
    assert.ok(!variables.some((one) => /^(?:SECRET_OF_OURS|TOKEN)=/.test(one)));
    await hub.waitForStderr(/\.kode\.json: server "bare": command is required/);
  });

  test('列出资源; 读取资源: resources are listed with URI and metadata, and read by resources/read', async (t) => {
    const note = { uri: 'file:///note', name: 'note', title: 'A note', mimeType: 'text/plain', size: 6 };
    const contents = [{ uri: note.uri, text: 'a note' }];
    const answers = { 'resources/list': { resources: [note] }, 'resources/read': { contents } };
    const hub = await startHub(t, { up: upstream({ capabilities: { resources: {} }, answers }) });
    assert.deepEqual((await hub.request('resources/list')).result.resources, [note]);
    assert.deepEqual((await hub.request('resources/read', { uri: note.uri })).result.contents, contents);
    assert.equal((await hub.request('resources/read', { uri: 'file:///other' })).error.code, -32602);
  });
});
