import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { MAX_IN_FLIGHT } from '../../../src/transports/http/limits.ts';
import { startSlow, waitLegacy } from '../../harness/slow.ts';
import { makeTree, skillText } from '../../harness/tree.ts';
import { ask, initialize, openStream, startWeb } from '../../harness/web.ts';

const names = ['pdf', 'xlsx', 'docx'];

async function start(t: TestContext) {
  const tree = makeTree(
    t,
    Object.fromEntries(names.map((name) => [`.claude/skills/${name}/SKILL.md`, skillText(name)])),
  );
  return { tree, ...(await startWeb(t, { tree, transport: 'sse' })) };
}

test('the stream names the path to post to, and carries every response', async (t) => {
  const { url, at } = await start(t);
  const stream = await openStream(t, url);
  assert.equal(stream.headers['content-type'], 'text/event-stream');
  const { event, data } = await stream.next();
  assert.equal(event, 'endpoint');
  assert.match(data, /^\/messages\?sessionId=[\x21-\x7e]{32,}$/);
  const posted = await ask(at(data), { body: initialize('old', '2024-11-05') });
  assert.deepEqual([posted.status, posted.text], [202, '']);
  assert.equal((await stream.message()).result.protocolVersion, '2024-11-05');
  await ask(at(data), { raw: '{' });
  assert.equal((await stream.message()).error.code, -32700);
});

for (const transport of ['http', 'sse'] as const) {
  test(`the stream is also at /sse with --transport ${transport}`, async (t) => {
    const tree = makeTree(t, {});
    const { at } = await startWeb(t, { tree, transport });
    const stream = await openStream(t, at('/sse'));
    const { event, data } = await stream.next();
    assert.equal(event, 'endpoint');
    assert.equal((await ask(at(data), { body: initialize('old', '2024-11-05') })).status, 202);
    assert.equal((await stream.message()).result.protocolVersion, '2024-11-05');
    assert.deepEqual((await ask(at('/sse'), { body: initialize() })).headers.allow, 'GET');
  });
}

test('with --transport sse the log names /sse, and a POST elsewhere is told what this server speaks', async (t) => {
  const { url, at } = await start(t);
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/sse$/);
  for (const path of ['/mcp', '/sse']) {
    const { status, headers, json } = await ask(at(path), { body: initialize() });
    assert.deepEqual([status, headers.allow], [405, 'GET']);
    assert.match(json.error.message, /HTTP\+SSE only, which begins with a GET; --transport http serves POST$/);
  }
  assert.match((await ask(at('/other'))).json.error.message, /the endpoint is \/sse$/);
});

test('equal ids of several clients are each answered on their own stream', async (t) => {
  const { url, at } = await start(t);
  await Promise.all(
    names.map(async (name) => {
      const stream = await openStream(t, url);
      const { data } = await stream.next();
      const params = { name: 'skill', arguments: { name } };
      await ask(at(data), { body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } });
      assert.match((await stream.message()).result.content[0].text, new RegExp(`^Loading: ${name}\n`));
    }),
  );
});

test('a session ends with its stream', async (t) => {
  const { url, at } = await start(t);
  const stream = await openStream(t, url);
  const { data } = await stream.next();
  stream.close();
  await stream.ended;
  for (let status = 202; status !== 404; ) {
    ({ status } = await ask(at(data), { body: initialize() }));
    assert.ok(status === 202 || status === 404);
  }
  assert.equal((await ask(at('/messages?sessionId=x'), { body: initialize() })).status, 404);
  assert.equal((await ask(at('/messages'), { body: initialize() })).status, 400);
});

test('a change is announced on the stream after the handshake, and the end is clean', async (t) => {
  const { url, at, tree, program } = await start(t);
  const stream = await openStream(t, url);
  const { data } = await stream.next();
  await ask(at(data), { body: initialize() });
  await stream.message();
  await ask(at(data), { body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
  // The first scan must not find the new skill: then it would not be a change.
  await program.waitForStderr(/ready: /);
  tree.write('.claude/skills/new/SKILL.md', skillText('new'));
  assert.equal((await stream.message()).method, 'notifications/tools/list_changed');
  program.child.kill('SIGTERM');
  assert.equal(await stream.ended, true);
  assert.equal(await program.exit(), 0);
});

test('a client that reads gets large answers that are ready together', async (t) => {
  const server = await startSlow(t);
  const stream = await openStream(t, server.url);
  const { data } = await stream.next();
  const text = 'x'.repeat(5_000_000);
  const calls = [];
  for (const id of [1, 2, 3]) {
    await ask(new URL(data, server.url).href, { body: { ...waitLegacy, id } });
    calls.push(await server.called());
  }
  for (const call of calls) call.answer(text);
  const answers = [await stream.message(), await stream.message(), await stream.message()];
  assert.deepEqual(answers.map(({ id }) => id).toSorted(), [1, 2, 3]);
  for (const { result } of answers) assert.equal(result.content[0].text.length, text.length);
});

test('no client can have more in flight than the limit', async (t) => {
  const server = await startSlow(t);
  const stream = await openStream(t, server.url);
  const { data } = await stream.next();
  const post = (id: number) => ask(new URL(data, server.url).href, { body: { ...waitLegacy, id } });
  for (let id = 0; id < MAX_IN_FLIGHT; id += 50) {
    const replies = await Promise.all(Array.from({ length: 50 }, (_, at) => post(id + at)));
    for (const { status } of replies) assert.equal(status, 202);
  }
  const { status, headers } = await post(MAX_IN_FLIGHT);
  assert.deepEqual([status, headers['retry-after']], [503, '1']);
  (await server.called()).answer('one less');
  assert.equal((await stream.message()).result.content[0].text, 'one less');
  assert.equal((await post(MAX_IN_FLIGHT)).status, 202);
  stream.close();
});

test('nor when all calls arrive at once', async (t) => {
  const server = await startSlow(t);
  const stream = await openStream(t, server.url);
  const { data } = await stream.next();
  const post = (id: number) => ask(new URL(data, server.url).href, { body: { ...waitLegacy, id } });
  const replies = await Promise.all(Array.from({ length: MAX_IN_FLIGHT + 100 }, (_, id) => post(id)));
  const statuses = replies.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 202).length, MAX_IN_FLIGHT);
  assert.equal(statuses.filter((status) => status === 503).length, 100);
  stream.close();
});

test('verbs and paths of streamable HTTP are not served', async (t) => {
  const { url, at } = await start(t);
  const { status, headers } = await ask(url, { body: initialize() });
  assert.deepEqual([status, headers.allow], [405, 'GET']);
  assert.equal((await ask(at('/messages'))).headers.allow, 'POST');
  assert.equal((await ask(url, { headers: { accept: 'application/json' } })).status, 406);
});
