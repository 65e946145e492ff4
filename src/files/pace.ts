/**
 * Long work in short slices, so that requests are answered in between.
 * Always true: work that awaits the pacer between its steps holds the event loop for one slice and one step at most.
 */
import { SLICE_MS } from '../limits.ts';

/** Called between two steps of work; the caller awaits the result if there is one. Awaiting nothing would cost time. */
export type Pacer = () => Promise<void> | undefined;

export function createPacer(ms = SLICE_MS): Pacer {
  let start = performance.now();
  return () => {
    if (performance.now() - start < ms) return undefined;
    return new Promise((done) => {
      setImmediate(() => {
        start = performance.now();
        done();
      });
    });
  };
}
