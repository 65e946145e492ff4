/**
 * Which project files may start programs.
 * Owns: the record of trusted files. Leaves alone: reading those files (files.ts).
 * Always true:
 * - trust is in the content: a file that has changed since is a file nobody has looked at;
 * - and in the place: what is trusted in one directory is not in another, where the same words start other programs.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import * as v from 'valibot';
import { readStable } from '../../files/read.ts';
import { messageOf } from '../../log.ts';
import type { Environment } from '../connection/command.ts';

/** By the path of each file in its real directory, the SHA-256 digest of the file. */
export const TrustRecord = v.object({ files: v.record(v.string(), v.string()) });
export type TrustRecord = v.InferOutput<typeof TrustRecord>;

export type Verdict =
  | { readonly kind: 'trusted' }
  | { readonly kind: 'unknown' }
  /** Nobody can say. */
  | { readonly kind: 'unreadable'; readonly why: string };

export function trustFile(home: string, env: Environment): string {
  const base = env.XDG_CONFIG_HOME;
  // Its specification says that a relative path is ignored: it would be another record in every project.
  return join(base !== undefined && isAbsolute(base) ? base : join(home, '.config'), 'skillwire', 'trust.json');
}

/** Never throws: a record that cannot be read trusts nothing. `digest` is of the file's bytes. */
export function lookUpTrust(record: string, file: string, digest: string): Verdict {
  try {
    const known = new Map(Object.entries(readRecord(record).files)).get(keyOf(file));
    return { kind: known === digest ? 'trusted' : 'unknown' };
  } catch (error) {
    return { kind: 'unreadable', why: `${record} cannot be read: ${messageOf(error)}` };
  }
}

/** Remembers this file as it was when it had that digest. Throws when that cannot be written down. */
export function trust(record: string, file: string, digest: string): void {
  const files = { ...readRecord(record).files, [keyOf(file)]: digest };
  mkdirSync(dirname(record), { recursive: true, mode: 0o700 });
  // In one step: whoever reads it meanwhile finds the old one or the new one, whole.
  const draft = `${record}.${randomUUID()}`;
  try {
    writeFileSync(draft, `${JSON.stringify({ files }, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(draft, record);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

// --- internal ---

// A line per project; nobody has tens of thousands of them.
const MAX_RECORD = 4 * 1024 * 1024;

/** The real directory, and the file in it: what a link leads to belongs to another project. */
function keyOf(file: string): string {
  return join(realpathSync(dirname(file)), basename(file));
}

function readRecord(record: string): TrustRecord {
  const reading = readStable(record, MAX_RECORD);
  if (reading.kind === 'missing') return { files: {} };
  if (reading.kind === 'refused') throw reading.error;
  if (reading.kind === 'moving') throw new Error('it is being written');
  const text = reading.bytes.toString('utf8');
  // A record that cannot be understood trusts nothing; the next `skillwire trust` writes a new one.
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), TrustRecord), text);
  return parsed.success ? parsed.output : { files: {} };
}
