/** Bad input, odd input and far too much of it, through the pipe of the built program. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { makeFifo } from '../harness/pipe.ts';
import { type Answer, type Program, startProgram } from '../harness/program.ts';
import { makeTree, skillText, type Tree } from '../harness/tree.ts';

function start(t: TestContext, tree: Tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') })): Program {
  return startProgram(t, { tree });
}

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

const codes = (answers: readonly Answer[]) => answers.map(({ id, error }) => [id, error?.code]);

test('input in single bytes, characters cut in the middle, is understood', async (t) => {
  const program = start(t, makeTree(t, { 'skills/x/SKILL.md': skillText('é用🙂') }));
  const text =
    '{"jsonrpc":"2.0","id":"é用🙂","method":"tools/call","params":{"name":"skill","arguments":{"name":"É用🙂"}}}\r\n';
  for (const byte of Buffer.from(text)) {
    program.sendRaw(Uint8Array.of(byte));
    await new Promise((done) => setImmediate(done));
  }
  const { result } = await program.waitFor(({ id }) => id === 'é用🙂', 'the answer');
  assert.match(result.content[0].text, /^Loading: é用🙂\n/);
});

test('what is not UTF-8, not JSON or not a message is answered with an error, and the next line counts', async (t) => {
  const program = start(t);
  const cases: readonly (readonly [input: string | Uint8Array, code: number])[] = [
    [Uint8Array.of(0xff, 0xfe, 0x7b, 0x7d), -32700],
    [Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}', 'latin1'), -32700],
    ['\u0000\u0000\u0000', -32700],
    ['{"jsonrpc":"2.0","id":1,"method":"a\u0000b"}', -32700],
    ['\ufeff\ufeff{}', -32700],
    ['{"jsonrpc":"2.0",', -32700],
    ["{'jsonrpc':'2.0'}", -32700],
    ['NaN', -32700],
    ['[', -32700],
    ['1'.repeat(10_000), -32600],
    ['""', -32600],
    ['[[]]', -32600],
    ['['.repeat(100_000), -32700],
    [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, -32600],
    ['{"a":'.repeat(100_000), -32700],
    ['Content-Length: 40', -32700],
    ['GET /mcp HTTP/1.1', -32700],
  ];
  for (const [input, code] of cases)
    assert.deepEqual(codes(await replies(program, input)), [[null, code]], String(input).slice(0, 60));
});

test('arguments nested a hundred thousand deep are refused like any other', async (t) => {
  const program = start(t);
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
  const call = (args: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"skill","arguments":${args}}}`;
  assert.deepEqual(codes(await replies(program, call(deep))), [[1, -32602]]);
  assert.deepEqual(codes(await replies(program, call(`{"name":${deep}}`))), [[1, -32602]]);
  assert.deepEqual(codes(await replies(program, `{"jsonrpc":"2.0","id":${deep},"method":"ping"}`)), [[null, -32600]]);
});

test('a line of 33 MiB is refused without being kept, by its id where that can be had, and the next line counts (10.23)', async (t) => {
  const program = start(t);
  const pad = 'x'.repeat(33 * 1024 * 1024);
  const rows: readonly (readonly [string, unknown])[] = [
    [`{"jsonrpc":"2.0","id":1,"method":"${pad}"}`, 1],
    // As the official SDK writes it.
    [
      `{"method":"tools/call","params":{"name":"a","arguments":{"id":5,"b":"${pad}"}},"jsonrpc":"2.0","id":"two"}`,
      'two',
    ],
    [`{"method":"tools/call","params":{"name":"a","arguments":{"id":5,"b":"${pad}","id":6}},"jsonrpc":"2.0"}`, null],
    [`[{"jsonrpc":"2.0","id":1,"method":"${pad}"}]`, null],
    [pad, null],
  ];
  for (const [line, id] of rows) {
    assert.deepEqual(codes(await replies(program, line)), [[id, -32600]], line.slice(0, 80));
  }
  const fits = `{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(31 * 1024 * 1024)}"}`;
  const [answer] = await replies(program, fits);
  assert.equal(answer.error.code, -32601);
  assert.ok(JSON.stringify(answer).length < 500, 'an error does not echo megabytes');
});

test('an id is given back whole, and one that goes on too long is none (10.1)', async (t) => {
  const program = start(t);
  const send = (id: string) => replies(program, JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' }));
  const [answer] = await send('ä'.repeat(1024));
  assert.equal(answer.id, 'ä'.repeat(1024));
  assert.deepEqual(codes(await send('ä'.repeat(1025))), [[null, -32600]]);
  assert.deepEqual(codes(await replies(program, '{"jsonrpc":"2.0","id":1e400,"method":"ping"}')), [[null, -32600]]);
});

test('names of the prototype are only names', async (t) => {
  const program = start(t);
  const send = (method: string, params: string) =>
    replies(program, `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
  for (const method of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    assert.deepEqual(codes(await send(method, '{}')), [[1, -32601]]);
    assert.deepEqual(codes(await send('tools/call', `{"name":"${method}"}`)), [[1, -32602]]);
    const [answer] = await send('tools/call', `{"name":"skill","arguments":{"name":"${method}"}}`);
    assert.match(answer.result.content[0].text, /not found/);
  }
  const polluting = [
    '{"name":"skill","arguments":{"__proto__":{"name":"pdf"}}}',
    '{"__proto__":{"name":"skill"},"arguments":{"name":"pdf"}}',
  ];
  for (const params of polluting) assert.deepEqual(codes(await send('tools/call', params)), [[1, -32602]]);
  assert.deepEqual(codes(await send('tools/call', '{"name":"skill","arguments":{"name":"pdf","__proto__":{}}}')), [
    [1, -32602],
  ]);
  await replies(program, '{"jsonrpc":"2.0","__proto__":{"id":1},"method":"ping"}');
  assert.equal(await program.end(), 0);
});

test('half a surrogate pair goes in and out without breaking the line', async (t) => {
  const program = start(t);
  const [answer] = await replies(
    program,
    String.raw`{"jsonrpc":"2.0","id":"\ud800","method":"tools/call","params":{"name":"skill","arguments":{"name":"\udc00\ud83d"}}}`,
  );
  assert.equal(answer.id, '\ud800');
  assert.match(answer.result.content[0].text, /not found/);
});

test('names that look like paths lead nowhere', async (t) => {
  const tree = makeTree(t, {
    'skills/pdf/SKILL.md': skillText('pdf'),
    'skills/pdf/inner.md': 'inner',
    'secret/SKILL.md': skillText('secret', 'Not to be served'),
    'home/.ssh/id_rsa': 'private',
  });
  const program = start(t, tree);
  const names = [
    '../secret',
    '../../etc/passwd',
    '/etc/passwd',
    '.ssh/id_rsa',
    '~/.ssh/id_rsa',
    'pdf/../../secret',
    'pdf/inner.md',
  ];
  const more = [
    tree.at('secret'),
    tree.at('secret/SKILL.md'),
    '%2e%2e%2fsecret',
    '..\\secret',
    'custom:../secret',
    'pdf\u0000',
    './pdf',
    'pdf/',
  ];
  for (const name of [...names, ...more]) {
    const result = await program.call('skill', { name });
    assert.equal(result.isError, true, name);
    assert.match(result.content[0].text, /^Skill '.*' not found\./, name);
    assert.doesNotMatch(result.content[0].text, /Not to be served|private/);
  }
});

test('a name of a megabyte is refused, and briefly (10.3)', async (t) => {
  const program = start(t);
  for (const name of [
    'x'.repeat(1_000_000),
    'a:'.repeat(500_000),
    ' '.repeat(999_999).concat('x'),
    '\u0301'.repeat(500_000),
  ]) {
    const { error } = await program.request('tools/call', { name: 'skill', arguments: { name } });
    assert.deepEqual(error, { code: -32602, message: 'invalid params: name must have at most 4096 characters' });
  }
});

test('a hundred thousand blank lines are nothing, ten thousand pings are ten thousand answers', async (t) => {
  const program = start(t);
  assert.deepEqual(await replies(program, '\n \r\n\t\n'.repeat(33_333)), []);
  const pings = Array.from({ length: 10_000 }, (_, id) => `{"jsonrpc":"2.0","id":"p${id}","method":"ping"}\n`);
  const answers = await replies(program, pings.join(''));
  assert.deepEqual(
    answers.map(({ id }) => id),
    pings.map((_, id) => `p${id}`),
  );
});

test('half a line before the end of the input is a parse error, then exit 0', async (t) => {
  const program = start(t);
  program.sendRaw('{"jsonrpc":"2.0","id":1,"meth');
  assert.equal(await program.end(), 0);
  assert.deepEqual(codes(program.received), [[null, -32700]]);
});

test('what is called SKILL.md and is none is left out and never blocks', async (t) => {
  const tree = makeTree(t, { 'skills/good/SKILL.md': skillText('good') });
  mkdirSync(tree.at('skills/fifo'));
  makeFifo(tree, 'skills/fifo/SKILL.md');
  mkdirSync(tree.at('skills/directory/SKILL.md'), { recursive: true });
  for (const target of ['/dev/zero', '/proc/self/environ', '/etc/passwd', '../good/SKILL.md', 'SKILL.md', 'nowhere']) {
    tree.link(`skills/link-${target.replaceAll(/\W/g, '_')}/SKILL.md`, target);
  }
  tree.link('skills/loop', '.');
  tree.link('skills/up', '..');
  tree.write('skills/huge/SKILL.md', Buffer.alloc(2 * 1024 * 1024, `${skillText('huge')}\n`));
  tree.write(
    'skills/binary/SKILL.md',
    Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0x00, 0xfe, 0x0a, 0x2d, 0x2d, 0x2d, 0x0a]),
  );
  const program = start(t, tree);
  const names = [...(await program.description()).matchAll(/<name>(.*)<\/name>/g)].map(([, name]) => name);
  assert.deepEqual(names, ['good']);
  for (const place of [
    'fifo',
    'directory',
    'huge',
    'link-_dev_zero',
    'link-_etc_passwd',
    'link-SKILL_md',
    'link-nowhere',
  ]) {
    await program.waitForStderr(new RegExp(`warn: .*/skills/${place}/SKILL\\.md: `));
  }
  assert.equal(await program.end(), 0);
});

test('a skill that turns into something else between scan and call is an error for that call', async (t) => {
  const tree = makeTree(
    t,
    Object.fromEntries(['dir', 'fifo', 'link', 'gone'].map((name) => [`skills/${name}/SKILL.md`, skillText(name)])),
  );
  const program = startProgram(t, { tree, args: ['--no-refresh'] });
  await program.description();
  const file = (name: string) => tree.at(`skills/${name}/SKILL.md`);
  for (const name of ['dir', 'fifo', 'link', 'gone']) rmSync(file(name));
  mkdirSync(file('dir'));
  makeFifo(tree, 'skills/fifo/SKILL.md');
  symlinkSync('/etc/passwd', file('link'));
  for (const name of ['dir', 'fifo', 'gone']) {
    const result = await program.call('skill', { name });
    assert.equal(result.isError, true, name);
    assert.match(result.content[0].text, new RegExp(`^Skill '${name}' cannot be read: `));
  }
  assert.doesNotMatch((await program.call('skill', { name: 'link' })).content[0].text, /root:/);
  assert.equal(await program.end(), 0);
});

test('mutated messages, five thousand of them: only protocol comes back, and it still serves', async (t) => {
  const program = start(t);
  const seeds = [
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"skill","arguments":{"name":"pdf"}}}',
    '{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}',
    '[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}]',
    '{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}',
    '{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"skill://custom/pdf/SKILL.md"}}',
  ].map((text) => Buffer.from(text));
  const random = createRandom(20260728);
  const messages = Array.from({ length: 5000 }, () => mutate(seeds, random));
  const answers = await replies(program, Buffer.concat(messages.flatMap((message) => [message, Buffer.from('\n')])));
  assert.deepEqual(program.noise, []);
  for (const answer of [answers].flat(2)) {
    assert.equal(answer.jsonrpc, '2.0');
    assert.ok('result' in answer !== 'error' in answer, JSON.stringify(answer));
    if (answer.error) assert.notEqual(answer.error.code, -32603, JSON.stringify(answer));
  }
  assert.equal(await program.end(), 0);
});

/** The same numbers in every run, so that a failure can be looked at. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function mutate(seeds: readonly Buffer[], random: (below: number) => number): Buffer {
  let message = Buffer.from(seeds[random(seeds.length)] ?? '');
  for (let times = random(4); times >= 0; times--) {
    const at = random(message.length);
    const change = [
      () => Buffer.concat([message.subarray(0, at), message.subarray(at + 1 + random(8))]),
      () => Buffer.concat([message.subarray(0, at), Buffer.of(random(256)), message.subarray(at + 1)]),
      () =>
        Buffer.concat([
          message.subarray(0, at),
          Buffer.from(['null', '{}', '[]', '"', '\\', '1e9', '-0'][random(7)] ?? ''),
          message.subarray(at),
        ]),
      () => Buffer.concat([message.subarray(0, at), message.subarray(0, random(40)), message.subarray(at)]),
    ][random(4)];
    message = change ? change() : message;
  }
  return message.filter((byte) => byte !== 0x0a) as Buffer;
}
