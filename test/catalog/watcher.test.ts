import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { FSWatcher } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { createWatcher, type Watch } from '../../src/catalog/watcher.ts';
import { createLog } from '../../src/log.ts';
import { makeTree } from '../harness/tree.ts';

/** Nothing in a watcher keeps a process alive; a test that waits for it must do that itself. */
function stayAlive(t: TestContext): void {
  const timer = setInterval(() => {}, 1000);
  t.after(() => clearInterval(timer));
}

test('when the system has no more watches, one warning is logged and all watches are closed', async (t) => {
  stayAlive(t);
  const open = new Set<string>();
  const lines: string[] = [];
  const outOfWatches = Object.assign(new Error('ENOSPC: too many watches'), { code: 'ENOSPC' });
  const exhausted = new Promise<void>((done) => {
    const watch = (directory: string) => {
      if (open.size === 3) {
        setImmediate(done);
        throw outOfWatches;
      }
      open.add(directory);
      return Object.assign(new EventEmitter(), { close: () => open.delete(directory) }) as unknown as FSWatcher;
    };
    const log = createLog((line) => lines.push(line), 'info');
    const watcher = createWatcher(() => assert.fail('there is nothing to look at'), log, watch as Watch);
    const targets = ['a', 'b', 'c', 'd', 'e'].map((directory) => ({ directory, identity: undefined }));
    watcher.follow(targets);
    setImmediate(() => watcher.follow(targets));
  });
  await exhausted;
  assert.deepEqual([...open], []);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /warn: no more file watches .*timed refresh/);
});

test('a directory that is no longer wanted is no longer watched, also when that happens while watches are being set', async (t) => {
  stayAlive(t);
  const open = new Set<string>();
  const watch = (directory: string) => {
    open.add(directory);
    return Object.assign(new EventEmitter(), { close: () => open.delete(directory) }) as unknown as FSWatcher;
  };
  const settled = new Promise<void>((done) => {
    const watcher = createWatcher(
      () => open.has('b') && done(),
      createLog(() => {}, 'error'),
      watch as Watch,
    );
    watcher.follow([{ directory: 'a', identity: undefined }]);
    watcher.follow([
      { directory: 'a', identity: undefined },
      { directory: 'b', only: 'x', identity: undefined },
    ]);
    setTimeout(() => watcher.follow([{ directory: 'b', identity: undefined }]), 100);
  });
  await settled;
  while (open.has('a')) await new Promise((next) => setTimeout(next, 10));
  assert.deepEqual([...open], ['b']);
});

test('when a directory is watched for one entry, changes of other entries do not count', async (t) => {
  stayAlive(t);
  const tree = makeTree(t, { 'x/seed': '' });
  const changes: string[] = [];
  let standing = () => {};
  const ready = new Promise<void>((done) => {
    standing = done;
  });
  let next = () => {};
  const watcher = createWatcher(
    () => {
      standing();
      changes.push('change');
      next();
    },
    createLog(() => {}, 'error'),
  );
  t.after(() => watcher.close());
  watcher.follow([
    { directory: tree.at('x'), only: 'wanted', identity: undefined },
    { directory: tree.at('x'), only: 'also', identity: undefined },
  ]);
  await ready;
  changes.length = 0;
  const seen = new Promise<void>((done) => {
    next = done;
  });
  tree.write('x/other', '');
  tree.write('x/more', '');
  tree.write('x/wanted', '');
  await seen;
  assert.ok(changes.length <= 2, 'creating one file is at most two events');
});
