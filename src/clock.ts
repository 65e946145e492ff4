/** Time as a value: what waits or measures takes a clock, so that a test decides when time passes. */
import { delay } from './wait.ts';

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
