import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { modern } from '../../harness/program.ts';
import { makeTree, skillText } from '../../harness/tree.ts';
import { ask, initialize, modernHeaders, openSession, openStream, startWeb } from '../../harness/web.ts';

const start = (t: TestContext, args: readonly string[] = []) =>
  startWeb(t, { tree: makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') }), args });

const listTools = { jsonrpc: '2.0', id: 7, method: 'tools/list' };
const callSkill = (id: unknown, name: string) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'skill', arguments: { name } },
});

test('a legacy client opens a session, uses it, and ends it', async (t) => {
  const { url } = await start(t);
  const opened = await ask(url, { body: initialize() });
  assert.equal(opened.status, 200);
  assert.equal(opened.headers['content-type'], 'application/json');
  const id = String(opened.headers['mcp-session-id']);
  assert.match(id, /^[\x21-\x7e]{32,}$/);

  const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
  const initialized = await ask(url, { headers, body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
  assert.deepEqual([initialized.status, initialized.text], [202, '']);
  const called = await ask(url, { headers, body: callSkill('a', 'pdf') });
  assert.equal(called.json.id, 'a');
  assert.match(called.json.result.content[0].text, /^Loading: pdf/);

  assert.equal((await ask(url, { verb: 'DELETE', headers })).status, 200);
  assert.equal((await ask(url, { headers, body: listTools })).status, 404);
  assert.equal((await ask(url, { verb: 'DELETE', headers })).status, 404);
  assert.equal((await ask(url, { headers })).status, 404);
});

test('a missing session id is 400, and an unknown one is 404', async (t) => {
  const { url } = await start(t);
  const unnamed = await ask(url, { body: listTools });
  assert.equal(unnamed.status, 400);
  assert.match(unnamed.json.error.message, /Mcp-Session-Id is missing/);
  const headers = { 'mcp-session-id': 'x' };
  assert.equal((await ask(url, { headers, body: listTools })).status, 404);
  assert.equal((await ask(url, { headers })).status, 404);
  assert.equal((await ask(url, { verb: 'DELETE', headers })).status, 404);
});

test('a handshake that fails leaves no session', async (t) => {
  const { url, at } = await start(t);
  const { status, headers, json } = await ask(url, { body: { jsonrpc: '2.0', id: 1, method: 'initialize' } });
  assert.deepEqual([status, headers['mcp-session-id'], json.error.code], [200, undefined, -32602]);
  assert.equal((await ask(at('/healthz'))).json.sessions, 0);
});

test('a modern request needs no session and opens none', async (t) => {
  const { url, at } = await start(t);
  const params = modern({ name: 'skill', arguments: { name: 'pdf' } });
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  // A session id from another life is no reason to refuse it.
  for (const extra of [{}, { 'mcp-session-id': 'gone' }]) {
    const { status, headers, json } = await ask(url, {
      headers: { ...modernHeaders('tools/call', 'skill'), ...extra },
      body,
    });
    assert.equal(status, 200);
    assert.equal(json.result.resultType, 'complete');
    assert.equal(headers['mcp-session-id'], undefined);
  }
  assert.equal((await ask(at('/healthz'))).json.sessions, 0);
});

test('headers that differ from the body are refused', async (t) => {
  const { url } = await start(t);
  const method = 'tools/call';
  const right = { ...modernHeaders(method, 'skill') };
  const body = { jsonrpc: '2.0', id: 'x', method, params: modern({ name: 'skill', arguments: { name: 'pdf' } }) };
  const rows: readonly (readonly [string, object, number, number | undefined])[] = [
    ['as they should be', {}, 200, undefined],
    ['blanks around a value', { 'mcp-name': '  skill ' }, 200, undefined],
    ['the name as base64', { 'mcp-name': '=?base64?c2tpbGw=?=' }, 200, undefined],
    ['a broken base64', { 'mcp-name': '=?base64?c2tpbGw?=' }, 400, -32020],
    ['another name', { 'mcp-name': 'skills' }, 400, -32020],
    ['another case', { 'mcp-method': 'TOOLS/CALL' }, 400, -32020],
    ['another method', { 'mcp-method': 'tools/list' }, 400, -32020],
    ['another version', { 'mcp-protocol-version': 'v999' }, 400, -32020],
    ['a legacy version', { 'mcp-protocol-version': '2025-11-25' }, 400, -32020],
    ['no name', { 'mcp-name': undefined }, 400, -32020],
    ['no method', { 'mcp-method': undefined }, 400, -32020],
    ['no version', { 'mcp-protocol-version': undefined }, 400, -32020],
  ];
  for (const [what, change, status, code] of rows) {
    const headers = Object.fromEntries(
      Object.entries({ ...right, ...change }).filter(([, value]) => value !== undefined),
    );
    const reply = await ask(url, { headers, body });
    assert.deepEqual([reply.status, reply.json.error?.code, reply.json.id], [status, code, 'x'], what);
  }
});

test('an unknown method is 404 for a modern client and 200 for a legacy one', async (t) => {
  const { url } = await start(t);
  const body = { jsonrpc: '2.0', id: 1, method: 'no/such' };
  const modernly = await ask(url, { headers: modernHeaders('no/such'), body: { ...body, params: modern() } });
  assert.deepEqual([modernly.status, modernly.json.error.code], [404, -32601]);
  const id = await openSession(url);
  const legacy = await ask(url, { headers: { 'mcp-session-id': id }, body });
  assert.deepEqual([legacy.status, legacy.json.error.code], [200, -32601]);
});

test('an unknown version header is refused on every verb', async (t) => {
  const { url } = await start(t);
  const headers = { 'mcp-session-id': await openSession(url), 'mcp-protocol-version': 'v999' };
  assert.equal((await ask(url, { headers, body: listTools })).status, 400);
  assert.equal((await ask(url, { headers })).status, 400);
  assert.equal((await ask(url, { verb: 'DELETE', headers })).status, 400);
});

test('a subscription is an event stream of changes that the server ends with a response', async (t) => {
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') });
  const { url, program } = await startWeb(t, { tree });
  const stream = await openStream(t, url, {
    headers: modernHeaders('subscriptions/listen'),
    body: {
      jsonrpc: '2.0',
      id: 'mine',
      method: 'subscriptions/listen',
      params: modern({ notifications: { toolsListChanged: true } }),
    },
  });
  assert.equal(stream.status, 200);
  assert.equal(stream.headers['content-type'], 'text/event-stream');
  assert.equal(stream.headers['x-accel-buffering'], 'no');
  assert.equal((await stream.message()).method, 'notifications/subscriptions/acknowledged');
  tree.write('.claude/skills/xlsx/SKILL.md', skillText('xlsx'));
  const notice = await stream.message();
  assert.equal(notice.method, 'notifications/tools/list_changed');
  assert.equal(notice.params._meta['io.modelcontextprotocol/subscriptionId'], 'mine');
  program.child.kill('SIGTERM');
  assert.deepEqual((await stream.message()).id, 'mine');
  assert.equal(await stream.ended, true);
  assert.equal(await program.exit(), 0);
});

test('a legacy client gets changes on its GET stream, also one from before the stream', async (t) => {
  const tree = makeTree(t, { '.claude/skills/pdf/SKILL.md': skillText('pdf') });
  const { url, program } = await startWeb(t, { tree });
  const headers = { 'mcp-session-id': await openSession(url) };
  // The first scan must not find the new skill: then it would not be a change.
  await program.waitForStderr(/ready: /);
  tree.write('.claude/skills/xlsx/SKILL.md', skillText('xlsx'));
  await program.waitForStderr(/refresh \(watch\)/);
  const first = await openStream(t, url, { headers });
  for (const kind of ['tools', 'resources', 'prompts']) {
    assert.equal((await first.message()).method, `notifications/${kind}/list_changed`);
  }
  // A message goes to one stream only: the newest.
  const second = await openStream(t, url, { headers });
  tree.write('.claude/skills/docx/SKILL.md', skillText('docx'));
  assert.match((await second.message()).params._meta['skillwire/reason'], /^1 added/);
  second.close();
  program.child.kill('SIGTERM');
  await assert.rejects(first.next(), /the stream ended/);
  assert.equal(await first.ended, true);
});

test('equal ids of many clients are each answered on their own response', async (t) => {
  const names = Array.from({ length: 20 }, (_, at) => `skill-${at}`);
  const tree = makeTree(
    t,
    Object.fromEntries(names.map((name) => [`.claude/skills/${name}/SKILL.md`, skillText(name)])),
  );
  const { url } = await startWeb(t, { tree });
  await Promise.all(
    names.map(async (name) => {
      const headers = { 'mcp-session-id': await openSession(url) };
      for (const body of [callSkill(1, name), callSkill(1, name)]) {
        assert.match(
          (await ask(url, { headers, body })).json.result.content[0].text,
          new RegExp(`^Loading: ${name}\n`),
        );
      }
    }),
  );
});

test('a request that is not JSON-RPC over HTTP is refused with the reason', async (t) => {
  const { url, at } = await start(t);
  const json = { body: listTools };
  const rows: readonly (readonly [string, number, Parameters<typeof ask>[1], string?])[] = [
    ['not JSON', 400, { raw: '{' }],
    ['not UTF-8', 400, { raw: Buffer.from([0x22, 0xff, 0x22]) }],
    ['not a message', 400, { raw: '7' }],
    ['an empty body', 400, { raw: '', verb: 'POST' }],
    ['a batch', 400, { raw: '[]' }],
    ['a batch without a session', 400, { raw: JSON.stringify([listTools]) }],
    ['another type', 415, { ...json, headers: { 'content-type': 'text/plain' } }],
    ['no type', 415, { verb: 'POST' }],
    ['another charset', 415, { ...json, headers: { 'content-type': 'application/json; charset=latin1' } }],
    ['compressed', 415, { ...json, headers: { 'content-encoding': 'gzip' } }],
    ['neither form is accepted', 406, { ...json, headers: { accept: 'text/html' } }],
    ['both forms are refused', 406, { ...json, headers: { accept: 'application/json;q=0, text/event-stream;q=0.0' } }],
    ['another verb', 405, { ...json, verb: 'PUT' }],
    ['a preflight from nowhere', 405, { verb: 'OPTIONS' }],
  ];
  for (const [what, status, options] of rows) assert.equal((await ask(url, options)).status, status, what);
  assert.equal((await ask(url, { ...json, verb: 'PUT' })).headers.allow, 'POST, GET, DELETE');
  assert.equal((await ask(at('/'), json)).status, 404);
  assert.equal((await ask(at('/mcp/'), json)).status, 404);
});

test('a subscription of a client that accepts no streams is refused', async (t) => {
  const { url } = await startWeb(t, { tree: makeTree(t) });
  const message = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: modern({ notifications: {} }) };
  const headers = { ...modernHeaders('subscriptions/listen'), accept: 'application/json' };
  assert.equal((await ask(url, { body: message, headers })).status, 406);
});

test('JSON is accepted with any parameter of its type except another character set', async (t) => {
  const { url } = await start(t);
  for (const type of ['application/json;charset=UTF-8', 'Application/JSON; charset="utf-8"; version=1']) {
    assert.equal((await ask(url, { body: initialize(), headers: { 'content-type': type } })).status, 200, type);
  }
  for (const type of [
    'application/json; charset=utf-16',
    'application/jsonp',
    'text/json',
    'application/json, text/plain',
  ]) {
    assert.equal((await ask(url, { body: initialize(), headers: { 'content-type': type } })).status, 415, type);
  }
});

test('a body over 32 MiB is refused, announced or not', async (t) => {
  const { url } = await start(t);
  const long = JSON.stringify({ ...listTools, params: { pad: 'x'.repeat(32 * 1024 * 1024) } });
  assert.equal((await ask(url, { raw: long })).status, 413);
  assert.equal((await ask(url, { raw: long, headers: { 'transfer-encoding': 'chunked' } })).status, 413);
  assert.equal((await ask(url, { raw: long.repeat(10) })).status, 413);
  assert.equal((await ask(url, { body: initialize() })).status, 200);
});

test('a client that accepts only event streams gets one', async (t) => {
  const { url } = await start(t);
  const { status, headers, json } = await ask(url, { headers: { accept: 'text/event-stream' }, body: initialize() });
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'text/event-stream');
  assert.equal(json.result.protocolVersion, '2025-11-25');
  assert.equal(typeof headers['mcp-session-id'], 'string');
});

test('a client that begins with GET uses the older transport on the same port', async (t) => {
  const { url, at } = await start(t);
  const stream = await openStream(t, url);
  const { event, data } = await stream.next();
  assert.equal(event, 'endpoint');
  assert.equal((await ask(at(data), { body: initialize() })).status, 202);
  assert.equal((await stream.message()).result.protocolVersion, '2025-11-25');
});
