/** The hub as a library and as a source. Published servers, edits and the first three seconds are in test/program. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createHub } from '../../src/hub/index.ts';
import { createLog } from '../../src/log.ts';
import { isAlive, scriptTarget } from '../harness/connections.ts';
import { makeTree } from '../harness/tree.ts';
import { startSource } from '../harness/upstreams.ts';

const LIST = `if (method === 'tools/list') { result({ tools: [{ name: 'one', inputSchema: {} }] }); return true; }`;

test('skillwire/hub alone connects, lists, calls, reports and closes', async (t) => {
  const progress = `send({ method: 'notifications/progress', params: { ...params._meta, progress: 1 } })`;
  const run = `if (method === 'tools/call' && params.arguments.wait !== true) { ${progress}; result({ params }); }`;
  const { command, args } = scriptTarget(`${LIST} ${run} return method === 'tools/call';`);
  const mcpServers = { up: { command, args }, 'not there': { command: './nil' }, bad: { command: '${NOT_SET}' } };
  const lines: string[] = [];
  const hub = createHub({ mcpServers, log: createLog((line) => void lines.push(line), 'warn') });
  t.after(() => hub.close());
  await hub.connect();
  const states = hub.status().map(({ name, state }) => `${name} ${state}`);
  assert.deepEqual(states, ['bad failed', 'not-there failed', 'up ready']);
  assert.match(lines.join(''), /server "bad": command: the variable NOT_SET is not set/);
  const definition = { name: 'one', inputSchema: { type: 'object' } };
  assert.deepEqual(JSON.parse(JSON.stringify(hub.tools())), [{ name: 'up:one', server: 'up', definition }]);
  const onProgress = t.mock.fn();
  const { params } = await hub.call('up:one', { a: 1 }, { onProgress });
  assert.deepEqual([Object(params).arguments, onProgress.mock.callCount()], [{ a: 1 }, 1]);
  await assert.rejects(hub.call('up:none'), { name: 'UpstreamError', message: 'no tool is called "up:none"' });
  const cancelled = hub.call('up:one', { wait: true }, { signal: AbortSignal.timeout(20) });
  await assert.rejects(cancelled, { name: 'UpstreamError', message: 'cancelled' });
});

test('an edited server starts when the process before it has ended, and the end leaves nothing running', async (t) => {
  const tree = makeTree(t, { pids: '' });
  const isLeft = `(pid) => { try { return pid && process.kill(pid, 0); } catch { return false; } }`;
  const atStart = `const fs = require('node:fs'); process.stdin.on('end', () => setTimeout(process.exit, 300));
    if (fs.readFileSync('pids', 'utf8').split(' ').some(${isLeft})) fs.writeFileSync('overlap', '');
    fs.appendFileSync('pids', process.pid + ' ');`;
  const { command, args } = scriptTarget(LIST, atStart);
  const { source, write, ready } = startSource(t, tree, { one: { command, args } });
  await source.load();
  write({ one: { command, args, timeout: 5 } });
  await source.load();
  await ready('one');
  assert.equal(await source.load(), await source.load(), 'the same while nothing has changed');
  const pids = readFileSync(tree.at('pids'), 'utf8').trim().split(' ').map(Number);
  assert.deepEqual([pids.length, existsSync(tree.at('overlap'))], [2, false]);
  await source.close?.();
  assert.ok(!pids.some(isAlive));
  // A refresh that is still under way starts nothing.
  await source.load();
  assert.deepEqual(source.status?.(), []);
});
