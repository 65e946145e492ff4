/** Stops `setTimeout`, so that a test decides when time passes: `stopClock(t)`, then `t.mock.timers.tick(ms)`. */
import type { TestContext } from 'node:test';

/** The mock of Node 20.12 fails on `clearTimeout(undefined)`, which Node allows. */
export function stopClock(t: TestContext): void {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { clearTimeout: clear } = globalThis;
  globalThis.clearTimeout = (timer) => {
    if (timer !== undefined) clear(timer);
  };
}
