/** Timers and signals as promises. */
import { asError } from './log.ts';

export function delay(milliseconds: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, milliseconds));
}

/** The same, but a process that has nothing else to do ends without waiting for it. */
export function backgroundDelay(milliseconds: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, milliseconds).unref());
}

/** Settles after that long, or at once when `signal` fires. Leaves no timer and no listener behind. */
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

/** Settles with the reason when `signal` fires. Its listener stays until then, so this is for one wait per session. */
export function whenAborted(signal: AbortSignal): Promise<Error> {
  if (signal.aborted) return Promise.resolve(asError(signal.reason));
  return new Promise((done) => signal.addEventListener('abort', () => done(asError(signal.reason)), { once: true }));
}
