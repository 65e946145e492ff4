/**
 * The one place where a name becomes a skill: which names a skill answers to, which is listed, which are near a misspelt one.
 * Leaves alone: which skills are served (filter.ts), which are copies of each other (catalog/snapshot.ts).
 * Always true: every listed id resolves to its own skill; a full id means one skill, the first in order; many skills of one
 * name cost little more than as many of different names.
 */
import leven from 'leven';
import { createPacer } from '../files/pace.ts';
import { MAX_COMPARED, MAX_EDITS, MAX_SUGGESTIONS } from '../limits.ts';
import type { ListedSkill, Names, Skill } from '../model.ts';
import { composed, visibleLine } from '../text.ts';

/** The form in which names are compared: without case, outer blanks, invisible characters, or Unicode's other spellings. */
export function nameKey(text: string): string {
  // Nearly every name is plain ASCII without blanks.
  return /^[!-~]*$/.test(text) ? text.toLowerCase() : composed(composed(visibleLine(text)).toLowerCase());
}

/**
 * `skills`: in order of precedence. A further path to a directory is not listed, and its names mean the first path.
 * `copies`: each with its original; a copy is not listed and its bare name means the original, but its full ids mean itself.
 */
export async function createNames(skills: readonly Skill[], copies: ReadonlyMap<Skill, Skill>): Promise<Names> {
  const pace = createPacer();
  /** By directory. */
  const entries = new Map<string, Entry>();
  const originalOf = (entry: Entry) => entries.get(copies.get(entry.skill)?.identity ?? '') ?? entry;
  const { byId, claim, claimNumber } = createIds();
  /** The skills that a bare or a short name can mean. */
  const byName = new Map<string, Set<Entry>>();
  const add = (key: string, skill: Skill, entry: Entry) => {
    const group = byName.get(key) ?? new Set();
    byName.set(key, group);
    const [first] = group;
    if (!first || isRival(first.skill, skill, entry)) group.add(originalOf(entry));
  };
  /** Whether a name that means `first` means this skill too. Of a provider only the first skill, which has the plain id, can. */
  const isRival = (first: Skill, skill: Skill, entry: Entry) => {
    // Plugins and upstream servers, only where no other skill has the name.
    if (!isPlain(first)) return !isPlain(skill);
    const hasPlainId = byId.get(nameKey(fullIdsOf(skill)[0])) === entry;
    return isPlain(skill) && hasPlainId && !FIRST_MEANT.includes(first.provider);
  };
  for (const skill of skills) {
    await pace();
    const entry = entries.get(skill.identity) ?? { id: '', skill, isShadowed: false };
    entries.set(skill.identity, entry);
    for (const id of fullIdsOf(skill)) claim(id, entry);
    add(nameKey(skill.name), skill, entry);
    // `claude:pdf` is a short name of the skill `pdf` in one of claude's plugins.
    if (skill.plugin) add(nameKey(`${skill.provider}:${skill.name}`), skill, entry);
  }
  // Numbers come last, so that none takes the id of a skill that is called `pdf#2`.
  for (const entry of entries.values()) if (entry.id === '') claimNumber(entry);
  const find = (key: string): ReadonlySet<Entry> => {
    const exact = byId.get(key);
    return exact ? new Set([exact]) : (byName.get(key) ?? new Set());
  };

  const listed: ListedSkill[] = [];
  for (const entry of entries.values()) {
    await pace();
    const { skill } = entry;
    entry.isShadowed = skill.location === 'global' && byId.has(nameKey(`${skill.provider}@project:${skill.name}`));
    const found = find(nameKey(skill.name));
    if (found.size === 1 && found.has(entry) && isPlain(skill)) entry.id = skill.name;
    if (originalOf(entry) === entry) listed.push(entry);
  }
  const visible = listed.filter(({ isShadowed }) => !isShadowed);
  return {
    listed,
    visible,
    resolve(name) {
      const key = nameKey(name);
      const found = find(key);
      if (found.size > 1) return { kind: 'ambiguous', ids: Array.from(found, ({ id }) => id) };
      const [listed] = found;
      return listed ? { kind: 'found', listed } : { kind: 'missing', near: nearIds(key, visible) };
    },
  };
}

/** The candidates that are spelled like a word or contain it, the nearest first; among equals, in their order. */
export function nearest(word: string, candidates: readonly string[]): readonly string[] {
  if (word === '' || word.length > MAX_COMPARED) return [];
  const reach = Math.min(Math.max(2, Math.floor(word.length / 3)), MAX_EDITS);
  const editsTo = (candidate: string) => {
    // Most differ in their length by more, which costs nothing to see.
    const isNear = Math.abs(candidate.length - word.length) <= reach;
    const edits = isNear ? leven(candidate, word, { maxDistance: reach + 1 }) : reach + 1;
    return word.length >= 3 && candidate.includes(word) ? Math.min(edits, reach) : edits;
  };
  const scored = candidates.map((candidate) => ({ candidate, edits: editsTo(candidate) }));
  const near = scored.filter(({ edits }) => edits <= reach).sort((a, b) => a.edits - b.edits);
  return near.map(({ candidate }) => candidate);
}

// --- internal ---

/** While names are made, `id` is the shortest full id. */
type Entry = { -readonly [Field in keyof ListedSkill]: ListedSkill[Field] };

/** These belong to no particular agent, so a bare name means them first. */
const FIRST_MEANT = ['custom', 'agents'];

/** Whether it is in a directory of the user or project, and not part of a plugin or an upstream server. */
const isPlain = ({ plugin, location }: Skill) => plugin === undefined && location !== 'mcp';

/** `claude:pdf` and `claude@global:pdf`; of a plugin `docs:pdf`, `docs@market:pdf` and `claude:docs:pdf`. */
function fullIdsOf({ name, provider, plugin, location }: Skill): readonly [plain: string, ...more: string[]] {
  const owner = plugin?.name ?? provider;
  const [plain, scoped] = [`${owner}:${name}`, `${owner}@${plugin?.marketplace ?? location}:${name}`];
  return plugin ? [plain, scoped, `${provider}:${plain}`] : [plain, scoped];
}

/** What each full id means. */
function createIds() {
  const byId = new Map<string, Entry>();
  const counters = new Map<string, number>();
  const claim = (id: string, entry: Entry): boolean => {
    const key = nameKey(id);
    if (byId.has(key)) return false;
    byId.set(key, entry);
    entry.id ||= id;
    return true;
  };
  const claimNumber = (entry: Entry): void => {
    const [plain] = fullIdsOf(entry.skill);
    // Without a counter, the thousandth skill of a name would try a thousand numbers.
    let count = counters.get(plain) ?? 2;
    while (!claim(`${plain}#${count}`, entry)) count++;
    counters.set(plain, count + 1);
  };
  return { byId, claim, claimNumber };
}

/** By ids and by names; a word with a prefix is also looked for without it. */
function nearIds(key: string, visible: readonly ListedSkill[]): readonly string[] {
  const spellings = new Map<string, string[]>();
  for (const { id, skill } of visible)
    for (const spelling of new Set([nameKey(id), nameKey(skill.name)]))
      if (!spellings.get(spelling)?.push(id)) spellings.set(spelling, [id]);
  const words = new Set([key, key.slice(key.lastIndexOf(':') + 1)]);
  const near = [...words].flatMap((word) => nearest(word, [...spellings.keys()]));
  return [...new Set(near.flatMap((spelling) => spellings.get(spelling) ?? []))].slice(0, MAX_SUGGESTIONS);
}
