/** The parser of event streams. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventStreamParser, type StreamEvent } from '../../../src/hub/connection/event-stream.ts';

const TOO_LONG = 'MessageTooLong: a message over 100 bytes was dropped';

function parse(text: string, cut: number) {
  const seen: (StreamEvent | string)[] = [];
  const parser = createEventStreamParser(
    {
      event: (event) => void seen.push(event),
      id: (id) => void seen.push(`id ${id}`),
      retry: (wait) => void seen.push(`retry ${wait}`),
    },
    100,
  );
  const bytes = Buffer.from(text);
  try {
    for (let at = 0; at < bytes.length; at += cut) parser.push(bytes.subarray(at, at + cut));
  } catch (error) {
    seen.push(String(error));
  }
  return seen;
}

test('an event stream reads the same however it is cut', () => {
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
    [': comment\nid: 7\nretry: 500\ndata:\n\n', ['retry 500', 'id 7', { type: 'message', data: '' }]],
    ['id: 7\n\nid: 8\ndata: never ended', ['id 7']],
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
  for (const [text, seen] of rows) for (const cut of [1, 2, 3, 1000]) assert.deepEqual(parse(text, cut), seen, text);
});

test('parsing takes time linear in the bytes of a stream', () => {
  const millions = (piece: string) => Buffer.from(piece.repeat(Math.ceil(4_000_000 / piece.length)));
  const began = performance.now();
  for (const piece of ['\n', '\r\n', ':\n', 'data\n', 'id:1\n\n', 'x']) {
    const parser = createEventStreamParser({ event() {}, id() {}, retry() {} }, 32 * 1024 * 1024);
    const bytes = millions(piece);
    for (let at = 0; at < bytes.length; at += 1000) parser.push(bytes.subarray(at, at + 1000));
  }
  // A tenth of this on a quiet machine.
  assert.ok(performance.now() - began < 20_000);
});
