/**
 * The files that are checked: from the arguments of the command to each SKILL.md, and one of them as it is read.
 * Leaves alone: how directories are walked and which links are followed (skills/walk.ts).
 * Always true: one file is checked once, whichever paths lead to it; only regular files inside their directory are opened.
 */
import { readdirSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { compare } from '../../compare.ts';
import { createPacer, type Pacer } from '../../files/pace.ts';
import { ChangingError, type FileContent, NOFOLLOW, readInside, readStable } from '../../files/read.ts';
import { isBelow, isMissing, lstatOf, realPathOf, statOf } from '../../files/stats.ts';
import { messageOf } from '../../log.ts';
import { whenSettled } from '../../skills/contents.ts';
import { MAX_DEPTH, MAX_SKILL_BYTES, MAX_SKILL_TOTAL } from '../../skills/limits.ts';
import { SKILL_FILE } from '../../skills/roots.ts';
import { findFiles, Refusal } from '../../skills/skill-paths.ts';
import { startOf, walkRoot } from '../../skills/walk.ts';
import { UsageError } from '../parse.ts';
import type { Finding, Rule } from './rules.ts';

export interface CheckedFile {
  /** The path that it was found by. */
  readonly path: string;
  /** The real path of its directory, and its name in there. */
  readonly home: string;
  readonly name: string;
}

/** What cannot be looked into, and a finding about that. */
interface ClosedPlace {
  readonly path: string;
  readonly finding: Finding;
}

/** `named`: without any, the working directory. Throws a UsageError for a path that does not exist. */
export async function findChecked(named: readonly string[], cwd: string, followLinks: boolean) {
  const files = new Map<string, CheckedFile>();
  const closed: ClosedPlace[] = [];
  const pace = createPacer();
  for (const path of named.length > 0 ? named : ['.']) {
    // It usually comes from a variable that was not set, and must not come to mean the working directory.
    if (path.trim() === '') throw new UsageError('a path is empty');
    const full = resolve(cwd, path);
    const found = isDirectory(path, full)
      ? await walk(full, followLinks ? undefined : boundaryOf(full, cwd), pace)
      : { files: [namedFile(path, full)], closed: [] };
    for (const file of found.files) {
      const key = join(file.home, file.name);
      if (!files.has(key)) files.set(key, file);
    }
    for (const place of found.closed) closed.push(place);
    if (named.length > 0 && found.files.length === 0)
      closed.push({ path: full, finding: unread('no-skill', NO_SKILL) });
  }
  return { files: [...files.values()], closed };
}

/** A finding instead of the content says why that is not checked. */
export function readChecked({ home, name }: CheckedFile): FileContent | Finding {
  const path = join(home, name);
  try {
    const isLink = lstatOf(path).isSymbolicLink();
    // Before it is opened: opening a device can have effects.
    if (!statOf(path).isFile()) return unread('access', 'is not a regular file');
    if (!isLink) return readStable(path, MAX_SKILL_BYTES, NOFOLLOW);
    // Other clients read it. If it is in the project, it is checked under its own path.
    if (!isBelow(realPathOf(path), home))
      return unread('not-followed', 'is a link that leaves its skill, and is not served');
    return readInside(home, name, MAX_SKILL_BYTES);
  } catch (error) {
    return unread('access', isMissing(error) ? 'is a link that leads nowhere' : `cannot be read: ${messageOf(error)}`);
  }
}

/** Whether the skill keeps to the limits of the Skills extension. */
export async function checkSize({ home }: CheckedFile): Promise<readonly Finding[]> {
  const about = (what: string): readonly Finding[] => [
    { rule: 'skill-size', at: 0, message: `the skill ${what}, so it is left out of skills/list` },
  ];
  try {
    const files = await whenSettled(() => findFiles(home, createPacer()));
    const total = files.reduce((sum, { stats }) => sum + Number(stats.size), 0);
    return total > MAX_SKILL_TOTAL ? about(`has over ${MAX_SKILL_TOTAL} bytes`) : [];
  } catch (error) {
    if (error instanceof Refusal) return about(error.message);
    // Its size cannot be told while its files are being written, and the rest of it can.
    if (error instanceof ChangingError) return [];
    return [{ rule: 'access', at: 0, message: `the files of the skill cannot be read: ${messageOf(error)}` }];
  }
}

// --- internal ---

const NO_SKILL = `has no ${SKILL_FILE} in or below it`;
const unread = (rule: Rule, message: string): Finding => ({ rule, at: 0, message });

const isSkillFile = (path: string) => basename(path).toLowerCase() === SKILL_FILE.toLowerCase();

function isDirectory(path: string, full: string): boolean {
  try {
    return statOf(full).isDirectory();
  } catch (error) {
    throw new UsageError(`${path} ${isMissing(error) ? 'does not exist' : `cannot be read (${messageOf(error)})`}`);
  }
}

/** Links may lead anywhere in the project, or in a directory that is not part of it. */
function boundaryOf(directory: string, cwd: string): string {
  return isBelow(realPathOf(directory), realPathOf(cwd)) ? cwd : directory;
}

function namedFile(path: string, full: string): CheckedFile {
  if (!isSkillFile(full)) throw new UsageError(`${path} is neither a directory nor a ${SKILL_FILE}`);
  return { path: full, home: realPathOf(dirname(full)), name: basename(full) };
}

async function walk(directory: string, within: string | undefined, pace: Pacer) {
  const root = { directory, provider: '', location: 'custom', plugin: undefined, depth: MAX_DEPTH, within } as const;
  const { skills, directories, problems } = await walkRoot(root, startOf(root), pace);
  const capital = new Set(skills.map((skill) => skill.directory));
  const others = directories.flatMap((one) => (capital.has(one.directory) ? [] : namesakesIn(one.directory)));
  const files = [...skills.map(({ path, real }) => ({ path, home: real, name: SKILL_FILE })), ...others];
  // A skill.md that the server does not read is checked like any other.
  const closed = problems
    .filter(({ where }) => !isSkillFile(where))
    .map(({ where, what }) => ({ path: where, finding: { rule: ruleOf(where), at: 0, message: what } }));
  return { files: files.sort((a, b) => compare(orderOf(a), orderOf(b))), closed };
}

/** Of a directory that was not searched, by what it is: a link, one that cannot be read, or one beyond the limits. */
function ruleOf(directory: string): Rule {
  try {
    if (lstatOf(directory).isSymbolicLink()) return 'not-followed';
    readdirSync(directory);
    return 'not-searched';
  } catch {
    return 'access'; // The walk has kept the reason.
  }
}

// A directory before its neighbours that begin with its name.
const orderOf = ({ path }: CheckedFile) => path.replaceAll(sep, '\0');

/** Files that some clients take for a SKILL.md, and others overlook. */
function namesakesIn(directory: string): readonly CheckedFile[] {
  try {
    const names = readdirSync(directory).filter((name) => isSkillFile(name));
    return names.map((name) => ({ path: join(directory, name), home: realPathOf(directory), name }));
  } catch {
    return []; // The directory was removed meanwhile.
  }
}
