/**
 * The record of project files that may start programs. Leaves alone: reading the project files (files.ts).
 * Always true: trust belongs to the content, so a file that has changed must be trusted again; and to the directory, as the
 * same file in another directory would start other programs.
 */
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import * as v from 'valibot';
import { readStable } from '../../files/read.ts';
import { codeOf, isMissing } from '../../files/stats.ts';
import { messageOf } from '../../log.ts';
import { delay, monotonicMs } from '../../wait.ts';
import type { Environment } from '../connection/command.ts';
import { LOCK_LOOK_MS, MAX_TRUST_RECORD, STALE_LOCK_MS } from './limits.ts';

/** The project's own file, which `skillwire trust` is for unless it is told others. */
export const PROJECT_FILE = '.kode.json';

/** What a person types to run this program with these words. */
export type CommandLine = (words: readonly string[]) => string;

/** SHA-256 digests of files, by their absolute paths. */
const TrustRecord = v.pipe(v.string(), v.parseJson(), v.object({ files: v.record(v.string(), v.string()) }));

export function trustFile(home: string, env: Environment): string {
  const base = env.XDG_CONFIG_HOME;
  // Its specification says that a relative path is ignored: each project would have a record of its own.
  return join(base !== undefined && isAbsolute(base) ? base : join(home, '.config'), 'skillwire', 'trust.json');
}

/** Undefined when the file is trusted with this digest. Never throws: a record that cannot be read trusts nothing. */
export function reasonNotTrusted(
  record: string,
  project: string,
  file: string,
  digest: string,
  commandLine: CommandLine,
): string | undefined {
  try {
    if (digestsIn(record)[keyOf(project, file)] === digest) return undefined;
    const name = relative(project, file);
    const command = commandLine(name === PROJECT_FILE ? ['trust'] : ['trust', name]);
    return `not started: this project is not trusted; look at the file, then run "${command}"`;
  } catch (error) {
    return `not started: whether this project is trusted is not known: ${record} cannot be read: ${messageOf(error)}`;
  }
}

/** Trusts the file with this digest. Rejects when the record cannot be written. */
export async function trust(record: string, project: string, file: string, digest: string): Promise<void> {
  const { randomUUID } = await import('node:crypto');
  const id = randomUUID();
  mkdirSync(dirname(record), { recursive: true, mode: 0o700 });
  // Others that add to the record at this moment wait: each writes all that it has read.
  const lock = `${record}.lock`;
  await takeLock(lock, id);
  // Renamed into place: a reader finds either the old record or the new one.
  const draft = `${record}.${id}`;
  try {
    const files = { ...digestsIn(record), [keyOf(project, file)]: digest };
    writeFileSync(draft, `${JSON.stringify({ files }, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(draft, record);
  } finally {
    rmSync(draft, { force: true });
    rmSync(lock, { force: true });
  }
}

// --- internal ---

/** Creates the file with this content. While it is there another process works, or has ended without removing it. */
async function takeLock(lock: string, id: string): Promise<void> {
  let [owner, since] = ['', monotonicMs()];
  for (;;) {
    try {
      return writeFileSync(lock, id, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const now = ownerOf(lock);
    if (now !== owner) [owner, since] = [now, monotonicMs()];
    else if (monotonicMs() - since > STALE_LOCK_MS) rmSync(lock, { force: true });
    await delay(LOCK_LOOK_MS);
  }
}

function ownerOf(lock: string): string {
  try {
    return readFileSync(lock, 'utf8');
  } catch {
    return ''; // It was removed meanwhile.
  }
}

/** The real path of the project, but of nothing in it: a link could lead to what is trusted in another project. */
function keyOf(project: string, file: string): string {
  return join(realpathSync(project), relative(project, file));
}

function digestsIn(record: string): Readonly<Record<string, string>> {
  try {
    const parsed = v.safeParse(TrustRecord, readStable(record, MAX_TRUST_RECORD).bytes.toString());
    // A record that cannot be parsed trusts nothing; the next `skillwire trust` writes a new one.
    return parsed.success ? parsed.output.files : {};
  } catch (error) {
    if (isMissing(error)) return {};
    throw error;
  }
}
