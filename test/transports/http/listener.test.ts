import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createSkillwire } from '../../../src/index.ts';
import { MAX_PIPELINED } from '../../../src/transports/http/limits.ts';
import { startProgram } from '../../harness/program.ts';
import { startSlow, waitLegacy, waitModern } from '../../harness/slow.ts';
import { makeTree, skillText } from '../../harness/tree.ts';
import { ask, initialize, openSession, openStream, startWeb } from '../../harness/web.ts';

// Without the cancelling it would wait for ever.
test('a modern client that hangs up cancels its call', { timeout: 30_000 }, async (t) => {
  const server = await startSlow(t);
  const asking = openStream(t, server.url, waitModern);
  const { signal, notify } = await server.called();
  notify('working on it');
  const stream = await asking;
  assert.equal(stream.headers['content-type'], 'text/event-stream');
  stream.close();
  if (!signal.aborted) await once(signal, 'abort');
});

test('a legacy client that loses its connection cancels nothing', async (t) => {
  const server = await startSlow(t);
  const headers = { 'mcp-session-id': await openSession(server.url) };
  const asking = openStream(t, server.url, { headers, body: waitLegacy });
  const call = await server.called();
  call.notify('working on it');
  (await asking).close();
  // The next request of the session shows that the server has seen the connection close and still knows the call.
  const again = await ask(server.url, { headers, body: waitLegacy });
  assert.match(again.json.error.message, /still in flight/);
  assert.equal(call.signal.aborted, false);
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  assert.equal((await ask(server.url, { headers, body: cancel })).status, 202);
  assert.equal(call.signal.aborted, true);
});

test('a cancelled call gets no answer, and its POST ends', async (t) => {
  const server = await startSlow(t);
  const headers = { 'mcp-session-id': await openSession(server.url) };
  const asking = ask(server.url, { headers, body: waitLegacy });
  const call = await server.called();
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  await ask(server.url, { headers, body: cancel });
  call.answer('too late');
  const { status, text } = await asking;
  assert.deepEqual([status, text], [202, '']);
});

test('a notification before the response makes it a stream that ends with the response', async (t) => {
  const server = await startSlow(t);
  const asking = ask(server.url, waitModern);
  const call = await server.called();
  call.notify('half');
  call.answer('whole');
  const { headers, text, json } = await asking;
  assert.equal(headers['content-type'], 'text/event-stream');
  assert.match(text, /^event: message\ndata: .*half.*\n\nevent: message\ndata: .*whole.*\n\n$/);
  assert.equal(json.result.content[0].text, 'whole');
});

test('the response to a long call becomes a stream, so that no proxy closes the connection', async (t) => {
  const server = await startSlow(t, { streamKeepAliveMs: 20 });
  const asking = openStream(t, server.url, waitModern);
  const call = await server.called();
  const stream = await asking;
  assert.equal(stream.headers['content-type'], 'text/event-stream');
  call.answer('at last');
  assert.equal((await stream.message()).result.content[0].text, 'at last');
  assert.equal(await stream.ended, true);
});

test('a client that accepts no streams gets the response alone', async (t) => {
  const server = await startSlow(t);
  const asking = ask(server.url, { ...waitModern, headers: { ...waitModern.headers, accept: 'application/json' } });
  const call = await server.called();
  call.notify('half');
  call.answer('whole');
  const { headers, json } = await asking;
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(json.result.content[0].text, 'whole');
});

test('closing answers requests in flight, begins no others, and ends every stream', async (t) => {
  const server = await startSlow(t);
  const id = await openSession(server.url);
  const stream = await openStream(t, server.url, { headers: { 'mcp-session-id': id } });
  const older = await openStream(t, server.url);
  await older.next();
  const held = await keepOpen(t, server.port);
  const asking = ask(server.url, waitModern);
  const call = await server.called();
  const closed = server.close();
  // A connection from before the end is still heard, and told.
  assert.match(await held('POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n'), /^HTTP\/1.1 503 /);
  call.answer('done');
  assert.equal((await asking).json.result.content[0].text, 'done');
  assert.equal(await stream.ended, true);
  assert.equal(await older.ended, true);
  await closed;
  await assert.rejects(ask(server.url, waitModern), /ECONNREFUSED|hang up/);
});

test('while the last requests are answered, new ones get 503 (11.28)', async (t) => {
  const server = await startSlow(t);
  const asking = ask(server.url, waitModern);
  const call = await server.called();
  const closed = server.close();
  const health = await ask(new URL('/healthz', server.url).href);
  assert.deepEqual([health.status, health.json.state], [503, 'stopping']);
  const refused = await ask(server.url, { body: initialize() });
  assert.deepEqual([refused.status, refused.headers.connection], [503, 'close']);
  call.answer('done');
  assert.equal((await asking).json.result.content[0].text, 'done');
  await closed;
  await assert.rejects(ask(server.url, waitModern), /ECONNREFUSED|hang up/);
});

test('closing the library closes its listeners (11.28)', async (t) => {
  const { path } = makeTree(t);
  const skillwire = createSkillwire({ cwd: path, home: path, autoRefresh: false });
  const [http, sse] = [await skillwire.serveHttp({ port: 0 }), await skillwire.serveSse({ port: 0 })];
  const stream = await openStream(t, sse.url);
  await stream.next();
  await skillwire.close();
  assert.equal(await stream.ended, true);
  for (const { port } of [http, sse]) {
    const [error] = await once(connect(port, '127.0.0.1'), 'error');
    assert.equal(error.code, 'ECONNREFUSED');
  }
  await http.close();
});

test('an answer that takes too long does not keep the server from ending', async (t) => {
  const server = await startSlow(t, { lastResponsesMs: 50 });
  const asking = ask(server.url, waitModern);
  asking.catch(() => {}); // Looked at below.
  await server.called();
  await server.close();
  await assert.rejects(asking, /socket hang up|ECONNRESET/);
});

test('SIGTERM ends the program with code 0, in silence on stdout', async (t) => {
  const { program, url } = await startWeb(t, { tree: makeTree(t) });
  const stream = await openStream(t, url, { headers: { 'mcp-session-id': await openSession(url) } });
  program.child.kill('SIGTERM');
  assert.equal(await stream.ended, true);
  assert.equal(await program.exit(), 0);
  assert.match(program.stderr(), /stopped: SIGTERM\n$/);
  assert.deepEqual([program.received, program.noise], [[], []]);
});

test('embedded, it listens where it is told, for whom it is told, and not for everyone by mistake', async (t) => {
  const { path } = makeTree(t);
  const skillwire = createSkillwire({ cwd: path, home: path });
  t.after(() => skillwire.close());
  await assert.rejects(skillwire.serveHttp({ host: '0.0.0.0', port: 0 }), /lets others in/);
  const http = await skillwire.serveHttp({ port: 0, token: 's3cret' });
  const sse = await skillwire.serveSse({ port: 0 });
  assert.equal((await ask(http.url, { body: initialize() })).status, 401);
  const headers = { authorization: 'Bearer s3cret' };
  assert.equal((await ask(http.url, { headers, body: initialize() })).status, 200);
  assert.equal((await (await openStream(t, sse.url)).next()).event, 'endpoint');
  await Promise.all([http.close(), sse.close()]);
});

test('health shows the state and counts, and no contents', async (t) => {
  const tree = makeTree(t, { '.claude/skills/very-private/SKILL.md': skillText('very-private') });
  const { url, at, program } = await startWeb(t, { tree });
  await program.waitForStderr(/ready/);
  await openSession(url);
  const { status, json, text } = await ask(at('/healthz'));
  assert.equal(status, 200);
  const { state, generation, skills, sessions, problems } = json;
  assert.deepEqual(
    { state, generation, skills, sessions, problems },
    { state: 'ready', generation: 1, skills: 1, sessions: 1, problems: 0 },
  );
  assert.ok(json.tools > 0);
  assert.doesNotMatch(text, /private/);
  assert.equal((await ask(at('/healthz'), { verb: 'POST' })).status, 405);
});

test('every request is one JSON line at debug level, without what it carried', async (t) => {
  const { url, program } = await startWeb(t, { tree: makeTree(t), args: ['--log-level', 'debug'] });
  await ask(`${url}?secret=1`, { body: initialize() });
  const line = await program.waitForStderr(/debug: \{.*\}/);
  const { ms, ...entry } = JSON.parse(line.slice('debug: '.length));
  assert.deepEqual(entry, { verb: 'POST', path: '/mcp', status: 200, cut: false });
  assert.equal(typeof ms, 'number');
  assert.doesNotMatch(program.stderr(), /secret/);
});

test('a port in use, an unknown host and a host without a token are one line each', async (t) => {
  const tree = makeTree(t);
  const { url } = await startWeb(t, { tree });
  const rows: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['--port', new URL(url).port], 1, /^skillwire: error: cannot listen on 127.0.0.1:\d+: the port is in use/],
    [
      ['--host', '192.0.2.1'],
      1,
      /^skillwire: error: cannot listen on 192.0.2.1:3333: this machine has no such address/,
    ],
    [['--host', 'no such host'], 1, /^skillwire: error: cannot listen on no such host: no such host/],
    [['--host', '256.1.1.1'], 1, /^skillwire: error: cannot listen on 256.1.1.1: no such host/],
    [['--host', '0.0.0.0'], 2, /^skillwire: listening on 0.0.0.0 lets others in: set SKILLWIRE_TOKEN/],
    [['--port', '65536'], 2, /^skillwire: --port must be a whole number from 0 to 65535/],
    [['--allow-origin', '*'], 2, /^skillwire: --allow-origin must be scheme:/],
    [['--allow-host', 'http://x'], 2, /^skillwire: --allow-host must be a name/],
  ];
  for (const [args, code, line] of rows) {
    const env = args.includes('192.0.2.1') ? { SKILLWIRE_TOKEN: 'x' } : {};
    const program = startProgram(t, { tree, env, args: ['--transport', 'http', ...args] });
    assert.equal(await program.exit(), code, args.join(' '));
    assert.match(program.stderr(), line);
    assert.match(program.stderr(), /^[^\n]*\n$/);
  }
});

test('a connection without a request does not delay closing', async (t) => {
  const server = await startSlow(t, { lastResponsesMs: 60_000 });
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  // A request of its own shows that the server has taken the connection before it.
  assert.equal((await ask(new URL('/healthz', server.url).href)).status, 200);
  await server.close();
  socket.destroy();
});

test('a client that sends its headers or its body too slowly is dropped', async (t) => {
  const server = await startSlow(t, { headersMs: 200, requestMs: 300, checkMs: 50 });
  const half = await keepOpen(t, server.port);
  assert.match(await half('POST /mcp HTTP/1.1\r\nHost: loc'), /^HTTP\/1.1 408 /);
  const body = await keepOpen(t, server.port);
  const head =
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{';
  assert.match(await body(head), /^HTTP\/1.1 408 /);
});

test('headers over 16 KiB and bytes that are not HTTP are refused', async (t) => {
  const server = await startSlow(t);
  const long = await keepOpen(t, server.port);
  assert.match(
    await long(`GET /mcp HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`),
    /^HTTP\/1.1 431 /,
  );
  const odd = await keepOpen(t, server.port);
  assert.match(await odd('hello\r\n\r\n'), /^HTTP\/1.1 400 /);
});

test('beyond the limit of connections a new one is closed, and the others stay open', async (t) => {
  const server = await startSlow(t, { connections: 2 });
  const health = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const [one, two] = [await keepOpen(t, server.port), await keepOpen(t, server.port)];
  assert.match(await one(health), /^HTTP\/1.1 200 /);
  const third = await keepOpen(t, server.port);
  assert.equal(await third(health), '');
  assert.match(await two(health), /^HTTP\/1.1 200 /);
});

/** A connection that stays: sends what it is given and gives what comes back first, '' when it is closed instead. */
async function keepOpen(t: TestContext, port: number): Promise<(text: string) => Promise<string>> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  socket.setEncoding('latin1').on('error', () => {}); // Being hung up on is what some tests are about.
  return (text) =>
    new Promise((done) => {
      socket.once('data', (answer) => done(String(answer)));
      socket.once('close', () => done(''));
      socket.write(text);
    });
}

test('a connection with too many unanswered requests is closed, and the calls on it are cancelled', {
  timeout: 30_000,
}, async (t) => {
  const server = await startSlow(t);
  const headers = Object.entries({ ...waitModern.headers, 'content-type': 'application/json' });
  const body = JSON.stringify(waitModern.body);
  const lines = ['POST /mcp HTTP/1.1', 'Host: localhost', ...headers.map(([name, value]) => `${name}: ${value}`)];
  const one = `${[...lines, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;
  const socket = connect(server.port, '127.0.0.1');
  socket.write(one.repeat(2));
  const calls = [await server.called(), await server.called()];
  socket.on('error', () => {}); // 'close' follows.
  socket.resume().write(one.repeat(MAX_PIPELINED));
  await once(socket, 'close');
  for (const { signal } of calls) if (!signal.aborted) await once(signal, 'abort');
});
