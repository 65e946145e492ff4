/**
 * Finding skills by words: every word of the query must occur in a skill's names, description or body.
 * Owns: how a query is split into words, the order of hits, excerpts. Leaves alone: the limits of a query (tools/search.ts).
 * Always true: equal skills and queries give equal hits in equal order; no text is kept longer than it is searched.
 */
import { basename } from 'node:path';
import { createPacer } from '../files/pace.ts';
import { EXCERPT } from '../limits.ts';
import type { ListedSkill, Skill } from '../model.ts';
import { compare, composed, visibleLine } from '../text.ts';
import { bodyOf } from './front-matter.ts';
import { nameKey } from './names.ts';

export interface Hit {
  readonly listed: ListedSkill;
  /** The number of words of the query; a hit contains all of them. */
  readonly score: number;
  readonly excerpt: string;
}

/** The number of all hits, and the best ones up to the limit. An upstream skill is found by its name and description. */
export async function searchSkills(listed: readonly ListedSkill[], query: string, limit: number) {
  const all = nameKey(query)
    .split(' ')
    .filter((word) => word !== '');
  const words = [...new Set(all)];
  if (words.length === 0) return { total: 0, hits: [] }; // The query is of invisible characters.
  const pace = createPacer();
  const found: { readonly listed: ListedSkill; readonly name: string; readonly rank: number }[] = [];
  for (const one of listed) {
    await pace();
    const rank = rankOf(one.skill, words);
    if (rank !== undefined) found.push({ listed: one, name: one.skill.name, rank });
  }
  // Ids are compared last: equal skills and queries give equal hits, whatever the order of the skills.
  found.sort((a, b) => a.rank - b.rank || compare(a.name, b.name) || compare(a.listed.id, b.listed.id));
  const hits: Hit[] = [];
  for (const match of found.slice(0, limit)) {
    await pace();
    hits.push({ listed: match.listed, score: all.length, excerpt: excerptOf(match.listed.skill, words) });
  }
  return { total: found.length, hits };
}

/** Whether one of the short fields contains the text; case and white space do not matter. */
export function mentions(skill: Skill, text: string): boolean {
  const wanted = nameKey(text);
  return [installName(skill), skill.name, skill.description].some((field) => nameKey(field).includes(wanted));
}

/** The directory that a skill was installed into. */
export function installName({ directory }: Skill): string {
  return basename(directory);
}

// --- internal ---

const bodyTextOf = ({ bytes }: Skill) => (bytes ? bodyOf(bytes) : '');

const folded = (text: string) => composed(text).toLowerCase();

/** The lower, the better: a word counts 0 in a name, 1 in the description and 2 in the body, which is decoded only for a word that needs it. */
function rankOf(skill: Skill, words: readonly string[]): number | undefined {
  const short = [`${installName(skill)}\n${skill.name}`, skill.description].map(folded);
  let body: string | undefined;
  let rank = 0;
  for (const word of words) {
    const at = short.findIndex((text) => text.includes(word));
    if (at === -1) body ??= folded(bodyTextOf(skill));
    if (at === -1 && !body?.includes(word)) return undefined;
    rank += at === -1 ? short.length : at;
  }
  return rank;
}

/** Around the first word in the body or else in the description, on one line. */
function excerptOf(skill: Skill, words: readonly string[]): string {
  const texts = [bodyTextOf(skill), skill.description].map(composed);
  for (const text of texts) {
    const searched = folded(text);
    const places = words.map((word) => searched.indexOf(word)).filter((at) => at !== -1);
    if (places.length > 0) return windowAround(text, Math.min(...places));
  }
  return windowAround(skill.description, 0);
}

function windowAround(text: string, at: number): string {
  const start = Math.max(0, Math.min(at - EXCERPT / 4, text.trimEnd().length - EXCERPT));
  return visibleLine(text.slice(boundaryAt(text, start), boundaryAt(text, start + EXCERPT)));
}

// Longer than any emoji sequence; a text may be nothing but combining marks.
const LONGEST_CHARACTER = 32;

/** The beginning of the character at a place: an accent or a part of an emoji alone would be another character. */
function boundaryAt(text: string, at: number): number {
  const from = Math.max(0, at - LONGEST_CHARACTER);
  const near = new Intl.Segmenter('en').segment(text.slice(from, at + LONGEST_CHARACTER));
  return from + (near.containing(at - from)?.index ?? at - from);
}
