/** Streamable HTTP: every form of an answer, sessions, streams that break, cancelling. A call is sent once. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { MAX_REPLIES } from '../../src/limits.ts';
import * as harness from '../harness/connections.ts';
import { type About, DONE, eventually, httpTarget, startWeb, type WebExchange } from '../harness/connections.ts';

const OPTIONS = { timeout: 5000 };

async function start(t: TestContext, about: About, headers = {}) {
  const web = await startWeb(t, about);
  const secret = Object.assign(new URL(web.url), { username: 'me', password: 'a%20b' });
  const client = await harness.connect(t, httpTarget(secret, headers));
  return { web, client, call: () => client.request('tools/call', { name: 'one' }, OPTIONS) };
}

function respond(status: number, headers = {}) {
  return ({ response }: WebExchange) => response.writeHead(status, headers).end();
}
const CAPITALS = { 'content-type': 'Application/JSON; charset=UTF-8' };
const [RESULT, ERROR] = [{ result: DONE }, { error: { code: -1, message: 'no' } }];
const GONE = /^Error: (?:aborted|socket hang up|.*ECONNR)/;

const ANSWERS: readonly (readonly [what: string, about: (one: WebExchange) => unknown, outcome: unknown])[] = [
  ['is JSON, with a type in capitals', ({ id, json }) => json(200, { id, ...RESULT }, CAPITALS), DONE],
  ['is an event', ({ id, event, response }) => event({ id, ...RESULT }) && response.end(), DONE],
  ['is an event, and the stream stays open', ({ id, event }) => event({ id, ...RESULT }), DONE],
  ['is an error with 404', ({ id, json }) => json(404, { id, ...ERROR }), 'RpcError: no'],
  ['is 404 alone', respond(404), /^UpstreamError: HTTP 404$/],
  ['is for another', ({ json }) => json(200, { id: 'x', ...RESULT }), /body of \d+ characters does not answer/],
  ['is not JSON', respond(200, { 'content-type': 'text/html' }), /is text\/html, not JSON/],
  ['never comes', ({ event, response }) => event(': hi\n\n') && response.end(), /stream ended without an answer/],
  ['breaks off', ({ response: one }) => one.writeHead(200, CAPITALS).write('{', () => one.destroy()), GONE],
  ['is 401', respond(401), /HTTP 401 \(are the headers in its entry right/],
  ['is the end of the connection', ({ response }) => response.destroy(), GONE],
  ['is a redirect', respond(307, { location: '/mcp/?x' }), /HTTP 307 \(it leads to \/mcp\/: set that as its url/],
];
for (const [what, about, expected] of ANSWERS)
  test(`a call whose answer ${what} is sent once, and has its outcome`, async (t) => {
    const { web, call } = await start(t, (one) => {
      // A status that is also that of an unknown session must not look like one.
      if (one.method === 'ping') return one.json(404, { id: one.id, error: { code: -32601, message: 'no ping' } });
      return one.method === 'tools/call' && Boolean(about(one) ?? true);
    });
    const outcome = await call().catch(String);
    if (expected instanceof RegExp) assert.match(String(outcome), expected);
    else assert.deepEqual(outcome, expected);
    assert.deepEqual(['tools/call', 'initialize'].map(web.count), [1, 1]);
    await eventually(
      () => web.exchanges.every(({ response }) => response.destroyed || response.writableFinished),
      'ends',
    );
  });

test('after initialize every message has its session and version: our responses, GET and DELETE too', async (t) => {
  const about: About = ({ verb, method, id, json, event }) => {
    // The session of this response is none.
    if (method === 'server/discover') return json(404, { id }, { 'mcp-session-id': 'wrong' });
    for (const asked of ['ping', 'roots/list']) if (verb === 'GET') event({ id: asked, method: asked });
    return verb === 'GET';
  };
  const headers = { 'MCP-Session-Id': 'configured', 'Content-Type': 'text/plain', ACCEPT: 'text/plain', 'X-Key': 'k' };
  const { web, client, call } = await start(t, about, headers);
  client.listen(() => {});
  await call();
  const answers = () => web.exchanges.filter(({ verb, method }) => verb === 'POST' && method === '');
  await eventually(() => answers().length === 2, 'our responses');
  await client.close();
  const [pong, refusal] = answers().sort((a, b) => String(a.id).localeCompare(String(b.id)));
  assert.deepEqual([pong?.body.result, Object(refusal?.body.error).code], [{}, -32601]);
  const form = 'application/json; application/json, text/event-stream';
  const seen = web.exchanges.map(({ verb, headers: sent }) => {
    if (verb === 'POST') assert.equal(`${sent['content-type']}; ${sent.accept}`, form);
    assert.deepEqual([sent.authorization, sent['x-key']], [`Basic ${Buffer.from('me:a b').toString('base64')}`, 'k']);
    return `${verb} ${sent['mcp-session-id']} ${sent['mcp-protocol-version']}`;
  });
  assert.deepEqual(seen.slice(0, 2), ['POST configured 2026-07-28', 'POST configured undefined']);
  const later = ['DELETE', 'GET', 'POST'].map((verb) => `${verb} session-1 2025-11-25`);
  assert.deepEqual([...new Set(seen.slice(2))].sort(), later);
});

test('a stream that ends before its answer is resumed behind its last event, and its call is not sent again', async (t) => {
  let asked: unknown;
  const resumed = () =>
    web.exchanges.filter(({ verb }) => verb === 'GET').map(({ headers }) => headers['last-event-id']);
  const { web, call } = await start(t, (one) => {
    if (one.method === 'tools/call') asked = one.id;
    else if (one.verb !== 'GET') return false;
    one.event('retry: 0\ndata:\n\n', `at ${resumed().length}`);
    // The first time it ends without the answer again.
    if (resumed().length === 2) one.event({ id: asked, result: DONE });
    one.response.end();
    return true;
  });
  assert.deepEqual(await call(), DONE);
  assert.deepEqual([resumed(), web.count('tools/call')], [['at 0', 'at 1'], 1]);
});

for (const status of [404, 400])
  test(`a session that is forgotten with ${status} is opened again, and each call runs once, or the server is lost`, async (t) => {
    let current: string | undefined = 'session-1';
    const ran: unknown[] = [];
    const { web, client, call } = await start(t, ({ method, headers, id, json }) => {
      // A handshake belongs to no session.
      const session = method === 'initialize' ? undefined : current;
      const isKnown = method === 'server/discover' || (current && headers['mcp-session-id'] === session);
      if (!isKnown) return json(status, { id: null, error: { code: -32000, message: 'no such session' } });
      if (method === 'tools/call') ran.push(id);
      return false;
    });
    for (let at = 2; at <= 5; at++) {
      current = `session-${at}`;
      assert.deepEqual(await Promise.all([call(), call(), call()]), [DONE, DONE, DONE]);
    }
    assert.deepEqual([ran.length, web.count('initialize')], [12, 5]);
    current = undefined;
    await assert.rejects(client.ping(1000), /forgotten our session, and opens no other: HTTP 40\d: no such session/);
  });

test('an answer that names its request may mean that it ran: it is not sent again, and the next has a new session', async (t) => {
  let current = 'session-1';
  let runs = 0;
  const { call } = await start(t, ({ method, headers, id, json }) => {
    const isOld = method !== 'initialize' && method !== 'server/discover' && headers['mcp-session-id'] !== current;
    if (isOld) return json(404, { id: 'none of yours', error: { code: -32001, message: 'no such session' } });
    if (method !== 'tools/call' || ++runs > 1) return false;
    current = 'session-2';
    return json(400, { id, error: { code: -32000, message: 'it went wrong' } });
  });
  await assert.rejects(call(), { code: -32000, message: 'it went wrong' });
  assert.equal(runs, 1);
  assert.deepEqual([await call(), runs], [DONE, 2]);
});

test('a modern call repeats arguments in headers, and is cancelled by the end of its response', async (t) => {
  const result = { supportedVersions: ['2026-07-28'], capabilities: {} };
  const about: About = ({ method, id, json }) => method === 'tools/call' || json(200, { id, result });
  const { web, client } = await start(t, about);
  const control = new AbortController();
  const options = { ...OPTIONS, cancellation: control.signal, headers: { 'Mcp-Param-Region': 'eu' } };
  const call = assert.rejects(client.request('tools/call', { name: 'a:b' }, options), /cancelled/);
  await eventually(() => web.count('tools/call') === 1, 'the call');
  const [, { headers, response, body } = assert.fail()] = web.exchanges;
  const values = ['mcp-name', 'mcp-param-region', 'mcp-session-id'].map((name) => headers[name]);
  assert.deepEqual([values, body.params], [['a:b', 'eu', undefined], client.agreement.dialect.seal({ name: 'a:b' })]);
  control.abort();
  await Promise.all([call, new Promise((done) => response.once('close', done))]);
  await client.ping(5000); // Behind whatever else is sent.
  assert.equal(web.count('notifications/cancelled'), 0);
});

test('64 calls run side by side, their sockets are used again, and the end of a client looks like no lost session', async (t) => {
  const sockets = new Set<unknown>();
  let isSilent = false;
  const { web, client, call } = await start(t, async ({ method, response }) => {
    sockets.add(response.socket);
    if (method === 'tools/call') await eventually(() => web.count('tools/call') >= 64, 'all calls');
    return isSilent && method === 'tools/call';
  });
  assert.deepEqual(await Promise.all(Array.from({ length: 64 }, call)), Array(64).fill(DONE));
  const before = sockets.size;
  for (let at = 0; at < 10; at++) await call();
  assert.equal(sockets.size, before);
  isSilent = true;
  const last = [call(), call()].map((one) => assert.rejects(one, /the connection was closed/));
  await eventually(() => web.count('tools/call') === 76, 'the last two');
  await client.close();
  await Promise.all(last);
  assert.deepEqual(['tools/call', 'initialize'].map(web.count), [76, 1], 'none is sent again');
});

test('a server that asks without end, and takes no response, gets a bounded number of them', async (t) => {
  const { web, client, call } = await start(t, ({ verb, method, event }) => {
    for (let at = 0; verb === 'GET' && at < 5 * MAX_REPLIES; at++) event({ id: at, method: 'ping' });
    return verb === 'GET' || (verb === 'POST' && method === '');
  });
  client.listen(() => {});
  await eventually(() => web.count('') > MAX_REPLIES, 'the responses');
  assert.deepEqual(await call(), DONE);
  // The stream has no method either.
  assert.equal(web.count(''), MAX_REPLIES + 1);
});
