/** Long work in short slices, so that requests are answered in between. */

/** Called between two steps of work; the caller awaits the result if there is one. */
export type Pacer = () => Promise<void> | undefined;

/** `sliceMs`: how long the work may go on without a break. */
export function createPacer(sliceMs = SLICE_MS): Pacer {
  let start = Date.now();
  return () => {
    const spent = Date.now() - start;
    // Below zero when the system clock was set back.
    if (spent >= 0 && spent < sliceMs) return undefined;
    return new Promise((done) => {
      setImmediate(() => {
        start = Date.now();
        done();
      });
    });
  };
}

// --- internal ---

// Long enough that the breaks cost nothing measurable, short enough that a ping is not delayed noticeably.
const SLICE_MS = 3;
