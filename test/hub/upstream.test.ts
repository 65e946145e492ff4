/** How an upstream server is kept connected, and what a call to one that is away is told; more is in test/program. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { configOf } from '../../src/hub/entries.ts';
import { backoff, Upstream } from '../../src/hub/upstream.ts';
import { createLog } from '../../src/log.ts';
import { type About, eventually, scriptTarget, startWeb } from '../harness/connections.ts';
import { mockTimers } from '../harness/timers.ts';
import { makeTree } from '../harness/tree.ts';

const OPTIONS = { timeout: 10_000 };

/** A server from an entry, with the log lines and how often its listing has changed. */
function start(t: TestContext, entry: object, healthInterval = 30_000) {
  const lines: string[] = [];
  const changed = t.mock.fn();
  const log = createLog((line) => void lines.push(line), 'info');
  const config = configOf('up', entry, '/file', { env: process.env, workspaceFolder: '/', userHome: '/' });
  const client = { name: 'test', version: '1' };
  const upstream = new Upstream(config, { env: process.env, client, hops: 1, log, healthInterval, changed });
  t.after(() => upstream.close());
  const reached = (state: string) => eventually(() => upstream.status().state === state, state);
  return { upstream, lines, changed, reached, call: () => upstream.request('tools/call', { name: 'one' }, OPTIONS) };
}
/** A process, by method what it does. It lists one tool unless told otherwise. */
function script(methods: Readonly<Record<string, string>> = {}, atStart = '') {
  const all = { 'tools/list': `result({ tools: [{ name: 'one', inputSchema: {} }] })`, ...methods };
  const tests = Object.entries(all).map(([name, run]) => `if (method === '${name}') { ${run}; return true; }`);
  const { command, args } = scriptTarget(tests.join('\n'), atStart);
  return { command, args };
}

test('one that was ready is tried again when nothing of it is left, stays listed, and a call waits for that', async (t) => {
  const tree = makeTree(t, { starts: '' });
  const count = `require('node:fs').appendFileSync(${JSON.stringify(tree.at('starts'))}, 'x');`;
  // Its helper ends only by SIGKILL, a second later.
  const helper = `require('node:child_process').spawn('sh', ['-c', "trap '' TERM; sleep 9"], { stdio: 'ignore' })`;
  const die = `${helper}.once('spawn', () => setTimeout(() => process.exit(3), 100))`;
  const { upstream, reached, call, lines } = start(t, script({ die, 'tools/call': 'result({})' }, count));
  assert.deepEqual([upstream.isAwaited, upstream.listing.tools], [true, []]);
  await reached('ready');
  const before = upstream.listing;
  assert.deepEqual([upstream.isAwaited, before.tools.length], [false, 1]);
  await assert.rejects(upstream.request('die', {}, OPTIONS), /exited with code 3/);
  await eventually(() => upstream.status().state !== 'ready', 'its loss');
  assert.deepEqual(await call(), {});
  await reached('ready');
  assert.equal(upstream.listing, before);
  assert.match(lines.join(''), /server up: disconnected: exited with code 3; next attempt in 0 s/);
  assert.equal(readFileSync(tree.at('starts'), 'utf8'), 'xx');
});

test('one that fails says why, without secrets and once, and is tried again later and later', async (t) => {
  const entry = script({}, `console.error('no key ' + process.env.KEY + ' at http://me:pw12@x/'); process.exit(2);`);
  const { upstream, lines, call } = start(t, { ...entry, env: { KEY: 'abc123secret' } });
  await upstream.settled;
  const { state, reason = '', nextAttempt = '' } = upstream.status();
  assert.match(`${state} ${reason}`, /^failed exited with code 2[\s\S]*no key \[redacted\] at http:\/\/\[redacted\]@x/);
  await assert.rejects(call(), /^UpstreamError: the server is failed: [\s\S]*; next attempt in 1 s$/);
  await eventually(() => Date.parse(upstream.status().nextAttempt ?? '') > Date.parse(nextAttempt), 'a second failure');
  assert.equal(lines.filter((line) => line.includes('failed')).length, 1);
});

test('the backoff: at once, then 1, 2, 4 … 60 seconds, each in its upper half', () => {
  for (const [retries, ms] of [0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000].entries())
    assert.deepEqual([backoff(retries, 0), backoff(retries, 1)], [ms / 2, ms]);
  assert.equal(backoff(5000, 1), 60_000);
});

test('when the tools can no longer be listed, it is in an error state, the last list stays, and calls go on', async (t) => {
  const change = `result({}); send({ method: 'notifications/tools/list_changed' })`;
  const moody = {
    'tools/list': 'broken ? refuse(-32000) : result({ tools: [] })',
    break: `broken = true; ${change}`,
    mend: `broken = false; ${change}`,
  };
  const { upstream, reached, changed } = start(t, script(moody, 'let broken = false;'));
  await reached('ready');
  const { listing } = upstream;
  await upstream.request('break', {}, OPTIONS);
  await reached('failed');
  assert.deepEqual([upstream.listing === listing, upstream.status().reason], [true, 'tools/list failed: refused']);
  await upstream.request('mend', {}, OPTIONS);
  await reached('ready');
  assert.deepEqual([upstream.listing === listing, changed.mock.callCount()], [true, 1]);
});

test('a server is pinged when it was silent, not while it speaks or runs a call; one that is deaf is lost', async (t) => {
  let isDeaf = false;
  const calls: (() => void)[] = [];
  const about: About = ({ method, id, json }) => {
    if (method === 'tools/list') return json(200, { id, result: { tools: [] } });
    if (method === 'tools/call') calls.push(() => void json(200, { id, result: {} }));
    return method === 'tools/call' || (isDeaf && method === 'ping');
  };
  const web = await startWeb(t, about);
  const { reached, call, lines } = start(t, { type: 'http', url: web.url.href }, 200);
  await reached('ready');
  let longest = 0;
  for (let since = performance.now(), last = since; last - since < 500; last = performance.now()) {
    const answer = call();
    await eventually(() => calls.length > 0, 'the call');
    // The first takes long.
    if (longest === 0) await new Promise((done) => setTimeout(done, 300));
    calls.pop()?.();
    await answer;
    longest = longest === 0 ? 1 : Math.max(longest, performance.now() - last);
  }
  // Unless this test itself was stopped for so long.
  assert.ok(longest > 150 || web.count('ping') === 0, 'no ping');
  await eventually(() => web.count('ping') > 1, 'two pings');
  isDeaf = true;
  const isFound = () => lines.some((line) => /disconnected: health check failed: no answer to ping/.test(line));
  await eventually(isFound, 'the health check');
  await reached('ready');
});

test('a call waits five seconds for a server that hangs, and no longer than it is wanted', async (t) => {
  mockTimers(t, 'setTimeout');
  const web = await startWeb(t, () => true);
  const { upstream, call } = start(t, { type: 'http', url: web.url.href });
  const control = new AbortController();
  const unwanted = upstream.request('x', {}, { ...OPTIONS, cancellation: control.signal });
  control.abort();
  await assert.rejects(unwanted, /the server is connecting/);
  let outcome = '';
  const waiting = call().catch((error) => (outcome = String(error)));
  t.mock.timers.tick(4999);
  await new Promise((done) => setImmediate(done));
  assert.equal(outcome, '');
  t.mock.timers.tick(1);
  await waiting;
  assert.equal(outcome, 'UpstreamError: the server is connecting');
});
