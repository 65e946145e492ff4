/**
 * How one upstream server is doing, and those who wait for it to do better.
 * Owns: its state, the log line for each change of it. Leaves alone: what causes a change (upstream.ts).
 */
import type { Log } from '../../log.ts';
import type { UpstreamState, UpstreamStatus } from '../../model.ts';

export type StateFacts = Pick<UpstreamStatus, 'state' | 'reason' | 'nextAttempt'>;

export interface StateTracker {
  facts(): StateFacts;
  /** `wait`: milliseconds until it is tried again. */
  enter(state: UpstreamState, reason?: string, wait?: number): void;
  /** What `look` finds, now or after a change; undefined when patience or one of the signals ends it. */
  until<T>(look: () => T | undefined, patience: number, stop: readonly AbortSignal[]): Promise<T | undefined>;
  /** Whether it is being tried, or will be within so many milliseconds. */
  isDueWithin(milliseconds: number): boolean;
  /** For people: "failed: exited with code 1; next attempt in 4 s". */
  text(): string;
}

export function createStateTracker(
  name: string,
  first: UpstreamState,
  why: string | undefined,
  log: Log,
): StateTracker {
  const waiters = new Set<() => void>();
  let state = first;
  let reason = why;
  let next: number | undefined;

  function text(): string {
    const seconds = next === undefined ? 0 : Math.max(0, Math.ceil((next - Date.now()) / 1000));
    return `${state}${reason === undefined ? '' : `: ${reason}`}${next === undefined ? '' : `; next attempt in ${seconds} s`}`;
  }

  return {
    facts: () => ({
      state,
      ...(reason === undefined ? {} : { reason }),
      ...(next === undefined ? {} : { nextAttempt: new Date(next).toISOString() }),
    }),
    enter(nextState, nextReason, wait) {
      // Trying again and again is no news while it fails in the same way.
      const isNews = nextState !== 'connecting' && (nextReason !== reason || nextState === 'ready');
      [state, reason, next] = [nextState, nextReason, wait === undefined ? undefined : Date.now() + wait];
      const level = nextState === 'ready' ? 'info' : 'warn';
      log[isNews ? level : 'debug'](`server ${name}: ${text()}`);
      for (const wake of [...waiters]) wake();
    },
    until(look, patience, stop) {
      const found = look();
      if (found !== undefined) return Promise.resolve(found);
      return new Promise((resolve) => {
        const settle = (value: ReturnType<typeof look>) => {
          clearTimeout(timer);
          waiters.delete(wake);
          for (const signal of stop) signal.removeEventListener('abort', giveUp);
          resolve(value);
        };
        const giveUp = () => settle(undefined);
        const wake = () => {
          const now = look();
          if (now !== undefined) settle(now);
        };
        const timer = setTimeout(giveUp, patience);
        waiters.add(wake);
        for (const signal of stop) signal.addEventListener('abort', giveUp);
        if (stop.some((signal) => signal.aborted)) giveUp();
      });
    },
    isDueWithin: (milliseconds) => next === undefined || next - Date.now() <= milliseconds,
    text,
  };
}
