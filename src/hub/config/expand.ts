/**
 * `${VAR}` in configuration files.
 * Owns: the forms and their meaning. Leaves alone: which texts are expanded (entries.ts).
 * Always true: the value of a variable is never expanded again; an unset variable is an error; the time is linear in the
 * text and the result, and the result has a limit.
 */
import { shorten } from '../../text.ts';
import type { Environment } from '../connection/command.ts';
import { MAX_NAME_SHOWN } from './limits.ts';

export interface Variables {
  readonly env: Environment;
  readonly workspaceFolder: string;
  readonly userHome: string;
}

/** A text that is the given one after expansion: for entries of hosts that expand nothing. */
export const literally = (text: string) => text.replace(/\$\{/g, '${$}{');

/**
 * Throws an Error that names the variable that is not set, or another fault. `limit`: characters of the result.
 * `inserted`: the values of variables, each once, which may be secret.
 */
export function expand(text: string, variables: Variables, limit = Number.POSITIVE_INFINITY) {
  const inserted = new Set<string>();

  /** `isDefault`: a default may hold variables, `${A:-${B}}`, but their defaults may not. */
  function fill(source: string, isDefault: boolean): string {
    let filled = '';
    let rest = 0;
    for (let start = source.indexOf('${'); start !== -1; start = source.indexOf('${', rest)) {
      const end = closingBrace(source, start);
      if (end === undefined) break;
      filled += source.slice(rest, start) + valueIn(source.slice(start + 2, end), isDefault);
      rest = end + 1;
      if (filled.length > limit) break;
    }
    filled += source.slice(rest);
    if (filled.length > limit) throw new Error('it is too long');
    return filled;
  }

  function valueIn(reference: string, isDefault: boolean): string {
    if (reference === 'workspaceFolder' || reference === 'userHome') return variables[reference];
    if (reference === '$') return reference;
    const [, name, fallback] = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(reference) ?? [];
    if (name === undefined) {
      // Without its default, which may be a secret.
      const [shown = ''] = reference.split(':-', 1);
      const why = shown.startsWith('input:') ? NO_INPUT : 'is not a variable that can be expanded here';
      throw new Error(`\${${shorten(shown, MAX_NAME_SHOWN)}} ${why}`);
    }
    if (isDefault && fallback?.includes('${'))
      throw new Error(`the default of ${name} inside a default has variables itself, which is not supported`);
    // Members that every object inherits are not variables.
    const found: unknown = variables.env[name];
    const value = typeof found === 'string' ? found : undefined;
    // As in a shell, `:-` also replaces an empty value.
    if (fallback !== undefined && (value === undefined || value === '')) return fill(fallback, true);
    if (value === undefined) throw new Error(`the variable ${name} is not set`);
    if (!HARMLESS.has(name)) inserted.add(value);
    return value;
  }

  return { text: fill(text, false), inserted: [...inserted] };
}

/** The references in a text as they are written, each once, without their defaults: `${VAR}`. */
export function referencesIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\$\{([^{}$]+?)(?=:-|[{}$]|$)/g)].map(([, name]) => `\${${name}}`))];
}

// --- internal ---

const NO_INPUT = 'has no value: its host asks a person for it; write the value or a ${VARIABLE} in its place';

// Common values that are not secret. Redacting them would make every message unreadable.
const HARMLESS: ReadonlySet<string> = new Set(['HOME', 'USER', 'LOGNAME', 'PWD', 'PATH', 'TMPDIR', 'SHELL', 'LANG']);

/** Undefined when the text has no closing brace at all: then `${` is ordinary text. */
function closingBrace(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  if (text.includes('}', start)) throw new Error('a ${ in it is never closed');
  return undefined;
}
