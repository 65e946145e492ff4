/**
 * Reads the skills below some roots and remembers them, so that the next scan reads only what has changed.
 * Owns: when a changed file is taken over, and what is made of it. Leaves alone: the walk (walk.ts), names, filters.
 * Always true:
 * - the event loop is given back every few milliseconds;
 * - after the first scan a changed file is taken over only when two looks at least 250 ms apart agree, and the bytes
 *   are those both looks saw: a half-written file is never shown, its last good state is;
 * - an unchanged file is not opened; equal trees give equal results in equal order.
 *
 * Calls are synchronous, in short slices: for many small files that is several times faster than the asynchronous
 * ones, whose cost is the thread hop and not the disk (measured: 4 µs against 14 to 60 µs for a stat).
 */
import { lstatSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createPacer, drive } from '../files/pace.ts';
import {
  codeOf,
  fileIdentity,
  isBelow,
  isMissing,
  isTransient,
  NOFOLLOW,
  type Reading,
  readInside,
  readRegularFile,
  statOf,
  versionOf,
} from '../files/read.ts';
import { messageOf } from '../log.ts';
import type { Problem, Skill, Watched } from '../model.ts';
import { cut, visible, visibleLine } from '../text.ts';
import type { Library } from './contents.ts';
import { type HeadReading, readHead, remarkOn } from './front-matter.ts';
import { createDesk } from './lazy-contents.ts';
import { nameKey } from './names.ts';
import type { Root } from './roots.ts';
import { type Directory, DOUBTFUL, type Entry, SKILL_FILE, type SkillFile, startOf, walkRoot } from './walk.ts';

/** A SKILL.md is instructions for a model; the largest of 8,111 public ones has 0.3 MB. */
export const MAX_SKILL_BYTES = 1024 * 1024;
/** The rules allow 64. A name is compared, listed and spelled all the time; composing a long one takes quadratic time. */
export const LONGEST_NAME = 1000;
/** Texts beyond this are read again when asked for. */
export const MAX_TEXT_HELD = 64 * 1024 * 1024;
/** How far apart the two looks at a changed file are. */
export const SETTLE_MS = 250;

export interface Scan {
  readonly skills: readonly Skill[];
  readonly problems: readonly Problem[];
  readonly directories: readonly Watched[];
  /** A file was caught changing: look again soon. */
  readonly unsettled: boolean;
}

/** Scans the roots; `progress` is told now and then how many skills were met so far. */
export type Scanner = (roots: readonly Root[], progress: (met: number) => void) => Promise<Scan>;

export function createScanner(): Scanner {
  const library = createDesk();
  let memory: ReadonlyMap<string, Directory> | undefined;

  return async (roots, progress) => {
    const pace = createPacer();
    const before = memory;
    // A root that is named twice is walked once: two walks would share one memory.
    const distinct = [...new Map(roots.map((root) => [rootKey(root), root])).values()];
    const starts = distinct.map((root) => ({ root, start: before?.get(rootKey(root)) ?? startOf(root) }));
    const sightings: Sighting[] = [];
    const directories: Watched[] = [];
    const problems: Problem[] = [];
    for (const { root, start } of starts) {
      const walk = await drive(walkRoot(root, start), pace);
      for (const one of walk.directories) directories.push(one);
      for (const problem of walk.problems) problems.push(problem);
      for (const file of walk.skills) {
        sightings.push(before ? sight(root, file) : { root, file, statOf: UNSEEN });
        const rest = pace();
        if (rest) await rest;
      }
      progress(sightings.length);
    }
    memory = new Map(starts.map(({ root, start }) => [rootKey(root), start]));

    const changed = sightings.filter(({ statOf }) => statOf !== UNCHANGED);
    if (before && changed.length > 0) await pause(SETTLE_MS + TIMER_SLACK_MS);
    let room = MAX_TEXT_HELD - sightings.reduce((sum, { file }) => sum + (file.entry?.skill?.text?.length ?? 0), 0);
    for (const sighting of changed) {
      const { file } = sighting;
      const taken = takeOver(sighting, room, library);
      file.entry = taken instanceof Promise ? await taken : taken;
      room -= file.entry?.skill?.text?.length ?? 0;
      const rest = pace();
      if (rest) await rest;
    }
    const entries = sightings.flatMap(({ file }) => file.entry ?? []);
    return {
      skills: entries.flatMap(({ skill }) => skill ?? []),
      problems: [...problems, ...entries.flatMap(({ problem }) => problem ?? [])],
      directories,
      unsettled: changed.some(({ file }) => file.entry === undefined || file.entry.version === MOVING),
    };
  };
}

// --- internal ---

/** A SKILL.md met on a walk, and the version that the first of the two looks saw. */
interface Sighting {
  readonly root: Root;
  readonly file: SkillFile;
  readonly statOf: string;
}

const UNCHANGED = 'unchanged';
// At the very first scan there is nothing good to keep meanwhile, so one look must do.
const UNSEEN = 'unseen';
// Like DOUBTFUL, but worth another look soon.
const MOVING = 'moving';
// Timers count from the start of the current turn of the event loop, so they may ring this much early.
const TIMER_SLACK_MS = 20;

function sight(root: Root, file: SkillFile): Sighting {
  const version = versionAt(file.path);
  return { root, file, statOf: version === file.entry?.version ? UNCHANGED : version };
}

/** Why a file cannot be looked at is a version too: as long as it stays so there is nothing new to say. */
function versionAt(path: string): string {
  try {
    return versionOf(statOf(path));
  } catch (error) {
    return codeOf(error) || DOUBTFUL;
  }
}

/** Reads a new or changed file; gives what was known before while the file is still moving. */
function takeOver(
  { root, file, statOf: seen }: Sighting,
  room: number,
  library: Library,
): Entry | undefined | Promise<Entry> {
  const { path, real, kind, entry: known } = file;
  const refuse = (version: string, what: string): Entry => ({
    version,
    skill: undefined,
    problem: { where: path, what },
  });
  try {
    if (kind !== 'file') {
      const stats = statOf(path);
      if (!stats.isFile()) return refuse(versionOf(stats), 'is not a regular file');
      if (!isBelow(realpathSync.native(path), real)) return refuse(versionOf(stats), 'is a link that leaves its skill');
    }
    const { version, fresh, bytes } = readFound(file);
    const settled = version !== undefined && (seen === UNSEEN || seen === version);
    if (!settled) return known && { ...known, version: MOVING };
    const remembered = fresh ? DOUBTFUL : version;
    const text = bytes.toString();
    if (known?.skill?.version === version && known.skill.text === text) return { ...known, version: remembered };
    const taken = { root, file, version, remembered, text, room, library };
    const reading = readHead(text);
    return reading instanceof Promise ? reading.then((read) => makeEntry(taken, read)) : makeEntry(taken, reading);
  } catch (error) {
    if (isMissing(error)) return kind === 'link' ? refuse(seen, 'is a link that leads nowhere') : undefined;
    const faulty = refuse(seen, `cannot be read: ${messageOf(error)}`);
    return isTransient(error) ? { ...faulty, version: DOUBTFUL, skill: known?.skill } : faulty;
  }
}

/** Reads a SKILL.md that a walk has found, unless something else has taken its place since. */
function readFound({ real, place, kind }: SkillFile): Reading {
  if (kind !== 'file') return readInside(real, SKILL_FILE, MAX_SKILL_BYTES);
  const reading = readRegularFile(join(real, SKILL_FILE), MAX_SKILL_BYTES, NOFOLLOW);
  // One look at the directory after opening costs a third of what `readInside` does, for thousands of files.
  return fileIdentity(lstatSync(real, { bigint: true })) === place ? reading : { ...reading, version: undefined };
}

/** What a skill is made of, besides its front matter. */
interface Taken {
  readonly root: Root;
  readonly file: SkillFile;
  readonly version: string;
  /** The version by which the next scan tells whether to read again. */
  readonly remembered: string;
  readonly text: string;
  /** How much text may still be held. */
  readonly room: number;
  readonly library: Library;
}

function makeEntry({ root, file, version, remembered, text, room, library }: Taken, reading: HeadReading): Entry {
  const { path, directory, real, place } = file;
  if (reading.kind === 'unusable') {
    return { version: remembered, skill: undefined, problem: { where: path, what: reading.why } };
  }
  const name = visibleLine(reading.head.name);
  const description = visible(reading.head.description).trim();
  const refuse = (what: string): Entry => ({ version: remembered, skill: undefined, problem: { where: path, what } });
  if (name === '') return refuse('name is empty');
  if (name.length > LONGEST_NAME) return refuse(`name is over ${LONGEST_NAME} characters`);
  if (description === '') return refuse('description is empty');
  const held = text.length <= room ? text : undefined;
  const readNow = () => {
    if (held !== undefined && versionOf(statOf(path)) === version) return held;
    // A newer text waits for its refresh, but a file that can no longer be read is an error at once.
    const { version: now, bytes } = readInside(real, SKILL_FILE, MAX_SKILL_BYTES);
    if (held !== undefined) return held;
    if (now === undefined) throw new Error(`${path} is changing right now; ask again`);
    return bytes.toString();
  };
  const skill: Skill = {
    name,
    key: nameKey(name),
    description,
    provider: prefix(root.provider),
    location: root.location,
    plugin: root.plugin && { name: prefix(root.plugin.name), marketplace: prefix(root.plugin.marketplace) },
    root: root.directory,
    directory,
    file: path,
    place,
    version,
    text: held,
    files: library.filesOf(real),
    read: () => patiently(readNow),
  };
  const remark = reading.note === undefined ? remarkOn(name, basename(directory)) : { what: reading.note };
  return { version: remembered, skill, problem: remark && { where: path, ...remark } };
}

/** What may stand before a skill's name and a colon: a directory's name, or what a file says of a plugin. */
const prefix = (text: string) => cut(visibleLine(text), LONGEST_NAME);

/** Some programs save by removing a file and writing it anew: one that is missing gets a moment to come back. */
function patiently(read: () => string): string | Promise<string> {
  try {
    return read();
  } catch (error) {
    if (!isMissing(error)) throw error;
    return pause(ABSENCE_MS).then(read);
  }
}

const ABSENCE_MS = 50;

function rootKey({ directory, provider, location, plugin, within }: Root): string {
  return [provider, location, plugin?.name, plugin?.marketplace, within, directory].join('\0');
}

const pause = (length: number) => new Promise((done) => setTimeout(done, length));
