/** How the lists of an upstream server are requested, and what is kept of them. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { UpstreamClient } from '../../src/hub/client.ts';
import { keepListed, type ListOutcome, merge } from '../../src/hub/listing.ts';
import { type Params, RpcError } from '../../src/protocol/index.ts';
import { mockTimers } from '../harness/timers.ts';
import { tool } from '../harness/upstreams.ts';

type Answers = Readonly<Record<string, (params: Params) => unknown>>;
const EVERYTHING = { tools: {}, resources: {}, prompts: {}, extensions: { 'io.modelcontextprotocol/skills': {} } };

/** `answers`: by method what gives its result. `last`: what was published of a list; `counts`: how often each was asked for. */
function list(t: TestContext, answers: Answers, capabilities: object = EVERYTHING) {
  const end = new AbortController();
  // The timers of lists do not keep a process running.
  const alive = setInterval(() => {}, 10_000);
  t.after(() => clearInterval(alive));
  t.after(() => end.abort());
  const published = new Map<string, { readonly names: readonly string[]; readonly faults: readonly string[] }>();
  const publish = (name: string, outcome: ListOutcome) => {
    const { items = [], faults = [] } = outcome.kind === 'failed' ? { faults: [outcome.why] } : outcome;
    const names = items.map((item) => JSON.stringify(item).replace(/.*?"name":"([^"]*)".*/, '$1'));
    published.set(name, { names, faults });
  };
  const listen = t.mock.fn((_listener: (method: string) => void) => {});
  const request = t.mock.fn(async (method: string, params: Params) => {
    const answer = answers[method]?.(params);
    if (answer === undefined) throw new RpcError(-32601, `unknown ${method}`);
    return answer;
  });
  const client = { agreement: { capabilities }, end: end.signal, listen, request } as unknown as UpstreamClient;
  const done = keepListed(client, { publish, keeps: () => true });
  const countOf = (name: string) => request.mock.calls.filter((call) => call.arguments[0] === `${name}/list`).length;
  return {
    ...{ done, end, last: (name: string) => published.get(name) ?? assert.fail(name) },
    counts: (...names: readonly string[]) => names.map(countOf),
    announce: (name: string) => listen.mock.calls[0]?.arguments[0](`notifications/${name}/list_changed`),
  };
}
const many = (count: number, more = {}) => Array.from({ length: count }, (_, nth) => tool(`t${nth}`, more));
/** A value with so many levels. */
const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

test('pages are put together; bad items and repeated names are left out alone, with their reason', async (t) => {
  const pages: Readonly<Record<string, object>> = {
    '': { tools: [tool('a'), { name: 'bad' }, 5, tool('deep', { _meta: { a: nested(99_999) } })], nextCursor: 'x' },
    x: { tools: [tool('a'), tool('b'), tool('big', { title: 'x'.repeat(2 ** 20) }), { name: nested(99_999) }] },
  };
  const { done, last } = list(t, { 'tools/list': ({ cursor = '' }) => pages[String(cursor)] });
  await done;
  const reasons = [
    ' bad: left out, because it has no inputSchema',
    ': an item is not an object, and is left out',
    ' deep: left out, because it has over 64 levels',
    ' a: left out, because an earlier one has the same name',
    ' big: left out, because it is over 1048576 characters',
    ' (without a name): left out, because it has over 64 levels',
  ];
  assert.deepEqual(last('tools'), { names: ['a', 'b'], faults: reasons.map((reason) => `tools${reason}`) });
});

const ENDLESS: readonly (readonly [name: string, page: (at: number) => object, kept: number, why: RegExp])[] = [
  ['items', () => ({ tools: many(150_000) }), 10_000, /over 10000 items; 10000 tools are served/],
  ['bytes', () => ({ tools: many(300, { description: 'x'.repeat(32_000) }) }), 250, /over 8388608 characters/],
  ['pages', (at) => ({ tools: [tool(`p${at}`)], nextCursor: `c${at}` }), 5000, /over 10000 items; 5000 tools/],
  ['empty pages', (at) => ({ tools: [], nextCursor: `c${at}` }), 0, /the pages have no end/],
  ['pages that repeat', (at) => ({ tools: [tool('a')], nextCursor: `c${at % 3}` }), 1, /the pages have no end/],
  ['faults', () => ({ tools: many(1000).map((one) => ({ ...one, inputSchema: 5 })) }), 0, /tools t0: left out/],
];
for (const [name, page, kept, why] of ENDLESS)
  test(`a list without end is cut: ${name}`, async (t) => {
    let at = 0;
    const { done, last } = list(t, { 'tools/list': () => page(at++) });
    await done;
    const { names, faults } = last('tools');
    assert.ok(Math.abs(names.length - kept) <= kept / 20, String(names.length));
    assert.match(faults[0] ?? '', why);
    assert.ok(faults.length <= 21);
  });

test('what a server has is decided by its capabilities; tools are asked for in any case', async (t) => {
  const silent = list(t, {}, {});
  await silent.done;
  assert.deepEqual(silent.last('tools'), { names: [], faults: [] });
  assert.deepEqual(silent.counts('tools', 'prompts', 'skills'), [1, 0, 0]);
  await assert.rejects(list(t, {}).done, /tools\/list failed: unknown tools\/list/);
  await assert.rejects(list(t, { 'tools/list': () => ({}) }).done, /the result has no list of tools/);
  const rich = list(t, { 'tools/list': () => ({ tools: [] }), 'prompts/list': () => ({}) });
  await rich.done;
  assert.deepEqual(rich.last('prompts').faults, ['prompts/list failed: the result has no list of prompts']);
  // A method that it does not know is an empty list, and no fault.
  assert.deepEqual(rich.last('resources'), { names: [], faults: [] });
});

test('a list is asked for again when its change is announced, and every minute; bursts are one request', async (t) => {
  mockTimers(t, 'setTimeout');
  const turn = async (ms: number) => {
    t.mock.timers.tick(ms);
    for (let at = 0; at < 20; at++) await new Promise((next) => setImmediate(next));
  };
  const everything = () => ({ tools: [], resources: [], skills: [] });
  const answers = { 'tools/list': everything, 'resources/list': everything, 'skills/list': everything };
  const never = { 'resources/templates/list': () => new Promise(() => {}) };
  const { done, counts, announce, end } = list(t, { ...answers, ...never });
  await turn(0);
  await turn(1000); // A list that hangs delays the others by a second, and then no more.
  await done;
  for (let at = 0; at < 5; at++) announce('resources');
  await turn(0);
  assert.deepEqual(counts('resources', 'skills', 'tools'), [2, 2, 1]);
  announce('resources');
  await turn(499);
  assert.deepEqual(counts('resources'), [2]);
  await turn(1);
  assert.deepEqual(counts('resources', 'tools'), [3, 1]);
  await turn(60_500);
  assert.deepEqual(counts('resources', 'tools', 'resources/templates'), [3, 2, 1]);
  end.abort();
  await turn(120_000);
  assert.deepEqual(counts('tools'), [2]);
});

test('equal items stay the same objects, and an equal list the same list', () => {
  const before: object[] = [{ a: 1 }, { b: 2 }];
  assert.equal(merge(before, structuredClone(before)), before);
  const after = merge(before, [{ b: 2 }, { c: 3 }]);
  assert.deepEqual([after, after[0] === before[1]], [[{ b: 2 }, { c: 3 }], true]);
});
