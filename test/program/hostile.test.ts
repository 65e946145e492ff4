/** Bad input, odd input and far too much of it, through the pipe of the built program. HTTP: test/transports/http. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { type Answer, type Program, startProgram } from '../harness/program.ts';
import { createRandom } from '../harness/sketch.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const MIB = 1024 * 1024;
const start = (t: TestContext) => startProgram(t, { tree: makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') }) });

/** Sends it, and a call after it; gives all that came before the answer to the call, which is never the quicker one. */
async function replies(program: Program, input: string | Uint8Array): Promise<readonly Answer[]> {
  const before = program.received.length;
  program.sendRaw(input);
  program.sendRaw('\n');
  const last = await program.request('tools/call', { name: 'skill', arguments: { name: 'none of these' } });
  assert.equal(last.result.isError, true);
  // Requests that are answered in one turn may be answered in any order; with the next turn all of them have been.
  const next = await program.request('ping');
  return program.received.slice(before).filter((answer) => answer !== last && answer !== next);
}

const codes = (answers: readonly Answer[]) => answers.flat().map(({ id, error }) => [id, error?.code]);
const callOf = (args: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"skill","arguments":${args}}}`;
const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
const ping = (id: unknown) => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });
const pad = 'x'.repeat(17 * MIB);

/** What is sent, and the id and code of the one error that comes. */
const LINES: Readonly<Record<string, readonly [input: string | Uint8Array, code: number, id?: unknown]>> = {
  'bytes that are not UTF-8': [Uint8Array.of(0xff, 0xfe, 0x7b, 0x7d), -32700],
  'a zero in a text': ['{"jsonrpc":"2.0","id":1,"method":"a\u0000b"}', -32700],
  'a batch in a batch': ['[[]]', -32600],
  'deep lists': [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, -32600],
  'deep objects left open': ['{"a":'.repeat(100_000), -32700],
  'deep arguments': [callOf(deep), -32602, 1],
  'a deep name': [callOf(`{"name":${deep}}`), -32602, 1],
  'a deep id': [`{"jsonrpc":"2.0","id":${deep},"method":"ping"}`, -32600],
  'an endless id': ['{"jsonrpc":"2.0","id":1e400,"method":"ping"}', -32600],
  'a method that every object has': ['{"jsonrpc":"2.0","id":1,"method":"__proto__"}', -32601, 1],
  'a name in the prototype': [callOf('{"__proto__":{"name":"pdf"}}'), -32602, 1],
  'a prototype beside the name': [callOf('{"name":"pdf","__proto__":{}}'), -32602, 1],
  'a line of 17 MiB': [`{"jsonrpc":"2.0","id":1,"method":"${pad}"}`, -32600],
  'a batch of 65': [`[${Array.from({ length: 65 }, (_, id) => ping(id))}]`, -32600],
};

describe('hostile input', { concurrency: 4 }, () => {
  test('what is no message is answered with one error, and the next line counts', async (t) => {
    const program = start(t);
    await program.handshake('2025-03-26');
    for (const [what, [input, code, id = null]] of Object.entries(LINES))
      assert.deepEqual(codes(await replies(program, input)), [[id, code]], what);
    program.sendRaw(`[${Array.from({ length: 64 }, (_, id) => ping(id))}]\n`);
    await program.waitFor((one) => Array.isArray(one) && one.length === 64, 'the answers to a batch of 64');
    const [answer] = await replies(program, `{"jsonrpc":"2.0","id":1,"method":"${pad.slice(2 * MIB)}"}`);
    assert.equal(answer.error.code, -32601, 'up to 16 MiB it is a message');
    assert.ok(JSON.stringify(answer).length < 500, 'an error does not echo megabytes');
    assert.equal(await program.end(), 0);
  });

  test('a skill that turns into something else is answered from the snapshot, then not found', async (t) => {
    const names = ['dir', 'fifo', 'link', 'gone'];
    const tree = makeTree(t, Object.fromEntries(names.map((name) => [`skills/${name}/SKILL.md`, skillText(name)])));
    const program = startProgram(t, { tree, args: ['--no-refresh'] });
    await program.description();
    const file = (name: string) => tree.at(`skills/${name}/SKILL.md`);
    for (const name of names) rmSync(file(name));
    mkdirSync(file('dir'));
    execFileSync('mkfifo', [file('fifo')]);
    symlinkSync('/etc/passwd', file('link'));
    for (const name of names) assert.ok((await program.skill(name)).endsWith(skillText(name)), name);
    for (const name of names) {
      const { error } = await program.request('resources/read', { uri: `skill://custom/${name}/SKILL.md` });
      assert.equal(error.code, -32602, name);
    }
    await program.call('skills.list', {}); // Looks at the disk before it answers.
    for (const name of names) assert.match(await program.skill(name), /^Skill '\w+' not found\./);
    assert.equal(await program.end(), 0);
  });

  test('mutated messages, five thousand of them: only protocol comes back, and it still serves', async (t) => {
    const program = start(t);
    const seeds = [
      callOf('{"name":"pdf"}'),
      '{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}',
      '[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}]',
      '{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}',
      '{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"skill://custom/pdf/SKILL.md"}}',
    ].map((text) => Buffer.from(text));
    const random = createRandom(20260728);
    const below = (limit: number) => Math.floor(random() * limit);
    const messages = Array.from({ length: 5000 }, () => mutate(seeds[below(seeds.length)] ?? Buffer.of(), below));
    const answers = await replies(program, Buffer.concat(messages.flatMap((message) => [message, Buffer.from('\n')])));
    assert.deepEqual(program.noise, []);
    for (const answer of answers.flat()) {
      assert.equal(answer.jsonrpc, '2.0');
      assert.ok('result' in answer !== 'error' in answer, JSON.stringify(answer));
      if (answer.error) assert.notEqual(answer.error.code, -32603, JSON.stringify(answer));
    }
    assert.equal(await program.end(), 0);
  });
});

function mutate(seed: Buffer, below: (limit: number) => number): Uint8Array {
  let message = seed;
  for (let times = below(4); times >= 0; times--) {
    const at = below(message.length);
    const [head, tail] = [message.subarray(0, at), message.subarray(at)];
    const word = ['null', '{}', '[]', '"', '\\', '1e9', '-0'][below(7)] ?? '';
    const changed = [
      [head, tail.subarray(1 + below(8))],
      [head, Buffer.of(below(256)), tail.subarray(1)],
      [head, Buffer.from(word), tail],
      [head, message.subarray(0, below(40)), tail],
    ][below(4)];
    message = Buffer.concat(changed ?? []);
  }
  return message.filter((byte) => byte !== 0x0a);
}
