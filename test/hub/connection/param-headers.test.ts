/** Arguments of tools that are repeated in headers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findParamHeaders, paramHeaders } from '../../../src/hub/connection/param-headers.ts';

test('arguments are repeated in headers only where a valid annotation asks for it', () => {
  const schema = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
  const text = (header: unknown) => ({ type: 'string', 'x-mcp-header': header });
  const sound = findParamHeaders(
    schema({ a: text('Region'), deep: schema({ b: { type: 'integer', 'x-mcp-header': 'Depth' } }) }),
  );
  assert.deepEqual(paramHeaders(sound, { a: 'eu', deep: { b: 3 }, c: 1 }), {
    'Mcp-Param-Region': 'eu',
    'Mcp-Param-Depth': '3',
  });
  assert.deepEqual(paramHeaders(sound, { a: null }), {});
  const unsound: readonly object[] = [
    schema({ a: text('') }),
    schema({ a: text(1) }),
    schema({ a: text('a b') }),
    schema({ a: text('X'), b: text('x') }),
    schema({ a: { type: 'number', 'x-mcp-header': 'N' } }),
    schema({ a: { type: 'array', items: text('I') } }),
    schema({ a: { oneOf: [text('O')] } }),
    schema({}, { $defs: { d: text('D') } }),
  ];
  for (const one of unsound) assert.throws(() => findParamHeaders(one), /^Error: x-mcp-header /, JSON.stringify(one));
  // Each name was once compared with all before it.
  const many = Array.from({ length: 6000 }, (_, at) => [`p${at}`, text(`H${at}${'x'.repeat(80)}`)]);
  const began = performance.now();
  assert.equal(findParamHeaders(schema(Object.fromEntries(many))).length, 6000);
  assert.ok(performance.now() - began < 2000);
  assert.deepEqual(findParamHeaders(schema({ a: { type: 'string', default: { 'x-mcp-header': 'data' } } })), []);
});
