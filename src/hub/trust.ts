/**
 * The record of projects whose `.kode.json` may start servers.
 * Owns: the record's place and form, and what exactly is trusted. Leaves alone: what is in the project's file (config.ts).
 * Always true: trust belongs to the content, so that a file that has changed must be trusted again, and to the directory,
 * as the same file elsewhere would start other programs; a record that cannot be read trusts nothing.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import * as v from 'valibot';
import type { Settings } from '../config.ts';
import { createJsonReader } from '../files/json.ts';
import { realPathOf } from '../files/stat.ts';
import type { Problem } from '../model.ts';
import { isObject, type Params } from '../protocol/index.ts';

type Places = Pick<Settings, 'cwd' | 'home' | 'env'>;

/** A JSON object, whatever is in it. */
export const JsonObject = v.custom<Params>(isObject, 'it is not an object');

export const projectFile = (cwd: string) => join(cwd, '.kode.json');

/** Gives a function that tells whether the project's file is trusted with this content. */
export function createTrust(places: Places): (content: Params, problems: Problem[]) => boolean {
  const read = createJsonReader(TrustRecord);
  const record = recordFile(places);
  return (content, problems) => read(record, problems).value?.files[keyOf(places)] === digestOf(content);
}

/** Trusts the project's file as it is now. `show` is given exactly that; if it fails, nothing is trusted. */
export async function trustProject(
  places: Places,
  show: (file: string, content: Params) => void | Promise<void> = () => {},
): Promise<void> {
  const file = projectFile(places.cwd);
  const problems: Problem[] = [];
  const { value: content } = createJsonReader(JsonObject)(file, problems);
  if (!content) throw new Error(`${file} ${problems[0]?.what ?? 'does not exist'}`);
  await show(file, content);
  const record = recordFile(places);
  // A record that cannot be understood is replaced: it trusts nothing.
  const known = createJsonReader(TrustRecord)(record, []).value?.files;
  const files = { ...known, [keyOf(places)]: digestOf(content) };
  mkdirSync(dirname(record), { recursive: true, mode: 0o700 });
  // Renamed into place: a reader finds either the earlier record or this one.
  const draft = `${record}.${randomUUID()}`;
  try {
    writeFileSync(draft, `${JSON.stringify({ files }, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(draft, record);
  } finally {
    rmSync(draft, { force: true });
  }
}

// --- internal ---

/** Digests by the absolute paths of files. */
const TrustRecord = v.object({ files: v.record(v.string(), v.string()) });

function recordFile({ home, env: { XDG_CONFIG_HOME: base = '' } }: Places): string {
  // Its specification says that a relative path is ignored: each project would have a record of its own.
  return join(isAbsolute(base) ? base : join(home, '.config'), 'skillwire', 'trust.json');
}

/** By the real path of the project: another way to it is no other project. */
const keyOf = ({ cwd }: Places) => projectFile(realPathOf(cwd));

/** Of the values in the file: white space does not matter. */
const digestOf = (content: Params) => createHash('sha256').update(JSON.stringify(content)).digest('hex');
