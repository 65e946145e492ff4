/**
 * Settings that other programs keep as JSON.
 * Owns: reading them again only when they change. Leaves alone: what is in them (plugins.ts).
 * Always true: a file that cannot be understood is a Problem, and what it said before, if anything, still holds: most
 * often it is just being written.
 */
import * as v from 'valibot';
import { messageOf } from '../log.ts';
import type { Problem } from '../model.ts';
import { isFresh, isMissing, look, readRegularFile, versionOf } from './files.ts';

export type JsonReading<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'missing' }
  | { readonly kind: 'faulty' };

export type JsonReader = <T>(path: string, schema: v.GenericSchema<unknown, T>) => JsonReading<T>;

/** Gives a reader for one look at everything; faults go to `problems`. */
export function createJsonMemory(): (problems: Problem[]) => JsonReader {
  const memory = new Map<string, Known>();

  function know(path: string): Known {
    const known = memory.get(path);
    const seen = versionAt(path);
    if (seen.kind === 'missing') return NOTHING;
    if (seen.version !== undefined && seen.version === known?.version) return known;
    const next = { version: seen.version, ...readJson(path, known?.value) };
    memory.set(path, next);
    return next;
  }

  return (problems) => (path, schema) => {
    const { value, fault } = know(path);
    if (fault !== undefined) problems.push({ where: path, what: fault });
    if (value === undefined) return { kind: fault === undefined ? 'missing' : 'faulty' };
    const parsed = v.safeParse(schema, value);
    if (parsed.success) return { kind: 'read', value: parsed.output };
    const [issue] = parsed.issues;
    problems.push({ where: path, what: `${v.getDotPath(issue) ?? 'the file'}: ${issue.message}` });
    return { kind: 'faulty' };
  };
}

// --- internal ---

// Real ones have a few KiB.
const MAX_JSON_BYTES = 4 * 1024 * 1024;

interface Known {
  readonly version: string | undefined;
  /** Undefined: there is no such file, or it was never understood. */
  readonly value?: unknown;
  readonly fault?: string;
}

const NOTHING: Known = { version: undefined };

/** A version is undefined when it says nothing yet: the file is to be read again next time. */
function versionAt(path: string): { readonly kind: 'missing' | 'there'; readonly version?: string } {
  try {
    const stats = look(path);
    return isFresh(stats) ? { kind: 'there' } : { kind: 'there', version: versionOf(stats) };
  } catch (error) {
    return { kind: isMissing(error) ? 'missing' : 'there' };
  }
}

function readJson(path: string, last: unknown): Omit<Known, 'version'> {
  try {
    const text = readRegularFile(path, MAX_JSON_BYTES).bytes.toString();
    return { value: JSON.parse(text.replace(/^\ufeff/, '')) };
  } catch (error) {
    return isMissing(error) ? {} : { value: last, fault: `cannot be read: ${messageOf(error)}` };
  }
}
