/** Connections to server processes. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { platform } from 'node:os';
import { type TestContext, test } from 'node:test';
import { MAX_UNREAD } from '../../../src/hub/connection/limits.ts';
import { createProcessGroups } from '../../../src/hub/connection/process.ts';
import { RpcClient } from '../../../src/hub/connection/rpc-client.ts';
import { openStdioConnection } from '../../../src/hub/connection/stdio.ts';
import { createHub } from '../../../src/hub/index.ts';
import { eventually, upstream } from '../../harness/hub.ts';
import { makeTree } from '../../harness/tree.ts';

const isLinux = platform() === 'linux';

function open(t: TestContext, script: string) {
  const processGroups = createProcessGroups(platform(), process.env);
  const lines: string[] = [];
  const context = {
    platform: platform(),
    env: process.env,
    processGroups,
    redact: (text: string) => text,
    stderr: (line: string) => void lines.push(line),
  };
  const target = { command: process.execPath, args: ['-e', script], env: { PATH: process.env.PATH ?? '' }, cwd: '.' };
  const rpc = new RpcClient((events) => openStdioConnection(target, events, context), {
    notification() {},
    missed() {},
    debug() {},
  });
  t.after(async () => {
    await rpc.close();
    processGroups.close();
  });
  return { rpc, lines };
}

const DEAF = 'setInterval(() => {}, 1000)';

test('a request to a server that has long stopped reading fails at once (10.6)', async (t) => {
  const { rpc } = open(t, DEAF);
  const text = 'x'.repeat(8 * 1024 * 1024);
  const most = MAX_UNREAD / text.length;
  const told: string[] = [];
  for (let id = 1; id <= most + 2; id += 1)
    rpc.request('x', { text }).catch((error: Error) => told.push(`${id}: ${error.message}`));
  await eventually(() => told.length >= 2, 'both refusals');
  const why = `the server does not read what it is sent (over ${MAX_UNREAD} bytes wait for it)`;
  assert.deepEqual(told, [`${most + 1}: ${why}`, `${most + 2}: ${why}`]);
});

test('a response over the limit fails its own call and no other', async (t) => {
  const hub = createHub({ mcpServers: { one: upstream() }, env: process.env });
  t.after(() => hub.close());
  await hub.connect();
  const slow = hub.call('one:slow', { ms: 1500 });
  await assert.rejects(hub.call('one:big', { bytes: 33 * 1024 * 1024 }), /a message over 33554432 bytes was dropped/);
  assert.deepEqual((await slow).content, [{ type: 'text', text: 'slow is done' }]);
});

test('a response that is not UTF-8 is used, with replacement characters', async (t) => {
  const script = `process.stdin.once('data', () => process.stdout.write(
    Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"text":"caf\\xe9"}}\\n', 'latin1')));`;
  assert.deepEqual(await open(t, script).rpc.request('x', {}), { text: 'caf\ufffd' });
});

for (const [name, script] of [
  ['stdin', `process.stdin.destroy(); require('node:fs').closeSync(0); setInterval(() => {}, 1000)`],
  ['stdout', `require('node:fs').closeSync(1); setInterval(() => {}, 1000)`],
] as const) {
  test(`a request to a server that has closed its ${name} fails soon`, { skip: !isLinux }, async (t) => {
    const { rpc } = open(t, script);
    await new Promise((done) => setTimeout(done, 300));
    await assert.rejects(rpc.request('x', {}), new RegExp(`the server closed its ${name}`));
  });
}

test('without file descriptors a server is not started, and the reason is given (10.5)', { skip: !isLinux }, (t) => {
  const tree = makeTree(t);
  const hub = new URL('../../../../dist/hub/index.js', import.meta.url).href;
  // As many files as the system lets it have are open before the server is started.
  const file = tree.write(
    'full.mjs',
    `import { openSync } from 'node:fs';
     import { createHub } from ${JSON.stringify(hub)};
     const hub = createHub({ mcpServers: { one: { command: 'cat' } }, env: process.env });
     try { for (;;) openSync('/dev/null'); } catch {}
     await hub.connect();
     console.log(hub.status()[0].reason);
     process.exit();`,
  );
  const { stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -n 60; exec "$0" "$1"', process.execPath, file], {
    encoding: 'utf8',
  });
  assert.match(stdout, /^cannot be started: there are no file descriptors left for it/, stderr);
});
