/**
 * Scans roots for skills, and remembers them so that the next scan reads only changed files.
 * Owns: when a SKILL.md is read, and which skill or Problem it becomes. Leaves alone: the walk (walk.ts), a SKILL.md's
 * syntax (front-matter.ts), names, filters.
 * Always true: the event loop gets its turn every few milliseconds; an unchanged file is not opened, and equal bytes stay
 * the same skill object; a half-written file never replaces its last good state.
 * System calls are synchronous, in short slices: for many small files asynchronous ones take several times as long.
 */
import type { Stats } from 'node:fs';
import { sep } from 'node:path';
import { createPacer } from '../files/pace.ts';
import { changing, FileError, readInside, readStable, withFileErrors } from '../files/read.ts';
import { changedWithin, lookAt, realPathOf, sameVersion, type Version } from '../files/stat.ts';
import { MAX_SKILL_BYTES, MAX_TEXT_HELD, RECENT_MS, SETTLE_MS } from '../limits.ts';
import type { Problem, Skill, WatchedDirectory } from '../model.ts';
import { counted } from '../text.ts';
import { LocalFiles } from './contents.ts';
import { readHead } from './front-matter.ts';
import { type Root, SKILL_FILE } from './roots.ts';
import { type Visit, walkRoot } from './walk.ts';

export interface Scan {
  readonly skills: readonly Skill[];
  readonly problems: readonly Problem[];
  /** Those that were listed. */
  readonly directories: readonly WatchedDirectory[];
}

export function createScanner(): (roots: readonly Root[]) => Promise<Scan> {
  /** What the last scan found, by root, and there by path. */
  let memory = new Map<string, Map<string, Found>>();

  return async (roots) => {
    const pace = createPacer();
    const problems: Problem[] = [];
    const next: typeof memory = new Map();
    const due: Due[] = [];
    let held = 0;
    for (const root of roots) {
      const key = JSON.stringify(root);
      // A root that is named twice is walked once.
      if (next.has(key)) continue;
      const before = memory.get(key);
      const now = new Map<string, Found>();
      next.set(key, now);
      for (const visit of await walkRoot(root, (path) => before?.get(path)?.visit, problems)) {
        await pace();
        const known = before?.get(visit.path);
        // Behind a link there may be another directory now.
        const last = visit.skill && known?.visit.real === visit.real ? known.entry : undefined;
        const found: Found = { visit, entry: last };
        now.set(visit.path, found);
        if (visit.skill === undefined) continue;
        const look = last && lookAt(visit.real + sep + SKILL_FILE);
        if (last?.version && look && sameVersion(last.version, look)) held += lengthOf(last);
        else due.push({ root, found, look, isSettling: look !== undefined && changedWithin(look, SETTLE_MS) });
      }
    }
    if (due.some(({ isSettling }) => isSettling)) await new Promise((done) => setTimeout(done, SETTLE_MS));
    let leftOut = 0;
    for (const one of due) {
      await pace();
      const entry = readEntry(one);
      const hasRoom = held + lengthOf(entry) <= MAX_TEXT_HELD;
      // What is left out is read again at the next scan.
      one.found.entry = hasRoom ? entry : undefined;
      if (hasRoom) held += lengthOf(entry);
      else leftOut++;
    }
    memory = next;
    const all = [...next.values()].flatMap((now) => [...now.values()]);
    problems.push(...all.flatMap(({ entry }) => entry?.problem ?? []));
    if (leftOut > 0) {
      const what = `${counted(leftOut, 'skill')} left out: the others have ${MAX_TEXT_HELD} bytes of text together`;
      problems.push({ where: 'skills', what, hint: 'Leave out directories that are not needed.' });
    }
    const skills = all.flatMap(({ entry }) => entry?.skill ?? []);
    return { skills, problems, directories: all.map(({ visit }) => visit) };
  };
}

// --- internal ---

/** A directory, and what has become of its SKILL.md: until that is read, what it was at the last scan. */
interface Found {
  readonly visit: Visit;
  entry: Entry | undefined;
}

/** `version`: undefined when it is read again at the next scan. */
interface Entry {
  readonly version?: Version | undefined;
  readonly skill?: Skill | undefined;
  readonly problem?: Problem | undefined;
}

/** A SKILL.md that is to be read. `look`: at a known one, before. `isSettling`: it had changed within SETTLE_MS then. */
interface Due {
  readonly root: Root;
  readonly found: Found;
  readonly look: Stats | undefined;
  readonly isSettling: boolean;
}

const lengthOf = ({ skill }: Entry) => skill?.bytes?.length ?? 0;

const HEAD_HINT =
  'The file must begin with "---", a name and a description, and "---"; "skillwire check" tells where it does not.';
const FILE_HINT = `A SKILL.md must be a regular file of at most ${MAX_SKILL_BYTES} bytes, inside its skill, that may be read.`;

function readEntry({ root, found: { visit, entry: known }, look }: Due): Entry {
  const file = visit.path + sep + SKILL_FILE;
  const faulty = (what: string, hint: string) => ({ problem: { where: file, what, hint } });
  try {
    const { bytes, version: read } = readFile(visit);
    // It differs from what was looked at, so a writer is at work.
    if (look && !sameVersion(look, read)) throw changing();
    const head = readHead(bytes);
    const isRecent = changedWithin(read, RECENT_MS);
    const version = isRecent ? undefined : read;
    if (head.kind === 'unusable' && isRecent && known?.skill) return { ...known, version };
    if (head.kind === 'unusable') return { version, ...faulty(head.why, HEAD_HINT) };
    const { name, description, lenient } = head;
    const problem = lenient === undefined ? undefined : ({ where: file, what: lenient, mild: true } as const);
    const last = known?.skill;
    if (last?.identity === visit.identity && last.bytes?.equals(bytes)) return { version, skill: last, problem };
    const { provider, location, plugin } = root;
    const where = { root: root.directory, directory: visit.path, file, identity: visit.identity };
    const files = new LocalFiles(visit.real);
    const skill = { name, description, provider, location, plugin, ...where, bytes, files };
    return { version, skill, problem };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    if (error.kind === 'changing' && known?.skill) return { ...known, version: undefined };
    // It was deleted since its directory was listed.
    if (error.kind === 'missing' && visit.skill === 'plain') return {};
    return faulty(`cannot be read: ${error.message}`, FILE_HINT);
  }
}

function readFile({ real, skill }: Visit) {
  if (skill !== 'plain') return readInside(real, SKILL_FILE, MAX_SKILL_BYTES);
  const content = readStable(real + sep + SKILL_FILE, MAX_SKILL_BYTES, 'refuse');
  // The directory, or one above it, may have been replaced by a link since it was listed. For a plain file one look after
  // opening is enough, at a third of the cost of `readInside`.
  if (withFileErrors(() => realPathOf(real)) !== real) throw changing();
  return content;
}
