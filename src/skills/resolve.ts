/**
 * The one place where a name becomes a skill.
 * Owns: which names a skill answers to, which of them is shown, what is near a misspelt one.
 * Leaves alone: where skills come from, which of them are visible (filter.ts).
 * Always true: every listed id resolves to its own skill; a name never reaches the file system.
 */
import type { Listed, Names, Problem, Skill } from '../model.ts';
import { nearest } from '../near.ts';

/** Names compare without case, outer blanks, or differences in how Unicode spells a character. */
export function nameKey(name: string): string {
  return name.trim().replace(/\s+/g, ' ').toLowerCase().normalize('NFC');
}

/** `ways`: skills in order of precedence. `standIns`: those of them that are only another way to one of the others. */
export function createNames(ways: readonly Skill[], standIns: ReadonlyMap<Skill, Skill>): Names {
  const byName = groupBy(ways, (skill) => skill.key);
  const lookUp = (key: string) => [...new Set(candidates(key, byName).map((skill) => standIns.get(skill) ?? skill))];
  const shortest = (skill: Skill) => shortestId(skill, byName.get(skill.key) ?? [], lookUp);
  const listed = ways.filter((skill) => !standIns.has(skill)).map((skill) => ({ id: shortest(skill), skill }));
  return {
    listed,
    resolve(name) {
      const found = lookUp(nameKey(name));
      const [only] = found;
      if (!only) return { kind: 'missing' };
      if (found.length === 1) return { kind: 'found', id: shortest(only), skill: only };
      return {
        kind: 'ambiguous',
        ids: found.map((skill) => fullId(skill, byName.get(skill.key) ?? [], lookUp)),
      };
    },
    near: (name) => nearSkills(nameKey(name), listed),
  };
}

/** Skills that a plain `provider:name` or bare name no longer reaches, because another has it. */
export function findShadowed(names: Names): readonly Problem[] {
  return names.listed.flatMap(({ id, skill }) => {
    if (skill.plugin || id === skill.name) return []; // What its bare name loads is in nobody's shadow.
    const winner = names.resolve(`${skill.provider}:${skill.name}`);
    if (winner.kind !== 'found' || winner.skill === skill) return [];
    return [{ where: skill.file, what: `is shadowed by ${winner.skill.file}; it loads as "${id}"` }];
  });
}

// --- internal ---

type Groups = ReadonlyMap<string, readonly Skill[]>;

// These two are nobody's in particular, so a bare name means them before any one agent's.
const FIRST_CHOICES = ['custom', 'agents'];

type LookUp = (key: string) => readonly Skill[];

/** All skills a name may mean: one is an answer, several are an ambiguity. */
function candidates(key: string, byName: Groups): readonly Skill[] {
  const exact = lookUpFull(key, byName);
  if (exact.length > 0) return exact;
  const group = byName.get(key) ?? [];
  const own = winners(group);
  const choice = FIRST_CHOICES.map((provider) => own.find((skill) => skill.provider === provider)).find(Boolean);
  if (choice) return [choice];
  if (own.length > 0) return own;
  return group.filter((skill) => skill.plugin);
}

/** `prefix:name`, for every way to cut it in two: prefixes and names may hold colons of their own. */
function lookUpFull(key: string, byName: Groups): readonly Skill[] {
  for (let at = key.indexOf(':'); at !== -1; at = key.indexOf(':', at + 1)) {
    const prefix = key.slice(0, at);
    const group = byName.get(key.slice(at + 1)) ?? [];
    const found = group.filter((skill) => prefixesOf(skill, group).includes(prefix));
    if (found.length > 0) return found;
    // Only then, as a courtesy: `claude:pdf` for the one plugin of that provider that has a pdf.
    const byProvider = group.filter((skill) => skill.plugin && skill.provider === prefix);
    if (byProvider.length > 0) return byProvider;
  }
  return [];
}

/** What may stand before the colon, shortest first. `group` holds the skills of the same name. */
function prefixesOf(skill: Skill, group: readonly Skill[]): readonly string[] {
  const { provider, location, plugin } = skill;
  const nth = (base: string, same: (other: Skill) => boolean) => {
    const at = group.filter(same).indexOf(skill);
    return at > 0 ? [`${base}#${at + 1}`] : [base];
  };
  if (plugin) {
    const name = nameKey(plugin.name);
    const full = `${name}@${nameKey(plugin.marketplace)}`;
    const unique = nth(
      full,
      ({ plugin: other }) => sameText(other?.name, name) && sameText(other?.marketplace, plugin.marketplace),
    );
    const again = unique[0] !== full;
    return again
      ? unique.flatMap((one) => [one, `${provider}:${one}`])
      : [name, full, `${provider}:${name}`, `${provider}:${full}`];
  }
  const scoped = nth(
    `${provider}@${location}`,
    (other) => !other.plugin && other.provider === provider && other.location === location,
  );
  return winners(group).includes(skill) ? [provider, ...scoped] : scoped;
}

/** Of each provider the first, which is the project's if it has one. */
function winners(group: readonly Skill[]): readonly Skill[] {
  const own = group.filter((skill) => !skill.plugin);
  return own.filter((skill) => own.find((other) => other.provider === skill.provider) === skill);
}

function shortestId(skill: Skill, group: readonly Skill[], lookUp: LookUp): string {
  const alone = group.length === 1 && !skill.plugin && !skill.key.includes(':');
  if (alone) return skill.name; // Nearly all of them, so the general way may be slow.
  const bare = skill.plugin ? [] : [skill.name];
  return [...bare, ...prefixedIds(skill, group)].find((id) => leadsTo(skill, id, lookUp)) ?? skill.name;
}

/** The id to tell skills of one name apart by: with a prefix, even where the bare name would do. */
function fullId(skill: Skill, group: readonly Skill[], lookUp: LookUp): string {
  return prefixedIds(skill, group).find((id) => leadsTo(skill, id, lookUp)) ?? skill.name;
}

function prefixedIds(skill: Skill, group: readonly Skill[]): readonly string[] {
  return prefixesOf(skill, group).map((prefix) => `${prefix}:${skill.name}`);
}

function leadsTo(skill: Skill, id: string, lookUp: LookUp): boolean {
  const found = lookUp(nameKey(id));
  return found.length === 1 && found[0] === skill;
}

const MOST_NEAR = 5;

/** A skill is near when its id is, or its name without the prefix. */
function nearSkills(key: string, listed: readonly Listed[]): readonly string[] {
  const ids = listed.map(({ id, skill }) => ({
    id,
    spellings: [nameKey(id), skill.key],
  }));
  return nearest(key, ids, ({ spellings }) => spellings)
    .slice(0, MOST_NEAR)
    .map(({ id }) => id);
}

function sameText(a: string | undefined, b: string): boolean {
  return a !== undefined && nameKey(a) === nameKey(b);
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}
