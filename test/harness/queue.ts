/** A queue whose reader waits: for events, messages or calls that a test takes one by one, in the order they came. */

export interface Queue<T> {
  put(item: T): void;
  /** The next item. Rejects when the queue ends first, or when none comes in 30 seconds. */
  take(): Promise<T>;
  /** Nothing more will come. */
  end(): void;
  /** What has come and was not taken. */
  readonly items: readonly T[];
}

/** `what` names an item in the error when none comes. */
export function createQueue<T>(what: string): Queue<T> {
  const items: T[] = [];
  const waiters: { take(item: T): void; fail(error: Error): void }[] = [];
  const ended = () => new Error(`${what}: the stream ended`);
  let isOver = false;
  return {
    items,
    put(item) {
      const waiter = waiters.shift();
      if (waiter) waiter.take(item);
      else items.push(item);
    },
    take: () =>
      new Promise((take, fail) => {
        const [item] = items.splice(0, 1);
        if (item !== undefined) return take(item);
        if (isOver) return fail(ended());
        const timer = setTimeout(() => fail(new Error(`${what}: none came`)), PATIENCE_MS).unref();
        waiters.push({
          take(one) {
            clearTimeout(timer);
            take(one);
          },
          fail(error) {
            clearTimeout(timer);
            fail(error);
          },
        });
      }),
    end() {
      isOver = true;
      for (const { fail } of waiters.splice(0)) fail(ended());
    },
  };
}

// Far above what anything here takes: the machine may be busy with the rest of the suite.
const PATIENCE_MS = 30_000;
