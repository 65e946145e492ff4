import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headersFor, paramHeadersOf } from '../../src/hub/param-headers.ts';
import type { Params } from '../../src/protocol/index.ts';

const schema = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const text = (header: unknown) => ({ type: 'string', 'x-mcp-header': header });

test('annotated arguments are repeated in headers, as the specification writes them', () => {
  const deep = schema({ b: { type: 'integer', 'x-mcp-header': 'Depth' } });
  const flag = { type: 'boolean', 'x-mcp-header': 'Flag' };
  const params = paramHeadersOf(schema({ a: text('Region'), deep, flag, plain: { type: 'string' } }));
  const rows: readonly (readonly [args: object, headers: string])[] = [
    [{ a: 'eu', deep: { b: 3 }, plain: 'x' }, 'Region eu, Depth 3'],
    [{ a: 'ä', flag: false }, 'Region =?base64?w6Q=?=, Flag false'],
    [{ a: null, deep: 'x', flag: undefined }, ''],
    [{ a: { b: 1 }, deep: { b: 1.5 } }, ''],
    [Object.create({ a: 'inherited' }), ''],
  ];
  for (const [args, expected] of rows) {
    const headers = Object.entries(headersFor(params, args as Params));
    assert.equal(headers.map(([name, value]) => `${name.replace('Mcp-Param-', '')} ${value}`).join(', '), expected);
  }
});

test('an invalid annotation is refused wherever it is, and says why', () => {
  const rows: readonly (readonly [what: string, schema: object, why: RegExp])[] = [
    ['empty', schema({ a: text('') }), /not usable as the name/],
    ['not text', schema({ a: text(1) }), /not usable as the name/],
    ['not a token', schema({ a: text('a b') }), /not usable as the name/],
    ['twice, without case', schema({ a: text('X'), b: text('x') }), /named twice/],
    ['on a number', schema({ a: { type: 'number', 'x-mcp-header': 'N' } }), /not text, integer or boolean/],
    ['below items', schema({ a: { type: 'array', items: text('I') } }), /not on a plain property/],
    ['below oneOf', schema({ a: { oneOf: [text('O')] } }), /not on a plain property/],
    ['below $defs', schema({}, { $defs: { d: text('D') } }), /not on a plain property/],
    ['on the schema itself', { ...text('R') }, /not on a plain property/],
  ];
  for (const [what, one, why] of rows) assert.throws(() => paramHeadersOf(one), why, what);
  assert.deepEqual(paramHeadersOf(schema({ a: { type: 'string', default: text('data') } })), []);
});
