/** Calls through the hub, as a client sees them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MAX_PROGRESS_PER_SECOND } from '../../../src/hub/upstream/limits.ts';
import { eventually, scripted, startHub, upstream } from '../../harness/hub.ts';
import { modern } from '../../harness/program.ts';
import { makeTree } from '../../harness/tree.ts';
import { ask, openSession, startWeb } from '../../harness/web.ts';

for (const era of [[], ['modern']]) {
  const kind = era[0] ?? 'legacy';

  test(`the tools of a ${kind} server are listed whole, as server:tool, and called with their own name`, async (t) => {
    const hub = await startHub(t, { one: upstream(...era) });
    const { result } = await hub.request('tools/list');
    const echo = result.tools.find((tool: { name: string }) => tool.name === 'one:echo');
    assert.deepEqual(echo, {
      name: 'one:echo',
      title: 'Echo',
      description: 'Gives back what it got',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      outputSchema: { type: 'object', properties: { args: { type: 'object' } } },
      annotations: { readOnlyHint: true },
      icons: [{ src: 'data:image/png;base64,AAAA' }],
      _meta: { 'test/kept': 1 },
    });
    const answer = await hub.request('tools/call', {
      name: 'one:echo',
      arguments: { text: 'hello' },
      _meta: { 'test/trace': 'abc' },
    });
    assert.deepEqual(answer.result.content, [
      { type: 'text', text: 'hello' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource_link', uri: 'file:///x', name: 'x' },
    ]);
    assert.deepEqual(answer.result.structuredContent.args, { text: 'hello' });
    assert.equal(answer.result.structuredContent.meta['test/trace'], 'abc');
    assert.deepEqual(answer.result._meta, { 'test/result': true });
    assert.equal('resultType' in answer.result, false);
    assert.equal(await hub.end(), 0);
  });

  test(`errors of a ${kind} server are passed on with their details`, async (t) => {
    const hub = await startHub(t, { one: upstream(...era) });
    const failed = await hub.call('one:fail', {});
    assert.deepEqual(failed, { content: [{ type: 'text', text: 'it broke: details' }], isError: true });
    const refused = await hub.request('tools/call', { name: 'one:refuse' });
    assert.deepEqual(refused.error, { code: -32099, message: 'refused by the server', data: { why: 'because' } });
  });

  test(`a tool that a ${kind} server adds appears, and the client is told`, async (t) => {
    const hub = await startHub(t, { one: upstream(...era) });
    await hub.waitForTools((names) => names.includes('one:grow'), 'the first list');
    await hub.call('one:grow', { name: 'new' });
    await hub.waitForTools((names) => names.includes('one:new'), 'the new tool');
    assert.equal((await hub.call('one:new', {})).content[0].text, 'ran new');
  });

  test(`progress of a ${kind} server has the token that the client sent`, async (t) => {
    const hub = await startHub(t, { one: upstream(...era) });
    await hub.toolNames();
    await hub.request('tools/call', {
      name: 'one:slow',
      arguments: { ms: 60, steps: 3 },
      _meta: { progressToken: 'mine' },
    });
    const reports = hub.received.filter(({ method }) => method === 'notifications/progress');
    assert.deepEqual(
      reports.map(({ params }) => params),
      [1, 2, 3].map((step) => ({ progressToken: 'mine', progress: step, total: 3, message: `step ${step}` })),
    );
  });

  test(`a cancelled call is cancelled at a ${kind} server too, and not answered`, async (t) => {
    const tree = makeTree(t);
    const journal = tree.at('journal');
    const hub = await startHub(t, { one: upstream(...era, `journal=${journal}`) }, { tree });
    await hub.toolNames();
    hub.send({ jsonrpc: '2.0', id: 'c1', method: 'tools/call', params: { name: 'one:slow', arguments: { ms: 200 } } });
    await eventually(() => /tools\/call/.test(readFileSync(journal, 'utf8')), 'the call to arrive');
    hub.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'c1' } });
    await eventually(() => /slow was cancelled/.test(readFileSync(journal, 'utf8')), 'the cancelling to arrive');
    await hub.call('one:pid', {});
    assert.equal(
      hub.received.some(({ id }) => id === 'c1'),
      false,
    );
  });
}

for (const [what, servers, first] of [
  ['has just crashed', { one: upstream() }, 'one:crash'],
  ['never came', { one: upstream('hang') }, undefined],
] as const) {
  test(`a call that waits for a server that ${what} can be cancelled, and its id used again`, async (t) => {
    const hub = await startHub(t, servers);
    // Before the first lists are complete, a call to a server that never came waits for it.
    if (first) {
      await hub.toolNames();
      await hub.call(first, {});
    }
    const call = (name: string) => ({ jsonrpc: '2.0', id: 'w', method: 'tools/call', params: { name, arguments: {} } });
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'w' } };
    hub.send(call('one:echo'));
    hub.send(cancel);
    hub.send(cancel);
    await hub.request('ping');
    await hub.request('ping');
    hub.send(call('no such'));
    const answer = await hub.waitFor(({ id }) => id === 'w', 'the answer to the second call of that id');
    assert.match(answer.error.message, /unknown tool/);
    await hub.end();
    assert.equal(hub.received.filter(({ id }) => id === 'w').length, 1);
  });
}

test('a response that is not JSON-RPC fails its call at once', async (t) => {
  const tools = JSON.stringify([{ name: 'hollow', inputSchema: { type: 'object' } }]);
  const hub = await startHub(t, { one: upstream(`raw-tools=${tools}`) });
  await hub.toolNames();
  const { isError, content } = await hub.call('one:hollow', {});
  assert.equal(isError, true);
  assert.match(content[0].text, /^one:hollow could not be called: the response is not valid JSON-RPC/);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} gives a call that still waits for its server an error, and then ends`, async (t) => {
    const hub = await startHub(t, { one: upstream() });
    await hub.toolNames();
    hub.send({
      jsonrpc: '2.0',
      id: 's',
      method: 'tools/call',
      params: { name: 'one:slow', arguments: { ms: 60_000 } },
    });
    await hub.call('one:pid', {});
    hub.child.kill(signal);
    assert.equal(await hub.exit(), 0);
    const { result } = await hub.waitFor(({ id }) => id === 's', 'the answer');
    assert.match(result.content[0].text, /^one:slow could not be called: the hub was closed/);
    assert.match(hub.stderr(), new RegExp(`\\nskillwire: stopped: ${signal}\\n$`));
  });
}

test("an error of a server is passed on as the server's own, whatever its code", async (t) => {
  const tree = makeTree(t);
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: { one: upstream() } }));
  const { url } = await startWeb(t, { tree, args: ['--hub', '--no-default-dirs', '--no-plugins'] });
  const headers = { 'mcp-session-id': await openSession(url) };
  const call = (name: string) => ({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: {} } });
  const { status, json } = await ask(url, { headers, body: call('one:refuse') });
  assert.equal(status, 200);
  assert.deepEqual(json.error, { code: -32099, message: 'refused by the server', data: { why: 'because' } });
});

test('a slow call does not delay other calls', async (t) => {
  const hub = await startHub(t, { one: upstream() });
  await hub.toolNames();
  const slow = hub.request('tools/call', { name: 'one:slow', arguments: { ms: 1500 } });
  const quick = hub.request('tools/call', { name: 'one:echo', arguments: { text: 'quick' } });
  assert.equal(await Promise.race([slow.then(() => 'slow'), quick.then(() => 'quick')]), 'quick');
  assert.equal((await slow).result.content[0].text, 'slow is done');
});

test('a call over its timeout fails with the reason, and its late response is dropped', async (t) => {
  const hub = await startHub(t, { one: { ...upstream(), timeout: 200 } });
  await hub.toolNames();
  const late = await hub.call('one:slow', { ms: 600 });
  assert.equal(late.isError, true);
  assert.match(late.content[0].text, /one:slow could not be called: no answer to tools\/call within 200 ms/);
  assert.equal((await hub.call('one:echo', { text: 'still here' })).content[0].text, 'still here');
});

test('a modern server may ask a modern client for input; a legacy client gets an error that explains it', async (t) => {
  const hub = await startHub(t, { one: upstream('modern') });
  await hub.toolNames();
  const refused = await hub.request('tools/call', { name: 'one:ask' });
  assert.match(refused.error.message, /input_required.*later protocol version/);
  const asked = await hub.request('tools/call', modern({ name: 'one:ask' }));
  assert.equal(asked.result.resultType, 'input_required');
  assert.equal(asked.result.requestState, 'opaque');
  assert.equal(asked.result.inputRequests.who.method, 'elicitation/create');
  const answered = await hub.request(
    'tools/call',
    modern({ name: 'one:ask', requestState: 'opaque', inputResponses: { who: { action: 'accept' } } }),
  );
  assert.equal(answered.result.resultType, 'complete');
  assert.equal(answered.result.content[0].text, 'got {"who":{"action":"accept"}} opaque');
});

test('a server is told the capabilities of the client and our name', async (t) => {
  const hub = await startHub(t, { one: upstream('modern') });
  await hub.toolNames();
  const request = modern({ name: 'one:echo' }, 'front');
  const meta = { ...(request._meta as object), 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
  const { result } = await hub.request('tools/call', { ...request, _meta: meta });
  const seen = result.structuredContent.meta;
  assert.deepEqual(seen['io.modelcontextprotocol/clientCapabilities'], { elicitation: {} });
  assert.equal(seen['io.modelcontextprotocol/clientInfo'].name, 'skillwire');
});

test('a name without a tool is an unknown tool, and a tool that is filtered out is neither listed nor called', async (t) => {
  const hub = await startHub(
    t,
    { one: { ...upstream(), exclude: ['p*'] }, two: { ...upstream(), include: 'echo,pid' } },
    { args: ['--exclude', 'one:echo,slow', '--exclude', 'two:pid'] },
  );
  const names = await hub.toolNames();
  assert.ok(names.includes('one:fail') && names.includes('two:echo'));
  assert.deepEqual(
    names.filter((name) => name.startsWith('two:')),
    ['two:echo'],
  );
  for (const name of ['one:pid', 'one:echo', 'one:slow', 'two:pid', 'two:fail', 'three:echo', 'one:nope']) {
    assert.equal(names.includes(name), false, name);
    assert.equal((await hub.request('tools/call', { name })).error.code, -32602, name);
  }
});

test('names are spelled for clients that need it, and a call by any spelling is answered', async (t) => {
  const hub = await startHub(t, { one: upstream() }, { args: ['--names', 'safe'] });
  const names = await hub.toolNames();
  assert.ok(names.includes('one__echo'));
  for (const name of ['one__echo', 'one:echo'])
    assert.equal((await hub.call(name, { text: 'x' })).content[0].text, 'x');
});

for (const [where, hasFailed] of [
  ['progress', false],
  ['notice', false],
  ['request', false],
  ['error', true],
  ['content', true],
  ['structured', true],
] as const) {
  test(`a server that nests its ${where} too deep fails that call at most (10.1)`, async (t) => {
    const hub = await startHub(t, { one: upstream('nest'), two: upstream() });
    await hub.waitForTools((names) => names.includes('one:nest') && names.includes('two:echo'), 'their tools');
    const other = hub.call('one:slow', { ms: 300 });
    const params = { name: 'one:nest', arguments: { where }, _meta: { progressToken: 'mine' } };
    const answer = await hub.request('tools/call', params);
    if (hasFailed) assert.match(JSON.stringify(answer), /nested deeper than 500 levels/);
    else assert.equal(answer.result.content[0].text, 'behind it');
    assert.equal((await other).content[0].text, 'slow is done');
    assert.equal((await hub.call('two:echo', { text: 'fine' })).content[0].text, 'fine');
    assert.equal(await hub.end(), 0);
  });
}

test('a progress token that is neither text nor an integer asks for no progress (10.1)', async (t) => {
  const hub = await startHub(t, { one: upstream() });
  await hub.waitForTools((names) => names.includes('one:slow'), 'its tools');
  for (const progressToken of [{ a: 1 }, [1], 1.5, null, true]) {
    const params = { name: 'one:slow', arguments: { ms: 20, steps: 2 }, _meta: { progressToken } };
    const { result } = await hub.request('tools/call', params);
    assert.equal(result.content[0].text, 'slow is done');
  }
  assert.equal(hub.received.filter(({ method }) => method === 'notifications/progress').length, 0);
});

test('a listener that throws on progress fails its own call and nothing else (10.1)', async (t) => {
  const { createHub } = await import('../../../src/hub/index.ts');
  const hub = createHub({ mcpServers: { one: upstream() } });
  t.after(() => hub.close());
  await hub.connect();
  const onProgress = () => {
    throw new Error('not mine');
  };
  await assert.rejects(hub.call('one:slow', { ms: 40, steps: 2 }, { onProgress }), /could not be passed on: not mine/);
  assert.match(JSON.stringify(await hub.call('one:pid')), /"text":"\d+"/);
});

for (const kind of ['legacy', 'modern']) {
  test(`a result of a ${kind} server that is marked complete reaches clients of both eras (10.11)`, async (t) => {
    const hub = await startHub(t, { one: upstream('says-complete', ...(kind === 'modern' ? [kind] : [])) });
    await hub.waitForTools((names) => names.includes('one:echo'), 'its tools');
    const params = { name: 'one:echo', arguments: { text: 'x' } };
    const old = await hub.request('tools/call', params);
    assert.equal(old.result?.content[0].text, 'x', JSON.stringify(old));
    assert.equal('resultType' in old.result, false);
    const { result } = await hub.request('tools/call', modern(params));
    assert.equal(result.resultType, 'complete');
    assert.equal(result.content[0].text, 'x');
  });
}

test('error codes that the modern era reserves are replaced by its own, details kept (11.25)', async (t) => {
  const hub = await startHub(t, {
    one: upstream('elicit', `templates=${JSON.stringify([{ uriTemplate: 'note://{id}', name: 'n' }])}`),
  });
  await hub.waitForTools((names) => names.includes('one:elicit'), 'its tools');
  const call = { name: 'one:elicit' };
  const read = { uri: 'note://missing' };
  const asked = { message: 'open a URL first', data: { elicitations: [{ mode: 'url', url: 'https://x' }] } };
  const missing = { message: 'no such thing', data: { uri: 'note://missing', why: 'because' } };
  const errorOf = async (method: string, params: object) => (await hub.request(method, { ...params })).error;
  assert.deepEqual(await errorOf('tools/call', call), { code: -32042, ...asked });
  assert.deepEqual(await errorOf('tools/call', modern(call)), { code: -32603, ...asked });
  assert.deepEqual(await errorOf('resources/read', read), { code: -32002, ...missing });
  assert.deepEqual(await errorOf('resources/read', modern(read)), { code: -32602, ...missing });
});

test("an error of a server with a code for the connection does not look like one of this program's own", async (t) => {
  const tree = makeTree(t);
  const data = { supported: ['1'] };
  const answers = (code: number) => {
    const error = { code, message: 'from the server', data };
    const tools = [{ name: 'do', inputSchema: { type: 'object' } }];
    return {
      'tools/list': { tools },
      'resources/list': { resources: [{ uri: 'note://a', name: 'a' }] },
      'tools/call': { error },
      'resources/read': { error },
    };
  };
  const capabilities = { tools: {}, resources: {} };
  const server = scripted(tree, 'one', { capabilities, answers: answers(0) });
  const hub = await startHub(t, { one: server.entry }, { tree });
  await hub.waitForTools((names) => names.includes('one:do'), 'its tools');
  for (const code of [-32700, -32600, -32020, -32021, -32022]) {
    server.rewrite({ capabilities, answers: answers(code) });
    for (const [method, params] of [
      ['tools/call', { name: 'one:do' }],
      ['resources/read', { uri: 'note://a' }],
    ] as const) {
      const expected = { code: -32603, message: 'from the server', data };
      assert.deepEqual((await hub.request(method, params)).error, expected, `${method} ${code}`);
      assert.deepEqual((await hub.request(method, modern(params))).error, expected, `modern ${method} ${code}`);
    }
  }
});

test('of progress that comes too fast the client gets a part, and always the last report before the response', async (t) => {
  const hub = await startHub(t, { one: upstream() });
  await hub.waitForTools((names) => names.includes('one:slow'), 'its tools');
  const start = performance.now();
  const params = { name: 'one:slow', arguments: { ms: 500, steps: 500 }, _meta: { progressToken: 'mine' } };
  await hub.request('tools/call', params);
  const seconds = Math.ceil((performance.now() - start) / 1000);
  const reports = hub.received.filter(({ method }) => method === 'notifications/progress');
  assert.ok(reports.length <= seconds * MAX_PROGRESS_PER_SECOND + 1, `${reports.length} in ${seconds} s`);
  assert.equal(reports.at(-1)?.params.progress, 500);
  assert.ok(hub.received.at(-1)?.result, 'the response comes last');
});

test('progress that the client does not read is not kept in memory (10.6)', async (t) => {
  const tree = makeTree(t);
  const journal = tree.at('journal');
  const hub = await startHub(t, { one: upstream('chatter', `journal=${journal}`) }, { tree });
  await hub.waitForTools((names) => names.includes('one:chatter'), 'its tools');
  hub.child.stdout.pause();
  const params = { name: 'one:chatter', arguments: { times: 2000 }, _meta: { progressToken: 'mine' } };
  hub.send({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params });
  await eventually(() => /chatter is done/.test(readFileSync(journal, 'utf8')), 'the end of it', 30_000);
  hub.child.stdout.resume();
  const { result } = await hub.waitFor(({ id }) => id === 'c', 'the answer');
  assert.equal(result.content[0].text, 'said all');
  // 200 MB were said; what the pipe takes is a few.
  assert.ok(hub.received.filter(({ method }) => method === 'notifications/progress').length < 200);
});
