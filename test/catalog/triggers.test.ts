import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createRegistry } from '../../src/catalog/registry.ts';
import { startTriggers } from '../../src/catalog/triggers.ts';
import { type SkillwireOptions, settingsFrom } from '../../src/config.ts';
import { fakeWatches } from '../harness/catalog.ts';
import { mockTimers } from '../harness/timers.ts';

/** Triggers on a clock that moves only when it is told to, over a source that has one directory. */
async function start(t: TestContext, options: SkillwireOptions) {
  const { open } = fakeWatches(t);
  mockTimers(t, 'setTimeout', 'setInterval', 'Date');
  const state = { watched: [{ path: '/a', identity: '1' }], changed: (_reason: string) => {} };
  const source = {
    name: 'test',
    load: async () => ({}),
    watched: () => state.watched,
    onChange(changed: typeof state.changed) {
      state.changed = changed;
    },
  };
  const settings = settingsFrom(options);
  const registry = createRegistry([source], settings);
  const reasons: string[] = [];
  registry.onRefresh(({ reason }) => void reasons.push(`${reason} ${Date.now()}`));
  const stop = startTriggers(registry, [source], settings);
  await registry.ready();
  const advance = async (milliseconds: number) => {
    for (const end = Date.now() + milliseconds; Date.now() < end; ) {
      t.mock.timers.tick(50);
      await turn();
    }
  };
  return { state, reasons, stop, advance, watching: () => [...open.keys()].join(), change: () => open.get('/a')?.() };
}

const TIMED: readonly (readonly [promise: string, options: SkillwireOptions, watching: string, refreshes: string])[] = [
  ['every 30 seconds, and after new watches', {}, '/a', 'start 0, watch 750, timer 30000, timer 60000'],
  ['as often as it is told', { refreshInterval: 25_000, watch: false }, '', 'start 0, timer 25000, timer 50000'],
  ['not at all, whatever the interval', { autoRefresh: false, refreshInterval: 50 }, '', 'start 0'],
];
for (const [promise, options, expected, timed] of TIMED)
  test(`refreshes: ${promise}, until the triggers are stopped; a source that has changed is loaded at once`, async (t) => {
    const { state, reasons, stop, advance, watching } = await start(t, options);
    await advance(70_000);
    assert.deepEqual([watching(), reasons.join(', ')], [expected, timed]);
    state.changed('up: tools');
    await turn();
    stop();
    state.changed('up: gone');
    await advance(70_000);
    assert.deepEqual([watching(), reasons.join(', ')], ['', `${timed}, up: tools 70000`]);
  });

test('a burst of changes causes one refresh, after its last change, and does not delay the timer, which follows new directories', async (t) => {
  const { state, reasons, advance, change, watching, stop } = await start(t, { refreshInterval: 6000 });
  await advance(1000);
  for (let nth = 0; nth < 20; nth++) {
    change();
    await advance(300);
  }
  await advance(3000);
  assert.deepEqual(reasons.slice(2), ['timer 6000', 'watch 7200']);
  state.watched = [{ path: '/b', identity: '2' }];
  await advance(3000);
  assert.equal(watching(), '/b');
  stop();
});
