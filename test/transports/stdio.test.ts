import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { MAX_RUNNING, MAX_UNREAD, MAX_WAITING } from '../../src/limits.ts';
import * as protocol from '../../src/protocol/index.ts';
import { serveStdio } from '../../src/transports/stdio.ts';
import { eventually } from '../harness/connections.ts';

const line = (id: number | string, method: string) => `${JSON.stringify({ jsonrpc: '2.0', id, method })}\n`;
const cancelling = (id: number) => `{"jsonrpc":"2.0","method":"cancelled","params":{"id":${id}}}\n`;
const range = (count: number, first = 0) => Array.from({ length: count }, (_, at) => first + at);
const lines = (count: number, method: string, first = 0) =>
  Array.from({ length: count }, (_, at) => line(first + at, method)).join('');
/** An output whose client reads nothing. */
const deaf = () => new Writable({ highWaterMark: 1024, write() {} });

/** Both ends of a pair of pipes, a few methods behind them, and what was written where the client reads everything. */
function open(output?: Writable, lastMs = 10_000) {
  const written: string[] = [];
  const reading = new Writable({ write: (chunk, _encoding, done) => done(void written.push(String(chunk))) });
  const state = { begun: 0, cancelled: 0, onLast: 0 };
  const releases: (() => void)[] = [];
  const held: protocol.Method['run'] = (_params, { cancellation }) =>
    new Promise((done) => {
      state.begun++;
      releases.push(() => done({}));
      cancellation().addEventListener('abort', () => done({ nth: ++state.cancelled }));
    });
  const big = () => ({ begun: state.begun++, text: 'x'.repeat(100_000) });
  const noisy: protocol.Method['run'] = (_params, { notify, session }) => {
    for (const text of Array(20).fill('x'.repeat(MAX_UNREAD / 10))) notify('progress', { text });
    session.send('{"method":"changed"}');
    return {};
  };
  const all = Object.entries({ held, listen: held, ping: () => ({}), big, noisy });
  const methods = all.map(([name, run]) => ({ name, run, streams: name === 'listen' }));
  const stop: protocol.NotificationHandler['run'] = ({ id }, session) => protocol.cancel(session, id as number);
  const era = protocol.legacyEra({ methods, notifications: [{ name: 'cancelled', run: stop }] });
  const input = new PassThrough();
  const dispatcher = protocol.createDispatcher([era], () => {});
  const options = { input, output: output ?? reading, stop: new AbortController().signal, lastMs };
  const served = serveStdio(dispatcher, { ...options, onLast: () => state.onLast++ });
  const messages = () => (written.join('').match(/.+/g) ?? []).map((text) => JSON.parse(text));
  const release = () => {
    for (const one of releases.splice(0)) one();
  };
  return { input, served, state, release, messages, ids: () => messages().map(({ id }) => id) };
}

test('the end of the input: `onLast`, then what was read is answered, and what runs is waited for', async () => {
  const { input, served, state, release, ids } = open();
  input.end(line(1, 'held') + line(2, 'listen') + lines(5000, 'ping', 3) + line('last', 'ping').trimEnd());
  await eventually(() => state.onLast === 1 && ids().length === 5001, 'the answers to what does not run on');
  assert.equal(await isSettled(served), false);
  release();
  await served;
  assert.deepEqual(ids(), [...range(5000, 3), 'last', 1, 2]);
});

test('a client that is gone: the calls in flight are cancelled and it settles at once', async () => {
  const broken = open(new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) }));
  broken.input.write(line(1, 'held') + line(2, 'ping'));
  await broken.served;
  assert.deepEqual(broken.state, { begun: 1, cancelled: 1, onLast: 1 });
  const { input, served } = open();
  input.destroy(new Error('gone'));
  await served;
});

test('a client that reads nothing: few answers are made, and it settles after `lastMs`', async () => {
  const { input, served, state, release } = open(deaf(), 100);
  input.write(lines(MAX_RUNNING, 'held'));
  await eventually(() => state.begun === MAX_RUNNING, 'all of them run');
  input.end(lines(500, 'big', MAX_RUNNING));
  release();
  await served;
  assert.ok(state.begun <= 2 * MAX_RUNNING, `${state.begun} were begun`);
});

test('what cannot be read is answered, until the client has 4 MiB unread; then nothing is read', async () => {
  const { input, served, state } = open(deaf(), 100);
  input.write(lines(41, 'big')); // 4.1 of 4.19 million bytes
  await eventually(() => state.begun === 41, 'all of them are answered');
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

test('100,000 pipelined requests and a client that reads slowly: every answer comes, and few wait in memory', async () => {
  let [answers, most] = [0, 0];
  const output = new Writable({
    highWaterMark: 1024,
    writev(chunks, done) {
      answers += chunks.filter(({ chunk }) => String(chunk) === '\n').length;
      setTimeout(done, 1);
    },
  });
  const { input, served } = open(output);
  for (let first = 0; first < 100_000; first += 1000) {
    if (!input.write(lines(1000, 'ping', first))) await once(input, 'drain');
    most = Math.max(most, output.writableLength + input.readableLength);
  }
  input.end();
  await served;
  assert.equal(answers, 100_000);
  assert.ok(most < 1024 * 1024, `${most} bytes waited`);
});

test('64 requests run at once, open subscriptions apart; others wait in their order, and can be cancelled', async () => {
  const { input, served, state, release, ids } = open();
  input.write(line('open', 'listen') + lines(MAX_RUNNING + 2, 'held') + line('late', 'ping'));
  await eventually(() => state.begun === 1 + MAX_RUNNING, 'as many as may run');
  input.write(cancelling(MAX_RUNNING + 1) + cancelling(0));
  await eventually(() => state.cancelled === 1 && state.begun === 2 + MAX_RUNNING, 'one in the place of another');
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
  await eventually(() => state.cancelled === 1, 'the notification is read');
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

test('answers that are ready together leave in one write, and the event loop turns before the next', async () => {
  const writes: number[] = [];
  const output = new Writable({
    writev: (all, done) => done(void writes.push(all.filter(({ chunk }) => /result/.test(String(chunk))).length)),
  });
  const { input, served } = open(output);
  input.end(lines(5 * MAX_RUNNING, 'ping'));
  await served;
  assert.deepEqual(writes.filter(Boolean), Array(5).fill(MAX_RUNNING));
});

test('progress to a client that has 4 MiB unread is dropped, an answer or a change of a list never', async () => {
  const { input, served, messages } = open();
  input.end(line(1, 'noisy') + line(2, 'ping'));
  await served;
  const shown = messages().map(({ id, method }) => id ?? method);
  assert.deepEqual(shown, [...Array(10).fill('progress'), 'changed', 1, 2]);
});

// --- internal ---

/** Whether the promise is settled after a few turns of the event loop. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  const settled = promise.then(() => true);
  for (let turns = 0; turns < 5; turns++) await turn();
  return Promise.race([settled, false]);
}
