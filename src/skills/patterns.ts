/** The patterns of `--include` and `--exclude` as text. filter.ts has their meaning, and loads the glob package. */

export interface Patterns {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/**
 * Splits `a,b` but not `{a,b}`, and trims the parts. A value without a pattern becomes an empty pattern, which matches
 * nothing: `--include "$UNSET"` must not include everything.
 */
export function splitPatterns(values: readonly string[]): readonly string[] {
  return values.flatMap((value) => {
    const named = splitOutside(value, closedBraces(value))
      .map((pattern) => pattern.trim())
      .filter((pattern) => pattern !== '');
    return named.length > 0 ? named : [''];
  });
}

// --- internal ---

/** By position of a brace: the change in depth. Braces without a partner are plain characters. */
function closedBraces(text: string): ReadonlyMap<number, 1 | -1> {
  const steps = new Map<number, 1 | -1>();
  const open: number[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '{') open.push(at);
    else if (text[at] === '}') {
      const partner = open.pop();
      if (partner !== undefined) steps.set(partner, 1).set(at, -1);
    }
  }
  return steps;
}

function splitOutside(text: string, braces: ReadonlyMap<number, 1 | -1>): readonly string[] {
  const parts: string[] = [];
  let [depth, start] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    depth += braces.get(at) ?? 0;
    if (text[at] !== ',' || depth > 0) continue;
    parts.push(text.slice(start, at));
    start = at + 1;
  }
  return [...parts, text.slice(start)];
}
