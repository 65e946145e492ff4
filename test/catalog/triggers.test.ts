import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRegistry } from '../../src/catalog/registry.ts';
import { startTriggers } from '../../src/catalog/triggers.ts';
import { settingsFrom } from '../../src/config.ts';
import type { Source } from '../../src/model.ts';
import { createTestClock } from '../harness/clock.ts';

/** A registry that counts how often its one source is loaded, under the triggers of these options. */
function counted(options: Parameters<typeof settingsFrom>[0], more: Partial<Source> = {}) {
  let loads = 0;
  const source = {
    name: 'test',
    async load() {
      loads++;
      return {};
    },
    ...more,
  };
  const settings = settingsFrom(options);
  const clock = createTestClock();
  const stop = startTriggers(createRegistry([source], settings), [source], settings, settings.log, clock);
  return { loads: () => loads, stop, clock };
}

test('without options there is a refresh every 30 seconds, until the triggers are stopped', async () => {
  const { loads, stop, clock } = counted({});
  for (const [passes, expected] of [
    [29_999, 0],
    [1, 1],
    [29_999, 1],
    [1, 2],
  ] as const) {
    await clock.advance(passes);
    assert.equal(loads(), expected);
  }
  stop();
  await clock.advance(120_000);
  assert.equal(loads(), 2);
});

test('the interval can be another one, or none', async () => {
  const often = counted({ refreshInterval: 10_000 });
  const never = counted({ autoRefresh: false });
  for (let tick = 0; tick < 3; tick++) for (const { clock } of [often, never]) await clock.advance(10_000);
  assert.deepEqual([often.loads(), never.loads()], [3, 0]);
  often.stop();
  never.stop();
});

test('a file that keeps changing causes refreshes at growing distances, up to 8 seconds', async () => {
  let isUnsettled = true;
  const { loads, stop, clock } = counted({ refreshInterval: 100_000 }, { isUnsettled: () => isUnsettled });
  await clock.advance(100_000);
  assert.equal(loads(), 1);
  for (const [nth, wait] of [250, 500, 1000, 2000, 4000, 8000, 8000].entries()) {
    await clock.advance(wait - 1);
    assert.equal(loads(), nth + 1, `before ${wait}`);
    if (nth === 6) isUnsettled = false;
    await clock.advance(1);
    assert.equal(loads(), nth + 2, `after ${wait}`);
  }
  await clock.advance(20_000);
  assert.equal(loads(), 8);
  stop();
});
