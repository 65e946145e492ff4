/**
 * Builds a snapshot from the contributions of the sources: filters, folds copies, assigns names and URIs.
 * Owns: the order of those steps, and which skills are copies of each other. Leaves alone: when it happens (registry.ts).
 * Always true: equal input gives equal output; only skills of one name are compared, and only changed files read again.
 */
import { compare } from '../compare.ts';
import { createPacer } from '../files/pace.ts';
import type { Contribution, Problem, Prompt, Resource, Skill, Snapshot, Template, Tool } from '../model.ts';
import type { Filter } from '../skills/filter.ts';
import { createNames } from '../skills/names.ts';
import { WELL_KNOWN_PROVIDERS } from '../skills/roots.ts';
import { createUris } from '../skills/uris.ts';
import { counted } from '../text.ts';

export interface SnapshotOptions {
  /** Undefined: everything is served. */
  readonly filter: Filter | undefined;
  readonly fingerprints: Fingerprints;
  readonly isComplete: boolean;
}

/** Equal for skills with the same files, byte for byte. A skill that has its name alone, or cannot be read, has none. */
export type Fingerprints = ReadonlyMap<Skill, string>;

export async function findFingerprints(contributions: readonly Contribution[]): Promise<Fingerprints> {
  const skills = contributions.flatMap((one) => one.skills ?? []);
  const places = new Map<string, Set<Skill['place']>>();
  // Skills of upstream servers are not fetched only to be compared.
  const local = skills.filter(({ location }) => location !== 'mcp');
  for (const { key, place } of local) places.set(key, (places.get(key) ?? new Set()).add(place));
  const found = new Map<Skill, string>();
  for (const skill of local) {
    if ((places.get(skill.key)?.size ?? 0) < 2) continue;
    const reading = await skill.files.manifest(new AbortController().signal);
    const files = 'files' in reading ? reading.files : undefined;
    if (typeof files === 'object') found.set(skill, `${skill.key}\0${JSON.stringify(files)}`);
  }
  return found;
}

export async function buildSnapshot(
  contributions: readonly Contribution[],
  { filter, fingerprints, isComplete }: SnapshotOptions,
  generation: number,
): Promise<Snapshot> {
  // Each step takes some milliseconds for ten thousand skills.
  const pace = createPacer();
  const skills = contributions.flatMap((one) => one.skills ?? []);
  const tools = contributions.flatMap((one) => one.tools ?? []);
  const resources = contributions.flatMap((one) => one.resources ?? []);
  const templates = contributions.flatMap((one) => one.templates ?? []);
  const prompts = contributions.flatMap((one) => one.prompts ?? []);
  const servers = contributions.flatMap((one) => one.servers ?? []);
  // Filters come before folding: a skill that two providers share stays when a pattern includes one of them.
  const { isKept, unmatched } = choose([skills, tools, resources, templates, prompts], filter, servers);
  const names = createNames(skills.filter(isKept), fingerprints);
  await pace();
  const foldedTemplates = foldBy(templates.filter(isKept), ({ definition }) => definition.uriTemplate, SAME_TEMPLATE);
  const skillNames = new Set(prompts.length > 0 ? names.visible.map(({ id }) => id) : []);
  const foldedPrompts = foldBy(prompts.filter(isKept), ({ definition }) => definition.name, SAME_NAME, skillNames);
  const uris = createUris(names.listed);
  await pace();
  return Object.freeze({
    generation,
    isComplete,
    names,
    uris,
    tools: tools.filter(isKept),
    resources: new Map(resources.filter(isKept).map((resource) => [resource.definition.uri, resource])),
    templates: foldedTemplates.kept,
    prompts: foldedPrompts.kept,
    servers,
    problems: [
      ...contributions.flatMap((one) => one.problems ?? []),
      // A pattern may be meant for a source that is late.
      ...(isComplete ? unmatched : []),
      ...foldedTemplates.problems,
      ...foldedPrompts.problems,
      ...names.problems,
      ...uris.problems,
    ],
  });
}

// --- internal ---

// A URI does not tell which of two servers is meant: the first of them is asked.
const SAME_TEMPLATE = ['resource template', 'left out: a server before it has the same'] as const;
// The prompt of a skill gives the text that the `skill` tool gives for that name.
const SAME_NAME = ['prompt', 'left out: a skill, or another prompt, has the same name'] as const;

type Item = Skill | Tool | Resource | Template | Prompt;

/** One pass over all kinds, so that a pattern which matches items of one kind is not reported as matching nothing. */
function choose(kinds: readonly (readonly Item[])[], filter: Filter | undefined, servers: readonly string[]) {
  if (!filter) return { isKept: () => true, unmatched: [] };
  const subjectOf = (item: Item) => {
    if ('provider' in item) return { name: item.name, group: item.server ?? item.provider, plugin: item.plugin };
    const { server: group = '' } = item;
    const { name } = 'run' in item ? item : item.definition;
    if ('read' in item) return { name, group };
    const front = [`${group}:`, `${group}@mcp:`].find((one) => name.startsWith(one)) ?? '';
    return { name: name.slice(front.length), group };
  };
  const { kept, problems } = filter(kinds.flat(), subjectOf, [...WELL_KNOWN_PROVIDERS, ...servers]);
  const chosen = new Set(kept);
  return { isKept: (item: Item) => chosen.has(item), unmatched: problems };
}

/** The first item of each key that is not taken, sorted by key; the others are reported, by server. */
function foldBy<T extends Template | Prompt>(
  all: readonly T[],
  keyOf: (item: T) => string,
  [noun, why]: readonly [noun: string, why: string],
  taken: ReadonlySet<string> = new Set(),
) {
  const firsts = new Map<string, T>();
  for (const one of all) if (!firsts.has(keyOf(one)) && !taken.has(keyOf(one))) firsts.set(keyOf(one), one);
  const others = all.filter((one) => firsts.get(keyOf(one)) !== one);
  const problems = [...new Set(others.map(({ server = '' }) => server))].map((server): Problem => {
    const [first = '', ...rest] = others.filter((one) => (one.server ?? '') === server).map(keyOf);
    return { where: `server ${server}`, what: `${counted(rest.length + 1, noun)} ${why} (the first: ${first})` };
  });
  return { kept: [...firsts.values()].sort((a, b) => compare(keyOf(a), keyOf(b))), problems };
}
