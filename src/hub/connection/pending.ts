/**
 * The requests of one connection that wait for their responses, and the one timer for all their timeouts: a timer for
 * each would take longer than the rest of a small call.
 * Leaves alone: what happens to a request when its time is over (rpc-client.ts).
 * Always true: the timer fires no later than the earliest deadline of a request that waits.
 */
import type { Cancellation, Params } from '../../protocol/index.ts';
import { MAX_TIMER_MS, monotonicMs } from '../../wait.ts';

export interface RequestOptions {
  /** Milliseconds without a response or progress after which the request fails; undefined: no limit. */
  readonly timeout?: number | undefined;
  readonly signal?: Cancellation | undefined;
  /** Asks the server to report progress. */
  readonly onProgress?: ((params: Params) => void) | undefined;
  /** Takes the log messages that belong to the request. */
  readonly onMessage?: ((params: Params) => void) | undefined;
  /** Takes the notifications that a subscription gets. */
  readonly onAcknowledged?: ((notifications: unknown) => void) | undefined;
}

export interface Pending {
  readonly method: string;
  readonly options: RequestOptions;
  /** Tells the server by a notification when the request is cancelled. */
  readonly notifyOnCancel: boolean;
  resolve(result: Params): void;
  reject(error: Error): void;
  onAbort(): void;
  /** When its time is over, on the clock of `monotonicMs`. */
  deadline: number;
  /** Fires when the request is answered or cancelled. */
  over: AbortController | undefined;
}

export const deadlineOf = ({ timeout = Number.POSITIVE_INFINITY }: RequestOptions) => monotonicMs() + timeout;

export class PendingRequests {
  readonly #all = new Map<unknown, Pending>();
  readonly #onTimeout: (id: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer fires: at the earliest deadline, or before it. */
  #timerAt = Number.POSITIVE_INFINITY;

  /** `onTimeout` takes the request. */
  constructor(onTimeout: (id: unknown) => void) {
    this.#onTimeout = onTimeout;
  }

  get(id: unknown): Pending | undefined {
    return this.#all.get(id);
  }

  some(test: (pending: Pending) => boolean): boolean {
    return [...this.#all.values()].some(test);
  }

  add(id: unknown, pending: Pending): void {
    this.#all.set(id, pending);
    this.#wakeBy(pending.deadline);
  }

  /** The request, which no longer waits: the caller must settle it. The timer goes on, and may find nothing to do. */
  take(id: unknown): Pending | undefined {
    const pending = this.#all.get(id);
    this.#all.delete(id);
    return pending;
  }

  /** Stops the timer and gives the ids of all, which the caller must take. */
  stop(): readonly unknown[] {
    clearTimeout(this.#timer);
    this.#timerAt = Number.POSITIVE_INFINITY;
    return [...this.#all.keys()];
  }

  #wakeBy(deadline: number): void {
    if (deadline >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = deadline;
    const wait = Math.ceil(deadline - monotonicMs());
    this.#timer = setTimeout(() => this.#wake(), Math.min(wait, MAX_TIMER_MS));
  }

  #wake(): void {
    const now = monotonicMs();
    this.#timerAt = Number.POSITIVE_INFINITY;
    for (const [id, { deadline }] of [...this.#all]) {
      if (deadline <= now) this.#onTimeout(id);
      else this.#wakeBy(deadline);
    }
  }
}
