/**
 * From what the sources contribute to what is served: filtered, folded, named. Pure: equal input, equal output.
 * Owns: the order of those steps. Leaves alone: when it happens (registry.ts).
 */
import type { Contribution, ForeignTool, Problem, Resource, Skill, Snapshot } from '../model.ts';
import { addressSteps } from '../skills/address.ts';
import type { Filter, Subject } from '../skills/filter.ts';
import { createPacer, drive } from '../skills/pace.ts';
import { createNames, findShadowed } from '../skills/resolve.ts';

export interface SnapshotOptions {
  /** Undefined: everything is served. */
  readonly filter: Filter | undefined;
  /** Fold byte-identical copies of one name into one. */
  readonly dedupe: boolean;
}

export async function buildSnapshot(
  contributions: readonly Contribution[],
  options: SnapshotOptions,
  generation: number,
): Promise<Snapshot> {
  const skills = contributions.flatMap((contribution) => contribution.skills.map(skillItem));
  const tools = contributions.flatMap((contribution) => contribution.tools.map(toolItem));
  const resources = contributions.flatMap((contribution) => contribution.resources.map(resourceItem));
  const problems = contributions.flatMap((contribution) => contribution.problems);
  // Filters come before folding: a skill that two providers share stays when either of them is asked for.
  // All go through together, so that a pattern which selects some of one kind is not reported as idle for another.
  const items = [...skills, ...tools, ...resources];
  const filtered = options.filter?.(items, ({ subject }) => subject, WELL_KNOWN) ?? { kept: items, problems: [] };
  const shown = filtered.kept.flatMap(({ skill }) => (skill ? [skill] : []));
  const names = createNames(shown, findStandIns(shown, options.dedupe));
  const { addresses, problems: unaddressed } = await drive(addressSteps(names.listed), createPacer());
  return Object.freeze({
    generation,
    names,
    addresses,
    tools: filtered.kept.flatMap(({ tool }) => (tool ? [tool] : [])),
    resources: new Map(
      filtered.kept.flatMap(({ resource }) => (resource ? [[resource.definition.uri, resource] as const] : [])),
    ),
    problems: [...problems, ...filtered.problems, ...findShadowed(names), ...unaddressed] satisfies readonly Problem[],
  });
}

// --- internal ---

// Providers a pattern may name even while they hold no skill.
const WELL_KNOWN = ['agents', 'claude', 'codex', 'custom'];

/** Something a filter may leave out. */
interface Item {
  readonly subject: Subject;
  readonly skill?: Skill;
  readonly tool?: ForeignTool;
  readonly resource?: Resource;
}

const skillItem = (skill: Skill): Item => ({
  subject: { name: skill.name, group: skill.provider, plugin: skill.plugin },
  skill,
});
const toolItem = (tool: ForeignTool): Item => ({ subject: { name: tool.short, group: tool.server }, tool });

const resourceItem = (resource: Resource): Item => ({
  subject: { name: resource.definition.name, group: resource.server ?? '' },
  resource,
});

/** Further ways to a directory already met and, if asked, further copies of a file already met: each with its first. */
function findStandIns(skills: readonly Skill[], dedupe: boolean): ReadonlyMap<Skill, Skill> {
  const firsts = new Map<string, Skill>();
  const standIns = new Map<Skill, Skill>();
  for (const skill of skills) {
    const copy = dedupe && skill.text !== undefined ? `${skill.key}\0${skill.text}` : skill.place;
    const first = firsts.get(skill.place) ?? firsts.get(copy);
    if (first && first !== skill) standIns.set(skill, first);
    else firsts.set(skill.place, skill).set(copy, skill);
  }
  return standIns;
}
