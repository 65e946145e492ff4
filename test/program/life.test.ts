/** How the program begins and ends, and what its streams may do to it. */
import assert from 'node:assert/strict';
import { execFileSync, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { environmentOf, modern, PROGRAM, startProgram } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';

/** The bare program with streams of its own, such as a pipe of the operating system. */
function spawnProgram(t: TestContext, tree: Tree, stdio: StdioOptions, args: readonly string[] = []) {
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: tree.path, env: environmentOf(tree), stdio });
  t.after(() => child.kill('SIGKILL'));
  child.stdin?.on('error', () => {}); // The program may end first.
  return { child, exit: once(child, 'close') };
}

/** A pipe as a shell makes it. Node connects children by sockets, which behave differently. */
function makePipe(tree: Tree) {
  const path = tree.at('pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reader, writer: openSync(path, constants.O_WRONLY) };
}

test('while the first scan is under way', async (t) => {
  // So many that it still is when the first requests are read.
  const names = Array.from({ length: 1000 }, (_, at) => `skill-${at}`);
  const tree = makeTree(t, Object.fromEntries(names.map((name) => [`skills/${name}/SKILL.md`, skillText(name)])));
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

  for (const [how, reason] of [
    ['SIGTERM', 'SIGTERM'],
    ['the end of stdin', 'the client closed its end'],
  ] as const)
    await t.test(`${how} answers what was read, says so on stderr, and exits 0`, async (t) => {
      const program = startProgram(t, { tree });
      program.send(list);
      await program.request('ping'); // Behind it: it has been read.
      // A last line without a newline is a message only when nothing more can come.
      program.sendRaw(PING.trimEnd());
      if (how === 'SIGTERM') program.child.kill(how);
      else program.child.stdin.end();
      assert.equal(await program.exit(), 0);
      const last = how === 'SIGTERM' ? [] : [1];
      assert.deepEqual(program.received.map(({ id }) => id).toSorted(), [...last, 1000, 'list']);
      assert.match(program.stderr(), new RegExp(`\nskillwire: stopped: ${reason}\n$`));
    });
});

describe('its streams', { concurrency: 4 }, () => {
  test('a reader of stdout that goes away ends it quietly with exit 0', async (t) => {
    const tree = makeTree(t);
    const { reader, writer } = makePipe(tree);
    const { child, exit } = spawnProgram(t, tree, ['pipe', writer, 'pipe']);
    closeSync(writer);
    closeSync(reader);
    child.stdin?.write(PING);
    assert.ok(child.stderr);
    assert.doesNotMatch(await text(child.stderr), /EPIPE|Error|at /);
    assert.deepEqual(await exit, [0, null]);
  });

  test('a full stderr that is not read does not stop it, and loses lines instead', async (t) => {
    const tree = makeTree(t, { 'skills/good/SKILL.md': skillText('good') });
    const { reader, writer } = makePipe(tree);
    // Far more complaints than a pipe and the buffer behind it hold.
    for (let at = 0; at < 1500; at++) tree.write(`skills/${'long'.repeat(50)}${at}/SKILL.md`, 'no front matter');
    const { child, exit } = spawnProgram(t, tree, ['pipe', 'pipe', writer], ['--refresh-interval', '1']);
    closeSync(writer);
    const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"skills.list","arguments":{}}}\n';
    child.stdin?.end(['1', '2', '3'].map((id) => call.replace('1', id)).join(''));
    assert.ok(child.stdout);
    assert.equal((await text(child.stdout)).trimEnd().split('\n').length, 3);
    assert.deepEqual(await exit, [0, null]);
    // A pipe holds 64 KiB, and it is full: anything that had waited for room would still be waiting.
    assert.ok(readSync(reader, Buffer.alloc(1024 * 1024)) > 60 * 1024);
    closeSync(reader);
  });
});
