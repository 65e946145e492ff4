/** For what the start of the program does not need: to make every table, schema and pattern at once would delay it. */

/** Gives a function that makes its value when it is first called, and then keeps it. */
export function lazy<T extends object>(make: () => T): () => T {
  let value: T | undefined;
  return () => {
    value ??= make();
    return value;
  };
}
