/** Timers and signals as promises, and time as a value: what takes a clock lets a test decide when time passes. */
import { asError } from './log.ts';
import type { Cancellation } from './protocol/index.ts';

/** The longest time that a timer can have. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export function delay(milliseconds: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, milliseconds));
}

/** The same, but a process that has nothing else to do ends without waiting for it. */
export function backgroundDelay(milliseconds: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, milliseconds).unref());
}

/**
 * Settles when the messages that had arrived are answered: in one turn of the event loop they are read, and at its end
 * their answers are written.
 */
export function afterAnswers(): Promise<void> {
  return new Promise((done) => void setImmediate(() => setImmediate(done)));
}

/** Settles after that long, or at once when one of the signals fires. Leaves no timer and no listener behind. */
export function pause(milliseconds: number, ...signals: readonly Cancellation[]): Promise<void> {
  if (signals.some(({ aborted }) => aborted)) return Promise.resolve();
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', end);
      done();
    };
    const timer = setTimeout(end, milliseconds);
    for (const signal of signals) signal.addEventListener('abort', end);
  });
}

/** Settles with the reason when `signal` fires. Its listener stays until then, so this is for one wait per session. */
export function whenAborted(signal: AbortSignal): Promise<Error> {
  if (signal.aborted) return Promise.resolve(asError(signal.reason));
  return new Promise((done) => signal.addEventListener('abort', () => done(asError(signal.reason)), { once: true }));
}

/** Milliseconds on a clock that is never set back. The first `performance.now()` would take over a millisecond to load. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

export interface Clock {
  /** Milliseconds since some fixed moment. */
  now(): number;
  delay(milliseconds: number): Promise<void>;
  /** Calls `act` once, later; gives a function that cancels it. A timer does not keep the process alive. */
  timer(milliseconds: number, act: () => void): () => void;
}

export const systemClock: Clock = {
  now: Date.now,
  delay,
  timer(milliseconds, act) {
    const timer = setTimeout(act, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};
