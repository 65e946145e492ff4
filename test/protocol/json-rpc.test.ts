import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode, encodeError, encodeNotification, encodeReply, encodeRequest, isId } from '../../src/protocol/index.ts';
import { idIn, MAX_BATCH, MAX_ID, MAX_NESTING, MAX_VALUES } from '../../src/protocol/json-rpc.ts';
import type { Answer } from '../harness/program.ts';

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

test('a message nested too deep is an error, and any other can be encoded again (10.1)', () => {
  const deepest = nested(MAX_NESTING - 2);
  const fine = decode(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":${deepest}}}`) as Answer;
  assert.equal(fine.kind, 'request');
  assert.equal(JSON.stringify(fine.params), `{"a":${deepest}}`);
  for (const levels of [MAX_NESTING - 1, 5_000, 400_000]) {
    const deep = nested(levels);
    const request = decode(`{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":${deep}}}`) as Answer;
    assert.deepEqual([request.kind, request.id, request.error.code], ['invalid', 7, -32602]);
    assert.match(request.error.message, /nested deeper than 500 levels/);
    // Whoever waits for this answer must learn that it came.
    const error = decode(`{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"","data":${deep}}}`) as Answer;
    assert.deepEqual([error.kind, error.id, error.outcome.error.code], ['response', 7, -32603]);
    const result = decode(`{"jsonrpc":"2.0","id":"7","result":{"a":${deep}}}`) as Answer;
    assert.deepEqual([result.kind, result.id, result.outcome.error.code], ['response', '7', -32603]);
    // A notice is never answered; without its parameters it means nothing.
    const notice = decode(`{"jsonrpc":"2.0","method":"m","params":{"a":${deep}}}`);
    assert.deepEqual(notice, { kind: 'notification', method: 'm', params: {} });
    const batch = decode(
      `[{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":${deep}}},{"jsonrpc":"2.0","id":2,"method":"m"}]`,
    );
    assert.deepEqual(
      (batch as Answer[]).map(({ kind }) => kind),
      ['invalid', 'request'],
    );
    assert.equal((decode(deep) as Answer)[0]?.kind ?? 'invalid', 'invalid');
  }
  // Past the limit in values nothing is parsed: the id is all that is read.
  const vast = decode(`{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":${nested(1_000_000)}}}`) as Answer;
  assert.deepEqual([vast.kind, vast.id, vast.error.code], ['invalid', 7, -32600]);
});

test('an id and a progress token are text of a bounded length or a whole number (10.1)', () => {
  const rows: readonly (readonly [unknown, boolean])[] = [
    ['a', true],
    ['', true],
    ['x'.repeat(MAX_ID), true],
    ['x'.repeat(MAX_ID + 1), false],
    [0, true],
    [-1, true],
    [1.5, false],
    [2 ** 53, false],
    [null, false],
    [undefined, false],
    [true, false],
    [['a'], false],
    [{}, false],
  ];
  for (const [value, is] of rows) assert.equal(isId(value), is, JSON.stringify(value)?.slice(0, 50));
  const long = decode(`{"jsonrpc":"2.0","id":"${'x'.repeat(MAX_ID + 1)}","method":"ping"}`) as Answer;
  assert.deepEqual([long.kind, long.id], ['invalid', null]);
  assert.match(long.error.message, /id is over 1024 characters/);
});

test('the id of a dropped message is found in its first or last bytes (10.23)', () => {
  const rows: readonly (readonly [start: string, end: string, id: unknown])[] = [
    ['{"jsonrpc":"2.0","id":7,"method":"x', '', 7],
    ['{ "id" : "a\\"b" , "method":"x', '', 'a"b'],
    ['{"id":-1}', '', -1],
    ['{"params":{"id":5},"id":6,"x', '', 6],
    ['{"params":[{"id":5}],"a":"id","b":"{","id":6,"x', '', 6],
    ['{"params":{"id":5,"x', 'y"},"jsonrpc":"2.0","id":8}', 8],
    ['{"x', 'y","id":"a\\"b"} \r', 'a"b'],
    ['{"x', '","id":8}}', null],
    ['{"x', '\\"id\\":8}"}', null],
    ['{"x', '"},{"id":8}]', null],
    ['{"id":12', '', null],
    ['{"id":1.5,"x', '', null],
    ['{"id":007,"x', '', null],
    ['{"id":null,"x', '', null],
    [`{"id":"${'x'.repeat(1025)}","x`, '', null],
    ['{"a":"\\"id\\":5,', '', null],
    ['[{"id":5,"x', '', null],
    ['', '', null],
  ];
  for (const [start, end, id] of rows) assert.equal(idIn(start, end), id, `${start} … ${end}`);
});

test('a batch has a bounded number of messages (10.2)', () => {
  const batch = (count: number) =>
    decode(`[${Array(count).fill('{"jsonrpc":"2.0","id":1,"method":"ping"}').join(',')}]`);
  assert.equal((batch(MAX_BATCH) as Answer[]).length, MAX_BATCH);
  const refused = batch(MAX_BATCH + 1) as Answer;
  assert.deepEqual([refused.kind, refused.id, refused.error.code], ['invalid', null, -32600]);
  assert.match(refused.error.message, /at most 100 messages/);
  // Millions of them are refused before each is looked at.
  const start = performance.now();
  decode(`[${'1,'.repeat(2_000_000)}1]`);
  assert.ok(performance.now() - start < 3000);
});

test('no JSON that is written has a line or paragraph separator in it (10.25)', () => {
  const odd = 'a\u2028b\u2029c';
  const texts = [
    String(encodeReply(odd, { [odd]: odd })),
    encodeError(odd, { code: 1, message: odd, data: odd }),
    encodeNotification(odd, { odd }),
    encodeRequest(odd, odd, { odd }),
  ];
  for (const text of texts) {
    assert.doesNotMatch(text, /[\u2028\u2029]/);
    assert.match(text, /a\\u2028b\\u2029c/);
  }
  assert.deepEqual(JSON.parse(texts[0] ?? ''), { jsonrpc: '2.0', id: odd, result: { [odd]: odd } });
});

test('a message of too many values is refused before it is parsed, under its id', () => {
  const many = `[${'{},'.repeat(MAX_VALUES)}{}]`;
  const start = performance.now();
  for (const text of [
    `{"jsonrpc":"2.0","id":7,"method":"m","params":{"many":${many}}}`,
    `{"result":{"many":${many}},"jsonrpc":"2.0","id":7}`,
  ]) {
    const refused = decode(text) as Answer;
    assert.deepEqual([refused.kind, refused.id], ['invalid', 7]);
    assert.match(refused.error.message, /more than 500000 values/);
  }
  const deep = decode('['.repeat(30_000_000)) as Answer;
  assert.match(deep.error.message, /more than 500000 values/);
  assert.ok(performance.now() - start < 3000);
});

test('one long text counts as one value, whatever is in it', () => {
  const text = `{},[]:\\"\\`.repeat(300_000);
  const message = decode(JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'm', params: { text } })) as Answer;
  assert.equal(message.params.text, text);
});
