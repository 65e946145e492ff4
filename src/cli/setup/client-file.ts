/**
 * A configuration file of a client: reading it, its backups, replacing and deleting it.
 * Owns: where a link may lead, limits, backups. Leaves alone: how a file is replaced (replace-file.ts), what is in it
 * (edit-json.ts, edit-toml.ts), which file it is (hub/config/hosts.ts).
 * Always true: no backup is ever overwritten; what cannot be done throws, and then the file is as it was.
 */
import { isUtf8 } from 'node:buffer';
import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { readStable } from '../../files/read.ts';
import { isBelow, isMissing, realPathOf, type Version } from '../../files/stats.ts';
import { MAX_FILE, MAX_PROJECT_FILE } from '../../hub/config/limits.ts';
import { checkUnchanged, isThere, replaceFile, writeLike } from '../replace-file.ts';

export interface ClientFile {
  readonly path: string;
  /** The real path: where a link leads to. */
  readonly target: string;
  /** Undefined when there is no such file. */
  readonly content: { readonly text: string; readonly version: Version } | undefined;
  /** The directory of the project that it belongs to. */
  readonly project: string | undefined;
}

/** A project may come from a stranger, so no link may lead out of it. */
export function readClientFile(path: string, project: string | undefined): ClientFile {
  const target = targetOf(path);
  if (project !== undefined && !isBelow(existingPart(target), realPathOf(project)))
    throw new Error('it is behind a link that leaves the project');
  const content = tryRead(target, project !== undefined ? MAX_PROJECT_FILE : MAX_FILE);
  return { path, target, content, project };
}

/** Gives the path of the backup, when there was something to keep. */
export function replaceClientFile({ target, content, project }: ClientFile, text: string): string | undefined {
  const rights = project !== undefined ? 0o777 : 0o700;
  if (!content) mkdirSync(dirname(target), { recursive: true, mode: rights });
  let backup: string | undefined;
  replaceFile({ path: target, version: content?.version }, text, rights & 0o666, () => {
    if (content) backup = keepBackup(target, content.text);
  });
  return backup;
}

/** A link to it goes too: it would lead nowhere. So does the client's directory in a project, when nothing else is in it. */
export function deleteClientFile({ path, target, content, project }: ClientFile): void {
  checkUnchanged({ path: target, version: content?.version });
  rmSync(target);
  rmSync(path, { force: true });
  const directory = dirname(path);
  if (dirname(directory) !== project || !basename(directory).startsWith('.')) return;
  try {
    rmdirSync(directory);
  } catch {
    // It has other files, or is a link.
  }
}

/** The text of the newest backup. Undefined when there is none that can be read. */
export function newestBackup({ target }: ClientFile): string | undefined {
  const at = freeBackup(target) - 1;
  try {
    return at < 0 ? undefined : tryRead(backupName(target, at), MAX_FILE)?.text;
  } catch {
    return undefined; // It is not needed for anything but to restore the old text exactly.
  }
}

// --- internal ---

/** Backups beside one file. People have a few. */
export const MAX_BACKUPS = 1000;

const backupName = (target: string, at: number) => `${target}.bak${at === 0 ? '' : `.${at}`}`;

function freeBackup(target: string): number {
  for (let at = 0; at < MAX_BACKUPS; at++) if (!isThere(backupName(target, at))) return at;
  throw new Error(`there are ${MAX_BACKUPS} backups of it; delete some`);
}

function keepBackup(target: string, text: string): string {
  const backup = backupName(target, freeBackup(target));
  writeLike(target, backup, text, 0o600);
  return backup;
}

function tryRead(path: string, limit: number): ClientFile['content'] {
  try {
    const { bytes, version } = readStable(path, limit);
    if (!isUtf8(bytes)) throw new Error('it is not text in UTF-8');
    return { text: bytes.toString(), version };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function targetOf(path: string): string {
  try {
    return realPathOf(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    if (isThere(path)) throw new Error('it is a link to something that does not exist');
    return path;
  }
}

/** The real path of the innermost directory that exists, or of the file itself. */
function existingPart(path: string): string {
  try {
    return realPathOf(path);
  } catch (error) {
    if (!isMissing(error) || dirname(path) === path) throw error;
    return existingPart(dirname(path));
  }
}
