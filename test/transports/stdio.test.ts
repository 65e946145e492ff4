import assert from 'node:assert/strict';
import { PassThrough, Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { createSkillwire } from '../../src/index.ts';
import { createDispatcher, EncodedResult, legacyEra, type Method } from '../../src/protocol/index.ts';
import { serveStdio } from '../../src/transports/stdio.ts';
import { eventually } from '../harness/hub.ts';
import { createGate } from '../harness/peer.ts';
import { makeTree, skillText } from '../harness/tree.ts';

const line = (id: number, method: string) => `{"jsonrpc":"2.0","id":${id},"method":"${method}"}\n`;
const idsIn = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((one) => JSON.parse(one).id);

/** From Node 24 on one `read` gives one chunk. */
function everythingIn(output: PassThrough): string {
  let text = '';
  for (let chunk = output.read(); chunk !== null; chunk = output.read()) text += chunk;
  return text;
}

/** Both ends of a pair of pipes, with a few methods behind them. */
function open(methods: readonly Method[], output: Writable = new PassThrough()) {
  const input = new PassThrough();
  const stop = new AbortController();
  const handle = createDispatcher([legacyEra({ methods, notifications: [] })], () => {});
  const served = serveStdio(handle, { input, output }, { stop: stop.signal, lastFlushMs: 10_000 });
  const written = () => (output instanceof PassThrough ? everythingIn(output) : '');
  return { input, output, served, stop, written };
}

test('the end of the input waits for the requests in flight', async () => {
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

test('a stop signal that fired before the start ends it at once', async () => {
  const { input, stop, served, written } = open([{ name: 'ping', run: () => ({}) }]);
  stop.abort();
  input.write(line(1, 'ping'));
  await served;
  assert.equal(written(), '');
});

test('an input that breaks counts as ended', async () => {
  const { input, served, written } = open([{ name: 'ping', run: () => ({}) }]);
  input.write(line(1, 'ping'));
  await new Promise((done) => setTimeout(done, 20));
  input.destroy(new Error('gone'));
  await served;
  assert.deepEqual(idsIn(written()), [1]);
});

test('an output that breaks ends it, with requests still in flight', async () => {
  const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error('nobody there')) });
  const { input, served } = open([{ name: 'held', run: () => new Promise(() => {}) }], output);
  input.write(line(1, 'held') + line(2, 'unknown'));
  await served;
});

test('a client that does not read does not keep it from ending once the input has ended (10.12)', async () => {
  for (const count of [1, 200]) {
    const output = new Writable({ highWaterMark: 1024, write() {} });
    const big = { name: 'big', run: () => ({ text: 'x'.repeat(100_000) }) };
    const input = new PassThrough();
    const handle = createDispatcher([legacyEra({ methods: [big], notifications: [] })], () => {});
    const stop = new AbortController().signal;
    const served = serveStdio(handle, { input, output }, { stop, lastFlushMs: 100 });
    input.end(Array.from({ length: count }, (_, at) => line(at, 'big')).join(''));
    await served;
  }
});

test('an input that ends while the output is full is noticed', async () => {
  const output = new Writable({ highWaterMark: 1024, write() {} });
  const big = { name: 'big', run: () => ({ text: 'x'.repeat(100_000) }) };
  const input = new PassThrough();
  const handle = createDispatcher([legacyEra({ methods: [big], notifications: [] })], () => {});
  const lines = Array.from({ length: 200 }, (_, at) => line(at, 'big')).join('');
  const served = serveStdio(handle, { input, output }, { stop: new AbortController().signal, lastFlushMs: 100 });
  input.write(lines);
  await new Promise((done) => setTimeout(done, 20));
  input.end(lines);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_done, fail) => {
    timer = setTimeout(fail, 5000, new Error('it has not ended'));
  });
  await Promise.race([served, late]).finally(() => clearTimeout(timer));
});

test('a burst of requests with large answers begins with a few of them', async () => {
  let runs = 0;
  const big = {
    name: 'big',
    async run() {
      runs++;
      await new Promise((done) => setTimeout(done, 5));
      return { text: 'x'.repeat(4 * 1024 * 1024) };
    },
  };
  const { input, stop } = open([big], new Writable({ write() {} }));
  input.write(Array.from({ length: 500 }, (_, at) => line(at, 'big')).join(''));
  await new Promise((done) => setTimeout(done, 600));
  stop.abort();
  assert.ok(runs <= 4, `${runs} were begun`);
});

test('after many small answers, no more than one turn of large ones is begun for a client that does not read', async () => {
  let [small, large, isRead] = [0, 0, true];
  const ping = { name: 'ping', run: () => ({ count: small++ }) };
  const big = {
    name: 'big',
    async run() {
      large++;
      await new Promise((done) => setTimeout(done, 50));
      return { text: 'x'.repeat(1024 * 1024) };
    },
  };
  const output = new Writable({ write: (_chunk, _encoding, done) => void (isRead && done()) });
  const { input, stop } = open([ping, big], output);
  input.write(Array.from({ length: 500 }, (_, at) => line(at, 'ping')).join(''));
  await eventually(() => small >= 500, 'the small answers');
  assert.equal(small, 500);
  isRead = false;
  for (let chunk = 0; chunk < 20; chunk++) {
    input.write(Array.from({ length: 20 }, (_, at) => line(1000 + 20 * chunk + at, 'big')).join(''));
    await new Promise((done) => setTimeout(done, 2));
  }
  await new Promise((done) => setTimeout(done, 600));
  stop.abort();
  assert.ok(large <= 32, `${large} were begun`);
});

/** An output that takes several chunks at once, as a pipe does, and records what each write had. */
function recordWrites() {
  const writes: Buffer[][] = [];
  const output = new Writable({
    highWaterMark: 100_000_000,
    writev(chunks, done) {
      writes.push(chunks.map(({ chunk }) => chunk));
      done();
    },
  });
  return { output, writes };
}

test('answers that are ready together leave in one write', async () => {
  const { output, writes } = recordWrites();
  const { input, served } = open([{ name: 'ping', run: () => ({}) }], output);
  input.end(line(1, 'ping') + line(2, 'ping') + line(3, 'ping'));
  await served;
  assert.deepEqual(
    writes.map((chunks) => idsIn(Buffer.concat(chunks).toString())).filter(({ length }) => length > 0),
    [[1, 2, 3]],
  );
});

test('an answer that was encoded before is written as it is, not copied', async () => {
  const { output, writes } = recordWrites();
  const result = new EncodedResult({ text: 'x'.repeat(400_000) });
  const { input, served } = open([{ name: 'ready', run: () => result }], output);
  input.end(line(1, 'ready') + line(2, 'ready'));
  await served;
  const shared = writes
    .flat()
    .filter(({ buffer, byteOffset }) => buffer === result.body.buffer && byteOffset === result.body.byteOffset);
  assert.equal(shared.length, 2);
  assert.deepEqual(idsIn(Buffer.concat(writes.flat()).toString()), [1, 2]);
});

test('while the output is full nothing more is read, not even lines that are not UTF-8', async () => {
  let read = 0;
  const input = new Readable({
    highWaterMark: 1,
    read() {
      read += 1;
      setImmediate(() => this.push(Buffer.from('\xff\n'.repeat(100), 'latin1')));
    },
  });
  const output = new Writable({ highWaterMark: 1024, write() {} });
  const handle = createDispatcher([legacyEra({ methods: [], notifications: [] })], () => {});
  void serveStdio(handle, { input, output }, { stop: new AbortController().signal, lastFlushMs: 10_000 });
  for (let at = 0; at < 200; at++) await new Promise((done) => setImmediate(done));
  input.destroy();
  assert.ok(read < 20, `${read} chunks were read`);
});

test('many requests of one chunk let timers and other input have their turn', async () => {
  const output = new PassThrough({ highWaterMark: 100_000_000 });
  const busy = () => {
    for (const end = performance.now() + 1; performance.now() < end; );
    return {};
  };
  const { input, served, written } = open([{ name: 'busy', run: busy }], output);
  let turns = 0;
  const count = setInterval(() => void turns++, 1);
  input.end(Array.from({ length: 200 }, (_, id) => line(id, 'busy')).join(''));
  await served;
  clearInterval(count);
  // Sixteen requests are begun together, so there are a dozen breaks; on a busy machine a timer misses some of them.
  assert.ok(turns >= 4, `${turns} turns in 200 ms`);
  assert.equal(idsIn(written()).length, 200);
});

for (const way of ['end', 'stop'] as const) {
  test(`a burst that takes many turns is answered whole when the ${way} comes in the middle`, async () => {
    const output = new PassThrough({ highWaterMark: 100_000_000 });
    const { input, stop, served } = open([{ name: 'ping', run: () => ({}) }], output);
    input.write(Array.from({ length: 5000 }, (_, at) => line(at, 'ping')).join(''));
    await new Promise((done) => setImmediate(done));
    if (way === 'end') input.end(line(5000, 'ping').trimEnd());
    else stop.abort();
    await served;
    assert.equal(idsIn(everythingIn(output)).length, way === 'end' ? 5001 : 5000);
  });
}

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
