import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEvents, START } from '../../src/hub/event-stream.ts';
import { MAX_BACKOFF_MS, MAX_EVENT_ID, MIN_RETRY_MS } from '../../src/limits.ts';

async function* chunks(bytes: Buffer, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** The events as `type=data`, then the position if it is not that at the start, or the error. */
async function read(text: string, cut: number) {
  const seen: unknown[] = [];
  const receive = (data: string, type: string) => void seen.push(`${type}=${data}`);
  const position = await readEvents(chunks(Buffer.from(text), cut), receive, START, undefined, 100).catch(String);
  return JSON.stringify(position) === JSON.stringify(START) ? seen : [...seen, position];
}

const TOO_LONG = 'UpstreamError: a message over 100 bytes was dropped';

test('an event stream reads the same however it is cut, in time linear in its bytes', async () => {
  const rows: readonly (readonly [text: string, seen: readonly unknown[]])[] = [
    ['data: a\n\n', ['message=a']],
    ['data:a\r\ndata: b\r\n\r\n', ['message=a\nb']],
    ['event: endpoint\rdata: /x\r\rdata: y\n\n', ['endpoint=/x', 'message=y']],
    [': comment\nid: 7\nretry: 500\ndata:\n\n', [{ eventId: '7', retry: 500 }]],
    ['id: 7\n\nid: 8\ndata: never ended', [{ ...START, eventId: '7' }]],
    ['id: 7\ndata: a\n\ndata: b\n\n', ['message=a', 'message=b', { ...START, eventId: '7' }]],
    [`id: ${'x'.repeat(70)}\u0001\n\n`, []],
    ['retry: 0\n', [{ eventId: undefined, retry: MIN_RETRY_MS }]],
    [`retry: ${'9'.repeat(50)}\n`, [{ eventId: undefined, retry: MAX_BACKOFF_MS }]],
    ['data: a\r\n: b\r\n\r\ndata: c\n\r\n', ['message=a', 'message=c']],
    ['data\ndata: b\ndata:\n\n', ['message=\nb\n']],
    ['event: x\n\ndata:  y:z\n\n', ['message= y:z']],
    ['\ufeffdata: a\n\n', ['message=a']],
    ['retry: soon\nnonsense\n\ndata: ü🙂\n\n', ['message=ü🙂']],
    [`${': x\n'.repeat(100)}data: a\n\n`, ['message=a']],
    [`data: a\n\ndata: ${'x'.repeat(200)}\n\ndata: b\n\n`, ['message=a', TOO_LONG]],
    [`${'data: x\n'.repeat(60)}\ndata: b\n\n`, [TOO_LONG]],
  ];
  for (const [text, seen] of rows)
    for (const cut of [1, 2, 3, 1000]) assert.deepEqual(await read(text, cut), seen, `${text} cut at ${cut}`);
  // Where a reader is told of an event that is too long, that does not end the reading.
  const seen: string[] = [];
  const note = (one: unknown) => void seen.push(String(one));
  const long = `data: a\n\n${`data: ${'x'.repeat(150)}\n`.repeat(3)}\ndata: b\n\n`;
  await readEvents(chunks(Buffer.from(long), 7), note, START, note, 100);
  assert.deepEqual(seen, ['a', TOO_LONG, 'b']);
  const began = performance.now();
  for (const piece of ['\n', '\r\n', 'data\n', 'x'])
    await readEvents(chunks(Buffer.from(piece.repeat(1_000_000 / piece.length)), 1000), () => {});
  assert.ok(performance.now() - began < 15_000);
});

test('a stream that breaks counts as one that ended, and is taken up where the last one was', async () => {
  async function* broken() {
    yield Buffer.from('data: a\n\n');
    throw new Error('ECONNRESET');
  }
  const from = { eventId: 'before', retry: 700 };
  assert.deepEqual(await readEvents(broken(), () => {}, from), from);
  // An id that is too long for a header is none.
  const long = Buffer.from(`id: ${'x'.repeat(MAX_EVENT_ID + 1)}\n\n`);
  assert.deepEqual(await readEvents(chunks(long, 1000), () => {}, from), { ...from, eventId: undefined });
});
