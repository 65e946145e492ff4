/**
 * Walks roots and remembers what it found, so that the next walk reads only what has changed.
 * Owns: the walk, its limits, the memory between walks. Leaves alone: reading (files.ts), names, filters, timing.
 * Always true:
 * - the event loop is given back every few milliseconds;
 * - after the first walk a changed file is taken over only when two looks at least 250 ms apart agree, and the bytes
 *   are those both looks saw: a half-written file is never shown, its last good state is;
 * - equal trees give equal results in equal order.
 *
 * Calls are synchronous, in short slices: for many small files that is several times faster than the asynchronous
 * ones, whose cost is the thread hop and not the disk (measured: 4 µs against 14 to 60 µs for a stat).
 */
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../log.ts';
import type { Problem, Skill } from '../model.ts';
import { codeOf, isFresh, isInside, isMissing, look, placeOf, readRegularFile, SKIPPED, versionOf } from './files.ts';
import { createLibrary, type Library } from './library.ts';
import { createPacer, type Pacer } from './pace.ts';
import { nameKey } from './resolve.ts';
import { MAX_DEPTH, type Root } from './roots.ts';
import { readHead } from './skill.ts';

/** A SKILL.md is instructions for a model; the largest of 8,111 public ones has 0.3 MB. */
export const MAX_SKILL_BYTES = 1024 * 1024;
/** Texts beyond this are read again when asked for. */
export const MAX_TEXT_HELD = 64 * 1024 * 1024;
export const MAX_DIRECTORIES = 50_000;
/** How far apart the two looks at a changed file are. */
export const SETTLE_MS = 250;

export interface Scan {
  readonly skills: readonly Skill[];
  readonly problems: readonly Problem[];
  readonly directories: readonly string[];
  /** A file was caught changing: look again soon. */
  readonly unsettled: boolean;
}

/** Walks the roots; `progress` is told now and then how many skills were met so far. */
export type Scanner = (roots: readonly Root[], progress: (met: number) => void) => Promise<Scan>;

export function createScanner(): Scanner {
  let memory: ReadonlyMap<string, RootMemory> | undefined;
  const library = createLibrary();

  return async (roots, progress) => {
    const pacer = createPacer();
    const walks: Walk[] = [];
    let met = 0;
    for (const root of roots) {
      const walk = await walkRoot(root, memory?.get(rootKey(root)) ?? NOTHING_KNOWN, pacer);
      walks.push(walk);
      met += walk.sightings.length;
      progress(met);
    }
    const sightings = walks.flatMap((walk) => walk.sightings);
    const changed = sightings.filter(({ entry }) => entry === undefined);
    const first = memory === undefined;
    if (!first && changed.length > 0) await new Promise((done) => setTimeout(done, SETTLE_MS));
    let held = sightings.reduce((sum, { entry }) => sum + (entry?.skill?.text?.length ?? 0), 0);
    for (const sighting of changed) {
      await pacer();
      sighting.entry = await takeOver(sighting, first, MAX_TEXT_HELD - held, library);
      held += sighting.entry?.skill?.text?.length ?? 0;
    }
    const unsettled = changed.some(({ entry }) => entry === undefined || entry.version === MOVING);
    memory = new Map(walks.map((walk) => [rootKey(walk.root), remember(walk)]));
    return {
      skills: sightings.flatMap(({ entry }) => entry?.skill ?? []),
      problems: [...walks.flatMap((walk) => walk.problems), ...sightings.flatMap(({ entry }) => entry?.problem ?? [])],
      directories: walks.flatMap((walk) => [...walk.directories.keys()]),
      unsettled,
    };
  };
}

// --- internal ---

interface Listing {
  readonly version: string;
  readonly children: readonly {
    readonly name: string;
    readonly link: boolean;
  }[];
  readonly skill: 'file' | 'link' | undefined;
}

/** What is known of one SKILL.md: the skill, or why it is none, or both when it was read leniently. */
interface Entry {
  readonly version: string;
  readonly skill: Skill | undefined;
  readonly problem: Problem | undefined;
}

interface RootMemory {
  readonly directories: ReadonlyMap<string, Listing>;
  readonly files: ReadonlyMap<string, Entry>;
}

/** A SKILL.md met on a walk. `entry` is missing until it has been read. */
interface Sighting {
  readonly root: Root;
  readonly directory: string;
  readonly file: string;
  readonly place: string;
  readonly version: string;
  readonly known: Entry | undefined;
  entry: Entry | undefined;
}

interface Walk {
  readonly root: Root;
  readonly sightings: readonly Sighting[];
  readonly problems: readonly Problem[];
  readonly directories: ReadonlyMap<string, Listing>;
}

const NOTHING_KNOWN: RootMemory = { directories: new Map(), files: new Map() };
// Two versions that equal no real one, so the next walk looks again: at leisure, or soon.
const DOUBTFUL = 'doubtful';
const MOVING = 'moving';
// Errors that say something of the machine's moment and nothing of the file.
const PASSING: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'EBUSY', 'EIO', 'EINTR']);

async function walkRoot(root: Root, known: RootMemory, pacer: Pacer): Promise<Walk> {
  const sightings: Sighting[] = [];
  const problems: Problem[] = [];
  const directories = new Map<string, Listing>();
  const seen = new Set<string>();
  let full = false;
  const report = (where: string, what: string) => problems.push({ where, what });

  async function visit(directory: string, depth: number, link: boolean): Promise<void> {
    await pacer();
    const before = known.directories.get(directory);
    let listing: Listing;
    let place: string;
    try {
      const stats = look(directory);
      place = placeOf(stats);
      // Links may lead in circles, or twice to one place: a place counts once.
      if (!stats.isDirectory() || seen.has(place) || full) return;
      full = seen.size >= MAX_DIRECTORIES;
      if (full) return void report(root.directory, `has over ${MAX_DIRECTORIES} directories; the rest is left out`);
      seen.add(place);
      if (link && root.within !== undefined && !isInside(directory, root.within)) {
        report(directory, 'is a link that leaves the project; --follow-symlinks would follow it');
        return;
      }
      const version = versionOf(stats);
      listing = before?.version === version ? before : list(directory, isFresh(stats) ? DOUBTFUL : version);
    } catch (error) {
      if (isMissing(error)) return;
      report(directory, `cannot be read: ${messageOf(error)}`);
      if (!before) return;
      [listing, place] = [before, directory]; // What cannot be seen right now is not thereby gone.
    }
    directories.set(directory, listing);
    if (listing.skill) meet(directory, place, listing.skill === 'link');
    if (depth < root.depth) {
      for (const child of listing.children) await visit(join(directory, child.name), depth + 1, child.link);
    } else if (root.depth === MAX_DEPTH && listing.children.length > 0) {
      report(directory, `is ${MAX_DEPTH} levels deep; what is below is left out`);
    }
  }

  function meet(directory: string, place: string, link: boolean): void {
    const file = join(directory, 'SKILL.md');
    const before = known.files.get(file);
    const add = (version: string, entry: Entry | undefined) =>
      sightings.push({
        root,
        directory,
        file,
        place,
        version,
        known: before,
        entry,
      });
    const refuse = (version: string, what: string) =>
      add(version, {
        version,
        skill: undefined,
        problem: { where: file, what },
      });
    try {
      const stats = look(file);
      const version = versionOf(stats);
      if (before?.version === version && (before.skill?.place ?? place) === place) add(version, before);
      else if (!stats.isFile()) refuse(version, 'is not a regular file');
      else if (stats.size > MAX_SKILL_BYTES) refuse(version, `is over ${MAX_SKILL_BYTES} bytes`);
      else if (link && !isInside(file, directory)) refuse(version, 'is a link that leaves its skill');
      else add(version, undefined);
    } catch (error) {
      if (!isMissing(error)) add(DOUBTFUL, unreadable(file, DOUBTFUL, before, error));
      else if (link) refuse(DOUBTFUL, 'is a link that leads nowhere');
    }
  }

  await visit(root.directory, 0, true);
  return { root, sightings, problems, directories };
}

function list(directory: string, version: string): Listing {
  const entries = readdirSync(directory, { withFileTypes: true });
  const isChild = (entry: Dirent) => (entry.isDirectory() || entry.isSymbolicLink()) && !SKIPPED.has(entry.name);
  const children = entries
    .filter((entry) => isChild(entry) && entry.name !== 'SKILL.md')
    .map((entry) => ({ name: entry.name, link: entry.isSymbolicLink() }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const skill = entries.find((entry) => entry.name === 'SKILL.md');
  return {
    version,
    children,
    skill: skill && (skill.isSymbolicLink() ? 'link' : 'file'),
  };
}

/** Reads a new or changed file; gives what was known before while the file is still moving. */
async function takeOver(
  sighting: Sighting,
  first: boolean,
  room: number,
  library: Library,
): Promise<Entry | undefined> {
  const { file, known } = sighting;
  const stay = known && { ...known, version: MOVING };
  try {
    const stats = look(file);
    if (!first && versionOf(stats) !== sighting.version) return stay;
    const { version, bytes } = readRegularFile(file, MAX_SKILL_BYTES);
    if (version === undefined || (!first && version !== sighting.version)) return stay;
    return await makeEntry(sighting, isFresh(stats) ? DOUBTFUL : version, version, bytes.toString(), room, library);
  } catch (error) {
    if (isMissing(error)) return undefined;
    return unreadable(file, PASSING.has(codeOf(error)) ? DOUBTFUL : sighting.version, known, error);
  }
}

function unreadable(file: string, version: string, known: Entry | undefined, error: unknown): Entry {
  const problem = { where: file, what: `cannot be read: ${messageOf(error)}` };
  return { version, skill: known?.skill, problem };
}

async function makeEntry(
  { root, directory, file, place, known }: Sighting,
  remembered: string,
  version: string,
  text: string,
  room: number,
  library: Library,
): Promise<Entry> {
  const before = known?.skill;
  if (before?.version === version && before.place === place && before.text === text) {
    return { version: remembered, skill: before, problem: known?.problem };
  }
  const reading = await readHead(text);
  if (reading.kind === 'unusable') {
    return {
      version: remembered,
      skill: undefined,
      problem: { where: file, what: reading.why },
    };
  }
  const name = reading.head.name.replace(/\s+/g, ' ');
  const held = text.length <= room ? text : undefined;
  const skill: Skill = {
    name,
    key: nameKey(name),
    description: reading.head.description,
    provider: root.provider,
    location: root.location,
    plugin: root.plugin,
    root: root.directory,
    directory,
    file,
    place,
    version,
    text: held,
    files: library.filesOf(directory),
    read() {
      const unchanged = versionOf(look(file)) === version;
      if (unchanged && held !== undefined) return held;
      // A newer text waits for its refresh, but a file that can no longer be read is an error at once.
      const { bytes } = readRegularFile(file, MAX_SKILL_BYTES);
      return held ?? bytes.toString();
    },
  };
  const problem = reading.note === undefined ? undefined : { where: file, what: reading.note };
  return { version: remembered, skill, problem };
}

function remember({ sightings, directories }: Walk): RootMemory {
  const files = new Map(sightings.flatMap(({ file, entry }) => (entry ? [[file, entry]] : [])));
  return { directories, files };
}

function rootKey({ directory, provider, location, plugin }: Root): string {
  return [provider, location, plugin?.name, plugin?.marketplace, directory].join('\0');
}
