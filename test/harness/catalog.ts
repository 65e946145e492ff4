/** The system's watches, replaced for one test. */
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { TestContext } from 'node:test';

export interface FakeWatches {
  /** Those that are open: the directory, and what reports a change in it. */
  readonly open: Map<string, () => void>;
  /** How often each directory was watched. */
  readonly opened: string[];
}

/** `refuse`: may throw what the system throws. */
export function fakeWatches(t: TestContext, refuse: (open: FakeWatches['open']) => void = () => {}): FakeWatches {
  const open = new Map<string, () => void>();
  const opened: string[] = [];
  const watch = (path: string, _options: object, listener: () => void) => {
    refuse(open);
    open.set(path, listener);
    opened.push(path);
    return Object.assign(new EventEmitter(), { close: () => open.delete(path) });
  };
  t.mock.method(fs, 'watch', watch as unknown as typeof fs.watch);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return { open, opened };
}
