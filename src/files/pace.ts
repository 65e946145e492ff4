/** Long work in short slices, so that requests are answered in between. */

/** Called between two steps of work; the caller awaits the result if there is one. */
export type Pacer = () => Promise<void> | undefined;

export function createPacer(): Pacer {
  let until = Date.now() + SLICE_MS;
  return () => {
    if (Date.now() < until) return undefined;
    return new Promise((done) => {
      setImmediate(() => {
        until = Date.now() + SLICE_MS;
        done();
      });
    });
  };
}

// --- internal ---

// Long enough that the breaks cost nothing measurable, short enough that a ping is not delayed noticeably.
const SLICE_MS = 3;
