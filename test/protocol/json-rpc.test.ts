import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode, MAX_BATCH, type Message } from '../../src/protocol/index.ts';

/** An invalid message as its id, code and reason (that of JSON.parse apart); any other message as it is. */
const shown = (message: Message) =>
  message.kind === 'invalid'
    ? [message.id, message.error.code, message.error.message.replace(/(parse error): .*/, '$1')]
    : message;
const request = (id: unknown, params: object = {}) => ({ kind: 'request', id, method: 'm', params });
const refused = (id: unknown, why: string) => [id, -32600, `invalid request: ${why}`];
const answered = (id: unknown, outcome: object) => ({ kind: 'response', id, outcome });
const NOTICE = { kind: 'notification', method: 'm', params: {} };
const NO_PARAMS = [1, -32602, 'invalid params: params must be an object'];
const ERROR = { code: 5, message: 'm', data: 6 };
const NO_ERROR = { code: -32603, message: 'an error without a message', data: undefined };

/** Each in an object with the right `jsonrpc`. */
const MEMBERS: readonly (readonly [name: string, members: string, message: unknown])[] = [
  ['a request', '"id":1,"method":"m","params":{"a":1}', request(1, { a: 1 })],
  ['a text id', '"id":"1","method":"m"', request('1')],
  ['an id beyond 2^53', '"id":9007199254740992,"method":"m"', refused(null, 'id must be text or a whole number')],
  ['params that are a list', '"id":1,"method":"m","params":[]', NO_PARAMS],
  ['a notification', '"method":"m"', NOTICE],
  ['one with bad params', '"method":"m","params":3', NOTICE],
  ['a result', '"id":1,"result":null', answered(1, { result: null })],
  ['one of another version', '"id":1,"result":{},"jsonrpc":"1.0"', answered(1, { result: {} })],
  ['an error', `"id":null,"error":${JSON.stringify(ERROR)}`, answered(null, { error: ERROR })],
  ['a malformed error', '"error":"no"', answered(null, { error: NO_ERROR })],
  ['another version', '"id":7,"method":"m","jsonrpc":"1.0"', refused(7, 'jsonrpc must be "2.0"')],
  ['no method', '"id":7', refused(7, 'method must be text')],
];
const TEXTS: readonly (readonly [name: string, text: string, message: unknown])[] = [
  ...MEMBERS.map(([name, members, message]) => [name, `{"jsonrpc":"2.0",${members}}`, message] as const),
  ['an empty batch', '[]', []],
  ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"m"},4]', [request(1), refused(null, 'a message is an object')]],
  ['a batch that is too long', `[${'1,'.repeat(MAX_BATCH)}1]`, refused(null, 'a batch has at most 64 messages')],
  ['half a message', '{"jsonrpc":', [null, -32700, 'parse error']],
];

for (const [name, text, message] of TEXTS)
  test(`decode: ${name}`, () => {
    const decoded = decode(text);
    assert.deepEqual(Array.isArray(decoded) ? decoded.map(shown) : shown(decoded), message);
  });
