/** Combined abort signals. */
import { asError } from '../log.ts';

export interface Limited {
  readonly signal: AbortSignal;
  abort(): void;
  /** Removes timer and listener. Must be called once the work that the signal belongs to is over. */
  release(): void;
}

/**
 * A signal that fires with `parent`, after that many milliseconds, or when told to. `AbortSignal.any` is not used: each
 * use leaves a reference behind in a parent that lives long.
 */
export function limited(parent: AbortSignal, milliseconds?: number): Limited {
  const control = new AbortController();
  const abort = () => control.abort();
  const timer = milliseconds === undefined ? undefined : setTimeout(abort, milliseconds);
  if (parent.aborted) abort();
  parent.addEventListener('abort', abort);
  return {
    signal: control.signal,
    abort,
    release() {
      clearTimeout(timer);
      parent.removeEventListener('abort', abort);
    },
  };
}

/** Settles with the reason of the first signal that fires. */
export function firstAborted(signals: readonly AbortSignal[]): Promise<Error> {
  const any = AbortSignal.any([...signals]);
  const reason = () => asError(any.reason);
  if (any.aborted) return Promise.resolve(reason());
  return new Promise((done) => any.addEventListener('abort', () => done(reason()), { once: true }));
}
