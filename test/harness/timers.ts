/**
 * Mocked timers that may be cleared before they are set, twice, and while they fire, as real ones may: those of Node 20.12
 * throw then, or lose another timer.
 */
import type { TestContext } from 'node:test';

export function mockTimers(t: TestContext, ...apis: readonly ('setTimeout' | 'setInterval' | 'Date')[]): void {
  t.mock.timers.enable({ apis: [...apis] });
  const firing = new WeakSet<object>();
  const forgiving = (clear: typeof clearTimeout) => (timer: Parameters<typeof clearTimeout>[0]) => {
    try {
      if (typeof timer !== 'object' || !firing.has(timer)) clear(timer);
    } catch {
      // It is not set.
    }
  };
  if (apis.includes('setInterval')) globalThis.clearInterval = forgiving(globalThis.clearInterval);
  if (!apis.includes('setTimeout')) return;
  const { setTimeout: set } = globalThis;
  const setMarked = (callback: (...args: readonly unknown[]) => void, ms?: number, ...args: readonly unknown[]) => {
    const timer: NodeJS.Timeout = set(() => {
      firing.add(timer);
      callback(...args);
      firing.delete(timer);
    }, ms);
    return timer;
  };
  globalThis.setTimeout = setMarked as typeof setTimeout;
  globalThis.clearTimeout = forgiving(globalThis.clearTimeout);
}
