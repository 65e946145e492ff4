import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeHeader, encodeHeader } from '../../src/protocol/index.ts';

test('a header carries any text, and gives it back', () => {
  for (const [text, value] of [
    ['plain', 'plain'],
    ['', ''],
    [' edge', '=?base64?IGVkZ2U=?='],
    ['\ufeffbom', '=?base64?77u/Ym9t?='],
    ['ü', '=?base64?w7w=?='],
    ['a\r\nb', '=?base64?YQ0KYg==?='],
    ['=?base64?eA==?=', '=?base64?PT9iYXNlNjQ/ZUE9PT89?='],
  ] as const)
    assert.deepEqual([encodeHeader(text), decodeHeader(value)], [value, text]);
});

test('a header whose base64 is malformed has no text', () => {
  for (const value of ['w7w', 'w7w =', ' w7w=', 'w7w!', 'w7x=', 'ü'])
    assert.equal(decodeHeader(`=?base64?${value}?=`), undefined, value);
  assert.equal(decodeHeader(undefined), undefined);
});
