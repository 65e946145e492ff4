import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createRegistry } from '../../src/catalog/registry.ts';
import { startTriggers } from '../../src/catalog/triggers.ts';
import { settingsFrom } from '../../src/config.ts';

/** A registry that counts how often its one source is asked, under the triggers of these options. */
function counted(options: Parameters<typeof settingsFrom>[0]) {
  let loads = 0;
  const source = {
    name: 'test',
    async load() {
      loads++;
      return {};
    },
  };
  const settings = settingsFrom(options);
  const stop = startTriggers(createRegistry([source], settings), [source], settings, settings.log);
  return { loads: () => loads, stop };
}

/** Lets promises settle without letting time pass. */
const breathe = () => new Promise((done) => setImmediate(done));

/** Stops the clock. The mock of Node 20.12 cannot clear a timer that is none. */
function stopClock(t: TestContext): void {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { clearTimeout: clear } = globalThis;
  globalThis.clearTimeout = (timer) => {
    if (timer !== undefined) clear(timer);
  };
}

test('without options it looks every 30 seconds, until it is stopped', async (t) => {
  stopClock(t);
  const { loads, stop } = counted({});
  for (const [passes, expected] of [
    [29_999, 0],
    [1, 1],
    [29_999, 1],
    [1, 2],
  ] as const) {
    t.mock.timers.tick(passes);
    await breathe();
    assert.equal(loads(), expected);
  }
  stop();
  t.mock.timers.tick(120_000);
  await breathe();
  assert.equal(loads(), 2);
});

test('the interval can be another one, or none', async (t) => {
  stopClock(t);
  const often = counted({ refreshInterval: 10_000 });
  const never = counted({ autoRefresh: false });
  for (let tick = 0; tick < 3; tick++) {
    t.mock.timers.tick(10_000);
    await breathe();
  }
  assert.deepEqual([often.loads(), never.loads()], [3, 0]);
  often.stop();
  never.stop();
});
