import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_BATCH_ANSWER } from '../../src/protocol/dispatch.ts';
import {
  createDispatcher,
  createSession,
  declaredIn,
  type EncodedReply,
  legacyEra,
  type Method,
  RpcError,
} from '../../src/protocol/index.ts';
import { MAX_BATCH } from '../../src/protocol/json-rpc.ts';
import type { Answer } from '../harness/program.ts';

/** Methods behind `handle`, and a client that speaks a version with batches. */
function open(methods: readonly Method[]) {
  const faults: string[] = [];
  const handle = createDispatcher([legacyEra({ methods, notifications: [] })], (method, error) =>
    faults.push(`${method}: ${error}`),
  );
  const answers: Answer[] = [];
  const take = (message: string | EncodedReply) => void answers.push(JSON.parse(String(message)));
  const session = createSession(take);
  session.handshake = { version: '2025-03-26', client: undefined, ...declaredIn({}) };
  const exchange = { reply: take, notify: take };
  return {
    faults,
    answers,
    session,
    send: (message: unknown) => handle(session, JSON.stringify(message), exchange),
    handle,
  };
}

const call = (id: number, method: string) => ({ jsonrpc: '2.0', id, method });
const circle: { self?: unknown } = {};
circle.self = circle;

test('a value that JSON cannot hold is an error of its own call, and handle never rejects (10.1)', async () => {
  const { answers, faults, send, handle, session } = open([
    { name: 'result', run: () => circle },
    {
      name: 'error',
      run: () => {
        throw new RpcError(-32099, 'refused', circle);
      },
    },
    {
      name: 'progress',
      run: (_params, { notify }) => {
        notify('notifications/progress', circle);
        return { done: true };
      },
    },
  ]);
  await send(call(1, 'result'));
  await send(call(2, 'error'));
  await send(call(3, 'progress'));
  assert.equal(answers[0].error.code, -32603);
  assert.deepEqual(answers[1], { jsonrpc: '2.0', id: 2, error: { code: -32099, message: 'refused' } });
  assert.deepEqual(answers[2], { jsonrpc: '2.0', id: 3, result: { done: true } });
  assert.equal(session.calls.size, 0);
  const failing = () => {
    throw new Error('nobody there');
  };
  await handle(session, JSON.stringify(call(4, 'none')), { reply: failing, notify: failing });
  assert.match(faults.at(-1) ?? '', /nobody there/);
});

test('a batch has one call in flight at a time (10.2)', async () => {
  let running = 0;
  let most = 0;
  const { answers, send } = open([
    {
      name: 'count',
      async run() {
        most = Math.max(most, ++running);
        await new Promise((done) => setTimeout(done, 1));
        running--;
        return {};
      },
    },
  ]);
  await send(Array.from({ length: 20 }, (_, id) => call(id, 'count')));
  assert.equal(most, 1);
  assert.deepEqual(
    answers[0].map(({ id }: Answer) => id),
    Array.from({ length: 20 }, (_, id) => id),
  );
  await send(Array.from({ length: MAX_BATCH + 1 }, (_, id) => call(id, 'count')));
  assert.match(answers[1].error.message, /a batch has at most 100 messages/);
});

test('the answers to a batch stay below the limit of one text (10.2)', async () => {
  const text = 'x'.repeat(8 * 1024 * 1024);
  let runs = 0;
  const { answers, send } = open([
    {
      name: 'big',
      run() {
        runs++;
        return { text };
      },
    },
  ]);
  await send(Array.from({ length: MAX_BATCH }, (_, id) => call(id, 'big')));
  const [batch] = answers;
  assert.equal(batch.length, MAX_BATCH);
  assert.equal(runs, MAX_BATCH_ANSWER / text.length);
  assert.match(batch.at(-1).error.message, /send this request by itself/);
});

test('batches side by side hold no more answers together than one batch may (10.2)', async () => {
  const text = 'x'.repeat(1024 * 1024);
  let runs = 0;
  const { answers, send } = open([
    {
      name: 'big',
      run() {
        runs++;
        return { text };
      },
    },
  ]);
  const batch = Array.from({ length: 20 }, (_, id) => call(id, 'big'));
  const batches = Array.from({ length: 20 }, (_, at) => batch.map((one) => ({ ...one, id: `${at} ${one.id}` })));
  await Promise.all(batches.map((one) => send(one)));
  assert.equal(answers.flat().length, 400);
  // One more per batch: each looks at the limit before it runs a request.
  assert.ok(runs <= MAX_BATCH_ANSWER / text.length + batches.length, `${runs} requests were run`);
  assert.ok(runs >= MAX_BATCH_ANSWER / text.length, `${runs} requests were run`);
  const before = runs;
  await send(batch);
  assert.equal(runs, before + batch.length, 'what was sent is no longer counted');
});

test('a batch of a client that is gone is not continued (10.2)', async () => {
  let runs = 0;
  const { answers, send, session } = open([
    {
      name: 'count',
      run() {
        if (++runs === 3) session.end();
        return {};
      },
    },
  ]);
  await send(Array.from({ length: 20 }, (_, id) => call(id, 'count')));
  assert.deepEqual([runs, answers], [3, []]);
});
