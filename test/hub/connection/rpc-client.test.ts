/** JSON-RPC with upstream servers: what a server can make us keep, and when it is closed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { type TestContext, test } from 'node:test';
import { MAX_REPLIES_AT_ONCE, MAX_STRANGE_LINES, MAX_UNSOLICITED } from '../../../src/hub/connection/limits.ts';
import { createProcessGroups } from '../../../src/hub/connection/process.ts';
import { RpcClient } from '../../../src/hub/connection/rpc-client.ts';
import { openStdioConnection } from '../../../src/hub/connection/stdio.ts';
import { eventually, startHub, upstream } from '../../harness/hub.ts';
import { connectTo, startLegacyWeb, TOOL, type WebExchange } from '../../harness/legacy-web.ts';

const isLinux = platform() === 'linux';

const has =
  (...wanted: readonly string[]) =>
  (names: readonly string[]) =>
    wanted.every((name) => names.includes(name));

/** A server that asks without end and never reads what we answer. */
const asking = {
  command: process.execPath,
  args: [
    '-e',
    `const line = JSON.stringify({ jsonrpc: '2.0', id: 'x'.repeat(200), method: 'ping' }) + '\\n';
     const more = () => { for (let at = 0; at < 50 && process.stdout.write(line.repeat(100)); at += 1); process.stdout.once('drain', more); };
     more();
     setInterval(() => {}, 1000);`,
  ],
};

function open(t: TestContext, script: string) {
  const processGroups = createProcessGroups(platform(), process.env);
  const lines: string[] = [];
  const notifications: string[] = [];
  const context = { platform: platform(), env: process.env, processGroups };
  const target = { command: process.execPath, args: ['-e', script], env: { PATH: process.env.PATH ?? '' }, cwd: '.' };
  const debug = (line: string) => void lines.push(line);
  const rpc = new RpcClient((events) => openStdioConnection(target, events, context), debug);
  rpc.onNotification = (method) => void notifications.push(method);
  t.after(async () => {
    await rpc.close();
    processGroups.close();
  });
  return { rpc, lines, notifications };
}

const DEAF = 'setInterval(() => {}, 1000)';

const RESOURCES = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, resources: {} },
  serverInfo: { name: 'l', version: '1' },
};

test('responses that a server does not read are not kept without limit (10.6)', { skip: !isLinux }, async (t) => {
  const hub = await startHub(t, { odd: asking, plain: upstream() });
  await hub.waitForTools(has('plain:echo'), 'the plain one');
  const memory = () => {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${hub.child.pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1024;
  };
  const before = memory();
  await new Promise((done) => setTimeout(done, 3000));
  assert.equal((await hub.call('plain:echo', { text: 'here' })).content[0].text, 'here');
  // Without a limit it was 55 MB a second.
  const grown = memory() - before;
  assert.ok(grown < 80, `${grown} MB`);
});

test('a server that sends requests and never reads is closed; one that only does not read is not (10.6)', async (t) => {
  const deaf = open(t, DEAF).rpc;
  const sent = deaf.request('x', { text: 'x'.repeat(2 * 1024 * 1024) }).catch(() => {});
  const asks = open(t, asking.args[1] ?? '').rpc;
  await eventually(() => asks.ended.aborted, 'the end');
  assert.equal(asks.ended.reason.message, 'the server sends more requests than it accepts responses to');
  assert.equal(deaf.ended.aborted, false);
  await deaf.close();
  await sent;
});

test('a server that reads gets every response, to a thousand requests at once (10.6)', async (t) => {
  const { rpc, lines } = open(
    t,
    `let got = 0;
     const ask = () => {
       if (got === 10_000) return console.error('all');
       console.log((JSON.stringify({ jsonrpc: '2.0', id: got, method: 'ping' }) + '\\n').repeat(1000).trimEnd());
     };
     process.stdin.on('data', (chunk) => {
       const before = got;
       got += chunk.toString().split('\\n').length - 1;
       if (Math.floor(before / 1000) < Math.floor(got / 1000)) ask();
     });
     ask();`,
  );
  await eventually(() => lines.includes('all') || rpc.ended.aborted, 'all responses');
  assert.equal(rpc.ended.aborted, false);
});

test('a log of any length on stdout does not end a server that has answered before', async (t) => {
  const { rpc } = open(
    t,
    `let asked = 0;
     process.stdin.on('data', () => {
       asked += 1;
       if (asked === 2) console.log('a line\\n'.repeat(${MAX_STRANGE_LINES + 1000}));
       console.log(JSON.stringify({ jsonrpc: '2.0', id: asked, result: {} }));
     });`,
  );
  await rpc.request('x', {});
  const before = rpc.lastReceived;
  assert.deepEqual(await rpc.request('x', {}), {});
  assert.ok(rpc.lastReceived > before);
});

for (const [state, pending] of [
  ['no request is pending', []],
  ['only a subscription is pending', ['subscriptions/listen']],
] as const) {
  test(`a long message is dropped before it is decoded while ${state}`, async (t) => {
    const { rpc, lines, notifications } = open(
      t,
      `process.stdin.on('data', (chunk) => {
         for (const { id, method } of chunk.toString().trim().split('\\n').map((line) => JSON.parse(line)))
           if (method === 'x') console.log(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
       });
       const params = { text: 'x'.repeat(${MAX_UNSOLICITED}) };
       console.log(JSON.stringify({ jsonrpc: '2.0', method: 'long', params }));
       console.log(JSON.stringify({ jsonrpc: '2.0', method: 'short' }));
       console.error('sent');`,
    );
    const waiting = pending.map((method) => rpc.request(method, {}).catch(() => {}));
    await eventually(() => lines.includes('sent') && notifications.length > 0, 'the messages');
    assert.deepEqual(notifications, ['short']);
    assert.deepEqual(await rpc.request('x', {}), {});
    await rpc.close();
    await Promise.all(waiting);
  });
}

for (const type of ['http', 'sse']) {
  test(`a server over ${type} that sends requests without end and accepts no response has few connections, and is closed (10.6)`, async (t) => {
    let open = 0;
    let most = 0;
    let flood = (_count: number) => {};
    const web = await startLegacyWeb(t, ({ verb, method, id, response, stream, event, json }) => {
      if (verb === 'GET') {
        stream();
        if (type === 'sse') response.write('event: endpoint\ndata: /mcp\n\n');
        flood = (count) => {
          for (let at = 0; at < count; at += 1) event({ id: `ping-${at}`, method: 'ping' });
        };
        sse = { event };
        return true;
      }
      if (method === '' && verb === 'POST') {
        open += 1;
        most = Math.max(most, open);
        response.once('close', () => {
          open -= 1;
        });
        return true; // Never answered.
      }
      if (type === 'http') return false;
      if (id !== undefined && method !== '') {
        const result: Record<string, object> = {
          initialize: { ...RESOURCES, capabilities: { tools: {} } },
          'tools/list': { tools: [TOOL] },
        };
        sse?.event({ id, result: result[method] ?? {} });
      }
      json(202, {});
      return true;
    });
    let sse: Pick<WebExchange, 'event'> | undefined;
    const hub = await connectTo(t, { type, url: web.url });
    await eventually(() => web.exchanges.some(({ verb }) => verb === 'GET'), 'the stream');
    // A few first: all at once may be too many before the first answer has gone out.
    flood(MAX_REPLIES_AT_ONCE);
    await eventually(() => most >= 1, 'the first answers');
    flood(3000);
    await eventually(
      () => hub.status()[0]?.reason?.includes('sends more requests than it accepts') ?? false,
      'the end of it',
    );
    assert.ok(most <= MAX_REPLIES_AT_ONCE, `${most} open at once`);
    await eventually(() => open === 0, 'none of them to stay');
  });
}

/** Answers each request by a script in which `id` is the request's id. */
const answering = (script: string) =>
  `const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
   process.stdin.on('data', (chunk) => { const { id } = JSON.parse(chunk); ${script} });`;

test('progress that was not asked for does not prolong a request', async (t) => {
  const progress = `send({ method: 'notifications/progress', params: { progressToken: id, progress: 1 } })`;
  const { rpc } = open(t, answering(`setInterval(() => ${progress}, 50)`));
  await assert.rejects(rpc.request('x', {}, { timeout: 600 }), /no answer to x within 600 ms/);
});

test('a request that the server cancels fails at once', async (t) => {
  const { rpc } = open(t, answering(`send({ method: 'notifications/cancelled', params: { requestId: id } })`));
  await assert.rejects(rpc.request('x', {}), /the server cancelled the request/);
});

test('a line of a log that is JSON and has the id of a request does not answer it', async (t) => {
  const script = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id } = JSON.parse(line);
    console.log(JSON.stringify({ level: 30, id, msg: 'request', error: { code: 1 } }));
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { is: 'right' } }));
  });`;
  const { rpc } = open(t, script);
  assert.deepEqual(await rpc.request('ping', {}, { timeout: 10_000 }), { is: 'right' });
});

test('a response that is not valid JSON-RPC fails its request', async (t) => {
  const script = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    console.log(JSON.stringify({ id: JSON.parse(line).id, result: {} }));
  });`;
  const { rpc } = open(t, script);
  await assert.rejects(rpc.request('ping', {}, { timeout: 10_000 }), /not valid JSON-RPC/);
});
