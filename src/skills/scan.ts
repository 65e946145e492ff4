/**
 * Reads the skills below some roots, and remembers them so that the next scan reads only changed files.
 * Owns: when a changed file is read, and which skill or Problem it becomes. Leaves alone: the walk (walk.ts), names, filters.
 * Always true:
 * - the event loop gets its turn every few milliseconds;
 * - after the first scan a changed file is read only when two looks at least 250 ms apart agree, and only the bytes of
 *   that version are used: a half-written file is never shown, its last good state is;
 * - an unchanged file is not opened; equal trees give equal results in equal order.
 *
 * File system calls are synchronous, in short slices: for many small files that is several times faster than
 * asynchronous calls, which cost a thread switch each (measured: 4 µs against 14 to 60 µs for a stat).
 */
import { basename, join } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import { createPacer, runSteps } from '../files/pace.ts';
import { NOFOLLOW, type Reading, readInside, readStable } from '../files/read.ts';
import { codeOf, identityOf, isMissing, isTransient, lstatOf, statOf, versionOf } from '../files/stats.ts';
import { asError, messageOf } from '../log.ts';
import type { Problem, Skill, Watched } from '../model.ts';
import { visible, visibleLine } from '../text.ts';
import { createContents } from './contents.ts';
import { type HeadReading, readHead, remarkOn } from './front-matter.ts';
import { LONGEST_NAME, MAX_SKILL_BYTES, MAX_TEXT_HELD, SETTLE_MS } from './limits.ts';
import { LocalSkill, type SkillTools } from './local-skill.ts';
import type { Root } from './roots.ts';
import { type Directory, type Entry, SKILL_FILE, type SkillFile, startOf, walkRoot } from './walk.ts';

export interface Scan {
  readonly skills: readonly Skill[];
  readonly problems: readonly Problem[];
  readonly directories: readonly Watched[];
  /** A file was changing during the scan: scan again soon. */
  readonly unsettled: boolean;
}

/** `progress` is called after each root with the number of skills found so far. */
export type Scanner = (roots: readonly Root[], progress: (found: number) => void) => Promise<Scan>;

export function createScanner(clock: Clock = systemClock): Scanner {
  const tools = { contentsOf: createContents(), clock };
  let memory: ReadonlyMap<string, Directory> | undefined;

  return async (roots, progress) => {
    const pace = createPacer();
    const before = memory;
    // A root that is named twice is walked once: two walks would share one memory.
    const distinct = [...new Map(roots.map((root) => [rootKey(root), root])).values()];
    const starts = distinct.map((root) => ({ root, start: before?.get(rootKey(root)) ?? startOf(root) }));
    const found: Found[] = [];
    const directories: Watched[] = [];
    const problems: Problem[] = [];
    for (const { root, start } of starts) {
      const walk = await runSteps(walkRoot(root, start), pace);
      for (const one of walk.directories) directories.push(one);
      for (const problem of walk.problems) problems.push(problem);
      for (const file of walk.skills) {
        found.push({ root, file, look: before ? compareLook(file) : FIRST });
        const rest = pace();
        if (rest) await rest;
      }
      progress(found.length);
    }
    memory = new Map(starts.map(({ root, start }) => [rootKey(root), start]));

    const changed = found.filter(({ look }) => look.kind !== 'unchanged');
    if (before && changed.length > 0) await clock.delay(SETTLE_MS + TIMER_SLACK_MS);
    let room = MAX_TEXT_HELD - found.reduce((sum, { file }) => sum + (file.entry?.skill?.text?.length ?? 0), 0);
    for (const one of changed) {
      const entry = readChanged(one, room, tools);
      one.file.entry = entry instanceof Promise ? await entry : entry;
      room -= one.file.entry?.skill?.text?.length ?? 0;
      const rest = pace();
      if (rest) await rest;
    }
    const entries = found.flatMap(({ file }) => file.entry ?? []);
    return {
      skills: entries.flatMap(({ skill }) => skill ?? []),
      problems: [...problems, ...entries.flatMap(({ problem }) => problem ?? [])],
      directories,
      unsettled: changed.some(({ file }) => file.entry === undefined || file.entry.state.kind === 'moving'),
    };
  };
}

// --- internal ---

/** A SKILL.md that a walk has found. */
interface Found {
  readonly root: Root;
  readonly file: SkillFile;
  readonly look: Look;
}

/** The first of the two looks at a file. */
type Look =
  | { readonly kind: 'unchanged' }
  /** At the first scan no last good state can be kept, so the file is read at once. */
  | { readonly kind: 'first' }
  | { readonly kind: 'changed'; readonly stamp: string };

const UNCHANGED: Look = { kind: 'unchanged' };
const FIRST: Look = { kind: 'first' };
// Timers count from the start of the current turn of the event loop, so they may fire this much early.
const TIMER_SLACK_MS = 20;

function compareLook({ path, entry }: SkillFile): Look {
  const stamp = stampOf(path);
  return entry?.state.kind === 'settled' && entry.state.stamp === stamp ? UNCHANGED : { kind: 'changed', stamp };
}

/** The file's version, or the code of the error: as long as the error stays the same, reading again is useless. */
function stampOf(path: string): string {
  try {
    return versionOf(statOf(path));
  } catch (error) {
    return codeOf(error);
  }
}

const DOUBTFUL = { kind: 'doubtful' } as const;

/** Reads a new or changed file; gives the last known entry while the file is still changing. */
function readChanged({ root, file, look }: Found, room: number, tools: SkillTools): Entry | undefined | Promise<Entry> {
  const { path, entry: known } = file;
  const reading = readFound(file);
  const stamp = look.kind === 'changed' ? look.stamp : undefined;
  const moving = () => known && { ...known, state: { kind: 'moving' } as const };
  switch (reading.kind) {
    case 'moving':
      return moving();
    case 'missing':
      return file.kind === 'link' ? refuse(path, 'is a link that leads nowhere', stamp) : undefined;
    case 'refused': {
      const refused = refuse(path, `cannot be read: ${messageOf(reading.error)}`, stamp);
      return isTransient(reading.error) ? { ...refused, state: DOUBTFUL, skill: known?.skill } : refused;
    }
    case 'read': {
      const { version, recent, bytes } = reading;
      if (stamp !== undefined && stamp !== version) return moving();
      const state = recent ? DOUBTFUL : ({ kind: 'settled', stamp: version } as const);
      const text = bytes.toString();
      if (known?.skill?.version === version && known.skill.text === text) return { ...known, state };
      const make = (head: HeadReading): Entry => {
        const held = text.length <= room ? text : undefined;
        return { state, ...understand(head, root, file, version, held, tools) };
      };
      const head = readHead(text);
      return head instanceof Promise ? head.then(make) : make(head);
    }
  }
}

/** `stamp`: undefined at the first scan, after which the file is read once more. */
function refuse(path: string, what: string, stamp: string | undefined): Entry {
  const state = stamp === undefined ? DOUBTFUL : ({ kind: 'settled', stamp } as const);
  return { state, skill: undefined, problem: { where: path, what } };
}

function readFound({ real, place, kind }: SkillFile): Reading {
  if (kind === 'other') return { kind: 'refused', error: new Error('it is not a regular file') };
  if (kind === 'link') return readInside(real, SKILL_FILE, MAX_SKILL_BYTES);
  const reading = readStable(join(real, SKILL_FILE), MAX_SKILL_BYTES, NOFOLLOW);
  if (reading.kind !== 'read') return reading;
  // For a plain file one look at its directory after opening is enough, at a third of the cost of `readInside`.
  try {
    return identityOf(lstatOf(real)) === place ? reading : { kind: 'moving' };
  } catch (error) {
    return { kind: isMissing(error) ? 'missing' : 'refused', error: asError(error) };
  }
}

function understand(
  reading: HeadReading,
  root: Root,
  file: SkillFile,
  version: string,
  text: string | undefined,
  tools: SkillTools,
): Omit<Entry, 'state'> {
  const fail = (what: string) => ({ skill: undefined, problem: { where: file.path, what } });
  if (reading.kind === 'unusable') return fail(reading.why);
  const name = visibleLine(reading.head.name);
  const description = visible(reading.head.description).trim();
  if (name === '') return fail('name is empty');
  if (name.length > LONGEST_NAME) return fail(`name is over ${LONGEST_NAME} characters`);
  if (description === '') return fail('description is empty');
  const skill = new LocalSkill(root, file, { name, description }, version, text, tools);
  const remark = reading.note === undefined ? remarkOn(name, basename(file.directory)) : { what: reading.note };
  return { skill, problem: remark && { where: file.path, ...remark } };
}

function rootKey({ directory, provider, location, plugin, within }: Root): string {
  return [provider, location, plugin?.name, plugin?.marketplace, within, directory].join('\0');
}
