/**
 * Settings that other programs keep as JSON.
 * Owns: reading them again only when they change. Leaves alone: what is in them (plugins.ts).
 * Always true: a file that cannot be understood is a Problem, and what it said before, if anything, still holds: most
 * often it is just being written.
 */
import * as v from 'valibot';
import { messageOf } from '../log.ts';
import type { Problem } from '../model.ts';
import { shorten } from '../text.ts';
import { isFresh, isMissing, readRegularFile, statOf, versionOf } from './read.ts';

export type JsonReading<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'missing' }
  | { readonly kind: 'faulty' };

/** `role`: what the file is to us, for the person who has to mend it. */
export type JsonReader = <T>(path: string, schema: v.GenericSchema<unknown, T>, role?: string) => JsonReading<T>;

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

  return (problems) => (path, schema, role) => {
    const { value, fault } = know(path);
    if (fault !== undefined)
      problems.push({
        where: path,
        what: `cannot be read${role ? ` as ${role}` : ''}: ${shorten(fault, LONGEST_FAULT)}`,
      });
    if (value === undefined) return { kind: fault === undefined ? 'missing' : 'faulty' };
    const parsed = v.safeParse(schema, value);
    if (parsed.success) return { kind: 'read', value: parsed.output };
    const [issue] = parsed.issues;
    const what = shorten(`${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`, LONGEST_FAULT);
    problems.push({ where: path, what: role ? `is ${role}; ${what}` : what });
    return { kind: 'faulty' };
  };
}

// --- internal ---

// A fault may quote what the file holds, which may be all of it.
const LONGEST_FAULT = 1000;
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
    const stats = statOf(path);
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
    return isMissing(error) ? {} : { value: last, fault: messageOf(error) };
  }
}
