/**
 * The one place where a name becomes a skill.
 * Owns: which names a skill answers to, which of them is listed, which are near a misspelt one.
 * Leaves alone: where skills come from, which of them are served (filter.ts).
 * Always true:
 * - every listed id resolves to its own skill; a name never reaches the file system;
 * - an id with a hash never means another directory, whichever skills come or go;
 * - the time is linear in the number of skills, also when all of them have one name.
 */
import type { ListedSkill, Names, Problem, Resolution, Skill } from '../model.ts';
import { composed, hashOf } from '../text.ts';
import { nearest } from './nearest.ts';

/** Names compare without case, outer blanks, or differences in how Unicode spells a character. */
export function nameKey(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase();
  const plain = name.trim().replace(/\s+/g, ' ');
  return composed(composed(plain).toLowerCase());
}

/**
 * `skills`: in order of precedence. `duplicates`: those that are another path to, or a copy of, an earlier one. They are
 * not listed. A bare name of a duplicate means the earlier one; a full name of a copy means the copy.
 */
export function createNames(skills: readonly Skill[], duplicates: ReadonlyMap<Skill, Skill>): Names {
  const groups = groupBy(skills, (skill) => skill.key);
  const original = (skill: Skill) => duplicates.get(skill) ?? skill;
  const sameDirectory = (skill: Skill) => (original(skill).place === skill.place ? original(skill) : skill);
  let index: FullIds | undefined;
  // On first use: most trees have no two skills of one name, and no client asks for a full id.
  const fullIds = () => {
    index ??= indexFullIds(groups.values(), sameDirectory);
    return index;
  };
  const meaningOf = memo((group: readonly Skill[]) => bareMeaning(group, original));
  const groupOf = ({ key }: Skill) => groups.get(key) ?? [];

  const lookUp = (key: string): readonly Skill[] => {
    // A full id has a colon. It comes before a skill whose own name has that colon.
    const exact = key.includes(':') ? fullIds().find(key) : [];
    const group = groups.get(key);
    return exact.length === 0 && group ? meaningOf(group).skills : exact;
  };
  const listedId = (skill: Skill) => {
    if (!isOwn(skill)) return fullIds().of(skill);
    const alone = groupOf(skill).length === 1 && !skill.key.includes(':');
    return alone || isOnly(skill, lookUp(skill.key)) ? skill.name : fullIds().of(skill);
  };
  /** Whether another skill of its provider has the bare name. Skills of plugins and servers have a prefix of their own. */
  const isHidden = (skill: Skill) => {
    if (groupOf(skill).length === 1 || !isOwn(skill)) return false;
    const first = meaningOf(groupOf(skill)).firsts.get(skill.provider);
    return first !== undefined && original(first) !== skill;
  };

  const listed = skills.filter((skill) => !duplicates.has(skill)).map((skill) => ({ id: listedId(skill), skill }));
  const visible = listed.filter(({ skill }) => !isHidden(skill));
  const ambiguityOf = memo(
    (found: readonly Skill[]): Resolution => ({ kind: 'ambiguous', ids: found.map(fullIds().of) }),
  );
  return {
    listed,
    visible,
    resolve(name) {
      const found = lookUp(nameKey(name));
      const [only] = found;
      if (!only) return { kind: 'missing' };
      return found.length === 1 ? { kind: 'found', id: listedId(only), skill: only } : ambiguityOf(found);
    },
    near: (name) => nearSkills(nameKey(name), visible),
  };
}

/** Names that load no skill because several skills have them. */
export function findAmbiguous({ listed, resolve }: Names): readonly Problem[] {
  const groups = [...groupBy(listed, ({ skill }) => skill.key).values()].filter((group) => group.length > 1);
  return groups.flatMap((group) => {
    const name = group.at(-1)?.skill.name ?? '';
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

/** Skills whose bare name, or provider and name, loads another skill. */
export function findShadowed({ listed, resolve }: Names): readonly Problem[] {
  return listed.flatMap(({ id, skill }) => {
    if (!isOwn(skill) || id === skill.name) return []; // Skills of plugins and servers are listed with a prefix anyway.
    const winner = [skill.name, `${skill.provider}:${skill.name}`]
      .map(resolve)
      .find((resolution) => resolution.kind === 'found' && resolution.skill !== skill);
    if (winner?.kind !== 'found') return [];
    return [{ where: skill.file, what: `is shadowed by ${winner.skill.file}; it loads as "${id}"` }];
  });
}

/** Tells apart skills of one name and provider. */
export function directoryHash({ directory }: Skill): string {
  return hashOf(directory);
}

// --- internal ---

// Nearly all names are like this.
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

// Ids in one line of the log; an ambiguous name may have thousands.
const MOST_REPORTED = 10;

/** Whether it is in a directory of the user or project, and not part of a plugin or an upstream server. */
const isOwn = ({ plugin, location }: Skill) => plugin === undefined && location !== 'mcp';

const isOnly = (skill: Skill, found: readonly Skill[]) => found.length === 1 && found[0] === skill;

// These two belong to no particular agent, so a bare name means them first.
const FIRST_CHOICES = ['custom', 'agents'];

interface BareMeaning {
  /** One is the meaning, several are an ambiguity. */
  readonly skills: readonly Skill[];
  /** The first skill of each provider. */
  readonly firsts: ReadonlyMap<string, Skill>;
}

/** The meaning of a name without a prefix. `group`: the skills that have it. */
function bareMeaning(group: readonly Skill[], original: (skill: Skill) => Skill): BareMeaning {
  const firsts = new Map<string, Skill>();
  for (const skill of group) if (isOwn(skill) && !firsts.has(skill.provider)) firsts.set(skill.provider, skill);
  const [choice] = FIRST_CHOICES.flatMap((provider) => firsts.get(provider) ?? []);
  const skills = choice ? [choice] : firsts.size > 0 ? [...firsts.values()] : group;
  return { skills: unique(skills.map(original)), firsts };
}

const NO_SKILLS: readonly Skill[] = [];

interface FullIds {
  /** The skills with this key of a full id. */
  find(key: string): readonly Skill[];
  /** The shortest full id that means this skill and no other. */
  of(skill: Skill): string;
}

/** `canonical`: gives one skill for all paths to one directory. */
function indexFullIds(groups: Iterable<readonly Skill[]>, canonical: (skill: Skill) => Skill): FullIds {
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
  const allWith = (key: string) => own.get(key) ?? plugins.get(key) ?? loose.get(key) ?? NO_SKILLS;
  const canonicalOf = memo((skills: readonly Skill[]) => unique(skills.map(canonical)));
  const find = (key: string) => canonicalOf(allWith(key));
  const uniqueId = (skill: Skill) => ids.get(skill)?.find((id) => isOnly(skill, find(nameKey(id))));

  // Prefixes and names may contain colons, so every id of a skill may also mean another one. Then it gets a new one.
  const counts = new Map<string, number>();
  for (const [skill, known] of ids) {
    if (uniqueId(skill) !== undefined || canonical(skill) !== skill) continue;
    const prefix = `${skill.provider}@${skill.location}`;
    for (let count = counts.get(`${prefix}:${skill.key}`) ?? 2; uniqueId(skill) === undefined; count++) {
      counts.set(`${prefix}:${skill.key}`, count + 1);
      const id = `${prefix}#${count}:${skill.name}`;
      if (allWith(nameKey(id)).length > 0) continue;
      known.push(id);
      own.set(nameKey(id), [skill]);
    }
  }
  return { find, of: (skill) => uniqueId(skill) ?? skill.name };
}

/** The prefixes before the colon, shortest first, for each skill of one name. */
function prefixesIn(group: readonly Skill[]): ReadonlyMap<Skill, readonly string[]> {
  const met = new Set<string>();
  /** The prefix alone for the first skill that has it; for every skill the prefix with its hash. */
  const hashed = (prefix: string, skill: Skill) => {
    const isFirst = !met.has(prefix);
    met.add(prefix);
    const stable = `${prefix}#${directoryHash(skill)}`;
    return isFirst ? [prefix, stable] : [stable];
  };
  const prefixes = (skill: Skill): readonly string[] => {
    const { provider, location, plugin } = skill;
    if (plugin) {
      const full = hashed(`${plugin.name}@${plugin.marketplace}`, skill);
      return [plugin.name, ...full, `${provider}:${plugin.name}`, ...full.map((prefix) => `${provider}:${prefix}`)];
    }
    // The first skill of a provider, which is the project's if it has one, has the provider's name alone as a prefix.
    const isFirst = !met.has(provider);
    met.add(provider);
    return [...(isFirst ? [provider] : []), ...hashed(`${provider}@${location}`, skill)];
  };
  return new Map(group.map((skill) => [skill, prefixes(skill)]));
}

// Suggestions for a misspelt name: more would not help a model to choose.
const MOST_NEAR = 5;

/** A skill is near when its id is, or when its name is near the word without its prefix. */
function nearSkills(key: string, listed: readonly ListedSkill[]): readonly string[] {
  const tail = key.slice(key.lastIndexOf(':') + 1);
  const byId = nearest(key, listed, ({ id, skill }) => (id === skill.name ? [skill.key] : [nameKey(id), skill.key]));
  const near = byId.length > 0 || tail === key ? byId : nearest(tail, listed, ({ skill }) => [skill.key]);
  return near.slice(0, MOST_NEAR).map(({ id }) => id);
}

const unique = <T>(items: readonly T[]): readonly T[] => [...new Set(items)];

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

/** Remembers a result per list of skills: every skill of a list asks for it, so it must be made only once. */
function memo<T>(make: (skills: readonly Skill[]) => T): (skills: readonly Skill[]) => T {
  const known = new Map<readonly Skill[], T>();
  return (skills) => {
    const result = known.get(skills) ?? make(skills);
    known.set(skills, result);
    return result;
  };
}
