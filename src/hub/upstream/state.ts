/**
 * The state of one upstream server, and waiting for it to change.
 * Owns: the state, and the log line for each change. Leaves alone: the cause of a change (upstream.ts).
 */
import type { Log } from '../../log.ts';
import type { UpstreamState, UpstreamStatus } from '../../model.ts';

export type StateFacts = Pick<UpstreamStatus, 'state' | 'reason' | 'nextAttempt'>;

export interface StateTracker {
  facts(): StateFacts;
  /** `wait`: milliseconds until the next attempt. */
  enter(state: UpstreamState, reason?: string, wait?: number): void;
  /** The value of `look`, now or after a change of state; undefined after `timeout` or when one of the signals fires. */
  until<T>(look: () => T | undefined, timeout: number, signals: readonly AbortSignal[]): Promise<T | undefined>;
  /** Whether an attempt is under way or begins within so many milliseconds. */
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
    const because = reason === undefined ? '' : `: ${reason}`;
    if (next === undefined) return `${state}${because}`;
    return `${state}${because}; next attempt in ${Math.max(0, Math.ceil((next - Date.now()) / 1000))} s`;
  }

  return {
    facts: () => ({
      state,
      ...(reason === undefined ? {} : { reason }),
      ...(next === undefined ? {} : { nextAttempt: new Date(next).toISOString() }),
    }),
    enter(nextState, nextReason, wait) {
      // While a server fails in the same way again and again, only the first time is logged for people.
      const isNew = nextState !== 'connecting' && (nextReason !== reason || nextState === 'ready');
      [state, reason, next] = [nextState, nextReason, wait === undefined ? undefined : Date.now() + wait];
      const level = nextState === 'ready' ? 'info' : 'warn';
      log[isNew ? level : 'debug'](`server ${name}: ${text()}`);
      for (const wake of [...waiters]) wake();
    },
    until(look, timeout, signals) {
      const found = look();
      if (found !== undefined) return Promise.resolve(found);
      return new Promise((resolve) => {
        const settle = (value: ReturnType<typeof look>) => {
          clearTimeout(timer);
          waiters.delete(wake);
          for (const signal of signals) signal.removeEventListener('abort', giveUp);
          resolve(value);
        };
        const giveUp = () => settle(undefined);
        const wake = () => {
          const now = look();
          if (now !== undefined) settle(now);
        };
        const timer = setTimeout(giveUp, timeout);
        waiters.add(wake);
        for (const signal of signals) signal.addEventListener('abort', giveUp);
        if (signals.some((signal) => signal.aborted)) giveUp();
      });
    },
    isDueWithin: (milliseconds) => next === undefined || next - Date.now() <= milliseconds,
    text,
  };
}
