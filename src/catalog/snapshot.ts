/**
 * Builds a snapshot from the contributions of the sources: filters, folds copies, assigns names and URIs.
 * Owns: the order of those steps. Leaves alone: when it happens (registry.ts).
 * Always true: equal input gives equal output.
 */

import { compare } from '../compare.ts';
import { createPacer, runSteps } from '../files/pace.ts';
import type { Contribution, Problem, Resource, Skill, Snapshot, Template, Tool } from '../model.ts';
import type { Filter } from '../skills/filter.ts';
import { createNames, findAmbiguous, findShadowed } from '../skills/names.ts';
import { WELL_KNOWN_PROVIDERS } from '../skills/roots.ts';
import { assignUris } from '../skills/uris.ts';
import type { Fingerprints } from './copies.ts';

export interface SnapshotOptions {
  /** Undefined: everything is served. */
  readonly filter: Filter | undefined;
  /** Equal for the copies that are folded into one. */
  readonly fingerprints: Fingerprints;
  /** Whether all sources have arrived: a pattern may be meant for a source that is late. */
  readonly complete: boolean;
}

export async function buildSnapshot(
  contributions: readonly Contribution[],
  options: SnapshotOptions,
  generation: number,
): Promise<Snapshot> {
  const all: Items = {
    skills: contributions.flatMap(({ skills = [] }) => skills),
    tools: contributions.flatMap(({ tools = [] }) => tools),
    resources: contributions.flatMap(({ resources = [] }) => resources),
    templates: contributions.flatMap(({ templates = [] }) => templates),
  };
  const servers = contributions.flatMap(({ servers = [] }) => servers);
  // Filters come before folding: a skill that two providers share stays when a pattern includes one of them.
  const chosen = options.filter ? choose(all, options.filter, servers) : { ...all, unmatched: [] };
  const { skills, tools, resources, unmatched } = chosen;
  const { templates, repeated } = foldTemplates(chosen.templates);
  const names = createNames(skills, findDuplicates(skills, options.fingerprints));
  const { uris, problems: unaddressed } = await runSteps(assignUris(names.listed), createPacer());
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
      ...(options.complete ? unmatched : []),
      ...repeated,
      ...findShadowed(names),
      ...findAmbiguous(names),
      ...unaddressed,
    ],
  });
}

// --- internal ---

interface Items {
  readonly skills: readonly Skill[];
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly templates: readonly Template[];
}

/** One pass over all kinds, so that a pattern which matches items of one kind is not reported as matching nothing. */
function choose(
  { skills, tools, resources, templates }: Items,
  filter: Filter,
  servers: readonly string[],
): Items & { readonly unmatched: readonly Problem[] } {
  const items = [
    ...skills.map((item) => ({ item, name: item.name, group: item.server ?? item.provider, plugin: item.plugin })),
    ...tools.map((item) => ({ item, name: item.short ?? item.name, group: item.server ?? '' })),
    ...resources.map((item) => ({ item, name: item.definition.name, group: item.server ?? '' })),
    ...templates.map((item) => ({ item, name: item.definition.name, group: item.server ?? '' })),
  ];
  const { kept, problems } = filter(items, (subject) => subject, [...WELL_KNOWN_PROVIDERS, ...servers]);
  const chosen = new Set<unknown>(kept.map(({ item }) => item));
  const isChosen = (item: unknown) => chosen.has(item);
  return {
    skills: skills.filter(isChosen),
    tools: tools.filter(isChosen),
    resources: resources.filter(isChosen),
    templates: templates.filter(isChosen),
    unmatched: problems,
  };
}

/** When two servers have the same template, a URI does not tell which one is meant: the first of them is asked. */
function foldTemplates(all: readonly Template[]) {
  const firsts = new Map<string, Template>();
  const counts = new Map<string, number>();
  for (const template of all) {
    const { server = '', definition } = template;
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

/** Skills whose directory, or with `fingerprints` whose content, was met before; each with the first skill that has it. */
function findDuplicates(skills: readonly Skill[], fingerprints: Fingerprints): ReadonlyMap<Skill, Skill> {
  const firsts = new Map<string, Skill>();
  const duplicates = new Map<Skill, Skill>();
  for (const skill of skills) {
    const content = fingerprints.get(skill) ?? skill.place;
    const first = firsts.get(skill.place) ?? firsts.get(content);
    if (first && first !== skill) duplicates.set(skill, first);
    else firsts.set(skill.place, skill).set(content, skill);
  }
  return duplicates;
}
