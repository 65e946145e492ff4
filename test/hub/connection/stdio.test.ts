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
  const context = { platform: platform(), env: process.env, processGroups };
  const target = { command: process.execPath, args: ['-e', script], env: { PATH: process.env.PATH ?? '' }, cwd: '.' };
  const rpc = new RpcClient(
    (events) => openStdioConnection(target, events, context),
    () => {},
  );
  t.after(async () => {
    await rpc.close();
    processGroups.close();
  });
  return { rpc };
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

/** What a server does, as the text of a script. */
const REASONS: readonly (readonly [what: string, script: string, reason: RegExp])[] = [
  [
    'crashes',
    `${process.execPath} -e 'throw new Error("API_KEY is not set")'`,
    /^exited with code 1; its stderr says: Error: API_KEY is not set$/,
  ],
  [
    'ends its last line without a line break',
    'echo starting >&2; printf "no licence" >&2; exit 3',
    /^exited with code 3; its stderr says: no licence$/,
  ],
  [
    'prints its fault on stdout',
    'echo usage: it FILE; printf "error: FILE is required"; exit 2',
    /^exited with code 2; its stdout, which is for MCP alone, says: error: FILE is required$/,
  ],
  [
    'is started in another mode, and waits',
    'echo Listening at port 3000; echo ready >&2; exec sleep 60',
    /^no answer to \S+ within 900 ms; its stderr says: ready; its stdout, .* says: Listening at port 3000$/,
  ],
  [
    'prints a log in JSON on stdout',
    `echo '{"level":50,"msg":"no database"}'; exit 1`,
    /^exited with code 1; its stdout, which is for MCP alone, says: \{"level":50,"msg":"no database"\}$/,
  ],
  [
    'prints a secret',
    'echo "$KEY" here; echo "error: $KEY is refused" >&2; exit 1',
    /^exited with code 1; its stderr says: error: \[redacted\] is refused; its stdout, .* says: \[redacted\] here$/,
  ],
  [
    'leaves a helper with its pipes',
    'sleep 60 & echo "error: gone" >&2; exit 1',
    /^exited with code 1; its stderr says: error: gone$/,
  ],
];

for (const [what, script, reason] of REASONS)
  test(`the reason for a server that ${what} says what is wrong`, { skip: !isLinux }, async (t) => {
    const file = makeTree(t).write('server.sh', script);
    // Only one that waits is waited for; the others end by themselves, however slow the machine is.
    const connectTimeout = reason.source.includes('900 ms') ? 900 : 20_000;
    const one = { command: 'sh', args: [file], env: { KEY: 's3cr3t-1' }, connectTimeout };
    const hub = createHub({ mcpServers: { one }, env: process.env });
    t.after(() => hub.close());
    await hub.connect();
    await eventually(() => hub.status()[0]?.reason !== undefined, 'the reason');
    assert.match(hub.status()[0]?.reason ?? '', reason);
  });

test('the reason for a server that cannot be started names what is missing (13.9)', async (t) => {
  const file = makeTree(t).write('server.txt', '');
  const mcpServers = {
    bare: { command: 'no-such-command' },
    path: { command: '/no/such/command' },
    place: { command: process.execPath, cwd: '/no/such/directory' },
    ...(isLinux ? { text: { command: file } } : {}),
  };
  const hub = createHub({ mcpServers, env: process.env });
  t.after(() => hub.close());
  await hub.connect();
  await eventually(() => hub.status().every(({ reason }) => reason !== undefined), 'the reasons');
  const reasons = new Map(hub.status().map(({ name, reason }) => [name, reason]));
  const begin = 'cannot be started: ';
  assert.equal(reasons.get('bare'), `${begin}"no-such-command" was not found in PATH; try its absolute path`);
  assert.equal(reasons.get('path'), `${begin}"/no/such/command" was not found`);
  assert.equal(reasons.get('place'), `${begin}its working directory /no/such/directory does not exist`);
  if (isLinux) assert.match(reasons.get('text') ?? '', /^cannot be started: ".*server\.txt" may not be executed, or/);
});

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
