/** How the lists of an upstream server are requested, and what is kept of them. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { UpstreamClient } from '../../src/hub/client.ts';
import { keepListed, type ListOutcome, merge } from '../../src/hub/listing.ts';
import { type Params, RpcError } from '../../src/protocol/index.ts';
import { mockTimers } from '../harness/timers.ts';
import { tool } from '../harness/upstreams.ts';

/** By method: the result, or a function that gives it. */
type Answers = Readonly<Record<string, object | ((params: Params) => unknown)>>;
const EVERYTHING = { tools: {}, resources: {}, prompts: {}, extensions: { 'io.modelcontextprotocol/skills': {} } };

/** Lists of a client in this process; gives what was published last, by name, and how often each method was asked. */
function list(t: TestContext, answers: Answers, capabilities: object = EVERYTHING) {
  const end = new AbortController();
  // The timers of lists do not keep a process running.
  const alive = setInterval(() => {}, 10_000);
  t.after(() => {
    end.abort();
    clearInterval(alive);
  });
  const published = new Map<string, ListOutcome>();
  const asked: string[] = [];
  let announce: (method: string) => void = () => {};
  const client = {
    agreement: { capabilities },
    end: end.signal,
    listen: (listener: typeof announce) => {
      announce = listener;
    },
    request: async (method: string, params: Params) => {
      asked.push(method);
      const told = answers[method];
      const answer = typeof told === 'function' ? told(params) : told;
      if (answer === undefined) throw new RpcError(-32601, `unknown ${method}`);
      return answer;
    },
  };
  const publish = (name: string, outcome: ListOutcome) => void published.set(name, outcome);
  const done = keepListed(client as unknown as UpstreamClient, { publish, keeps: () => true });
  const last = (name: string) => published.get(name) ?? assert.fail(name);
  return {
    ...{ done, last, end, announce: (list: string) => announce(`notifications/${list}/list_changed`) },
    counts: (...methods: readonly string[]) =>
      methods.map((method) => asked.filter((one) => one === `${method}/list`).length),
    names: (name: string) => {
      const outcome = last(name);
      assert.ok(outcome.kind === 'listed');
      return outcome.items.map((item) => JSON.stringify(item).replace(/.*?"name":"([^"]*)".*/, '$1'));
    },
    faults: (name: string) => {
      const outcome = last(name);
      return outcome.kind === 'listed' ? outcome.faults : [outcome.why];
    },
  };
}
const tools = (...names: string[]) => ({ tools: names.map((name) => tool(name)) });
const many = (count: number, more = {}) => Array.from({ length: count }, (_, nth) => tool(`t${nth}`, more));
/** A value with so many levels. */
const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

test('pages are put together; bad items and repeated names are left out alone, with their reason', async (t) => {
  const pages: Readonly<Record<string, object>> = {
    '': { tools: [tool('a'), { name: 'bad' }, 5, tool('deep', { _meta: { a: nested(99_999) } })], nextCursor: 'x' },
    x: { tools: [tool('a'), tool('b'), tool('big', { title: 'x'.repeat(2 ** 20) }), { name: nested(99_999) }] },
  };
  const { done, names, faults } = list(t, { 'tools/list': ({ cursor = '' }) => pages[String(cursor)] });
  await done;
  assert.deepEqual(names('tools'), ['a', 'b']);
  assert.deepEqual(faults('tools'), [
    'tools bad: left out, because it has no inputSchema',
    'tools deep: left out, because it has over 64 levels',
    'tools a: left out, because an earlier one has the same name',
    'tools big: left out, because it is over 1048576 bytes',
    'tools (without a name): left out, because it has over 64 levels',
  ]);
});

const ENDLESS: readonly (readonly [name: string, page: (at: number) => object, kept: number, why: RegExp])[] = [
  ['items', () => ({ tools: many(150_000) }), 10_000, /over 10000 items; 10000 tools are served/],
  ['bytes', () => ({ tools: many(300, { description: 'x'.repeat(32_000) }) }), 250, /over 8388608 bytes/],
  ['pages', (at) => ({ tools: [tool(`p${at}`)], nextCursor: `c${at}` }), 5000, /over 10000 items; 5000 tools/],
  ['empty pages', (at) => ({ tools: [], nextCursor: `c${at}` }), 0, /the pages have no end/],
  ['pages that repeat', () => ({ tools: [tool('a')], nextCursor: 'same' }), 1, /the pages have no end/],
  ['faults', () => ({ tools: many(1000).map((one) => ({ ...one, inputSchema: 5 })) }), 0, /tools t0: left out/],
];
for (const [name, page, kept, why] of ENDLESS)
  test(`a list without end is cut: ${name}`, async (t) => {
    let at = 0;
    const { done, names, faults } = list(t, { 'tools/list': () => page(at++) });
    await done;
    assert.ok(Math.abs(names('tools').length - kept) <= kept / 20, String(names('tools').length));
    assert.match(faults('tools')[0] ?? '', why);
    assert.ok(faults('tools').length <= 21);
  });

test('what a server has is decided by its capabilities; tools are asked for in any case', async (t) => {
  const silent = list(t, {}, {});
  await silent.done;
  assert.deepEqual([silent.names('tools'), silent.names('prompts')], [[], []]);
  assert.deepEqual(silent.counts('tools', 'prompts', 'skills'), [1, 0, 0]);
  await assert.rejects(list(t, {}).done, /tools\/list failed: unknown tools\/list/);
  await assert.rejects(list(t, { 'tools/list': { tools: {} } }).done, /the result has no list of tools/);
  const rich = list(t, { 'tools/list': tools(), 'prompts/list': {} });
  await rich.done;
  assert.deepEqual(rich.faults('prompts'), ['prompts/list failed: the result has no list of prompts']);
  // A method that it does not know is an empty list, and no fault.
  assert.deepEqual(rich.last('resources'), { kind: 'listed', items: [], faults: [] });
});

test('a list is asked for again when its change is announced, and every minute; bursts are one request', async (t) => {
  mockTimers(t, 'setTimeout');
  const turn = async (ms: number) => {
    t.mock.timers.tick(ms);
    for (let at = 0; at < 20; at++) await new Promise((next) => setImmediate(next));
  };
  const never = { 'resources/templates/list': () => new Promise(() => {}) };
  const answers = { 'tools/list': tools('a'), 'resources/list': { resources: [] }, 'skills/list': { skills: [] } };
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
  assert.equal(after[0], before[1]);
  assert.deepEqual(after, [{ b: 2 }, { c: 3 }]);
});
