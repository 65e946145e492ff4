import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { createWatcher } from '../../src/catalog/watcher.ts';
import { createLog } from '../../src/log.ts';
import { fakeWatches } from '../harness/catalog.ts';

/** A watcher over watches that are not the system's, the changes that it reports, and its log. */
function start(t: TestContext, refuse?: Parameters<typeof fakeWatches>[1]) {
  const { open, opened } = fakeWatches(t, refuse);
  const lines: string[] = [];
  let changes = 0;
  const log = createLog((line) => void lines.push(line), 'info');
  const watcher = createWatcher(() => void changes++, log);
  t.after(() => watcher.close());
  /** Each a directory, or a directory and what it is there. */
  const follow = (...all: readonly string[]) =>
    watcher.follow(all.map((one) => ({ path: one.slice(0, 1), identity: one })));
  /** What is watched, what was watched in all, and the changes. */
  const shown = () => `${[...open.keys()].join('')} ${opened.join('')} ${changes}`;
  return { lines, follow, shown, changeIn: (path: string) => open.get(path)?.() };
}

async function until(holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 10_000; !holds(); await pause(5)) assert.ok(Date.now() < deadline, String(holds));
}

test('what is wanted is watched, also what is wanted meanwhile or was replaced, and nothing twice; new watches are a change', async (t) => {
  const { follow, shown, changeIn } = start(t);
  follow('a');
  follow('a', 'a', 'b');
  await until(() => shown() === 'ab ab 1');
  changeIn('a');
  assert.equal(shown(), 'ab ab 2');
  follow('b', 'c');
  follow('b2');
  await until(() => shown() === 'b abcb 4');
});

test('when the system has no more watches, one warning is logged, all are closed, and nothing is watched again', async (t) => {
  const { follow, shown, lines } = start(t, ({ size }) => {
    if (size === 3) throw Object.assign(new Error('ENOSPC: too many watches'), { code: 'ENOSPC' });
  });
  follow('a', 'b', 'c', 'd', 'e');
  await until(() => lines.length > 0);
  follow('f');
  await turn();
  assert.match(lines.join(''), /^skillwire: warn: no more file watches \(ENOSPC.*timed refresh instead\n$/);
  assert.equal(shown(), ' abc 0');
});
