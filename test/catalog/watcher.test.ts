import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { FSWatcher } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { createWatcher, type WatchSystem } from '../../src/catalog/watcher.ts';
import { createLog } from '../../src/log.ts';
import type { Watched } from '../../src/model.ts';
import { makeTree } from '../harness/tree.ts';

/** Nothing in a watcher keeps a process alive; a test that waits for it must do that itself. */
function stayAlive(t: TestContext): void {
  const timer = setInterval(() => {}, 1000);
  t.after(() => clearInterval(timer));
}

/** A system whose directories are watched by this function, and are on a local disk unless said otherwise. */
const systemOf = (watch: (directory: string) => FSWatcher, isLocal = (_directory: string) => true) =>
  ({ watch, isLocal }) as WatchSystem;

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
    const watcher = createWatcher(() => assert.fail('there is nothing to look at'), log, systemOf(watch));
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
      systemOf(watch),
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

test('watches are relied on when every directory that exists has one, on a local file system', async (t) => {
  stayAlive(t);
  const emitters = new Map<string, EventEmitter>();
  const watch = (directory: string) => {
    if (directory === '/closed') throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
    const emitter = Object.assign(new EventEmitter(), { close() {} });
    emitters.set(directory, emitter);
    return emitter as unknown as FSWatcher;
  };
  const onDevice = (dev: number) => ({ dev, ino: 7, birthtimeMs: 0 });
  const [disk, share] = [onDevice(1), onDevice(2)];
  async function reliability(...targets: readonly Watched[]) {
    let isSet = () => {};
    const set = new Promise<void>((done) => {
      isSet = done;
    });
    const system = systemOf(watch, (directory) => !directory.startsWith('/share'));
    const watcher = createWatcher(
      () => isSet(),
      createLog(() => {}, 'error'),
      system,
    );
    assert.equal(watcher.isReliable(), false, 'before anything is watched');
    watcher.follow(targets);
    await set;
    return watcher;
  }
  const a = { directory: '/a', identity: disk };
  assert.equal((await reliability(a)).isReliable(), true);
  assert.equal((await reliability(a, { directory: '/missing', only: 'x', identity: undefined })).isReliable(), true);
  assert.equal((await reliability(a, { directory: '/closed', identity: disk })).isReliable(), false);
  assert.equal((await reliability(a, { directory: '/share/b', identity: share })).isReliable(), false);
  const failing = await reliability(a);
  emitters.get('/a')?.emit('error', new Error('gone'));
  assert.equal(failing.isReliable(), false);
});
