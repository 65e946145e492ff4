import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLineSplitter } from '../../src/protocol/index.ts';
import { createRandom } from '../harness/sketch.ts';

/** A splitter, and what comes of its chunks: lines as they are, what was dropped in angle brackets. */
function open(limit?: number) {
  const events: string[] = [];
  const line = (text: string) => events.push(text);
  const tooLong = (most: number) => events.push(`<over ${most}>`);
  return { events, ...createLineSplitter({ line, tooLong, notText: () => events.push('<not text>') }, limit) };
}

function split(chunks: readonly Uint8Array[], limit?: number): readonly string[] {
  const { events, push, end } = open(limit);
  for (const chunk of chunks) {
    const own = Buffer.from(chunk);
    push(own);
    own.fill('x'); // Its owner may use it again.
  }
  end();
  return events;
}

const latin = (text: string) => Buffer.from(text, 'latin1');

/** Cut at random places. */
function cut(all: Uint8Array, seed: number): Uint8Array[] {
  const random = createRandom(seed);
  const chunks: Uint8Array[] = [];
  for (let at = 0, size = 0; at < all.length; at += size) {
    size = 1 + Math.floor(7 * random());
    chunks.push(all.subarray(at, at + size));
  }
  return chunks;
}

const MIXED = '{"a":"é用🙂"}\r\n\n  \n{"b":"\u2028"}\n{"c":1}';
const rows: readonly (readonly [name: string, input: Uint8Array, lines: readonly string[], limit?: number])[] = [
  ['line ends, blanks, any character', Buffer.from(MIXED), ['{"a":"é用🙂"}\r', '{"b":"\u2028"}', '{"c":1}']],
  ['nothing', Buffer.from(''), []],
  ['a byte order mark', Buffer.from('\ufeff{}\n\ufeff[]\n'), ['{}', '[]']],
  ['a line over the limit, and the next one', latin('12345\n123456\n12\n'), ['12345', '<over 5>', '12'], 5],
  ['a last line over the limit', latin('1\n1234567'), ['1', '<over 5>'], 5],
  ['a byte that is never UTF-8', latin('good\n\xff\nbetter\n'), ['good', '<not text>', 'better']],
  ['half a character', latin('good\n\xc3\nbetter\n'), ['good', '<not text>', 'better']],
  ['half a surrogate pair', latin('good\n\xed\xa0\x80\nbetter'), ['good', '<not text>', 'better']],
  ['an overlong form', latin('\xc0\xaf\nbetter'), ['<not text>', 'better']],
];

for (const [name, input, lines, limit] of rows)
  test(`however the chunks are cut: ${name}`, () => {
    for (let at = 0; at <= input.length; at++)
      assert.deepEqual(split([input.subarray(0, at), input.subarray(at)], limit), lines, `cut at byte ${at}`);
    for (let seed = 1; seed <= 50; seed++) assert.deepEqual(split(cut(input, seed), limit), lines, `seed ${seed}`);
  });

test('a line of a megabyte in single bytes takes no more memory than twice the line, and one that is dropped none', () => {
  const { events, push } = open(2 ** 20);
  const held = () => process.memoryUsage().arrayBuffers;
  const before = held();
  for (let at = 0, piece = latin('x'); at < 2 ** 20; at++) push(piece);
  assert.ok(held() - before < 8 * 2 ** 20, `${held() - before} bytes`);
  push(latin('\n'));
  for (let at = 0; at < 100; at++) push(Buffer.alloc(2 ** 20, 'x'));
  push(latin('\nnext\n'));
  assert.deepEqual([events[0]?.length, ...events.slice(1)], [2 ** 20, '<over 1048576>', 'next']);
});
