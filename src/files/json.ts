/**
 * JSON files that other programs keep.
 * Owns: reading and checking them again only when they change. Leaves alone: their meaning (skills/plugins.ts).
 * Always true: a file that cannot be understood is a Problem, and its last good content still counts: most often it is
 * just being written.
 */
import { relative } from 'node:path';
import * as v from 'valibot';
import { messageOf } from '../log.ts';
import type { Problem } from '../model.ts';
import { shorten } from '../text.ts';
import { readInside, readStable } from './read.ts';
import { lookAt, realPathOf } from './stats.ts';

export type JsonReading<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'missing' }
  | { readonly kind: 'faulty' };

export interface JsonOptions {
  /** What the file is for, as its Problem calls it. */
  readonly role?: string;
  /** A directory that the file lies in. A symbolic link that leaves it is refused. Undefined: links are followed. */
  readonly within?: string | undefined;
}

export type JsonReader = <T>(
  path: string,
  schema: v.GenericSchema<unknown, T>,
  options?: JsonOptions,
) => JsonReading<T>;

/** Gives a reader for each refresh, which adds faults to `problems`. */
export function createJsonCache(): (problems: Problem[]) => JsonReader {
  const cache = new Map<string, Known>();

  function load(path: string, within: string | undefined): Known {
    const known = cache.get(path);
    const look = lookAt(path);
    if (look.kind === 'missing') return { ...MISSING, checked: new Map() };
    if (look.kind === 'settled' && look.version === known?.version) return known;
    const next = { ...readJson(path, within, known?.value), checked: new Map() };
    cache.set(path, next);
    return next;
  }

  return (problems) =>
    (path, schema, { role, within } = {}) => {
      const known = load(path, within);
      const { value, fault } = known;
      if (fault !== undefined)
        problems.push({
          where: path,
          what: `cannot be read${role ? ` as ${role}` : ''}: ${shorten(fault, LONGEST_FAULT)}`,
        });
      if (value === undefined) return { kind: fault === undefined ? 'missing' : 'faulty' };
      const parsed = checkOnce(known, schema);
      if (parsed.success) return { kind: 'read', value: parsed.output };
      const [issue] = parsed.issues;
      const what = shorten(`${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`, LONGEST_FAULT);
      problems.push({ where: path, what: role ? `is ${role}; ${what}` : what });
      return { kind: 'faulty' };
    };
}

// --- internal ---

// A schema's message may quote a value of the file.
const LONGEST_FAULT = 1000;
// Real ones have a few KiB.
const MAX_JSON_BYTES = 4 * 1024 * 1024;

interface Known {
  /** Undefined: the file is read again next time. */
  readonly version: string | undefined;
  /** Undefined: the file does not exist, or was never understood. */
  readonly value: unknown;
  readonly fault: string | undefined;
  /** The results of checking the value, by schema: a file may have hundreds of thousands of entries. */
  readonly checked: Map<unknown, unknown>;
}

function checkOnce<T>({ value, checked }: Known, schema: v.GenericSchema<unknown, T>) {
  const result = checked.get(schema) ?? v.safeParse(schema, value);
  checked.set(schema, result);
  return result as v.SafeParseResult<v.GenericSchema<unknown, T>>;
}

const MISSING = { version: undefined, value: undefined, fault: undefined };

function readJson(path: string, within: string | undefined, last: unknown): Omit<Known, 'checked'> {
  const reading =
    within === undefined
      ? readStable(path, MAX_JSON_BYTES)
      : readInside(realPathIfAny(within), relative(within, path), MAX_JSON_BYTES);
  switch (reading.kind) {
    case 'missing':
      return MISSING;
    case 'moving':
      return { version: undefined, value: last, fault: 'it is being written' };
    case 'refused':
      return { version: undefined, value: last, fault: messageOf(reading.error) };
    case 'read': {
      const version = reading.recent ? undefined : reading.version;
      const text = reading.bytes.toString().replace(/^\ufeff/, '');
      try {
        return { version, value: JSON.parse(text), fault: undefined };
      } catch (error) {
        return { version, value: last, fault: `it is not valid JSON${placeOf(error, text)}` };
      }
    }
  }
}

function realPathIfAny(directory: string): string {
  try {
    return realPathOf(directory);
  } catch {
    return directory; // Reading a file in it gives the reason.
  }
}

/** Where the fault is, if the parser tells. Its message quotes the file, which may contain secrets: it is not shown. */
function placeOf(error: unknown, text: string): string {
  const position = / at position (\d+)/.exec(messageOf(error))?.[1];
  if (position === undefined) return '';
  const lines = text.slice(0, Number(position)).split('\n');
  return ` (line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1})`;
}
