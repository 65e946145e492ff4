import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLineSplitter } from '../../src/protocol/index.ts';

/** A splitter, and what comes of its chunks: lines as they are, what was dropped in angle brackets. */
function open(limit?: number) {
  const events: string[] = [];
  const line = (text: string) => events.push(text);
  const tooLong = (most: number) => events.push(`<over ${most}>`);
  return { events, ...createLineSplitter({ line, tooLong, notText: () => events.push('<not text>') }, limit) };
}

/** What comes of it in chunks of that size. */
function split(input: Uint8Array, size: number, limit?: number): readonly string[] {
  const { events, push, end } = open(limit);
  for (let at = 0; at < input.length; at += size) {
    const chunk = Buffer.from(input.subarray(at, at + size));
    push(chunk);
    chunk.fill('x'); // Its owner may use it again.
  }
  end();
  return events;
}

const latin = (text: string) => Buffer.from(text, 'latin1');

const MIXED = '{"a":"é用🙂"}\r\n\n  \n{"b":"\u2028"}\n{"c":1}';
const rows: readonly (readonly [name: string, input: Uint8Array, lines: readonly string[], limit?: number])[] = [
  ['line ends, blanks, any character', Buffer.from(MIXED), ['{"a":"é用🙂"}\r', '{"b":"\u2028"}', '{"c":1}']],
  ['nothing', Buffer.from(''), []],
  ['a byte order mark', Buffer.from('\ufeff{}\n\ufeff[]\n'), ['{}', '[]']],
  ['a line over the limit, and the next one', latin('12345\n123456\n12\n'), ['12345', '<over 5>', '12'], 5],
  ['a last line over the limit', latin('1\n1234567'), ['1', '<over 5>'], 5],
  ['a byte that is never UTF-8', latin('good\n\xff\nbetter\n'), ['good', '<not text>', 'better']],
  ['half a character', latin('good\n\xc3\nbetter\n'), ['good', '<not text>', 'better']],
];

for (const [name, input, lines, limit] of rows)
  test(`however the chunks are cut: ${name}`, () => {
    // Each place is the end of a chunk once, and with the first size all of them are.
    for (let size = 1; size <= input.length + 1; size++)
      assert.deepEqual(split(input, size, limit), lines, `chunks of ${size}`);
  });

test('a line of a megabyte in single bytes is not copied for each, and takes little more memory than the line', () => {
  const { events, push, end } = open();
  const held = () => process.memoryUsage().arrayBuffers;
  const before = held();
  for (let at = 0, piece = latin('x'); at < 2 ** 20; at++) push(piece);
  assert.ok(held() - before < 8 * 2 ** 20, `${held() - before} bytes`);
  end();
  assert.equal(events[0]?.length, 2 ** 20);
});
