/**
 * Long work in short slices, so that requests are answered in between.
 * Always true: work that awaits the pacer between its steps holds the event loop for one slice and one step at most.
 */
import { SLICE_MS } from '../limits.ts';

/** Gives a function whose result is awaited between two steps of work. */
export function createPacer(ms = SLICE_MS): () => Promise<void> | undefined {
  let start = Date.now();
  return () => {
    // Also after the clock was set back.
    if (Math.abs(Date.now() - start) < ms) return undefined;
    return new Promise((done) => {
      setImmediate(() => {
        start = Date.now();
        done();
      });
    });
  };
}
