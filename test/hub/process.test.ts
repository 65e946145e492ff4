/** The processes of upstream servers: how often they are started, what they can make us hold, and that nothing is left. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { type TestContext, test } from 'node:test';
import { commandLine } from '../../src/hub/connection/command.ts';
import { MAX_STRANGE_LINES, MAX_UNREAD } from '../../src/hub/connection/limits.ts';
import {
  createProcessGroups,
  isRunning,
  processAt,
  taskkillPath,
  withDescendants,
} from '../../src/hub/connection/process.ts';
import { RpcClient } from '../../src/hub/connection/rpc-client.ts';
import { openStdioConnection } from '../../src/hub/connection/stdio.ts';
import { createHub } from '../../src/hub/index.ts';
import { eventually, isAlive, startHub, upstream } from '../harness/hub.ts';
import { PROGRAM } from '../harness/program.ts';
import { makeTree } from '../harness/tree.ts';

const has =
  (...wanted: readonly string[]) =>
  (names: readonly string[]) =>
    wanted.every((name) => names.includes(name));
const isLinux = platform() === 'linux';

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

test('a server that ends when it is asked before the handshake is ready, also for the doctor (10.11)', (t) => {
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

test('a call to a server that is not tried again soon fails at once, with its state (10.11)', async (t) => {
  // Every wait is ten times as long as it would be: the second attempt comes after ten seconds.
  t.mock.method(Math, 'random', () => 20);
  const hub = createHub({ mcpServers: { gone: { command: 'no-such-command-anywhere' } }, env: {} });
  t.after(() => hub.close());
  await hub.connect();
  const began = performance.now();
  await assert.rejects(
    hub.call('gone:x'),
    /not connected \(failed: cannot be started: .* was not found .*; next attempt in 11 s/,
  );
  assert.ok(performance.now() - began < 2000);
});

for (const [how, end] of [
  ['its client goes', (hub: { end(): Promise<number | null> }) => hub.end()],
  [
    'it gets SIGTERM',
    async (hub: { child: { kill(signal: NodeJS.Signals): boolean }; exit(): Promise<number | null> }) => {
      hub.child.kill('SIGTERM');
      await hub.exit();
    },
  ],
] as const) {
  test(`helpers in groups of their own are ended too when ${how} (10.22)`, { skip: !isLinux }, async (t) => {
    const tree = makeTree(t);
    const journal = tree.write('journal', '');
    const hub = await startHub(t, { one: upstream('detached', `journal=${journal}`) }, { tree });
    await hub.waitForTools(has('one:echo'), 'its tools');
    const pids = () =>
      [...readFileSync(journal, 'utf8').matchAll(/(?:started|helper) (\d+)/g)].map(([, pid]) => Number(pid));
    await eventually(() => pids().length === 3, 'both helpers');
    const all = pids();
    t.after(() => all.filter(isAlive).map((pid) => process.kill(pid, 'SIGKILL')));
    assert.ok(all.every(isAlive));
    await end(hub);
    await eventually(() => !all.some(isAlive), 'the end of all of them');
  });
}

test('a process is told from a later one of the same number (10.22)', { skip: !isLinux }, () => {
  const own = processAt(process.pid);
  assert.ok(own && isRunning(own));
  assert.equal(own.parent, process.ppid);
  const other = { ...own, start: own.start - 1 };
  assert.equal(isRunning(other), false);
  assert.deepEqual(withDescendants([other]), []);
  const child = spawn('sleep', ['60']);
  assert.deepEqual(
    withDescendants([own])
      .map(({ pid }) => pid)
      .filter((pid) => [process.pid, child.pid].includes(pid)),
    [process.pid, child.pid],
  );
  child.kill('SIGKILL');
});

test('on Windows programs of the system are started by their full path (10.21)', () => {
  assert.equal(taskkillPath({ SystemRoot: 'D:\\Win' }), 'D:\\Win\\System32\\taskkill.exe');
  assert.equal(taskkillPath({ SYSTEMROOT: 'C:\\WINDOWS' }), 'C:\\WINDOWS\\System32\\taskkill.exe');
  for (const env of [{}, { SystemRoot: '' }, { SystemRoot: 'here' }, { SystemRoot: '\\\\host\\share' }])
    assert.equal(taskkillPath(env), 'C:\\Windows\\System32\\taskkill.exe');
});

test("a relative command is looked up in the entry's own directory (10.21)", async (t) => {
  const tree = makeTree(t, { 'sub/tool.cmd': '', 'sub/run.exe': '', 'run.exe': '' });
  const launch = (command: string, platform: NodeJS.Platform) =>
    commandLine(command, [], { PATH: '.', PATHEXT: '.exe;.cmd', ComSpec: 'cmd' }, platform, tree.at('sub'));
  assert.equal(launch('./run', 'win32').command, tree.at('sub/run.exe'));
  assert.match(launch('./tool', 'win32').args.join(' '), /sub.tool\.cmd/);
  assert.equal(launch('./server.js', 'linux').command, tree.at('sub/server.js'));
  assert.equal(launch('/bin/sh', 'linux').command, '/bin/sh');
  assert.equal(launch('sh', 'linux').command, 'sh');
  // A directory of PATH that is relative would be one of the project's.
  assert.equal(launch('run', 'win32').command, 'run');

  const { command, args } = upstream();
  tree.write('sub/server', `#!/bin/sh\nexec ${[command, ...args].map((one) => `'${one}'`).join(' ')}\n`);
  chmodSync(tree.at('sub/server'), 0o755);
  const hub = await startHub(t, { one: { command: './server', cwd: 'sub' } }, { tree });
  await hub.waitForTools(has('one:echo'), 'its tools');
});

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

test('what a server asks and does not read the answers to is not held for it (10.6)', { skip: !isLinux }, async (t) => {
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

test('a server that sends requests and never reads is left; one that only does not read is not (10.6)', async (t) => {
  const deaf = open(t, DEAF).rpc;
  const sent = deaf.request('x', { text: 'x'.repeat(2 * 1024 * 1024) }).catch(() => {});
  const asks = open(t, asking.args[1] ?? '').rpc;
  await eventually(() => asks.ended.aborted, 'the end');
  assert.equal(asks.ended.reason.message, 'the server sends more requests than it accepts responses to');
  assert.equal(deaf.ended.aborted, false);
  await deaf.close();
  await sent;
});

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

test('a long message that no request waits for is dropped before it is decoded', async (t) => {
  const { rpc } = open(
    t,
    `process.stdin.on('data', () => console.log(JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} })));
     process.stdout.write('{"jsonrpc":"2.0","method":"x","params":{"list":[' + '{},'.repeat(8e6) + '{}]}}\\n');
     process.stderr.write('sent\\n');`,
  );
  const received: number[] = [];
  const timer = setInterval(() => received.push(performance.now()), 20);
  t.after(() => clearInterval(timer));
  await eventually(() => received.length > 20, 'some time');
  const gaps = received.slice(1).map((at, index) => at - (received[index] ?? at));
  assert.ok(Math.max(...gaps) < 1000, `${Math.max(...gaps)} ms without a turn`);
  assert.deepEqual(await rpc.request('x', {}), {});
});

test('without file descriptors for it a server is not started, and says why (10.5)', { skip: !isLinux }, (t) => {
  const tree = makeTree(t);
  const hub = new URL('../../../dist/hub/index.js', import.meta.url).href;
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
