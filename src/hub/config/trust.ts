/**
 * The record of project files that may start programs.
 * Owns: that record. Leaves alone: reading the project files (files.ts).
 * Always true:
 * - trust belongs to the content: a file that has changed must be trusted again;
 * - trust belongs to the directory too: the same file in another directory would start other programs.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import * as v from 'valibot';
import { readStable } from '../../files/read.ts';
import { messageOf } from '../../log.ts';
import type { Environment } from '../connection/command.ts';
import { MAX_TRUST_RECORD } from './limits.ts';

/** SHA-256 digests of files, by path. */
const TrustRecord = v.object({ files: v.record(v.string(), v.string()) });
type TrustRecord = v.InferOutput<typeof TrustRecord>;

export function trustFile(home: string, env: Environment): string {
  const base = env.XDG_CONFIG_HOME;
  // Its specification says that a relative path is ignored: each project would have a record of its own.
  return join(base !== undefined && isAbsolute(base) ? base : join(home, '.config'), 'skillwire', 'trust.json');
}

/** Undefined when the file is trusted with this digest. Never throws: a record that cannot be read trusts nothing. */
export function reasonNotTrusted(record: string, file: string, digest: string): string | undefined {
  try {
    const trusted = new Map(Object.entries(readRecord(record).files)).get(keyOf(file));
    return trusted === digest ? undefined : UNTRUSTED;
  } catch (error) {
    return `not started: whether this project is trusted is not known: ${record} cannot be read: ${messageOf(error)}`;
  }
}

/** Trusts the file with this digest. Throws when the record cannot be written. */
export function trust(record: string, file: string, digest: string): void {
  const files = { ...readRecord(record).files, [keyOf(file)]: digest };
  mkdirSync(dirname(record), { recursive: true, mode: 0o700 });
  // Renamed into place: a reader finds either the old record or the new one.
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

const UNTRUSTED = 'not started: this project is not trusted; look at the file, then run "skillwire trust"';

/** The real path of the directory, but not of the file: a link in it would lead to another project's file. */
function keyOf(file: string): string {
  return join(realpathSync(dirname(file)), basename(file));
}

function readRecord(record: string): TrustRecord {
  const reading = readStable(record, MAX_TRUST_RECORD);
  if (reading.kind === 'missing') return { files: {} };
  if (reading.kind === 'refused') throw reading.error;
  if (reading.kind === 'moving') throw new Error('it is being written');
  // A record that cannot be parsed trusts nothing; the next `skillwire trust` writes a new one.
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), TrustRecord), reading.bytes.toString('utf8'));
  return parsed.success ? parsed.output : { files: {} };
}
