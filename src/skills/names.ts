/**
 * The one place where a name becomes a skill.
 * Owns: which names a skill answers to, which of them is shown, what is near a misspelt one.
 * Leaves alone: where skills come from, which of them are visible (filter.ts).
 * Always true: every listed id resolves to its own skill; a name never reaches the file system.
 */
import type { ListedSkill, Names, Problem, Skill } from '../model.ts';
import { composed } from '../text.ts';
import { nearest } from './nearest.ts';

/** Names compare without case, outer blanks, or differences in how Unicode spells a character. */
export function nameKey(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase();
  const plain = name.trim().replace(/\s+/g, ' ');
  return composed(composed(plain).toLowerCase());
}

/**
 * `ways`: skills in order of precedence. `standIns`: those of them that are only another way to one of the others, or a
 * copy of it. A bare name means the other then; a full name always means its own directory.
 */
export function createNames(ways: readonly Skill[], standIns: ReadonlyMap<Skill, Skill>): Names {
  const groups = groupBy(ways, (skill) => skill.key);
  const groupOf = (skill: Skill) => groups.get(skill.key) ?? [skill];
  const meant = (skills: readonly Skill[]) => [...new Set(skills.map((skill) => standIns.get(skill) ?? skill))];
  const exactly = (skills: readonly Skill[]) => [
    ...new Set(skills.map((skill) => [standIns.get(skill)].find((one) => one?.place === skill.place) ?? skill)),
  ];
  let index: FullIds | undefined;
  // Most trees have no two skills of one name and are never asked for a full id, so they never need this.
  const fullIds = () => {
    index ??= indexFullIds(groups.values(), exactly);
    return index;
  };
  const lookUp = (key: string): readonly Skill[] => {
    // A full id has a colon. It comes first: it beats a skill that is called just that.
    const exact = key.includes(':') ? fullIds().find(key) : [];
    if (exact.length > 0) return exact;
    const bare = bareMeanings.get(key) ?? meant(bareMeaning(groups.get(key) ?? []));
    if (bare.length > 1) bareMeanings.set(key, bare);
    return bare;
  };
  // Asked for once per skill of a name, and as long as those are many.
  const bareMeanings = new Map<string, readonly Skill[]>();
  const fullId = (skill: Skill) => fullIds().of(skill);
  const shownId = (skill: Skill) => {
    const alone = groupOf(skill).length === 1 && !skill.key.includes(':');
    const bare = isOwn(skill) && (alone || isOnly(skill, lookUp(skill.key)));
    return bare ? skill.name : fullId(skill);
  };
  const listed = ways.filter((skill) => !standIns.has(skill)).map((skill) => ({ id: shownId(skill), skill }));
  const visible = listed.filter(({ skill }) => !isHidden(skill, groupOf(skill), meant));
  return {
    listed,
    visible,
    resolve(name) {
      const found = lookUp(nameKey(name));
      const [only] = found;
      if (!only) return { kind: 'missing' };
      if (found.length === 1) return { kind: 'found', id: shownId(only), skill: only };
      return { kind: 'ambiguous', ids: found.map(fullId) };
    },
    near: (name) => nearSkills(nameKey(name), visible),
  };
}

/** Names that stand for none because several skills have them. */
export function findAmbiguous({ listed, resolve }: Names): readonly Problem[] {
  const counts = new Map<string, number>();
  for (const { skill } of listed) counts.set(skill.key, (counts.get(skill.key) ?? 0) + 1);
  const shared = new Map(
    listed.filter(({ skill }) => (counts.get(skill.key) ?? 0) > 1).map(({ skill }) => [skill.key, skill.name]),
  );
  return [...shared.values()].flatMap((name) => {
    const resolution = resolve(name);
    if (resolution.kind !== 'ambiguous') return [];
    const { ids } = resolution;
    const rest = ids.length - MOST_REPORTED;
    const shown = [...ids.slice(0, MOST_REPORTED), ...(rest > 0 ? [`${rest} more`] : [])];
    return [
      { where: `name "${name}"`, what: `is ambiguous: ${shown.join(', ')}; only a full name loads one`, mild: true },
    ];
  });
}

/** Skills that a bare name, or their provider's, no longer reaches, because another has it. */
export function findShadowed({ listed, resolve }: Names): readonly Problem[] {
  return listed.flatMap(({ id, skill }) => {
    if (!isOwn(skill) || id === skill.name) return []; // A plugin's or server's skills are named after it anyway.
    const winner = [skill.name, `${skill.provider}:${skill.name}`]
      .map(resolve)
      .find((resolution) => resolution.kind === 'found' && resolution.skill !== skill);
    if (winner?.kind !== 'found') return [];
    return [{ where: skill.file, what: `is shadowed by ${winner.skill.file}; it loads as "${id}"` }];
  });
}

// --- internal ---

// Nearly all names are like this.
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** Lies in a directory of this user's or project's, and so goes by its bare name; others came with something. */
const isOwn = ({ plugin, location }: Skill) => plugin === undefined && location !== 'mcp';

// These two are nobody's in particular, so a bare name means them before any one agent's.
const FIRST_CHOICES = ['custom', 'agents'];

/** What a name without a prefix may mean: one is an answer, several are an ambiguity. `group`: the skills that have it. */
function bareMeaning(group: readonly Skill[]): readonly Skill[] {
  const own = group.filter(isOwn);
  const firsts = own.filter((skill) => own.find(({ provider }) => provider === skill.provider) === skill);
  const choice = FIRST_CHOICES.flatMap((first) => firsts.find(({ provider }) => provider === first) ?? [])[0];
  if (choice) return [choice];
  return firsts.length > 0 ? firsts : group;
}

/** Whether another skill of its provider has the name that this one would go by; one of a plugin or server has its own. */
function isHidden(skill: Skill, group: readonly Skill[], meant: Meant): boolean {
  if (group.length === 1 || !isOwn(skill)) return false;
  const first = group.find((one) => isOwn(one) && one.provider === skill.provider);
  return first !== undefined && meant([first])[0] !== skill;
}

const MOST_REPORTED = 10;

interface FullIds {
  /** Skills by the key of a full id. */
  find(key: string): readonly Skill[];
  /** The shortest full id that means this skill and no other. */
  of(skill: Skill): string;
}

type Meant = (skills: readonly Skill[]) => readonly Skill[];

function indexFullIds(groups: Iterable<readonly Skill[]>, meant: Meant): FullIds {
  // A provider's own skills come before those of a plugin that has the provider's name.
  const [own, plugins, loose] = [new Map<string, Skill[]>(), new Map<string, Skill[]>(), new Map<string, Skill[]>()];
  const ids = new Map<Skill, string[]>();
  for (const group of groups) {
    for (const [skill, prefixes] of prefixesIn(group)) {
      const full = prefixes.map((prefix) => `${prefix}:${skill.name}`);
      ids.set(skill, full);
      for (const id of full) add(skill.plugin ? plugins : own, nameKey(id), skill);
      // `claude:pdf` for the one plugin of that provider that has a pdf.
      if (skill.plugin) add(loose, nameKey(`${skill.provider}:${skill.name}`), skill);
    }
  }
  const find = (key: string) => meant(own.get(key) ?? plugins.get(key) ?? loose.get(key) ?? []);
  const unique = (skill: Skill) => ids.get(skill)?.find((id) => isOnly(skill, find(nameKey(id))));

  // Prefixes and names may hold colons of their own, so all ids of a skill may mean others too. Then it gets a new one.
  for (const [skill, known] of ids) {
    if (unique(skill) !== undefined || meant([skill])[0] !== skill) continue;
    for (let count = 2; unique(skill) === undefined; count++) {
      const id = `${skill.provider}@${skill.location}#${count}:${skill.name}`;
      if (find(nameKey(id)).length > 0) continue;
      known.push(id);
      own.set(nameKey(id), [skill]);
    }
  }
  return { find, of: (skill) => unique(skill) ?? skill.name };
}

/** What may stand before the colon, shortest first, for each skill of one name. */
function prefixesIn(group: readonly Skill[]): ReadonlyMap<Skill, readonly string[]> {
  const counts = new Map<string, number>();
  const nth = (prefix: string) => {
    const count = (counts.get(prefix) ?? 0) + 1;
    counts.set(prefix, count);
    return count === 1 ? prefix : `${prefix}#${count}`;
  };
  const prefixes = ({ provider, location, plugin }: Skill): readonly string[] => {
    if (plugin) {
      const full = nth(`${plugin.name}@${plugin.marketplace}`);
      return [plugin.name, full, `${provider}:${plugin.name}`, `${provider}:${full}`];
    }
    // The first of a provider, which is the project's if it has one, goes by the provider's name alone.
    const first = nth(provider) === provider;
    const scoped = nth(`${provider}@${location}`);
    return first ? [provider, scoped] : [scoped];
  };
  return new Map(group.map((skill) => [skill, prefixes(skill)]));
}

function isOnly(skill: Skill, found: readonly Skill[]): boolean {
  return found.length === 1 && found[0] === skill;
}

const MOST_NEAR = 5;

/** A skill is near when its id is, or its name without a prefix is near the word without one. */
function nearSkills(key: string, listed: readonly ListedSkill[]): readonly string[] {
  const tail = key.slice(key.lastIndexOf(':') + 1);
  const byId = nearest(key, listed, ({ id, skill }) => (id === skill.name ? [skill.key] : [nameKey(id), skill.key]));
  const near = byId.length > 0 || tail === key ? byId : nearest(tail, listed, ({ skill }) => [skill.key]);
  return near.slice(0, MOST_NEAR).map(({ id }) => id);
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) add(groups, key(item), item);
  return groups;
}

function add<T>(groups: Map<string, T[]>, key: string, item: T): void {
  const group = groups.get(key);
  if (group) group.push(item);
  else groups.set(key, [item]);
}
