/** The patterns of `--include` and `--exclude` as they are written; what they mean is in filter.ts. */

export interface Patterns {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** Splits `a,b` but not `{a,b}`; blanks around patterns do not count. */
export function splitPatterns(values: readonly string[]): readonly string[] {
  return values
    .flatMap((value) => value.split(/,(?![^{]*\})/))
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '');
}
