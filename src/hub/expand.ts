/**
 * `${VAR}` in configuration files.
 * Owns: the forms and what they mean. Leaves alone: which texts are expanded (config.ts).
 * Always true: one pass, so what a variable holds is never expanded itself; a variable that is not set is an error.
 */
import type { Environment } from './launch.ts';

export interface Variables {
  readonly env: Environment;
  readonly workspaceFolder: string;
  readonly userHome: string;
}

export interface Expanded {
  readonly text: string;
  /** What came out of variables: it may be secret. */
  readonly inserted: readonly string[];
}

/** Throws an Error that says which variable is missing. */
export function expand(text: string, variables: Variables): Expanded {
  const inserted: string[] = [];
  const expanded = text.replace(/\$\{([^}]*)\}/g, (whole, inner: string) => {
    const place = PLACES.get(inner)?.(variables);
    if (place !== undefined) return place;
    const { name, fallback } = parse(inner, whole);
    const value = variables.env[name];
    // As in a shell: `:-` also stands in for a variable that is empty.
    const chosen = fallback !== undefined && (value === undefined || value === '') ? fallback : value;
    if (chosen === undefined) throw new Error(`the variable ${name} is not set`);
    if (value !== undefined && !HARMLESS.has(name)) inserted.push(value);
    return chosen;
  });
  return { text: expanded, inserted };
}

// --- internal ---

const PLACES: ReadonlyMap<string, (variables: Variables) => string> = new Map([
  ['workspaceFolder', ({ workspaceFolder }: Variables) => workspaceFolder],
  ['userHome', ({ userHome }: Variables) => userHome],
]);

// Where and who we are is no secret, and blotting it out would make every message unreadable.
const HARMLESS: ReadonlySet<string> = new Set(['HOME', 'USER', 'LOGNAME', 'PWD', 'PATH', 'TMPDIR', 'SHELL', 'LANG']);

function parse(inner: string, whole: string): { name: string; fallback: string | undefined } {
  const match = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(inner);
  const [, name, fallback] = match ?? [];
  if (name === undefined) throw new Error(`${whole} is not a variable that can be expanded here`);
  return { name, fallback };
}
