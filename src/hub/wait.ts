/** Waiting that can be called off. Always true: nothing is left behind once it is over, no timer and no listener. */
import { asError } from '../log.ts';

/** Settles after that long, or at once when `signal` fires. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      done();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
  });
}

export interface Limited {
  readonly signal: AbortSignal;
  abort(): void;
  /** It is over, one way or the other. */
  release(): void;
}

/**
 * A signal that fires with `life`, after that many milliseconds, or when told to. Not by `AbortSignal.any`: that leaves
 * something behind in a signal that lives long, each time.
 */
export function limited(life: AbortSignal, milliseconds?: number): Limited {
  const control = new AbortController();
  const abort = () => control.abort();
  const timer = milliseconds === undefined ? undefined : setTimeout(abort, milliseconds);
  if (life.aborted) abort();
  life.addEventListener('abort', abort);
  return {
    signal: control.signal,
    abort,
    release() {
      clearTimeout(timer);
      life.removeEventListener('abort', abort);
    },
  };
}

/** Settles with the reason of the first signal that fires. */
export function firstOf(signals: readonly AbortSignal[]): Promise<Error> {
  const any = AbortSignal.any([...signals]);
  const reason = () => asError(any.reason);
  if (any.aborted) return Promise.resolve(reason());
  return new Promise((done) => any.addEventListener('abort', () => done(reason()), { once: true }));
}

/** How many of something are under way, for those who wait for the last of them. */
export interface Count {
  size(): number;
  /** Gives what ends it. */
  begin(): () => void;
  whenNone(): Promise<void>;
}

export function createCount(): Count {
  const waiters = new Set<() => void>();
  let size = 0;
  return {
    size: () => size,
    begin() {
      size += 1;
      return () => {
        size -= 1;
        if (size === 0) for (const wake of waiters) wake();
      };
    },
    whenNone: () => new Promise((done) => (size === 0 ? done() : waiters.add(done))),
  };
}
