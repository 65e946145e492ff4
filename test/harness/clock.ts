/** Clocks that stand still until the test lets time pass: `createTestClock` for code that takes a clock, else `stopClock`. */
import type { TestContext } from 'node:test';
import type { Clock } from '../../src/wait.ts';

export interface TestClock extends Clock {
  /** Lets time pass, calls the timers that are due, and lets promises settle. */
  advance(milliseconds: number): Promise<void>;
}

/** For code that takes a clock. */
export function createTestClock(): TestClock {
  const timers = new Set<{ readonly at: number; readonly act: () => void }>();
  let now = 0;
  const timer = (milliseconds: number, act: () => void) => {
    const one = { at: now + milliseconds, act };
    timers.add(one);
    return () => void timers.delete(one);
  };
  return {
    now: () => now,
    timer,
    delay: (milliseconds) => new Promise((done) => void timer(milliseconds, done)),
    async advance(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (!next) break;
        now = next.at;
        timers.delete(next);
        next.act();
        await settle();
      }
      now = end;
      await settle();
    },
  };
}

/** Lets promises settle without letting time pass. */
export const settle = () => new Promise((done) => setImmediate(done));

/** Stops `setTimeout`; time passes by `t.mock.timers.tick`. The mock of Node 20.12 fails on `clearTimeout(undefined)`. */
export function stopClock(t: TestContext): void {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { clearTimeout: clear } = globalThis;
  globalThis.clearTimeout = (timer) => {
    if (timer !== undefined) clear(timer);
  };
}
