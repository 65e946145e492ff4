/**
 * The state of one upstream server, and waiting for it to change.
 * Owns: the state, and the log line for each change. Leaves alone: the cause of a change (upstream.ts).
 */
import type { Log } from '../../log.ts';
import type { UpstreamState, UpstreamStatus } from '../../model.ts';
import type { Cancellation } from '../../protocol/index.ts';
import { monotonicMs, pause } from '../../wait.ts';
import type { UpstreamConfig } from '../config/entries.ts';

export function createState({ name, target }: UpstreamConfig, log: Log) {
  type Facts = Pick<UpstreamStatus, 'state' | 'reason' | 'nextAttempt'>;
  let facts: Facts = target.kind === 'none' ? { state: target.state, reason: target.reason } : { state: 'connecting' };
  /** Fires, and is replaced, when the state changes. */
  let changed = new AbortController();

  /** Milliseconds until the next attempt; 0 when one is under way. */
  const dueIn = () => (facts.nextAttempt === undefined ? 0 : Date.parse(facts.nextAttempt) - Date.now());

  /** For people: "failed: exited with code 1; next attempt in 4 s". */
  function text(): string {
    const because = facts.reason === undefined ? '' : `: ${facts.reason}`;
    const next = `; next attempt in ${Math.max(0, Math.ceil(dueIn() / 1000))} s`;
    return `${facts.state}${because}${facts.nextAttempt === undefined ? '' : next}`;
  }

  function wake(): void {
    changed.abort();
    changed = new AbortController();
  }

  return {
    facts: () => facts,
    dueIn,
    text,
    wake,
    /** `wait`: milliseconds until the next attempt. */
    enter(state: UpstreamState, reason?: string, wait?: number): void {
      // While a server fails in the same way again and again, only the first time is logged for people.
      const isNew = state !== 'connecting' && (reason !== facts.reason || state === 'ready');
      const nextAttempt = wait === undefined ? {} : { nextAttempt: new Date(Date.now() + wait).toISOString() };
      facts = { state, ...(reason === undefined ? {} : { reason }), ...nextAttempt };
      const level = state === 'ready' ? 'info' : 'warn';
      log[isNew ? level : 'debug'](`server ${name}: ${text()}`);
      wake();
    },
    /** Settles when `isOver` is true (which is looked at after each change), after `timeout`, or when the signal fires. */
    async until(isOver: (left: number) => boolean, timeout: number, signal?: Cancellation): Promise<void> {
      const deadline = monotonicMs() + timeout;
      const cancelled = signal ? [signal] : [];
      for (let left = timeout; !isOver(left) && left > 0 && !signal?.aborted; left = deadline - monotonicMs())
        // A signal of its own for everyone who waits: Node warns of many listeners on one.
        await pause(left, AbortSignal.any([changed.signal]), ...cancelled);
    },
  };
}
