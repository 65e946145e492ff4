import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { MAX_RUNNING, MAX_UNREAD, MAX_WAITING } from '../../src/limits.ts';
import * as protocol from '../../src/protocol/index.ts';
import { serveStdio } from '../../src/transports/stdio.ts';

const line = (id: number | string, method: string) => `${JSON.stringify({ jsonrpc: '2.0', id, method })}\n`;
const cancelling = (id: number) => `{"jsonrpc":"2.0","method":"cancelled","params":{"id":${id}}}\n`;
const range = (count: number, first = 0) => Array.from({ length: count }, (_, at) => first + at);
const lines = (count: number, method: string, first = 0) =>
  range(count, first)
    .map((id) => line(id, method))
    .join('');
/** An output whose client reads nothing. */
const deaf = () => new Writable({ highWaterMark: 1024, write() {} });

interface Options {
  /** Without it the client reads everything. */
  readonly output?: Writable;
  readonly lastMs?: number;
  readonly stop?: AbortSignal;
  readonly runs?: Readonly<Record<string, protocol.Method['run']>>;
}

/** Both ends of a pair of pipes, a few methods behind them, and what was written. */
function open({ output, lastMs = 10_000, stop = new AbortController().signal, runs = {} }: Options = {}) {
  const written: string[] = [];
  const reading = new Writable({ write: (chunk, _encoding, done) => done(void written.push(String(chunk))) });
  const state = { begun: 0, cancelled: 0, onLast: 0 };
  const releases: (() => void)[] = [];
  const held: protocol.Method['run'] = (_params, { cancellation }) => {
    state.begun++;
    cancellation().addEventListener('abort', () => state.cancelled++);
    return new Promise((done) => {
      releases.push(() => done({}));
      cancellation().addEventListener('abort', () => done({}));
    });
  };
  const big = () => ({ begun: state.begun++, text: 'x'.repeat(100_000) });
  const all = Object.entries({ held, listen: held, ping: () => ({}), big, ...runs });
  const methods = all.map(([name, run]) => ({ name, run, streams: name === 'listen' }));
  const cancelled: protocol.NotificationHandler = {
    name: 'cancelled',
    run: ({ id }, session) => protocol.cancel(session, id as number),
  };
  const era = protocol.legacyEra({ methods, notifications: [cancelled] });
  const dispatcher = protocol.createDispatcher([era], () => {});
  const input = new PassThrough();
  const onLast = () => void state.onLast++;
  const served = serveStdio(dispatcher, { input, output: output ?? reading, stop, lastMs, onLast });
  const messages = () => (written.join('').match(/.+/g) ?? []).map((text) => JSON.parse(text));
  const release = () => {
    for (const one of releases.splice(0)) one();
  };
  return { input, served, state, release, messages, ids: () => messages().map(({ id }) => id) };
}

test('the end of the input: `onLast`, then what was read is answered, and what runs is waited for', async () => {
  const { input, served, state, release, ids } = open();
  input.end(line(1, 'held') + line(2, 'listen') + lines(5000, 'ping', 3) + line('last', 'ping').trimEnd());
  await until(() => state.onLast === 1 && ids().length === 5001);
  assert.equal(await isSettled(served), false);
  release();
  await served;
  assert.deepEqual(ids(), [...range(5000, 3), 'last', 1, 2]);
});

test('`stop`: whole lines are answered, and a line that was cut off is not a request', async () => {
  const stop = new AbortController();
  const { input, served, ids } = open({ stop: stop.signal });
  input.write(lines(5000, 'ping') + line(5000, 'ping').trimEnd());
  await until(() => ids().length > 0);
  stop.abort();
  await served;
  assert.deepEqual(ids(), range(5000));
});

test('a client that is gone: the calls in flight are cancelled and it settles at once', async () => {
  const broken = open({ output: new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) }) });
  broken.input.write(line(1, 'held') + line(2, 'ping'));
  await broken.served;
  assert.deepEqual(broken.state, { begun: 1, cancelled: 1, onLast: 1 });
  const { input, served, ids } = open();
  input.write(line(1, 'ping'));
  await until(() => ids().length === 1);
  input.destroy(new Error('gone'));
  await served;
});

test('a client that reads nothing: few answers are made, and it settles after `lastMs`, wherever the end comes', async () => {
  for (const [first, last, most] of [
    ['', lines(1, 'big'), 1],
    ['', lines(500, 'big'), MAX_RUNNING],
    [lines(500, 'big'), lines(400, 'big', 500), MAX_RUNNING],
    [lines(MAX_RUNNING, 'held'), lines(500, 'big', MAX_RUNNING), 2 * MAX_RUNNING],
  ] as const) {
    const { input, served, state, release } = open({ output: deaf(), lastMs: 100 });
    input.write(first || '\n');
    await until(() => state.begun === (first && MAX_RUNNING) || first === '');
    input.end(last);
    release();
    await served;
    assert.ok(state.begun <= most, `${state.begun} were begun`);
    assert.equal(state.onLast, 1);
  }
});

test('what cannot be read is answered, until the client has 4 MiB unread; then nothing is read', async () => {
  const { input, served, state } = open({ output: deaf(), lastMs: 100 });
  input.write(lines(41, 'big')); // 4.1 of 4.19 million bytes
  await until(() => state.begun === 41);
  let count = 0;
  for (; input.readableLength === 0; count++) {
    assert.ok(count < 50, 'it reads on');
    input.write('x\n'.repeat(100));
    await isSettled(served);
  }
  assert.ok(count > 5, 'so little was read');
  input.destroy();
  await served;
});

test('100,000 pipelined requests and a real process that reads slowly: every answer comes, and few wait in memory', async () => {
  const slow = `let lines = 0, chunks = 0;
    process.stdin.on('data', (chunk) => {
      for (const byte of chunk) lines += byte === 10;
      if (++chunks % 60 > 0) return;
      process.stdin.pause();
      setTimeout(() => process.stdin.resume(), 5);
    }).on('end', () => console.log(lines));`;
  const reader = spawn(process.execPath, ['-e', slow], { stdio: ['pipe', 'pipe', 'inherit'] });
  const { input, served } = open({ output: reader.stdin });
  let most = 0;
  for (let first = 0; first < 100_000; first += 1000) {
    if (!input.write(lines(1000, 'ping', first))) await once(input, 'drain');
    most = Math.max(most, reader.stdin.writableLength + input.readableLength);
  }
  input.end();
  await served;
  reader.stdin.end();
  assert.equal(String(await reader.stdout.toArray()), '100000\n');
  assert.ok(most < 1024 * 1024, `${most} bytes waited`);
});

test('64 requests run at once, open subscriptions apart; others wait in their order, and can be cancelled', async () => {
  const { input, served, state, release, ids } = open();
  input.write(line('open', 'listen') + lines(MAX_RUNNING + 2, 'held') + line('late', 'ping'));
  await until(() => state.begun === 1 + MAX_RUNNING);
  input.write(cancelling(MAX_RUNNING + 1) + cancelling(0));
  await until(() => state.cancelled === 1 && state.begun === 2 + MAX_RUNNING);
  assert.equal(await isSettled(served), false);
  assert.deepEqual(ids(), []);
  input.end();
  release();
  await served;
  assert.deepEqual(ids(), ['open', ...range(MAX_RUNNING, 1), 'late']);
});

test('notifications are read until 1,000 requests wait; then nothing is read before one has its turn', async () => {
  const { input, served, state, release, ids } = open();
  const count = MAX_RUNNING + MAX_WAITING;
  input.write(lines(count - 1, 'held') + cancelling(0));
  await until(() => state.cancelled === 1);
  input.write(lines(2, 'held', count - 1));
  input.write(cancelling(1));
  assert.equal(await isSettled(served), false);
  assert.deepEqual([state.cancelled, input.readableLength], [1, cancelling(1).length]);
  input.end(line(count + 1, 'ping'));
  do release();
  while (!(await isSettled(served)));
  const answered = ids().sort((a, b) => a - b);
  assert.deepEqual(answered, range(count + 1, 1));
});

test('a line of 100 MB, and one that is not UTF-8, are one error each, nothing of them is held, and the next line counts', async () => {
  const { input, served, messages } = open();
  const before = process.memoryUsage().rss;
  const part = Buffer.alloc(1024 * 1024, 'x');
  for (let at = 0; at < 100; at++) if (!input.write(part)) await once(input, 'drain');
  input.end(Buffer.concat([Buffer.from([0x0a, 0xff, 0x0a]), Buffer.from(line(1, 'ping'))]));
  await served;
  assert.ok(process.memoryUsage().rss - before < 4 * protocol.MAX_LINE);
  const shown = messages().map(({ id, error }) => `${id} ${error?.code}`);
  assert.deepEqual(shown, ['null -32600', 'null -32700', '1 undefined']);
});

test('answers that are ready together leave in one write, and leave their turn to timers', async () => {
  const writes: number[] = [];
  const output = new Writable({
    writev: (chunks, done) =>
      done(void writes.push(chunks.filter(({ chunk }) => String(chunk).includes('result')).length)),
  });
  const busy = () => {
    for (const end = performance.now() + 1; performance.now() < end; );
    return {};
  };
  const { input, served } = open({ output, runs: { busy } });
  let turns = 0;
  const count = setInterval(() => void turns++, 1);
  input.end(lines(5 * MAX_RUNNING, 'busy'));
  await served;
  clearInterval(count);
  assert.ok(turns >= 4, `${turns} turns`);
  assert.deepEqual(writes.filter(Boolean), Array(5).fill(MAX_RUNNING));
});

test('notifications to a client that has 4 MiB unread are dropped, answers never', async () => {
  let take = () => {};
  const kept: string[] = [];
  const output = new Writable({
    write(chunk, _encoding, done) {
      kept.push(String(chunk));
      take = done;
    },
  });
  const noisy: protocol.Method['run'] = (_params, { notify }) => {
    for (const text of Array(20).fill('x'.repeat(MAX_UNREAD / 10))) notify('progress', { text });
    return {};
  };
  const { input, served } = open({ output, runs: { noisy } });
  input.end(line(1, 'noisy') + line(2, 'ping'));
  const taking = setInterval(() => take(), 1);
  await served;
  clearInterval(taking);
  const counts = [/"progress"/, /"result"/].map((what) => kept.filter((one) => what.test(one)).length);
  assert.deepEqual(counts, [10, 2]);
});

// --- internal ---

async function until(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + 10_000; !holds(); ) {
    assert.ok(performance.now() < end, `not within 10 s: ${holds}`);
    await new Promise((done) => setTimeout(done, 5));
  }
}

/** Whether the promise is settled after a few turns of the event loop. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  const turns = (async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise((done) => setImmediate(done));
    return false;
  })();
  return Promise.race([promise.then(() => true), turns]);
}
