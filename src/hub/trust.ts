/**
 * Which project files may start programs.
 * Owns: the record of trusted files. Leaves alone: reading those files (files.ts).
 * Always true: trust is in the content: a file that has changed since is a file nobody has looked at.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { isMissing } from '../skills/files.ts';
import type { Environment } from './launch.ts';

export const TrustRecord = v.object({ files: v.record(v.string(), v.string()) });
export type TrustRecord = v.InferOutput<typeof TrustRecord>;

export function trustFile(home: string, env: Environment): string {
  const base = env.XDG_CONFIG_HOME;
  return join(base === undefined || base === '' ? join(home, '.config') : base, 'skillwire', 'trust.json');
}

export function isTrusted(record: string, file: string, text: string): boolean {
  return new Map(Object.entries(readRecord(record).files)).get(realpathSync(file)) === digestOf(text);
}

/** Remembers this file as it is now. */
export function trust(record: string, file: string, text: string): void {
  const files = { ...readRecord(record).files, [realpathSync(file)]: digestOf(text) };
  mkdirSync(dirname(record), { recursive: true, mode: 0o700 });
  // In one step: two projects may be trusted at the same time.
  const draft = `${record}.${randomUUID()}`;
  writeFileSync(draft, `${JSON.stringify({ files }, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(draft, record);
}

// --- internal ---

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function readRecord(record: string): TrustRecord {
  let text: string;
  try {
    text = readFileSync(record, 'utf8');
  } catch (error) {
    if (isMissing(error)) return { files: {} };
    throw error;
  }
  // A record that cannot be understood trusts nothing; the next `skillwire trust` writes a new one.
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), TrustRecord), text);
  return parsed.success ? parsed.output : { files: {} };
}
