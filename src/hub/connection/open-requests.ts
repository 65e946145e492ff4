/**
 * The HTTP exchanges of one connection that are still open, each with its own abort signal.
 * Owns: when an exchange is aborted. Leaves alone: what is sent.
 * Always true: no exchange outlives its purpose by more than the limits: neither one whose response has arrived (over SSE
 * it arrives elsewhere), nor a cancelled one, nor one that has no response.
 */
import { type Id, idKey } from '../../protocol/index.ts';
import { LINGER_MS, REPLY_MS } from './limits.ts';

export interface OpenRequests {
  /** Runs one exchange. Without an id it is a message that has no response, and has REPLY_MS. */
  run(id: Id | undefined, exchange: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Whether this request still waits for its response. */
  has(id: Id): boolean;
  answered(id: Id): void;
  cancel(id: Id): void;
}

export function createOpenRequests(life: AbortSignal): OpenRequests {
  const open = new Map<string, Limited>();
  return {
    async run(id, exchange) {
      const limit = limited(life, id === undefined ? REPLY_MS : undefined);
      if (id !== undefined) open.set(idKey(id), limit);
      try {
        await exchange(limit.signal);
      } finally {
        if (id !== undefined) open.delete(idKey(id));
        limit.release();
      }
    },
    has: (id) => open.has(idKey(id)),
    answered(id) {
      const limit = open.get(idKey(id));
      if (!limit) return;
      open.delete(idKey(id));
      // The server should end the exchange now, so that the socket can be reused.
      setTimeout(limit.abort, LINGER_MS).unref();
    },
    cancel: (id) => open.get(idKey(id))?.abort(),
  };
}

// --- internal ---

interface Limited {
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
