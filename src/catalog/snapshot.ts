/**
 * From what the sources contribute to what is served: filtered, folded, named. Pure: equal input, equal output.
 * Owns: the order of those steps. Leaves alone: when it happens (registry.ts).
 */

import { compare } from '../compare.ts';
import { createPacer, runSteps } from '../files/pace.ts';
import type { Contribution, Problem, Resource, Skill, Snapshot, Template, UpstreamTool } from '../model.ts';
import type { Filter, Subject } from '../skills/filter.ts';
import { createNames, findAmbiguous, findShadowed } from '../skills/names.ts';
import { uriSteps } from '../skills/uris.ts';
import type { Fingerprints } from './copies.ts';

export interface SnapshotOptions {
  /** Undefined: everything is served. */
  readonly filter: Filter | undefined;
  /** Copies of one name that are to be folded into one have equal ones. */
  readonly fingerprints: Fingerprints;
  /** Whether all sources have come, or had their moment: a pattern may be for what is still on its way. */
  readonly complete: boolean;
}

export async function buildSnapshot(
  contributions: readonly Contribution[],
  options: SnapshotOptions,
  generation: number,
): Promise<Snapshot> {
  const offer: Offer = {
    skills: contributions.flatMap(({ skills = [] }) => skills),
    tools: contributions.flatMap(({ tools = [] }) => tools),
    resources: contributions.flatMap(({ resources = [] }) => resources),
    templates: contributions.flatMap(({ templates = [] }) => templates),
  };
  const servers = contributions.flatMap(({ servers = [] }) => servers);
  // Filters come before folding: a skill that two providers share stays when either of them is asked for.
  const chosen = options.filter ? choose(offer, options.filter, servers) : { ...offer, idle: [] };
  const { skills, tools, resources, idle } = chosen;
  const { templates, repeated } = foldTemplates(chosen.templates);
  const names = createNames(skills, findStandIns(skills, options.fingerprints));
  const { uris, problems: unaddressed } = await runSteps(uriSteps(names.listed), createPacer());
  const problems = contributions.flatMap(({ problems = [] }) => problems);
  return Object.freeze({
    generation,
    names,
    uris,
    tools,
    resources: new Map(resources.map((resource) => [resource.definition.uri, resource])),
    templates,
    servers,
    problems: [
      ...problems,
      ...(options.complete ? idle : []),
      ...repeated,
      ...findShadowed(names),
      ...findAmbiguous(names),
      ...unaddressed,
    ],
  });
}

// --- internal ---

// Providers a pattern may name even while they hold no skill.
const WELL_KNOWN = ['agents', 'claude', 'codex', 'custom'];

/** What a filter chooses from. */
interface Offer {
  readonly skills: readonly Skill[];
  readonly tools: readonly UpstreamTool[];
  readonly resources: readonly Resource[];
  readonly templates: readonly Template[];
}

/** All go through together, so that a pattern which selects some of one kind is not reported as idle for another. */
function choose(
  offer: Offer,
  filter: Filter,
  servers: readonly string[],
): Offer & { readonly idle: readonly Problem[] } {
  const items: readonly Item[] = [
    ...offer.skills.map((skill) => ({
      subject: { name: skill.name, group: skill.provider, plugin: skill.plugin },
      skill,
    })),
    ...offer.tools.map((tool) => ({ subject: { name: tool.short, group: tool.server }, tool })),
    ...offer.resources.map((resource) => ({
      subject: { name: resource.definition.name, group: resource.server ?? '' },
      resource,
    })),
    ...offer.templates.map((template) => ({
      subject: { name: template.definition.name, group: template.server },
      template,
    })),
  ];
  const { kept, problems } = filter(items, ({ subject }) => subject, [...WELL_KNOWN, ...servers]);
  return {
    skills: kept.flatMap(({ skill }) => skill ?? []),
    tools: kept.flatMap(({ tool }) => tool ?? []),
    resources: kept.flatMap(({ resource }) => resource ?? []),
    templates: kept.flatMap(({ template }) => template ?? []),
    idle: problems,
  };
}

interface Item {
  readonly subject: Subject;
  readonly skill?: Skill;
  readonly tool?: UpstreamTool;
  readonly resource?: Resource;
  readonly template?: Template;
}

/** Nothing tells whose resource is meant where two servers have the same template: the first of them is asked. */
function foldTemplates(all: readonly Template[]) {
  const firsts = new Map<string, Template>();
  const counts = new Map<string, number>();
  for (const template of all) {
    const { server, definition } = template;
    if (firsts.has(definition.uriTemplate)) counts.set(server, (counts.get(server) ?? 0) + 1);
    else firsts.set(definition.uriTemplate, template);
  }
  const repeated = [...counts].map(
    ([server, count]): Problem => ({
      where: `server ${server}`,
      what: `${count} resource templates are left out: a server before it has the same`,
    }),
  );
  const templates = [...firsts.values()].sort((a, b) => compare(a.definition.uriTemplate, b.definition.uriTemplate));
  return { templates, repeated };
}

/** Further ways to a directory already met and, if asked, further copies of one already met: each with its first. */
function findStandIns(skills: readonly Skill[], fingerprints: Fingerprints): ReadonlyMap<Skill, Skill> {
  const firsts = new Map<string, Skill>();
  const standIns = new Map<Skill, Skill>();
  for (const skill of skills) {
    const copy = fingerprints.get(skill) ?? skill.place;
    const first = firsts.get(skill.place) ?? firsts.get(copy);
    if (first && first !== skill) standIns.set(skill, first);
    else firsts.set(skill.place, skill).set(copy, skill);
  }
  return standIns;
}
