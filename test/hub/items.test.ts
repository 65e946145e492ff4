/** What upstream servers list, as items of the catalogue, and what passes through them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CallOptions, UpstreamError } from '../../src/hub/connection.ts';
import { toolFrom } from '../../src/hub/definitions.ts';
import { contributionOf } from '../../src/hub/items.ts';
import { EMPTY_LISTING, type Listing } from '../../src/hub/listing.ts';
import type { Upstream } from '../../src/hub/upstream.ts';
import type { Snapshot } from '../../src/model.ts';
import { type Params, RpcError } from '../../src/protocol/index.ts';
import { callOf, tool } from '../harness/upstreams.ts';

type Asked = readonly [method: string, params: Params, options: CallOptions];

/** What a server contributes that answers `result`, or throws it, and what it was asked. */
function serve(name: string, listing: Partial<Listing>, result: unknown = {}) {
  const asked: Asked[] = [];
  const upstream = {
    ...{ config: { name, timeout: 7 }, listing: { ...EMPTY_LISTING, ...listing }, isAwaited: false, problems: [] },
    keeps: (item: string) => !item.startsWith('hidden'),
    async request(...all: Asked) {
      asked.push(all);
      if (result instanceof Error) throw result;
      return result;
    },
  } as unknown as Upstream;
  return { asked, upstream, ...contributionOf([upstream]) };
}
const properties = { r: { type: 'string', 'x-mcp-header': 'Region' } };
const ECHO = toolFrom(tool('echo', { inputSchema: { type: 'object', properties } })) ?? assert.fail();
const SNAPSHOT = {} as Snapshot;

/** What a client gets of a tool call that the server answers so. */
const run = async (result: unknown, peer = {}) =>
  serve('up', { tools: [ECHO] }, result).tools?.[0]?.run({}, SNAPSHOT, callOf({}, peer).call);

test('progress, cancellation, _meta, timeout and annotated arguments reach the other side', async () => {
  const { asked, tools: [echo] = [] } = serve('up', { tools: [ECHO] }, { content: [] });
  const { call, notified } = callOf({ _meta: { progressToken: 'mine', kept: 1 } });
  await echo?.run({ r: 'eu' }, SNAPSHOT, call);
  const [[method, params, options] = assert.fail()] = asked;
  assert.deepEqual([method, params], ['tools/call', { name: 'echo', arguments: { r: 'eu' }, _meta: { kept: 1 } }]);
  assert.deepEqual([options.timeout, options.headers], [7, { 'Mcp-Param-Region': 'eu' }]);
  options.onProgress?.({ progress: 1, progressToken: 7 });
  assert.deepEqual(notified, [['notifications/progress', { progress: 1, progressToken: 'mine' }]]);
  assert.equal(options.cancellation, call.cancellation());
  // A token that is none asks for no progress.
  await echo?.run({}, SNAPSHOT, callOf({ _meta: { progressToken: 1.5 } }).call);
  assert.equal(asked[1]?.[2].onProgress, undefined);
});

const TEXT = { type: 'text', text: 'x' };
const ODD = { content: [], structuredContent: ['a'] };
const GONE = { structuredContent: undefined };
const WHY = 'up:echo could not be called: the content of its result is not a list';
const RESULTS: readonly (readonly [name: string, result: object, expected: object, peer?: object])[] = [
  ['given content', { structuredContent: { a: 1 } }, { content: [], structuredContent: { a: 1 } }],
  ['passed on with any structure, to a modern client', ODD, ODD, { anyStructure: true }],
  ['given its structure as text, for a legacy client', ODD, { content: [{ type: 'text', text: '["a"]' }], ...GONE }],
  ['freed of structure beside a text', { content: [TEXT], structuredContent: 5 }, { content: [TEXT], ...GONE }],
  ['a failure when it is none', { content: 'text' }, { content: [{ type: 'text', text: WHY }], isError: true }],
];
for (const [name, result, expected, peer] of RESULTS)
  test(`a result is ${name}`, async () => assert.deepEqual(await run(result, peer), expected));

test("an error of a server is its own, but for codes about a client's connection with us, and retired ones", async () => {
  const data = { why: 1 };
  const codes = {
    '-32001': -32001,
    '-32602': -32602,
    '-32600': -32600,
    '-32022': -32603,
    '-32002': -32602,
    '-32042': -32603,
  };
  for (const [sent, code] of Object.entries(codes))
    await assert.rejects(async () => run(new RpcError(Number(sent), 'no', data)), { code, message: 'no', data });
});

test('a URI is read by the template with the longest literal start that fits, a listed one only as listed', async () => {
  const template = (uriTemplate: string) => ({ templates: [{ uriTemplate, name: uriTemplate }] });
  const resources = [{ uri: 'x://docs/one', name: 'one' }];
  const a = serve('a', { ...template('x://{+all}'), resources });
  const b = serve('b', template('x://docs/{id}'), { contents: [] });
  const { templates = [] } = contributionOf([a.upstream, b.upstream]);
  const first = (uri: string) => templates.find((one) => one.matches(uri));
  const servers = ['x://docs/two', 'x://other', 'y://docs/two'].map((uri) => first(uri)?.server);
  assert.deepEqual(servers, ['b', 'a', undefined]);
  // Otherwise a template would read what a filter hides.
  assert.equal(templates[1]?.matches('x://docs/one'), false);
  const hidden = serve('c', { ...template('hidden:{x}'), resources: [{ uri: 'x:y', name: 'hidden' }] });
  assert.deepEqual([hidden.templates, hidden.resources], [[], []]);
  await first('x://docs/two')?.read('x://docs/two', callOf().call);
  assert.deepEqual(b.asked[0]?.slice(0, 2), ['resources/read', { uri: 'x://docs/two' }]);
});

test('prompts and resources of a server that is away are errors', async () => {
  const listing = { prompts: [{ name: 'p' }], resources: [{ uri: 'x:y', name: 'y' }] };
  for (const result of [new UpstreamError('it is not a list'), {}]) {
    const { prompts, resources } = serve('up', listing, result);
    for (const ask of [() => prompts?.[0]?.get(callOf().call), () => resources?.[0]?.read(callOf().call)])
      await assert.rejects(async () => ask(), { code: -32603, message: /not a list/ });
  }
});
