/** The patterns of `--include` and `--exclude` as text. filter.ts has their meaning, and loads the glob package. */

export interface Patterns {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

export const hasPatterns = ({ include, exclude }: Patterns) => include.length + exclude.length > 0;

/**
 * Splits `a,b` but not `{a,b}`, and trims the parts. A value without a pattern becomes an empty pattern, which matches
 * nothing: `--include "$UNSET"` must not include everything.
 */
export function splitPatterns(values: readonly string[]): readonly string[] {
  return values.flatMap((value) => {
    const named = splitOutside(value).map((pattern) => pattern.trim());
    const filled = named.filter((pattern) => pattern !== '');
    return filled.length > 0 ? filled : [''];
  });
}

// --- internal ---

/** Splits at commas outside of braces. A brace without a partner is a plain character. */
function splitOutside(text: string): readonly string[] {
  const open: number[] = [];
  const commas: number[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\' && text[at + 1] !== ',') at++;
    else if (text[at] === '{') open.push(at);
    else if (text[at] === ',') commas.push(at);
    else if (text[at] === '}') {
      const start = open.pop();
      // The commas since the partner are inside.
      while (start !== undefined && (commas.at(-1) ?? -1) > start) commas.pop();
    }
  }
  return [...commas, text.length].map((end, nth) => text.slice(nth === 0 ? 0 : (commas[nth - 1] ?? 0) + 1, end));
}
