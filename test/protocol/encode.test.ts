import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EncodedResult, encodeNotification, encodeReply, encodeRequest, errorReply } from '../../src/protocol/index.ts';

test('every message is one line for every reader, also for one that takes U+2028 and U+2029 for line ends', () => {
  const odd = 'a\u2028b\u2029c';
  const error = { code: 1, message: odd, data: odd };
  const shared = new EncodedResult({ odd });
  for (const [text, message] of [
    [encodeReply(odd, { odd }), { id: odd, result: { odd } }],
    [encodeReply(7, shared), { id: 7, result: { odd } }],
    [errorReply(odd, error), { id: odd, error }],
    [errorReply(null, error), { id: null, error }],
    [encodeNotification(odd, { odd }), { method: odd, params: { odd } }],
    [encodeRequest(-1, odd, { odd }), { id: -1, method: odd, params: { odd } }],
  ] as const) {
    assert.doesNotMatch(String(text), /[\u2028\u2029\n]/);
    assert.deepEqual(JSON.parse(String(text)), { jsonrpc: '2.0', ...message });
  }
  const { pieces, length } = encodeReply('a', shared);
  assert.deepEqual([pieces.includes(shared.body), length], [true, Buffer.concat(pieces).length], 'not copied');
});
