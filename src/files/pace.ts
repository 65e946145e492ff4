/** Long work in short slices, so that a ping in between does not notice. */

/** Called between two pieces of work; what it gives, if anything, is to be awaited. */
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

/** Takes steps until they are done, resting in between when it is time. */
export async function drive<T>(steps: Generator<void, T>, pace: Pacer): Promise<T> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    const rest = pace();
    if (rest) await rest;
  }
}

// --- internal ---

// Long enough that giving back costs nothing, short enough that nobody waits for it.
const SLICE_MS = 3;
