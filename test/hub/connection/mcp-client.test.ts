/** Servers that need a second attempt with another handshake. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { test } from 'node:test';
import { createHops } from '../../../src/hops.ts';
import type { UpstreamConfig } from '../../../src/hub/config/entries.ts';
import type { HubContext } from '../../../src/hub/connection/connection.ts';
import { openMcpClient } from '../../../src/hub/connection/mcp-client.ts';
import { createProcessGroups } from '../../../src/hub/connection/process.ts';
import { eventually, scripted, startHub, upstream } from '../../harness/hub.ts';
import { connectTo, startLegacyWeb, TOOL, type WebExchange } from '../../harness/legacy-web.ts';
import { PROGRAM } from '../../harness/program.ts';
import { makeTree } from '../../harness/tree.ts';

test('a server that exits at once is started once per attempt (10.11)', async (t) => {
  const tree = makeTree(t);
  const journal = tree.write('journal', '');
  const hub = await startHub(
    t,
    { one: upstream('exit=7', `journal=${journal}`) },
    { tree, args: ['--log-level', 'debug'] },
  );
  const starts = () => (readFileSync(journal, 'utf8').match(/started/g) ?? []).length;
  await eventually(() => starts() >= 3, 'the third start');
  const attempts = hub.stderr().match(/server one: connecting(?!.*next attempt)/g) ?? [];
  assert.equal(attempts.length, starts());
  await hub.waitForStderr(/server one: failed: exited with code 7/);
});

test('a server that exits on a request before the handshake becomes ready, also for the doctor (10.11)', (t) => {
  const tree = makeTree(t);
  const journal = tree.at('journal');
  const servers = { old: upstream('dies-on-unknown', `journal=${journal}`) };
  tree.write('home/.kode.json', JSON.stringify({ mcpServers: servers }));
  const { stdout } = spawnSync(process.execPath, [PROGRAM, 'doctor', '--hub'], {
    cwd: tree.path,
    env: { PATH: process.env.PATH, HOME: tree.at('home') },
    encoding: 'utf8',
  });
  assert.match(stdout, /old: ready: 11 tools/);
  assert.equal((readFileSync(journal, 'utf8').match(/started/g) ?? []).length, 2);
});

test('a process that closes its output at a request before the handshake is started again with the handshake', async (t) => {
  const script = `let isShaken = false;
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      const write = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
      if (method === 'initialize') {
        isShaken = true;
        write({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'o', version: '1' } });
      } else if (!isShaken) require('node:fs').closeSync(1);
      else if (method === 'tools/list') write({ tools: [{ name: 'one', inputSchema: { type: 'object' } }] });
    });
    setInterval(() => {}, 1000);`;
  const hub = await startHub(t, { old: { command: process.execPath, args: ['-e', script] } });
  await hub.waitForTools((names) => names.includes('old:one'), 'its tool');
});

for (const type of ['http', 'sse'])
  test(`over ${type} no request overtakes the end of the handshake`, async (t) => {
    let isInitialized = false;
    let stream: WebExchange | undefined;
    const results: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'l', version: '1' },
      },
      'tools/list': { tools: [TOOL] },
    };
    const web = await startLegacyWeb(t, async (exchange) => {
      const { verb, method, id, response, json } = exchange;
      if (method === 'notifications/initialized') {
        await new Promise((done) => setTimeout(done, 200));
        isInitialized = true;
      }
      const error = { code: -32602, message: 'Received request before initialization was complete' };
      const outcome = method === 'tools/list' && !isInitialized ? { error } : { result: results[method] };
      if (type === 'http') {
        if (method !== 'tools/list') return false;
        json(200, { id, ...outcome });
        return true;
      }
      if (verb === 'GET') {
        stream = exchange;
        exchange.stream();
        response.write('event: endpoint\ndata: /mcp\n\n');
        return true;
      }
      response.writeHead(202).end();
      if (id !== undefined) stream?.event({ id, ...outcome });
      return true;
    });
    await connectTo(t, { type, url: web.url });
    assert.equal(web.count('tools/list'), 1);
  });

test('a server that does not accept to announce the changes of a list is not relied on for them', async (t) => {
  const listens = [
    [{ error: { code: -32601, message: 'none here' } }, false],
    [{ tools: [] }, true],
  ] as const;
  for (const [answer, isStream] of listens) {
    const capabilities = { tools: { listChanged: true } };
    const { entry } = scripted(makeTree(t), 'up', {
      modern: true,
      capabilities,
      answers: { 'subscriptions/listen': answer },
    });
    const processGroups = createProcessGroups(platform(), process.env);
    const target = { kind: 'stdio', ...entry, env: { PATH: process.env.PATH ?? '' }, cwd: '.' };
    const context = {
      platform: platform(),
      env: process.env,
      processGroups,
      debug: () => {},
      hops: createHops(undefined),
    };
    const mcp = await openMcpClient(
      { target, connectTimeout: 10_000 } as unknown as UpstreamConfig,
      { ...context, client: { name: 'test', version: '1' } } as unknown as HubContext,
      undefined,
      new AbortController().signal,
    );
    t.after(() => mcp.rpc.close().then(() => processGroups.close()));
    assert.equal(mcp.announces('tools'), true);
    // A subscription that is answered has ended, and is asked for again.
    if (isStream)
      await assert.rejects(
        mcp.listen(() => {}),
        /ended the subscription/,
      );
    else assert.equal(await mcp.listen(() => {}), false);
    assert.equal(mcp.announces('tools'), isStream);
  }
});
