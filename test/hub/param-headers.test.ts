import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headersFor, paramHeadersOf } from '../../src/hub/param-headers.ts';

const schema = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const named = (header: unknown, type = 'string') => ({ type, 'x-mcp-header': header });

test('annotated arguments are repeated in headers, as the specification writes them', () => {
  const [deep, flag] = [schema({ b: named('Depth', 'integer') }), named('Flag', 'boolean')];
  const params = paramHeadersOf(schema({ a: named('Region'), deep, flag, plain: { type: 'string' } }));
  const rows: readonly (readonly [args: object, headers: string])[] = [
    [{ a: 'eu', deep: { b: 3 }, plain: 'x' }, 'Region eu, Depth 3'],
    [{ a: 'ä', flag: false }, 'Region =?base64?w6Q=?=, Flag false'],
    [{ a: null, deep: 'x', flag: undefined }, ''],
    [{ a: { b: 1 }, deep: { b: 1.5 } }, ''],
    [Object.create({ a: 'inherited' }), ''],
  ];
  for (const [args, expected] of rows) {
    const headers = Object.entries(headersFor(params, args));
    assert.equal(headers.map(([name, value]) => `${name.replace('Mcp-Param-', '')} ${value}`).join(', '), expected);
  }
});

test('an invalid annotation is refused wherever it is, and says why', () => {
  const rows: readonly (readonly [what: string, schema: object, why: RegExp])[] = [
    ['empty', schema({ a: named('') }), /not usable as the name/],
    ['not a token', schema({ a: named('a b') }), /not usable as the name/],
    ['twice, without case', schema({ a: named('X'), b: named('x') }), /named twice/],
    ['on a number', schema({ a: named('N', 'number') }), /not text, integer or boolean/],
    ['below items', schema({ a: { type: 'array', items: named('I') } }), /not on a plain property/],
    ['below oneOf', schema({ a: { oneOf: [named('O')] } }), /not on a plain property/],
    ['below $defs', schema({}, { $defs: { d: named('D') } }), /not on a plain property/],
    ['on the schema itself', { ...named('R') }, /not on a plain property/],
  ];
  for (const [what, one, why] of rows) assert.throws(() => paramHeadersOf(one), why, what);
  assert.deepEqual(paramHeadersOf(schema({ a: { type: 'string', default: named('data') } })), []);
});
