import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as eras from '../../src/protocol/eras.ts';
import { createSession, EncodedResult, META, type Method, type Params } from '../../src/protocol/index.ts';

const server = { name: 'test', version: '1' };
const method: Method = { name: 'm', cache: { ttlMs: 5, cacheScope: 'private' }, run: () => ({}) };
const table = { methods: [method], notifications: [] };
const [modern, legacy] = [eras.modernEra(table, server), eras.legacyEra(table)];
const [[NEWEST = ''], [LEGACY = '']] = [eras.MODERN_VERSIONS, eras.LEGACY_VERSIONS];
const meta = (version: unknown = NEWEST) => ({ _meta: { [META.version]: version, [META.capabilities]: {} } });
type Headers = Readonly<Record<string, string>>;
const reader = (headers: Headers | undefined) => headers && ((name: string) => headers[name]);

test('the body decides the era; a header counts only when it names what no legacy client speaks', () => {
  const rows: readonly (readonly [name: string, isModern: boolean, method: string, Params, header?: string])[] = [
    ['a named version', true, 'tools/list', meta()],
    ['a named version, whatever it is', true, 'tools/list', meta(3)],
    ['initialize with a named version', true, 'initialize', meta()],
    ['initialize', false, 'initialize', {}],
    ['a method that only the modern era has', true, 'server/discover', {}],
    ['anything else', false, 'tools/list', { _meta: { other: 1 } }],
    ['a legacy header', false, 'tools/list', {}, LEGACY],
    ['a modern header', true, 'tools/list', {}, NEWEST],
    ['an unknown header', true, 'tools/list', {}, 'v999'],
  ];
  for (const [name, isModern, called, params, header] of rows) {
    const readHeader = reader(header === undefined ? undefined : { 'mcp-protocol-version': header });
    assert.equal(modern.speaks(called, params, readHeader), isModern, name);
    assert.ok(legacy.speaks(called, params, readHeader), 'the last era takes everything');
  }
});

test('a modern envelope is judged in the order that the specification gives', () => {
  const all = { 'mcp-protocol-version': NEWEST, 'mcp-method': 'tools/call', 'mcp-name': 'a' };
  const v999 = { ...all, 'mcp-protocol-version': 'v999' };
  const call = (version?: unknown) => ({ name: 'a', ...meta(version) });
  const rows: readonly (readonly [name: string, Params, Headers | undefined, code?: number, why?: RegExp])[] = [
    ['complete', call(), undefined],
    ['complete, with headers', call(), all],
    ['a name in base64', call(), { ...all, 'mcp-name': '=?base64?YQ==?=' }],
    ['no version', { _meta: { [META.capabilities]: {} } }, undefined, -32602, /protocolVersion"] is missing/],
    ['a version that is a number', call(3), undefined, -32602, /must be text/],
    ['no capabilities', { _meta: { [META.version]: NEWEST } }, undefined, -32602, /clientCapabilities"] is missing/],
    ['an unknown version, in both', call('v999'), v999, -32022, /protocol version "v999"/],
    ['another version in the header', call(), v999, -32020, /MCP-Protocol-Version/],
    ['another method in the header', call(), { ...all, 'mcp-method': 'x' }, -32020, /Mcp-Method/],
    ['another name in the header', call(), { ...all, 'mcp-name': 'b' }, -32020, /Mcp-Name/],
  ];
  const session = createSession(() => {});
  for (const [name, params, headers, code, why] of rows) {
    const readHeader = reader(headers);
    const open = () => modern.open({ kind: 'request', id: 1, method: 'tools/call', params }, session, readHeader);
    const peer = { client: undefined, version: NEWEST, anyStructure: true, readHeader };
    if (code === undefined) assert.deepEqual(open(), peer, name);
    else assert.throws(open, { code, httpStatus: 400, message: why }, name);
  }
});

test('a modern result has the members of its era exactly once, encoded before or not; a legacy result has none', () => {
  const stamp = { [META.server]: server };
  const own = { resultType: 'complete', ttlMs: 5, cacheScope: 'private', _meta: stamp };
  const list = { a: [{ ttlMs: 1 }] };
  const rows: readonly (readonly [name: string, result: object, inModern: object, inLegacy: object])[] = [
    ['empty', {}, own, {}],
    ['plain', list, { ...list, ...own }, list],
    ['encoded', new EncodedResult(list), { ...list, ...own }, list],
    ['with _meta', { _meta: { b: 2 } }, { ...own, _meta: { b: 2, ...stamp } }, { _meta: { b: 2 } }],
    ['with a type', { resultType: 'another' }, { ...own, resultType: 'another' }, {}],
    ['with a cache hint', { ttlMs: 9 }, own, { ttlMs: 9 }],
  ];
  for (const [name, result, inModern, inLegacy] of rows) {
    const texts = [modern, legacy].map((era) => String(era.seal(7, result, method)));
    const sealed = texts.map((text) => JSON.parse(text).result);
    assert.deepEqual(sealed, [inModern, inLegacy], name);
    for (const key of ['resultType', 'cacheScope', '_meta']) assert.equal(texts[0]?.split(`"${key}":`).length, 2, name);
  }
});

test('a client has a name of bounded length', () => {
  const long = 'x'.repeat(eras.MAX_CLIENT_TEXT + 1);
  assert.deepEqual(eras.clientOf({ name: 'a', version: long, title: 'A' }), { name: 'a', version: '' });
  for (const info of [undefined, 'a', {}, { name: 1 }, { name: long }]) assert.equal(eras.clientOf(info), undefined);
});
