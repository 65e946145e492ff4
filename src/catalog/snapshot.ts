/**
 * From what the sources contribute to what is served: filtered, folded, named. Pure: equal input, equal output.
 * Owns: the order of those steps. Leaves alone: when it happens (registry.ts).
 */
import type { Contribution, Problem, Skill, Snapshot } from '../model.ts';
import { createAddresses } from '../skills/address.ts';
import { applyFilter, type Filter } from '../skills/filter.ts';
import { createNames, findShadowed } from '../skills/resolve.ts';

export interface SnapshotOptions extends Filter {
  /** Fold byte-identical copies of one name into one. */
  readonly dedupe: boolean;
}

export function buildSnapshot(
  contributions: readonly Contribution[],
  options: SnapshotOptions,
  generation: number,
): Snapshot {
  const skills = contributions.flatMap((contribution) => contribution.skills);
  const problems = contributions.flatMap((contribution) => contribution.problems);
  // Filters come before folding: a skill that two providers share stays when either of them is asked for.
  const filtered = applyFilter(skills, subjectOf, options, WELL_KNOWN);
  const names = createNames(filtered.kept, findStandIns(filtered.kept, options.dedupe));
  const { addresses, problems: unaddressed } = createAddresses(names.listed);
  const resources = contributions.flatMap((contribution) => contribution.resources);
  return Object.freeze({
    generation,
    names,
    addresses,
    tools: contributions.flatMap((contribution) => contribution.tools),
    resources: new Map(resources.map((resource) => [resource.definition.uri, resource])),
    problems: [...problems, ...filtered.problems, ...findShadowed(names), ...unaddressed] satisfies readonly Problem[],
  });
}

// --- internal ---

// Providers a pattern may name even while they hold no skill.
const WELL_KNOWN = ['agents', 'claude', 'codex', 'custom'];

const subjectOf = ({ name, provider, plugin }: Skill) => ({
  name,
  group: provider,
  plugin,
});

/** Further ways to a directory already met and, if asked, further copies of a file already met: each with its first. */
function findStandIns(skills: readonly Skill[], dedupe: boolean): ReadonlyMap<Skill, Skill> {
  const firsts = new Map<string, Skill>();
  const standIns = new Map<Skill, Skill>();
  for (const skill of skills) {
    const marks = dedupe && skill.text !== undefined ? [skill.place, `${skill.key}\0${skill.text}`] : [skill.place];
    const first = marks.map((mark) => firsts.get(mark)).find((one) => one !== undefined);
    if (first) standIns.set(skill, first);
    else for (const mark of marks) firsts.set(mark, skill);
  }
  return standIns;
}
