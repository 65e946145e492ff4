import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { createRegistry } from '../../src/catalog/registry.ts';
// Loaded before the first refresh needs it, which would wait for the file system otherwise.
import '../../src/catalog/snapshot.ts';
import { createTriggers } from '../../src/catalog/triggers.ts';
import type { WatchSystem } from '../../src/catalog/watcher.ts';
import { settingsFrom } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import type { Source } from '../../src/model.ts';
import { createTestClock } from '../harness/clock.ts';

/** A registry that counts how often its one source is loaded, under the triggers of these options. */
function counted(options: Parameters<typeof settingsFrom>[0], more: Partial<Source> = {}, isLocal = true) {
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
  const registry = createRegistry([source], settings);
  let change: (() => void) | undefined;
  const watch = (_directory: string, _options: object, listener: (event: string, name: string) => void) => {
    change = () => listener('change', 'file');
    return Object.assign(new EventEmitter(), { close: () => {} });
  };
  const system = { watch, isLocal: () => isLocal } as unknown as WatchSystem;
  const { begin, stop, refresh } = createTriggers(registry, [source], settings, settings.log, clock, system);
  begin();
  return {
    registry,
    loads: () => loads,
    stop,
    refresh,
    clock,
    change: () => change?.(),
    isWatching: () => change !== undefined,
  };
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

const WATCHES = [{ directory: '/a', identity: { dev: 1, ino: 7, birthtimeMs: 0 } }];

/** Triggers whose one directory is watched, after the first refreshes. */
async function watching(refreshInterval: number | undefined, isLocal = true, isFullyWatched?: boolean) {
  const lines: string[] = [];
  const log = createLog((line) => void lines.push(line), 'info');
  const more = isFullyWatched === undefined ? {} : { isFullyWatched: () => isFullyWatched };
  const one = counted({ refreshInterval, log }, { watched: () => WATCHES, ...more }, isLocal);
  await one.registry.refresh('first');
  while (!one.isWatching()) await new Promise((done) => setTimeout(done, 5));
  await new Promise((done) => setImmediate(done));
  await one.clock.advance(1000); // New watches count as a change.
  return { ...one, lines, first: one.loads() };
}

test('a burst of changes causes one refresh, after its last change', async () => {
  const { clock, change, loads, first, stop } = await watching(100_000);
  for (let nth = 0; nth < 5; nth++) {
    change();
    await clock.advance(300);
  }
  assert.equal(loads(), first);
  await clock.advance(200);
  assert.equal(loads(), first + 1);
  await clock.advance(10_000);
  assert.equal(loads(), first + 1);
  stop();
});

test('a file that is written all the time delays a refresh by two seconds at most, and the timer not at all', async () => {
  const { clock, change, loads, first, stop } = await watching(30_000);
  const seen: number[] = [];
  for (let time = 0; time < 10_000; time += 200) {
    change();
    await clock.advance(200);
    seen.push(loads() - first);
  }
  assert.equal(seen[8], 0);
  assert.deepEqual([seen[9], seen.at(-1)], [1, 5]);
  const before = loads();
  for (let time = 0; time < 20_000; time += 200) {
    change();
    await clock.advance(200);
  }
  assert.ok(loads() - before >= 10, 'by watch, and once by the timer');
  stop();
});

test('while everything is watched, the timer looks every five minutes, and says every 30 seconds that it does not', async () => {
  const { clock, loads, first, lines, stop } = await watching(undefined, true, true);
  await clock.advance(270_000);
  assert.equal(loads(), first);
  assert.equal(lines.filter((line) => /refresh \(timer\): the watches saw no change/.test(line)).length, 9);
  await clock.advance(60_000);
  assert.equal(loads(), first + 1);
  stop();
});

test('a file system of other machines, a source with more than is watched, and an interval that the user gives, are looked at that often', async () => {
  for (const [interval, isLocal, isFullyWatched] of [
    [undefined, false, true],
    [undefined, true, false],
    [undefined, true, undefined],
    [30_000, true, true],
  ] as const) {
    const { clock, loads, first, stop } = await watching(interval, isLocal, isFullyWatched);
    await clock.advance(90_000);
    assert.equal(loads(), first + 3);
    stop();
  }
});

test('a refresh for a server that comes after an edit names the watcher too (13.17)', async () => {
  const { clock, registry, refresh, change, stop } = await watching(100_000);
  const reasons: string[] = [];
  registry.onRefresh(({ reason }) => void reasons.push(reason));
  refresh('after server up');
  await clock.advance(1000);
  change();
  refresh('after server up');
  await clock.advance(1000);
  stop();
  assert.deepEqual(reasons, ['after server up', 'after server up, watch', 'watch']);
});
