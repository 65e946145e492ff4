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

/** Runs a generator to its end, with a break whenever the slice is used up. */
export async function runSteps<T>(steps: Generator<void, T>, pace: Pacer): Promise<T> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    const rest = pace();
    if (rest) await rest;
  }
}

// --- internal ---

// Long enough that the breaks cost nothing measurable, short enough that a ping is not delayed noticeably.
const SLICE_MS = 3;
