/** One upstream server over time: when it is tried again, and when it is not given up. */
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { createHub } from '../../../src/hub/index.ts';
import { backoff } from '../../../src/hub/upstream/upstream.ts';
import { scripted, startHub, upstream } from '../../harness/hub.ts';
import { startUpstreamWeb } from '../../harness/sdk-servers.ts';
import { makeTree } from '../../harness/tree.ts';

const CHANGED = 'notifications/tools/list_changed';
const TOOLS = { tools: [{ name: 'one', inputSchema: { type: 'object' } }] };
const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));

test('the backoff grows from half a second to a minute, each time in its upper half', () => {
  const whole = [0, 1, 2, 3, 4, 5, 6, 7, 100, 5000].map((attempt) => backoff(attempt, 1));
  assert.deepEqual(whole, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000]);
  assert.equal(backoff(0, 0), 500);
  assert.equal(backoff(9, 0), 30_000);
});

test('a list that times out during a call ends neither the call nor the listing', async (t) => {
  const tree = makeTree(t);
  const done = { content: [{ type: 'text', text: 'done' }] };
  const script = { answers: { 'tools/list': TOOLS, 'tools/call': done }, restless: { ms: 300, method: CHANGED } };
  const up = scripted(tree, 'up', script);
  const hub = await startHub(t, { up: { ...up.entry, connectTimeout: 1000 } }, { tree });
  await hub.waitForTools((names) => names.includes('up:one'), 'its tools');
  up.rewrite({ ...script, silent: ['tools/list'], delay: { 'tools/call': 3000 } });
  assert.deepEqual(await hub.call('up:one', {}), done);
  await hub.waitForStderr(/server up: tools\/list failed, the last list is kept: no answer to tools\/list within/);
  assert.ok((await hub.toolNames()).includes('up:one'));
});

test('many calls that wait for a server cause no warning about listeners', async (t) => {
  const warnings: string[] = [];
  const note = (warning: Error) => void warnings.push(String(warning));
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  const hub = createHub({ mcpServers: { one: upstream() } });
  t.after(() => hub.close());
  await hub.connect();
  await hub.call('one:crash').catch(() => {});
  const results = await Promise.all(Array.from({ length: 20 }, () => hub.call('one:pid')));
  assert.equal(new Set(results.map((result) => JSON.stringify(result))).size, 1);
  assert.deepEqual(warnings, []);
});

test('a server that forgets its session again and again is tried with a growing backoff', async (t) => {
  let sessions = 0;
  let isListed = false;
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'DELETE') return response.writeHead(200).end();
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return setTimeout(() => response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method: CHANGED })}\n\n`), 50);
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method } = JSON.parse(body);
    const answer = (message: object) => {
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s${sessions}` });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...message }));
    };
    if (id === undefined) return response.writeHead(202).end();
    if (method === 'initialize') {
      sessions += 1;
      isListed = false;
      const capabilities = { tools: { listChanged: true } };
      const serverInfo = { name: 's', version: '1' };
      return answer({ result: { protocolVersion: '2025-11-25', capabilities, serverInfo } });
    }
    if (method !== 'tools/list') return answer({ error: { code: -32601, message: 'unknown' } });
    if (isListed) return response.writeHead(404).end();
    isListed = true;
    return answer({ result: TOOLS });
  };
  const web = await startUpstreamWeb(t, respond);
  const hub = createHub({ mcpServers: { up: { url: web.url } } });
  t.after(() => hub.close());
  await hub.connect();
  await wait(4500);
  assert.ok(sessions >= 2 && sessions <= 4, `${sessions} sessions in 4.5 s`);
});
