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
    const version = versionAt(path);
    if (known && version !== undefined && known.version === version) return known;
    const next = { version, ...readJson(path, known?.value) };
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

/** Undefined when it says nothing yet: the file is to be read again next time. */
function versionAt(path: string): string | undefined {
  try {
    const stats = look(path);
    return isFresh(stats) ? undefined : versionOf(stats);
  } catch {
    return undefined; // Most often there is no such file, which costs nothing to find out again.
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
