/**
 * Builds a snapshot from the contributions of the sources: filters them, folds copies, assigns names and URIs.
 * Owns: the order of those steps, and which skills are copies. Leaves alone: the steps (skills/), when (registry.ts).
 * Always true: equal input gives equal output; of several resources with one URI, the first is there.
 */
import { createPacer } from '../files/pace.ts';
import type { Contribution, Prompt, Resource, Skill, Snapshot, Template, Tool } from '../model.ts';
import type { Filter, Subject } from '../skills/filter.ts';
import { createNames, nameKey } from '../skills/names.ts';
import { assignUris } from '../skills/uris.ts';

/** In slices, with requests answered in between. `copies`: each with its original. */
export async function buildSnapshot(
  contributions: readonly Contribution[],
  filter: Filter,
  copies: ReadonlyMap<Skill, Skill>,
): Promise<Snapshot> {
  const pace = createPacer();
  const gather = <T>(pick: (one: Contribution) => readonly T[] | undefined) =>
    contributions.flatMap((one) => pick(one) ?? []);
  const subjects: Subject[] = [];
  const keep = async <T extends Skill | Item>(items: readonly T[]) => {
    const kept: T[] = [];
    for (const item of items) {
      const subject = subjectOf(item);
      subjects.push(subject);
      if (filter.keeps(subject)) kept.push(item);
      await pace();
    }
    return kept;
  };

  const names = await createNames(await keep(gather((one) => one.skills)), copies);
  const uris = await assignUris(names.listed);
  await pace();
  const tools = await keep(gather((one) => one.tools));
  const prompts = await keep(gather((one) => one.prompts));
  const resources = firsts(await keep(gather((one) => one.resources)), ({ definition }) => definition.uri);
  const templates = firsts(await keep(gather((one) => one.templates)), ({ definition }) => definition.uriTemplate);
  const found = gather((one) => one.problems);
  const awaited = gather((one) => one.awaited);
  return Object.freeze({
    names,
    uris,
    tools,
    prompts,
    resources,
    templates: [...templates.values()],
    problems: [...found, ...(await filter.problems(subjects, awaited))],
  });
}

/**
 * The skills of this machine that have the same name and the same files as one before them, byte for byte, as of the last
 * change of a SKILL.md. Only among those that the filter keeps: a copy stays when a pattern leaves out its original.
 */
export async function findCopies(contributions: readonly Contribution[], filter: Filter) {
  const groups = new Map<string, Skill[]>();
  for (const skill of contributions.flatMap((one) => one.skills ?? [])) {
    if (!skill.bytes || !filter.keeps(subjectOf(skill))) continue;
    const alike = `${skill.bytes.length} ${nameKey(skill.name)}`;
    if (!groups.get(alike)?.push(skill)) groups.set(alike, [skill]);
  }
  const originals = new Map<string, Skill>();
  const copies = new Map<Skill, Skill>();
  for (const skill of [...groups.values()].filter(({ length }) => length > 1).flat()) {
    // A skill that cannot be read in full is not known to be a copy.
    const manifest = await skill.files.manifest().catch(() => undefined);
    if (!manifest) continue;
    const content = `${nameKey(skill.name)} ${JSON.stringify(manifest.files)}`;
    const original = originals.get(content);
    if (original) copies.set(skill, original);
    else originals.set(content, skill);
  }
  return copies;
}

// --- internal ---

type Item = Tool | Prompt | Resource | Template;

function subjectOf(item: Skill | Item): Subject {
  if (!('definition' in item))
    return { name: item.name, group: item.provider, isUpstream: item.location === 'mcp', plugin: item.plugin };
  const { server = '', definition } = item;
  const prefix = definition.name.startsWith(`${server}:`) ? server.length + 1 : 0;
  return { name: definition.name.slice(prefix), group: server, isUpstream: item.server !== undefined };
}

function firsts<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const item of items) if (!found.has(keyOf(item))) found.set(keyOf(item), item);
  return found;
}
