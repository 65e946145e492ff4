/** How the program begins and ends, and what its streams may do to it. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { VERSION } from '../../src/version.ts';
import { environmentOf, modern, PROGRAM, runCommand, startProgram } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';

/** The bare program, for tests that hand it streams of their own. */
function spawnProgram(t: TestContext, tree: Tree, stdio: StdioOptions, args: readonly string[] = []) {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: tree.path,
    env: environmentOf(tree),
    stdio,
  });
  t.after(() => child.kill('SIGKILL'));
  child.stdin?.on('error', () => {}); // The program may end first.
  const read = { stderr: '' };
  child.stderr?.on('data', (chunk) => {
    read.stderr += chunk;
  });
  return { child, read, exit: once(child, 'close') };
}

/** A pipe of the operating system, as a shell makes it. Node connects children by sockets, which behave differently. */
function makePipe(t: TestContext, tree: Tree) {
  const path = tree.at('pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  const open = new Set([reader, writer]);
  const close = (end: number) => {
    if (open.delete(end)) closeSync(end);
  };
  t.after(() => [...open].forEach(close));
  return { reader, writer, close };
}

/** So many skills that the first scan is still under way when the first requests are read. */
function bigTree(t: TestContext): Tree {
  const names = Array.from({ length: 1000 }, (_, at) => `skill-${at}`);
  return makeTree(t, Object.fromEntries(names.map((name) => [`skills/${name}/SKILL.md`, skillText(name)])));
}

test('while the first scan is under way', async (t) => {
  const tree = bigTree(t);
  const list = { jsonrpc: '2.0', id: 'list', method: 'tools/list' };

  await t.test('a handshake is answered at once, and what needs no skills; what needs them after it', async (t) => {
    const program = startProgram(t, { tree });
    program.send(list);
    program.send({ jsonrpc: '2.0', id: 'unknown', method: 'no/such' });
    program.send({ jsonrpc: '2.0', id: 'discover', method: 'server/discover', params: modern() });
    await program.handshake();
    await program.waitFor(({ id }) => id === 'list', 'the list');
    const ids = program.received.map(({ id }) => id);
    assert.deepEqual([ids.toSorted(), ids.at(-1)], [[1000, 'discover', 'list', 'unknown'], 'list']);
    await program.waitForStderr(/^(?:.*client: .*\n)*.*scanning skill directories\n(?:.*\n)*.*ready: 1000 skills in /);
  });

  const call = { ...list, id: 'call', method: 'tools/call', params: { name: 'skill', arguments: { name: 'skill-7' } } };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    await t.test(`${signal} answers what is in flight, says so on stderr and exits 0`, async (t) => {
      const program = startProgram(t, { tree });
      program.send(list);
      program.send(call);
      // Its answer proves that those before it were read.
      await program.request('ping');
      program.child.kill(signal);
      assert.equal(await program.exit(), 0);
      assert.deepEqual(program.received.map(({ id }) => id).toSorted(), [1000, 'call', 'list']);
      assert.match(program.stderr(), new RegExp(`\nskillwire: stopped: ${signal}\n$`));
    });
  }

  await t.test('the end of stdin answers all, also a last line without a newline, and exits 0', async (t) => {
    const program = startProgram(t, { tree });
    program.send(list);
    program.sendRaw(PING.trimEnd());
    assert.equal(await program.end(), 0);
    assert.deepEqual(program.received.map(({ id }) => id).toSorted(), [1, 'list']);
    assert.match(program.stderr(), /\nskillwire: stopped: the client closed its end\n$/);
  });
});

describe('its streams', { concurrency: 4 }, () => {
  test('a signal does not make half a line a request', async (t) => {
    const program = startProgram(t, { tree: makeTree(t) });
    program.sendRaw(`${PING}{"jsonrpc":"2.0","id":2,`);
    await program.waitFor(({ id }) => id === 1, 'the ping');
    program.child.kill('SIGTERM');
    assert.equal(await program.exit(), 0);
    assert.equal(program.received.length, 1);
  });

  test('nothing on stdin at all ends it with exit 0 and without output', (t) => {
    const { status, stdout } = runCommand(makeTree(t), []);
    assert.deepEqual([status, stdout], [0, '']);
  });

  for (const args of [[], ['--help']]) {
    test(`a reader of stdout that goes away ends it quietly with exit 0: skillwire ${args}`, async (t) => {
      const tree = makeTree(t);
      const pipe = makePipe(t, tree);
      const { child, read, exit } = spawnProgram(t, tree, ['pipe', pipe.writer, 'pipe'], args);
      pipe.close(pipe.writer);
      pipe.close(pipe.reader);
      child.stdin?.write(PING);
      assert.deepEqual(await exit, [0, null]);
      assert.doesNotMatch(read.stderr, /EPIPE|Error|at /);
    });
  }

  test('a full stderr that is not read does not stop it, and loses lines instead', async (t) => {
    const tree = makeTree(t, { 'skills/good/SKILL.md': skillText('good') });
    const pipe = makePipe(t, tree);
    // Far more complaints than a pipe and the buffer behind it hold.
    for (let at = 0; at < 1500; at++) tree.write(`skills/${'long'.repeat(50)}${at}/SKILL.md`, 'no front matter');
    const { child, exit } = spawnProgram(t, tree, ['pipe', 'pipe', pipe.writer], ['--refresh-interval', '1']);
    pipe.close(pipe.writer);
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
    });
    for (const id of [1, 2, 3])
      child.stdin?.write(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"skills.list","arguments":{}}}\n`,
      );
    child.stdin?.end(PING.replace('1', '4'));
    assert.deepEqual(await exit, [0, null]);
    assert.equal(output.trimEnd().split('\n').length, 4);
    // A pipe holds 64 KiB, and it is full: anything that had waited for room would still be waiting.
    assert.ok(readSync(pipe.reader, Buffer.alloc(1024 * 1024)) > 60 * 1024);
  });

  test('a closed stderr, or one whose reader goes away, does not stop it', async (t) => {
    const closed = startProgram(t, { tree: makeTree(t), through: ['/bin/sh', '-c', 'exec "$0" "$@" 2>&-'] });
    const left = startProgram(t, { tree: makeTree(t), args: ['--refresh-interval', '1'] });
    await left.waitForStderr(/refresh/);
    left.child.stderr.destroy();
    for (const program of [closed, left]) {
      await program.handshake();
      assert.equal(await program.end(), 0);
    }
    assert.equal(closed.stderr(), '');
  });

  test('while stdout is full it reads no more, holds little, and goes on where it stopped', async (t) => {
    const body = 'x'.repeat(512 * 1024);
    const tree = makeTree(t, { 'skills/big/SKILL.md': skillText('big', 'Large', body) });
    const { stdin, stdout, pid } = spawnProgram(t, tree, ['pipe', 'pipe', 'ignore']).child;
    assert.ok(stdin && stdout && pid);
    stdin.write(PING);
    await once(stdout, 'readable'); // It runs; from here on nobody reads.
    const resident = () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
    const before = resident();

    // More than the buffers between us and the requests that may wait hold; all answers would be 10 GB.
    const args = '"params":{"name":"skill","arguments":{"name":"big"}}';
    for (let id = 1; id <= 20_000; id++) stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"tools/call",${args}}\n`);
    const waiting = await settled(() => stdin.writableLength);
    assert.ok(waiting > 0, 'the program took every request while nobody read its answers');
    assert.ok(resident() < before + 100, `grew from ${before} to ${resident()} MiB`);

    stdin.end();
    let [bytes, lines] = [0, 0];
    for await (const chunk of stdout) {
      bytes += chunk.length;
      for (const byte of chunk) if (byte === 0x0a) lines++;
      if (bytes > 40 * body.length) break; // It flows again; the rest would only take time.
    }
    assert.ok(lines >= 30);
  });

  test('on a terminal it says what it waits for and how to connect, and ends with Ctrl+D', async (t) => {
    const tree = makeTree(t);
    const env = { ...environmentOf(tree), TERM: 'dumb' };
    // `script` gives the program a terminal of its own.
    const child = spawn('script', ['-qec', `"${process.execPath}" "${PROGRAM}"`, '/dev/null'], { cwd: tree.path, env });
    t.after(() => child.kill('SIGKILL'));
    child.stdin.on('error', () => {}); // The program may end first.
    let screen = '';
    child.stdout.on('data', (chunk) => {
      screen += chunk;
      if (/ready: 0 skills/.test(screen)) child.stdin.write('\x04');
    });
    assert.deepEqual(await once(child, 'close'), [0, null]);
    assert.match(screen, /waiting for an MCP client to write JSON-RPC lines to stdin; Ctrl\+D or Ctrl\+C ends it/);
    const command = /claude mcp add skillwire -- (.*?)(?: \(for example\))?\r\n/.exec(screen)?.[1] ?? '';
    // It works as it is printed.
    const { stdout } = spawnSync('sh', ['-c', `${command} --version`], { encoding: 'utf8', env });
    assert.equal(stdout, `${VERSION}\n`);
    assert.match(screen, /stopped: the client closed its end/);
  });
});

/** The value once it has stopped moving. */
async function settled(look: () => number): Promise<number> {
  for (let last = Number.NaN; ; ) {
    await new Promise((done) => setTimeout(done, 300));
    const now = look();
    if (now === last) return now;
    last = now;
  }
}
