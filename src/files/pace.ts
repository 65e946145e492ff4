/** Long work in short slices, so that requests are answered in between. */
import { monotonicMs } from '../wait.ts';

/** Called between two steps of work; the caller awaits the result if there is one. */
export type Pacer = () => Promise<void> | undefined;

export function createPacer(): Pacer {
  let until = monotonicMs() + SLICE_MS;
  return () => {
    if (monotonicMs() < until) return undefined;
    return new Promise((done) => {
      setImmediate(() => {
        until = monotonicMs() + SLICE_MS;
        done();
      });
    });
  };
}

// --- internal ---

// Long enough that the breaks cost nothing measurable, short enough that a ping is not delayed noticeably.
const SLICE_MS = 3;
