/** How the program begins and ends, and what its streams may do to it. */
import assert from 'node:assert/strict';
import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { VERSION } from '../../src/version.ts';
import { makePipe } from '../harness/pipe.ts';
import { modern, PROGRAM, startProgram } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';

/** The bare program, for tests that hand it streams of their own. */
function spawnProgram(t: TestContext, tree: Tree, stdio: StdioOptions, args: readonly string[] = []): ChildProcess {
  const env = { PATH: process.env.PATH, HOME: tree.at('home') };
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: tree.path, env, stdio });
  t.after(() => child.kill('SIGKILL'));
  child.stdin?.on('error', () => {}); // The program may end first.
  return child;
}

/** So many skills that the first scan is still under way when the first requests are read. */
function bigTree(t: TestContext): Tree {
  const names = Array.from({ length: 1000 }, (_, at) => `skill-${at}`);
  return makeTree(t, Object.fromEntries(names.map((name) => [`skills/${name}/SKILL.md`, skillText(name)])));
}

test('while the first scan is under way', async (t) => {
  const tree = bigTree(t);

  await t.test(
    'handshakes are answered at once, what needs no skills before it is done, what needs them after it',
    async (t) => {
      const program = startProgram(t, { tree });
      program.send({ jsonrpc: '2.0', id: 'list', method: 'tools/list' });
      program.send({ jsonrpc: '2.0', id: 'unknown', method: 'no/such' });
      program.send({ jsonrpc: '2.0', id: 'discover', method: 'server/discover', params: modern() });
      await program.handshake();
      await program.waitFor(({ id }) => id === 'list', 'the list');
      assert.deepEqual(
        program.received.map(({ id }) => id),
        ['unknown', 'discover', 1000, 'list'],
      );
      await program.waitForStderr(
        /^(?:skillwire: client: .*\n)*skillwire: scanning skill directories\n(?:skillwire: client: .*\n)*skillwire: ready: 1000 skills in \d+ ms\n/,
      );
    },
  );

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    await t.test(`${signal} answers what is in flight, says so on stderr and exits 0`, async (t) => {
      const program = startProgram(t, { tree });
      program.send({ jsonrpc: '2.0', id: 'list', method: 'tools/list' });
      program.send({
        jsonrpc: '2.0',
        id: 'call',
        method: 'tools/call',
        params: { name: 'skill', arguments: { name: 'skill-7' } },
      });
      // Its answer proves that those before it were read.
      await program.request('ping');
      program.child.kill(signal);
      assert.equal(await program.exit(), 0);
      assert.deepEqual(program.received.map(({ id }) => id).toSorted(), [1000, 'call', 'list']);
      assert.match(program.stderr(), new RegExp(`\\nskillwire: stopped: ${signal}\\n$`));
    });
  }

  await t.test(
    'the end of stdin answers what was asked, also a last line without a newline, and exits 0',
    async (t) => {
      const program = startProgram(t, { tree });
      program.send({ jsonrpc: '2.0', id: 'list', method: 'tools/list' });
      program.sendRaw('{"jsonrpc":"2.0","id":"last","method":"ping"}');
      assert.equal(await program.end(), 0);
      assert.deepEqual(program.received.map(({ id }) => id).toSorted(), ['last', 'list']);
      assert.match(program.stderr(), /\nskillwire: stopped: the client closed its end\n$/);
    },
  );
});

test('a signal does not make half a line a request', async (t) => {
  const program = startProgram(t, { tree: makeTree(t) });
  program.sendRaw('{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":2,');
  await program.waitFor(({ id }) => id === 1, 'the ping');
  program.child.kill('SIGTERM');
  assert.equal(await program.exit(), 0);
  assert.equal(program.received.length, 1);
});

test('nothing on stdin at all ends it with exit 0 and without output', async (t) => {
  const child = spawnProgram(t, makeTree(t), ['ignore', 'pipe', 'ignore']);
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.equal(output, '');
});

test('a reader of stdout that goes away ends it quietly with exit 0', async (t) => {
  const tree = makeTree(t);
  const pipe = makePipe(t, tree, 'stdout');
  const child = spawnProgram(t, tree, ['pipe', pipe.writer, 'pipe']);
  pipe.closeWriter();
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  pipe.closeReader();
  child.stdin?.write(PING);
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.doesNotMatch(errors, /EPIPE|Error|at /);
});

test('help into a pipe that nobody reads ends quietly with exit 0', async (t) => {
  const tree = makeTree(t);
  const pipe = makePipe(t, tree, 'stdout');
  const child = spawnProgram(t, tree, ['ignore', pipe.writer, 'pipe'], ['--help']);
  pipe.closeWriter();
  pipe.closeReader();
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.equal(errors, '');
});

test('a full stderr that nobody reads does not stop it', async (t) => {
  const tree = makeTree(t);
  const pipe = makePipe(t, tree, 'stderr');
  const child = spawnProgram(t, tree, ['pipe', 'pipe', pipe.writer], ['--refresh-interval', '1']);
  pipe.closeWriter();
  await fillUp(child, tree);
  assert.deepEqual(await once(child, 'close'), [0, null]);
  // A pipe holds 64 KiB, and it is full: anything that had waited for room would still be waiting.
  const space = Buffer.alloc(1024 * 1024);
  assert.ok(readSync(pipe.reader, space) > 60 * 1024);
});

/** Reads a bad file again and again, each time with a longer complaint, until far more was logged than a pipe holds. */
async function fillUp(child: ChildProcess, tree: Tree): Promise<void> {
  const bad = Array.from({ length: 400 }, (_, at) => `skills/${'long'.repeat(50)}${at}/SKILL.md`);
  for (const name of bad) tree.write(name, 'no front matter');
  const answer = once(child.stdout ?? child, 'data');
  child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
  await answer;
  tree.write('skills/good/SKILL.md', skillText('good'));
  for (let listed = false; !listed; ) {
    const more = once(child.stdout ?? child, 'data');
    child.stdin?.write(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"skill","arguments":{"name":"good"}}}\n',
    );
    listed = String(await more).includes('Loading: good');
  }
  child.stdin?.end();
}

test('a closed stderr does not stop it', async (t) => {
  const program = startProgram(t, { tree: makeTree(t), through: ['/bin/sh', '-c', 'exec "$0" "$@" 2>&-'] });
  await program.handshake();
  assert.equal(await program.end(), 0);
  assert.equal(program.stderr(), '');
});

test('a reader of stderr that goes away does not stop it', async (t) => {
  const program = startProgram(t, { tree: makeTree(t), args: ['--refresh-interval', '1'] });
  await program.waitForStderr(/refresh/);
  program.child.stderr.destroy();
  await program.handshake();
  assert.equal(await program.end(), 0);
});

test('while stdout is full it reads no more, holds little, and goes on where it stopped', async (t) => {
  const body = 'x'.repeat(512 * 1024);
  const tree = makeTree(t, { 'skills/big/SKILL.md': skillText('big', 'Large', body) });
  const child = spawnProgram(t, tree, ['pipe', 'pipe', 'ignore']);
  const { stdin, stdout, pid } = child;
  assert.ok(stdin && stdout && pid);
  stdin.write(PING);
  await once(stdout, 'readable'); // It runs; from here on nobody reads.
  const before = residentMiB(pid);

  // Two kinds of flood: many requests that fit into one read, and more than all the buffers between us hold.
  const count = 4000;
  const request = (id: number) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"skill","arguments":{"name":"big"}}}\n`;
  for (let id = 1; id <= count; id++) stdin.write(request(id));
  const settled = await settle(() => stdin.writableLength);
  assert.ok(settled > 0, 'the program took every request while nobody read its answers');
  assert.ok(residentMiB(pid) < before + 200, `grew from ${before} to ${residentMiB(pid)} MiB`);

  stdin.end();
  let [bytes, lines] = [0, 0];
  for await (const chunk of stdout) {
    bytes += chunk.length;
    for (const byte of chunk) if (byte === 0x0a) lines++;
    if (bytes > 40 * body.length) break; // It flows again; the rest would only take time.
  }
  assert.ok(lines >= 30);
});

function residentMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** The value once it has stopped moving. */
async function settle(look: () => number): Promise<number> {
  for (let last = Number.NaN; ; ) {
    await new Promise((done) => setTimeout(done, 300));
    const now = look();
    if (now === last) return now;
    last = now;
  }
}

test('on a terminal it says what it waits for and how to connect, and ends with Ctrl+D', async (t) => {
  const tree = makeTree(t);
  const env = { PATH: process.env.PATH, HOME: tree.at('home'), TERM: 'dumb' };
  // `script` gives the program a terminal of its own.
  const child = spawn('script', ['-qec', `"${process.execPath}" "${PROGRAM}"`, '/dev/null'], { cwd: tree.path, env });
  t.after(() => child.kill('SIGKILL'));
  let screen = '';
  child.stdout.on('data', (chunk) => {
    screen += chunk;
    if (/ready: 0 skills/.test(screen)) child.stdin.write('\x04');
  });
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.match(screen, /waiting for an MCP client to write JSON-RPC lines to stdin; Ctrl\+D or Ctrl\+C ends it/);
  const command = /claude mcp add skillwire -- ([^\r\n]*)/.exec(screen)?.[1] ?? '';
  assert.match(command, / --skip-own$/);
  // It works as it is printed.
  const { stdout } = spawnSync('sh', ['-c', `${command} --version`], { encoding: 'utf8', env });
  assert.equal(stdout, `${VERSION}\n`);
  assert.match(screen, /stopped: the client closed its end/);
});
