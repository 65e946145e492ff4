import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { createSkillwire } from '../../src/index.ts';
import { createHandle, legacyEra, type Method } from '../../src/protocol/index.ts';
import { serveStdio } from '../../src/transports/stdio.ts';
import { createGate } from '../harness/peer.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const line = (id: number, method: string) => `{"jsonrpc":"2.0","id":${id},"method":"${method}"}\n`;
const idsIn = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((one) => JSON.parse(one).id);

/** Both ends of a pair of pipes, with a few methods behind them. */
function open(methods: readonly Method[], output: Writable = new PassThrough()) {
  const input = new PassThrough();
  const stop = new AbortController();
  const handle = createHandle([legacyEra({ methods, notices: [] })], () => {});
  const served = serveStdio(handle, { input, output }, { stop: stop.signal });
  const written = () => String(output instanceof PassThrough ? (output.read() ?? '') : '');
  return { input, output, served, stop, written };
}

test('the end of the input waits for what is in flight', async () => {
  const gate = createGate();
  const held = { name: 'held', run: async () => ({ done: await gate.pass() }) };
  const { input, served, written } = open([held, { name: 'ping', run: () => ({}) }]);
  input.end(line(1, 'held') + line(2, 'ping'));
  await new Promise((done) => setTimeout(done, 20));
  assert.deepEqual(idsIn(written()), [2]);
  gate.open();
  await served;
  assert.deepEqual(idsIn(written()), [1]);
});

test('a stop that came before the beginning ends it at once', async () => {
  const { input, stop, served, written } = open([{ name: 'ping', run: () => ({}) }]);
  stop.abort();
  input.write(line(1, 'ping'));
  await served;
  assert.equal(written(), '');
});

test('an input that breaks is one that has ended', async () => {
  const { input, served, written } = open([{ name: 'ping', run: () => ({}) }]);
  input.write(line(1, 'ping'));
  await new Promise((done) => setTimeout(done, 20));
  input.destroy(new Error('gone'));
  await served;
  assert.deepEqual(idsIn(written()), [1]);
});

test('an output that breaks ends it, whatever is still in flight', async () => {
  const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error('nobody there')) });
  const { input, served } = open([{ name: 'held', run: () => new Promise(() => {}) }], output);
  input.write(line(1, 'held') + line(2, 'unknown'));
  await served;
});

test('answers that are ready together leave in one write', async () => {
  const writes: string[] = [];
  const output = new Writable({
    write(chunk, _encoding, done) {
      writes.push(String(chunk));
      done();
    },
  });
  const { input, served } = open([{ name: 'ping', run: () => ({}) }], output);
  input.end(line(1, 'ping') + line(2, 'ping') + line(3, 'ping'));
  await served;
  assert.deepEqual(writes.filter(Boolean).map(idsIn), [[1, 2, 3]]);
});

test('the library serves over any pair of streams', async (t) => {
  const tree = makeTree(t, { 'skills/pdf/SKILL.md': skillText('pdf') });
  const skillwire = createSkillwire({ cwd: tree.path, home: tree.at('home'), skipPlugins: true });
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.end('{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"skill","arguments":{"name":"pdf"}}}\n');
  await skillwire.serveStdio({ input, output });
  const { id, result } = JSON.parse(String(output.read()));
  assert.equal(id, 'x');
  assert.match(result.content[0].text, /^Loading: pdf\n/);
});
