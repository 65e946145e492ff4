/**
 * `${VAR}` in configuration files.
 * Owns: the forms and what they mean. Leaves alone: which texts are expanded (config.ts).
 * Always true: one pass, so what a variable holds is never expanded itself; a variable that is not set is an error; the
 * cost is linear in the text and in what comes out, which has a limit.
 */
import type { Environment } from '../connection/command.ts';

export interface Variables {
  readonly env: Environment;
  readonly workspaceFolder: string;
  readonly userHome: string;
}

export interface Expanded {
  readonly text: string;
  /** What came out of variables, each once: it may be secret. */
  readonly inserted: readonly string[];
}

/** Throws an Error that says which variable is missing, or what is wrong; `longest` bounds what comes out. */
export function expand(text: string, variables: Variables, longest = Number.POSITIVE_INFINITY): Expanded {
  const inserted = new Set<string>();
  return { text: fill(text, { variables, inserted, longest, levels: LEVELS }), inserted: [...inserted] };
}

/** The references in a text as they are written, each once, without their defaults: `${VAR}`. */
export function referencesIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\$\{([^{}$]*?)(?=:-|[{}$]|$)/g)].map(([, name]) => `\${${name}}`))];
}

// --- internal ---

/** A default may hold variables, `${A:-${B}}`, whose own defaults hold none: nobody can read more than that. */
const LEVELS = 1;

interface Filling {
  readonly variables: Variables;
  readonly inserted: Set<string>;
  readonly longest: number;
  /** How often a default may still hold variables. */
  readonly levels: number;
}

const PLACES: ReadonlyMap<string, (variables: Variables) => string> = new Map([
  ['workspaceFolder', ({ workspaceFolder }: Variables) => workspaceFolder],
  ['userHome', ({ userHome }: Variables) => userHome],
]);

// Where and who we are is no secret, and blotting it out would make every message unreadable.
const HARMLESS: ReadonlySet<string> = new Set(['HOME', 'USER', 'LOGNAME', 'PWD', 'PATH', 'TMPDIR', 'SHELL', 'LANG']);

function fill(text: string, filling: Filling): string {
  let filled = '';
  let rest = 0;
  for (let start = text.indexOf('${'); start !== -1; start = text.indexOf('${', rest)) {
    const end = endOf(text, start);
    if (end === undefined) break;
    filled += text.slice(rest, start) + resolved(text.slice(start + 2, end), filling);
    rest = end + 1;
    if (filled.length > filling.longest) break;
  }
  filled += text.slice(rest);
  if (filled.length > filling.longest) throw new Error('it is too long');
  return filled;
}

/** Where the brace closes that opens at `start`; undefined when no brace closes at all, as in a text that means none. */
function endOf(text: string, start: number): number | undefined {
  let depth = 0;
  let closes = false;
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at];
    if (char === '{') depth += 1;
    if (char !== '}') continue;
    closes = true;
    depth -= 1;
    if (depth === 0) return at;
  }
  if (closes) throw new Error('a ${ in it is never closed');
  return undefined;
}

function resolved(inner: string, filling: Filling): string {
  const { variables, inserted, levels } = filling;
  const place = PLACES.get(inner)?.(variables);
  if (place !== undefined) return place;
  const { name, fallback } = parse(inner);
  if (levels === 0 && fallback?.includes('${'))
    throw new Error(`the default of ${name} inside a default holds variables itself, which is not supported`);
  // What every object inherits is no variable.
  const found: unknown = variables.env[name];
  const value = typeof found === 'string' ? found : undefined;
  // As in a shell: `:-` also stands in for a variable that is empty.
  if (fallback !== undefined && (value === undefined || value === ''))
    return fill(fallback, { ...filling, levels: levels - 1 });
  if (value === undefined) throw new Error(`the variable ${name} is not set`);
  if (!HARMLESS.has(name)) inserted.add(value);
  return value;
}

function parse(inner: string): { name: string; fallback: string | undefined } {
  const [, name, fallback] = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(inner) ?? [];
  if (name === undefined) throw new Error(`${nameOnly(inner)} is not a variable that can be expanded here`);
  return { name, fallback };
}

const LONGEST_SHOWN = 60;

/** Without its default: that may be a secret. */
function nameOnly(inner: string): string {
  const [name = ''] = inner.split(':-', 1);
  return name.length > LONGEST_SHOWN ? `\${${name.slice(0, LONGEST_SHOWN)}…}` : `\${${name}}`;
}
