import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EncodedResult, legacyEra, type Method, modernEra } from '../../src/protocol/index.ts';

const server = { name: 'test', version: '1' };
const method: Method = { name: 'm', cache: { ttlMs: 5, cacheScope: 'private' }, run: () => ({}) };
const table = { methods: [method], notifications: [] };
const stamp = { 'io.modelcontextprotocol/serverInfo': server };
const own = { resultType: 'complete', ttlMs: 5, cacheScope: 'private', _meta: stamp };

test('a modern result has the members of its era exactly once, encoded before or not', () => {
  const era = modernEra(table, server);
  const rows: readonly (readonly [name: string, result: object, sealed: object])[] = [
    ['empty', {}, own],
    ['plain', { a: 1 }, { a: 1, ...own }],
    ['encoded', new EncodedResult({ a: [{ _meta: 1 }] }), { a: [{ _meta: 1 }], ...own }],
    ['with _meta', { a: 1, _meta: { b: 2 } }, { a: 1, ...own, _meta: { b: 2, ...stamp } }],
    ['with a type', { resultType: 'input_required' }, { ...own, resultType: 'input_required' }],
    ['with a cache hint', { ttlMs: 9 }, own],
  ];
  for (const [name, result, sealed] of rows) {
    const text = String(era.seal(7, result, method));
    assert.deepEqual(JSON.parse(text), { jsonrpc: '2.0', id: 7, result: sealed }, name);
    for (const key of Object.keys(own)) {
      assert.equal(text.split(`"${key}":`).length - 1, text.includes('[{') && key === '_meta' ? 2 : 1, name);
    }
  }
});

test('a legacy result has no type, and one that is not complete is an error', () => {
  const era = legacyEra(table);
  const sealed = (result: object) => String(era.seal('x', result, method));
  const reply = (result: string) => `{"jsonrpc":"2.0","id":"x","result":${result}}`;
  assert.equal(sealed({ a: 1, _meta: { b: 2 } }), reply('{"a":1,"_meta":{"b":2}}'));
  assert.equal(sealed(new EncodedResult({ a: 1 })), reply('{"a":1}'));
  assert.equal(sealed({ resultType: 'complete', a: 1 }), reply('{"a":1}'));
  assert.throws(() => sealed({ resultType: 'input_required' }), /takes a client of a later protocol version/);
});
