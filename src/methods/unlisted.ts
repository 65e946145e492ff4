/**
 * The skills that cannot stand in `skills/list`, and why.
 * Owns: what is known of that so far, since to know it all the files of a skill have to be read. Leaves alone: the rules
 * (skills.ts).
 * Always true: a reason is logged when it is first met, and is a Problem for as long as it holds.
 */
import type { Log } from '../log.ts';
import type { Problem, Skill, Snapshot } from '../model.ts';

export interface Unlisted {
  /** A skill was looked at; without a reason it can be listed. */
  note(skill: Skill, why: string | undefined): void;
  /** Of the skills in the snapshot that have been looked at. */
  problems(snapshot: Snapshot): readonly Problem[];
}

export function createUnlisted(log: Log): Unlisted {
  const reasons = new WeakMap<Skill, string>();
  return {
    note(skill, why) {
      if (why === undefined) return void reasons.delete(skill);
      if (reasons.get(skill) === why) return;
      reasons.set(skill, why);
      const { where, what } = problemOf(skill, why);
      log.warn(`${where}: ${what}`);
    },
    problems: ({ names }) =>
      names.listed.flatMap(({ skill }) => {
        const why = reasons.get(skill);
        return why === undefined ? [] : [problemOf(skill, why)];
      }),
  };
}

// --- internal ---

function problemOf({ file }: Skill, why: string): Problem {
  return { where: file, what: `is not in skills/list, because ${why}` };
}
