/** How an upstream server is kept connected, and what a call to one that is away is told; more is in test/program. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { configOf } from '../../src/hub/entries.ts';
import { backoff, Upstream } from '../../src/hub/upstream.ts';
import { createLog } from '../../src/log.ts';
import { eventually, scriptTarget, startWeb } from '../harness/connections.ts';
import { mockTimers } from '../harness/timers.ts';

const OPTIONS = { timeout: 10_000 };

/** A server from an entry, with the log lines and how often its listing has changed. */
function start(t: TestContext, entry: object, healthInterval = 30_000) {
  const lines: string[] = [];
  const changed = t.mock.fn();
  const log = createLog((line) => void lines.push(line), 'info');
  const config = configOf('up', entry, '/file', { env: process.env, workspaceFolder: '/', userHome: '/' });
  const identity = { name: 'test', version: '1' };
  const upstream = new Upstream(config, { env: process.env, identity, hops: 1, log, healthInterval, changed });
  t.after(() => upstream.close());
  const reached = (state: string) => eventually(() => upstream.status().state === state, state);
  return { upstream, lines, changed, reached, call: () => upstream.request('tools/call', { name: 'one' }, OPTIONS) };
}
/** What a process does at a request. */
const on = (name: string, run: string) => `if (method === '${name}') { ${run}; return true; }`;

test('one that fails says why, once, and to a call; it has nothing listed, and is tried again and again', async (t) => {
  const agreed = `result({ protocolVersion: '2025-11-25', capabilities: { tools: {}, prompts: {} } })`;
  const prompts = on('prompts/list', `result({ prompts: [{ name: 'p' }] })`);
  const faulty = on('initialize', agreed) + prompts + on('tools/list', 'setTimeout(refuse, 200, -32000)');
  const { upstream, lines, call } = start(t, scriptTarget(faulty));
  await upstream.settled;
  const { state, reason, nextAttempt = '' } = upstream.status();
  assert.deepEqual([state, reason], ['failed', 'tools/list failed: refused']);
  await assert.rejects(call(), { message: `the server is failed: ${reason}; next attempt in 1 s` });
  await eventually(() => Date.parse(upstream.status().nextAttempt ?? '') > Date.parse(nextAttempt), 'a second failure');
  assert.equal(lines.filter((line) => line.includes('failed')).length, 1);
  assert.deepEqual([upstream.isAwaited, upstream.listing.prompts], [true, []]);
});

test('the backoff: at once, then 1, 2, 4 … 60 seconds, each in its upper half', () => {
  for (const [retries, ms] of [0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000].entries())
    assert.deepEqual([backoff(retries, 0), backoff(retries, 1)], [ms / 2, ms]);
  assert.equal(backoff(5000, 1), 60_000);
});

test('when the tools can no longer be listed, it is in an error state, the last list stays, and calls go on', async (t) => {
  const change = `result({}); send({ method: 'notifications/tools/list_changed' })`;
  const list = on('tools/list', 'broken ? refuse(-32000) : result({ tools: [] })');
  const moody = list + on('break', `broken = true; ${change}`) + on('mend', `broken = false; ${change}`);
  const { upstream, reached, changed } = start(t, scriptTarget(moody, 'let broken = false;'));
  await reached('ready');
  const { listing } = upstream;
  await upstream.request('break', {}, OPTIONS);
  await reached('failed');
  assert.deepEqual([upstream.listing === listing, upstream.status().reason], [true, 'tools/list failed: refused']);
  await upstream.request('mend', {}, OPTIONS);
  await reached('ready');
  assert.deepEqual([upstream.listing === listing, changed.mock.callCount()], [true, 1]);
});

test('a server that answers nothing else during a call is not pinged during it, and not lost', async (t) => {
  const work = 'for (const end = Date.now() + 2000; Date.now() < end; ); result({})';
  const idle = on('tools/list', 'result({ tools: [] })') + on('ping', 'pings++; result({})');
  const busy = idle + on('tools/call', work) + on('count', 'result({ pings })');
  const { upstream, reached, call, lines } = start(t, scriptTarget(busy, 'let pings = 0;'), 200);
  await reached('ready');
  assert.deepEqual(await call(), {});
  assert.doesNotMatch(lines.join(''), /disconnected/);
  // One before the call, one after it.
  assert.ok(Number((await upstream.request('count', {}, OPTIONS)).pings) <= 2);
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
