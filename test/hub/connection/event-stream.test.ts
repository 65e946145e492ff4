/** The parser of event streams. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEvents, START } from '../../../src/hub/connection/event-stream.ts';
import { MAX_RETRY_MS, MIN_RETRY_MS } from '../../../src/hub/connection/limits.ts';

const TOO_LONG = 'UpstreamError: a message over 100 bytes was dropped';

/** The bytes of a stream in chunks of this length. */
async function* chunks(bytes: Buffer, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** The events, and then the position if it is not that at the start. */
async function read(text: string, cut: number) {
  const seen: (object | string)[] = [];
  const receive = (data: string, type: string) => void seen.push({ type, data });
  try {
    const position = await readEvents(chunks(Buffer.from(text), cut), START, receive, 100);
    if (position.eventId !== undefined || position.retry !== START.retry) seen.push(position);
  } catch (error) {
    seen.push(String(error));
  }
  return seen;
}

test('an event stream reads the same however it is cut', async () => {
  const rows: readonly (readonly [text: string, seen: readonly unknown[]])[] = [
    ['data: a\n\n', [{ type: 'message', data: 'a' }]],
    ['data:a\r\ndata: b\r\n\r\n', [{ type: 'message', data: 'a\nb' }]],
    [
      'event: endpoint\rdata: /x\r\rdata: y\n\n',
      [
        { type: 'endpoint', data: '/x' },
        { type: 'message', data: 'y' },
      ],
    ],
    [
      ': comment\nid: 7\nretry: 500\ndata:\n\n',
      [
        { type: 'message', data: '' },
        { eventId: '7', retry: 500 },
      ],
    ],
    ['id: 7\n\nid: 8\ndata: never ended', [{ eventId: '7', retry: START.retry }]],
    ['retry: 0\n', [{ eventId: undefined, retry: MIN_RETRY_MS }]],
    [`retry: ${'9'.repeat(50)}\n`, [{ eventId: undefined, retry: MAX_RETRY_MS }]],
    ['data: a\r\n: b\r\n\r\ndata: c\n\r\n', ['a', 'c'].map((data) => ({ type: 'message', data }))],
    ['data\ndata: b\ndata:\n\n', [{ type: 'message', data: '\nb\n' }]],
    ['event: x\n\ndata:  y:z\n\n', [{ type: 'message', data: ' y:z' }]],
    ['\ufeffdata: a\n\n', [{ type: 'message', data: 'a' }]],
    ['retry: soon\nid: a\0b\nnonsense\n\ndata: ü🙂\n\n', [{ type: 'message', data: 'ü🙂' }]],
    [`${': x\n'.repeat(100)}data: a\n\n`, [{ type: 'message', data: 'a' }]],
    [`data: a\n\ndata: ${'x'.repeat(200)}\n\ndata: b\n\n`, [{ type: 'message', data: 'a' }, TOO_LONG]],
    [`${'data: x\n'.repeat(20)}\ndata: b\n\n`, [TOO_LONG]],
    [`data: ${'x'.repeat(94)}\n\n`, [{ type: 'message', data: 'x'.repeat(94) }]],
    ['data: never ended', []],
  ];
  for (const [text, seen] of rows)
    for (const cut of [1, 2, 3, 1000]) assert.deepEqual(await read(text, cut), seen, text);
});

test('parsing takes time linear in the bytes of a stream', async () => {
  const millions = (piece: string) => Buffer.from(piece.repeat(Math.ceil(4_000_000 / piece.length)));
  const began = performance.now();
  for (const piece of ['\n', '\r\n', ':\n', 'data\n', 'id:1\n\n', 'x']) {
    await readEvents(chunks(millions(piece), 1000), START, () => {});
  }
  // A tenth of this on a quiet machine.
  assert.ok(performance.now() - began < 20_000);
});
