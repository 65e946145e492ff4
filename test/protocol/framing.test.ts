import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLineSplitter } from '../../src/protocol/index.ts';

/** What comes of the chunks: lines as they are, what was dropped in angle brackets. */
function split(chunks: readonly Uint8Array[], limit?: number): readonly string[] {
  const events: string[] = [];
  const splitter = createLineSplitter(
    {
      line: (text) => events.push(text),
      tooLong: (most) => events.push(`<over ${most}>`),
      notText: () => events.push('<not text>'),
    },
    limit,
  );
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return events;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const singly = (all: Uint8Array) => Array.from(all, (byte) => Uint8Array.of(byte));

test('a line may be cut anywhere, also inside a character', () => {
  const text = '{"a":"é用🙂"}\r\n\n  \n{"b":"\u2028"}\n{"c":1}';
  const expected = ['{"a":"é用🙂"}\r', '{"b":"\u2028"}', '{"c":1}'];
  const all = bytes(text);
  assert.deepEqual(split([all]), expected);
  assert.deepEqual(split(singly(all)), expected);
  for (let at = 0; at <= all.length; at++) {
    assert.deepEqual(split([all.subarray(0, at), all.subarray(at)]), expected, `cut at byte ${at}`);
  }
});

test('a line over the limit is dropped, wherever it is cut, and the next one counts', () => {
  const all = bytes('12345\n123456\n12\n');
  const expected = ['12345', '<over 5>', '12'];
  assert.deepEqual(split([all], 5), expected);
  assert.deepEqual(split(singly(all), 5), expected);
  for (let at = 0; at <= all.length; at++) {
    assert.deepEqual(split([all.subarray(0, at), all.subarray(at)], 5), expected, `cut at byte ${at}`);
  }
  assert.deepEqual(split([bytes('1234567')], 5), ['<over 5>'], 'also the last one, without a newline');
});

test('a line that is not UTF-8 is dropped and the next one counts', () => {
  for (const bad of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xc0, 0xaf]]) {
    const all = Uint8Array.from([...bytes('good\n'), ...bad, ...bytes('\nbetter\n')]);
    assert.deepEqual(split([all]), ['good', '<not text>', 'better']);
    assert.deepEqual(split(singly(all)), ['good', '<not text>', 'better']);
  }
});

test('a byte order mark is not part of the line', () => {
  assert.deepEqual(split([bytes('\ufeff{}\n')]), ['{}']);
});

test('the reader may reuse its buffer', () => {
  const chunk = bytes('abc');
  const events: string[] = [];
  const splitter = createLineSplitter({ line: (text) => events.push(text), tooLong() {}, notText() {} });
  splitter.push(chunk);
  chunk.fill(0x78);
  splitter.push(bytes('\n'));
  assert.deepEqual(events, ['abc']);
});

test('a long line in tiny pieces takes no more memory than the line', () => {
  let line = '';
  const splitter = createLineSplitter({ line: (text) => (line = text), tooLong() {}, notText() {} });
  const piece = bytes('x');
  const before = process.memoryUsage();
  for (let at = 0; at < 1_000_000; at++) splitter.push(piece);
  const after = process.memoryUsage();
  assert.ok(after.heapUsed + after.arrayBuffers < before.heapUsed + before.arrayBuffers + 32 * 1024 * 1024);
  splitter.end();
  assert.equal(line.length, 1_000_000);
});
