/**
 * Scans roots for skills, and remembers them so that the next scan reads only changed files.
 * Owns: the order of looks and reads. Leaves alone: the walk (walk.ts), reading a file (skill-file.ts), names, filters.
 * Always true: the event loop gets its turn every few milliseconds; equal trees give equal results in equal order.
 * System calls are synchronous, in short slices: for many small files asynchronous ones take several times as long.
 */
import { createPacer } from '../files/pace.ts';
import { createBlocks, type Memory } from '../files/read.ts';
import type { Problem, Skill, Watched } from '../model.ts';
import { type Clock, systemClock } from '../wait.ts';
import { MAX_TEXT_HELD, SETTLE_MS } from './limits.ts';
import type { Root } from './roots.ts';
import { isUntouched, type SkillFile } from './skill-file.ts';
import { type Directory, startOf, walkRoot } from './walk.ts';

/** `unsettled`: a file was changing during the scan, so scan again soon. */
export function createScanner(clock: Clock = systemClock) {
  let memory: ReadonlyMap<string, Directory> | undefined;

  return async (roots: Iterable<Root>) => {
    const before = memory;
    // Awaited only when there is a break: waiting for nothing, for each file, would take a twentieth of a scan.
    const pace = createPacer(before ? undefined : FIRST_SLICE_MS);
    const next = new Map<string, Directory>();
    const files: SkillFile[] = [];
    const changed: SkillFile[] = [];
    const directories: Watched[] = [];
    /** Whether a link was followed. Where it leads may change without a change of what is watched. */
    let hasLinks = false;
    const problems: Problem[] = [];
    for (const root of roots) {
      const key = JSON.stringify(root);
      // A root that is named twice is walked once: two walks would share one memory.
      if (next.has(key)) continue;
      const start = before?.get(key) ?? startOf(root);
      next.set(key, start);
      const walk = await walkRoot(root, start, pace);
      for (const one of walk.directories) {
        directories.push(one);
        if (one.real !== one.directory) hasLinks = true;
      }
      for (const problem of walk.problems) problems.push(problem);
      for (const file of walk.skills) {
        files.push(file);
        // At the first scan no last good state can be kept, so the files are read at once.
        if (!before || file.look()) changed.push(file);
        const rest = pace();
        if (rest) await rest;
      }
    }
    memory = next;

    let room = MAX_TEXT_HELD - files.reduce((sum, file) => sum + heldBy(file), 0);
    let unsettled = false;
    const readAll = async (some: readonly SkillFile[], blocks?: Memory) => {
      for (const file of some) {
        room += heldBy(file);
        const reading = file.read(room, blocks);
        if (!(typeof reading === 'boolean' ? reading : await reading)) unsettled = true;
        room -= heldBy(file);
        const rest = pace();
        if (rest) await rest;
      }
    };
    if (before) {
      if (changed.length > 0) await clock.delay(SETTLE_MS + TIMER_SLACK_MS);
      await readAll(changed);
    } else {
      await readAll(changed, createBlocks());
      // One look at a directory is enough for all skills in it. Those in one that changed meanwhile are read once more.
      const parents = new Set(changed.map(({ parent }) => parent));
      for (const parent of parents) if (parent && isUntouched(parent)) parents.delete(parent);
      const doubtful = changed.filter(({ parent }) => parents.has(parent));
      for (const file of doubtful) {
        room += heldBy(file);
        file.discard();
      }
      await readAll(doubtful);
    }
    const skills: Skill[] = [];
    for (const { skill, problem } of files) {
      if (skill) skills.push(skill);
      if (problem) problems.push(problem);
    }
    return { skills, problems, directories, hasLinks, unsettled };
  };
}

// --- internal ---

// Until the first scan is done few requests can be answered, and more breaks would only delay the first list.
const FIRST_SLICE_MS = 20;

// Timers count from the start of the current turn of the event loop, so they may fire this much early.
const TIMER_SLACK_MS = 20;

const heldBy = ({ skill }: SkillFile) => skill?.bytes?.length ?? 0;
