/** A cache with a limit on the size of all values together. When it is full, the oldest values are dropped first. */
export class SizedCache<K, V> {
  readonly #entries = new Map<K, { readonly value: V; readonly size: number }>();
  readonly #maxSize: number;
  #size = 0;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** A value that would take more than an eighth of the cache is not kept: it would drop too many others. */
  set(key: K, value: V, size: number): void {
    this.#delete(key);
    if (size > this.#maxSize / 8) return;
    this.#entries.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#maxSize) return;
      this.#delete(oldest);
    }
  }

  #delete(key: K): void {
    this.#size -= this.#entries.get(key)?.size ?? 0;
    this.#entries.delete(key);
  }
}
