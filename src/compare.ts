/** Order and equality, the same on every machine. */

/** By code units, for `sort`. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Whether two lists have the same items in the same order. */
export function sameItems<T>(a: readonly T[], b: readonly T[], same: (a: T, b: T) => boolean = Object.is): boolean {
  return a.length === b.length && a.every((one, at) => same(one, b[at] as T));
}
