/** A clock that stands still until the test lets time pass. */
import type { TestContext } from 'node:test';

/** For `setTimeout` alone. The mock of Node 20.12 cannot clear a timer that is none. */
export function stopClock(t: TestContext): void {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { clearTimeout: clear } = globalThis;
  globalThis.clearTimeout = (timer) => {
    if (timer !== undefined) clear(timer);
  };
}
