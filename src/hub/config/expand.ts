/**
 * `${VAR}` in configuration files.
 * Owns: the forms and their meaning. Leaves alone: which texts are expanded (entries.ts).
 * Always true: the value of a variable is never expanded again; an unset variable is an error; the time is linear in the
 * text and the result, and the result has a limit.
 */
import { shorten } from '../../text.ts';
import type { Environment } from '../connection/command.ts';
import { MAX_VARIABLE_SHOWN } from './limits.ts';

export interface Variables {
  readonly env: Environment;
  readonly workspaceFolder: string;
  readonly userHome: string;
}

export interface Expanded {
  readonly text: string;
  /** The values of variables, each once: they may be secret. */
  readonly inserted: readonly string[];
}

/** Throws an Error that names the variable that is not set, or another fault. `limit`: characters of the result. */
export function expand(text: string, variables: Variables, limit = Number.POSITIVE_INFINITY): Expanded {
  const inserted = new Set<string>();
  return { text: fill(text, { variables, inserted, limit, isDefault: false }), inserted: [...inserted] };
}

/** The references in a text as they are written, each once, without their defaults: `${VAR}`. */
export function referencesIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\$\{([^{}$]*?)(?=:-|[{}$]|$)/g)].map(([, name]) => `\${${name}}`))];
}

// --- internal ---

interface Expansion {
  readonly variables: Variables;
  readonly inserted: Set<string>;
  readonly limit: number;
  /** A default may hold variables, `${A:-${B}}`, but their defaults may not. */
  readonly isDefault: boolean;
}

// Common values that are not secret. Redacting them would make every message unreadable.
const HARMLESS: ReadonlySet<string> = new Set(['HOME', 'USER', 'LOGNAME', 'PWD', 'PATH', 'TMPDIR', 'SHELL', 'LANG']);

function fill(text: string, expansion: Expansion): string {
  const { limit } = expansion;
  let filled = '';
  let rest = 0;
  for (let start = text.indexOf('${'); start !== -1; start = text.indexOf('${', rest)) {
    const end = closingBrace(text, start);
    if (end === undefined) break;
    filled += text.slice(rest, start) + valueIn(text.slice(start + 2, end), expansion);
    rest = end + 1;
    if (filled.length > limit) break;
  }
  filled += text.slice(rest);
  if (filled.length > limit) throw new Error('it is too long');
  return filled;
}

/** Undefined when the text has no closing brace at all: then `${` is ordinary text. */
function closingBrace(text: string, start: number): number | undefined {
  let depth = 0;
  let hasClosing = false;
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at];
    if (char === '{') depth += 1;
    if (char !== '}') continue;
    hasClosing = true;
    depth -= 1;
    if (depth === 0) return at;
  }
  if (hasClosing) throw new Error('a ${ in it is never closed');
  return undefined;
}

function valueIn(reference: string, expansion: Expansion): string {
  const { variables, inserted, isDefault } = expansion;
  if (reference === 'workspaceFolder' || reference === 'userHome') return variables[reference];
  const [, name, fallback] = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(reference) ?? [];
  if (name === undefined) {
    // Without its default, which may be a secret.
    const [shown = ''] = reference.split(':-', 1);
    throw new Error(`\${${shorten(shown, MAX_VARIABLE_SHOWN)}} is not a variable that can be expanded here`);
  }
  if (isDefault && fallback?.includes('${'))
    throw new Error(`the default of ${name} inside a default holds variables itself, which is not supported`);
  // Members that every object inherits are not variables.
  const found: unknown = variables.env[name];
  const value = typeof found === 'string' ? found : undefined;
  // As in a shell, `:-` also replaces an empty value.
  if (fallback !== undefined && (value === undefined || value === ''))
    return fill(fallback, { ...expansion, isDefault: true });
  if (value === undefined) throw new Error(`the variable ${name} is not set`);
  if (!HARMLESS.has(name)) inserted.add(value);
  return value;
}
