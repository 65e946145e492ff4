/**
 * The one place where a name becomes a skill: which names a skill answers to, which is listed, which are near a misspelt one.
 * Leaves alone: which skills are served (filter.ts).
 * Always true: every listed id resolves to its own skill; an id with a hash never means another directory, whichever skills
 * come or go; the time is linear in the number of skills, also when all of them have one name.
 */
import { lazy } from '../lazy.ts';
import type { ListedSkill, Names, Problem, Skill } from '../model.ts';
import { composed, hashOf, isPlainAscii } from '../text.ts';
import { nearest } from './nearest.ts';

/** Names compare without case, outer blanks, or differences in how Unicode spells a character. */
export function nameKey(name: string): string {
  if (isPlainAscii(name)) return name.toLowerCase();
  const plain = name.trim().replace(/\s+/g, ' ');
  return composed(composed(plain).toLowerCase());
}

/**
 * `skills`: in order of precedence. `fingerprints`: equal for copies that are folded into one. A skill that is another
 * path to, or a copy of, an earlier one is not listed. Its bare name means the earlier one; a full name of a copy means
 * the copy.
 */
export function createNames(skills: readonly Skill[], fingerprints: ReadonlyMap<Skill, string>): Names {
  const { firsts, clashes } = groupByKey(skills);
  const originals = new Map<Skill, Skill>();
  /** Of the names that several skills have. */
  const meanings = new Map<string, Found>();
  for (const [key, group] of clashes) {
    for (const [skill, first] of originalsIn(group, fingerprints)) originals.set(skill, first);
    meanings.set(key, new Set(meantBy(group).map((skill) => originals.get(skill) ?? skill)));
  }
  // Most trees have no two skills of one name, and no client asks for a full id.
  const fullIds = lazy(() => indexFullIds(skills, originals));
  const lookUp = (key: string): Found => {
    // A full id has a colon. It comes before a skill whose own name has that colon.
    const exact = key.includes(':') ? fullIds().find(key) : NONE;
    if (exact.size > 0) return exact;
    const first = firsts.get(key);
    return meanings.get(key) ?? (first ? new Set([first]) : NONE);
  };
  const listedId = (skill: Skill) => {
    const isAlone = !clashes.has(skill.key) && !skill.key.includes(':');
    const isBare = isOwn(skill) && (isAlone || isOnly(skill, lookUp(skill.key)));
    return isBare ? skill.name : fullIds().of(skill);
  };

  const found: ListedSkill[] = [];
  for (const skill of skills) if (!originals.has(skill)) found.push({ id: listedId(skill), skill });
  const { listed, problems } = markShadowed(found, lookUp);
  for (const [key, meant] of meanings)
    if (meant.size > 1 && lookUp(key) === meant) problems.push(ambiguityOf([...meant], fullIds().of));
  const visible = listed === found ? found : listed.filter(({ isShadowed }) => !isShadowed);
  return {
    listed,
    visible,
    originals,
    problems,
    resolve(name) {
      const found = lookUp(nameKey(name));
      const [only] = found;
      if (!only) return { kind: 'missing' };
      if (found.size === 1) return { kind: 'found', id: listedId(only), skill: only };
      return { kind: 'ambiguous', ids: [...found].map(fullIds().of) };
    },
    near: (name) => nearSkills(nameKey(name), visible),
  };
}

// --- internal ---

/** The skills that a name means: none, one, or several, which is an ambiguity. */
type Found = ReadonlySet<Skill>;

const NONE: Found = new Set();

const isOnly = (skill: Skill, found: Found) => found.size === 1 && found.has(skill);

/** Whether it is in a directory of the user or project, and not part of a plugin or an upstream server. */
const isOwn = ({ plugin, location }: Skill) => plugin === undefined && location !== 'mcp';

/** `clashes`: all skills of a name that several have. Lists of one skill each would take memory for nothing. */
function groupByKey(skills: readonly Skill[]) {
  const firsts = new Map<string, Skill>();
  const clashes = new Map<string, Skill[]>();
  for (const skill of skills) {
    const first = firsts.get(skill.key);
    if (!first) firsts.set(skill.key, skill);
    else if (!clashes.get(skill.key)?.push(skill)) clashes.set(skill.key, [first, skill]);
  }
  return { firsts, clashes };
}

/** The skills whose directory or fingerprint was met before, each with the first skill that has it. */
function originalsIn(group: readonly Skill[], fingerprints: ReadonlyMap<Skill, string>): ReadonlyMap<Skill, Skill> {
  const originals = new Map<Skill, Skill>();
  const met = new Map<string, Skill>();
  for (const skill of group) {
    const content = fingerprints.get(skill) ?? skill.place;
    const first = met.get(skill.place) ?? met.get(content);
    if (first) originals.set(skill, first);
    else met.set(skill.place, skill).set(content, skill);
  }
  return originals;
}

// These two belong to no particular agent, so a bare name means them first.
const FIRST_CHOICES = ['custom', 'agents'];

/** What a name without a prefix means: the first skill of each provider, or else the skills of plugins and servers. */
function meantBy(group: readonly Skill[]): readonly Skill[] {
  const firsts = new Map<string, Skill>();
  for (const skill of group) if (isOwn(skill) && !firsts.has(skill.provider)) firsts.set(skill.provider, skill);
  const [choice] = FIRST_CHOICES.flatMap((provider) => firsts.get(provider) ?? []);
  if (choice) return [choice];
  return firsts.size > 0 ? [...firsts.values()] : group;
}

// A provider's own skills come before those of a plugin that has the provider's name. `claude:pdf` means, last of all,
// the one plugin of that provider that has a pdf.
const [OWN, PLUGIN, LOOSE] = [0, 1, 2];

/** `find`: the skills with this key of a full id. `of`: the shortest full id that means this skill and no other. */
function indexFullIds(skills: readonly Skill[], originals: ReadonlyMap<Skill, Skill>) {
  const index = new Map<string, { readonly rank: number; readonly skills: Set<Skill> }>();
  const ids = new Map<Skill, string[]>();
  /** One skill for all paths to one directory. */
  const canonical = (skill: Skill) => {
    const original = originals.get(skill);
    return original?.place === skill.place ? original : skill;
  };
  const add = (id: string, skill: Skill, rank: number) => {
    const key = nameKey(id);
    const known = index.get(key);
    if (!known || rank < known.rank) index.set(key, { rank, skills: new Set([canonical(skill)]) });
    else if (rank === known.rank) known.skills.add(canonical(skill));
  };
  const find = (key: string): Found => index.get(key)?.skills ?? NONE;
  const uniqueId = (skill: Skill) => ids.get(skill)?.find((id) => isOnly(skill, find(nameKey(id))));

  const met = new Set<string>();
  for (const skill of skills) {
    const own = prefixesOf(skill, met).map((prefix) => `${prefix}:${skill.name}`);
    ids.set(skill, own);
    for (const id of own) add(id, skill, skill.plugin ? PLUGIN : OWN);
    if (skill.plugin) add(`${skill.provider}:${skill.name}`, skill, LOOSE);
  }
  // Prefixes and names may contain colons, so every id of a skill may also mean another one. Then it gets a new one.
  let count = 1;
  for (const [skill, known] of ids) {
    while (canonical(skill) === skill && uniqueId(skill) === undefined) {
      const id = `${skill.provider}@${skill.location}#${++count}:${skill.name}`;
      if (find(nameKey(id)).size > 0) continue;
      known.push(id);
      add(id, skill, OWN);
    }
  }
  return { find, of: (skill: Skill) => uniqueId(skill) ?? skill.name };
}

/** The prefixes before the colon, shortest first. `met`: those of other skills, each with the skill's name. */
function prefixesOf({ key, provider, location, plugin, directory }: Skill, met: Set<string>): readonly string[] {
  const forFirst = (prefix: string) => {
    const before = met.size;
    return met.add(`${prefix}\0${key}`).size > before ? [prefix] : [];
  };
  const place = plugin ? `${plugin.name}@${plugin.marketplace}` : `${provider}@${location}`;
  const full = [...forFirst(place), `${place}#${hashOf(directory)}`];
  // The first skill of a provider, which is the project's if it has one, has the provider's name alone as a prefix.
  if (!plugin) return [...forFirst(provider), ...full];
  const all = [plugin.name, ...full];
  return [...all, ...all.map((prefix) => `${provider}:${prefix}`)];
}

/** Finds skills whose bare name, or provider and name, loads another skill; marks those that share the latter. */
function markShadowed(listed: readonly ListedSkill[], lookUp: (key: string) => Found) {
  const hidden = new Set<Skill>();
  const problems: Problem[] = [];
  for (const { id, skill } of listed) {
    // Skills of plugins and servers are listed with a prefix anyway.
    if (id === skill.name || !isOwn(skill)) continue;
    const [byName, byProvider] = [skill.key, nameKey(`${skill.provider}:${skill.name}`)].map((key) => {
      const found = lookUp(key);
      return found.size === 1 && !found.has(skill) ? [...found][0] : undefined;
    });
    if (byProvider) hidden.add(skill);
    const winner = byName ?? byProvider;
    if (winner) problems.push({ where: skill.file, what: `is shadowed by ${winner.file}; it loads as "${id}"` });
  }
  if (hidden.size === 0) return { listed, problems };
  const mark = (one: ListedSkill) => (hidden.has(one.skill) ? ({ ...one, isShadowed: true } as const) : one);
  return { listed: listed.map(mark), problems };
}

// Ids in one line of the log; an ambiguous name may have thousands.
const MOST_REPORTED = 10;

/** A name that loads no skill because several skills have it. */
function ambiguityOf(found: readonly Skill[], idOf: (skill: Skill) => string): Problem {
  const rest = found.length - MOST_REPORTED;
  const shown = [...found.slice(0, MOST_REPORTED).map(idOf), ...(rest > 0 ? [`${rest} more`] : [])];
  const what = `is ambiguous: ${shown.join(', ')}; only a full name loads one`;
  return { where: `name "${found.at(-1)?.name}"`, what, mild: true };
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
