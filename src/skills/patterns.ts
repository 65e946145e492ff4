/** The patterns of `--include` and `--exclude` as they are written; what they mean is in filter.ts. */

export interface Patterns {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/**
 * Splits `a,b` but not `{a,b}`; blanks around patterns do not count. A value without any pattern in it stays as an
 * empty one, which selects nothing: `--include "$UNSET"` must not come to mean everything.
 */
export function splitPatterns(values: readonly string[]): readonly string[] {
  return values.flatMap((value) => {
    const patterns = value.split(/,(?![^{]*\})/).map((pattern) => pattern.trim());
    const named = patterns.filter((pattern) => pattern !== '');
    return named.length > 0 ? named : [''];
  });
}
