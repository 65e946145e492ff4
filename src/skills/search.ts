/**
 * Finding skills by words: every word of the query must occur in a skill's names, description or body.
 * Owns: how a query is split into words, the order of hits, excerpts. Leaves alone: reading the texts (bodies.ts).
 * Always true: equal skills and queries give equal hits in equal order; whole words come before parts of words, what a
 * bare name loads before other skills of that name, and shadowed copies after all that match as well; the time is linear
 * in the length of the texts.
 * Texts are searched without a lower-cased copy (measured: a third of the time, and no second 64 MiB).
 */
import { basename } from 'node:path';
import { compare } from '../compare.ts';
import { createPacer } from '../files/pace.ts';
import type { ListedSkill, Skill } from '../model.ts';
import { composed, visible } from '../text.ts';
import { type Bodies, openBodies } from './bodies.ts';

export interface Hit {
  readonly listed: ListedSkill;
  /** The number of words of the query; a hit contains all of them. */
  readonly score: number;
  readonly excerpt: string;
}

/** The number of all hits, the best ones up to the limit, and how many skills were searched without their bodies. */
export async function searchSkills(
  listed: readonly ListedSkill[],
  query: string,
  limit: number,
  signal: AbortSignal,
): Promise<{ readonly total: number; readonly hits: readonly Hit[]; readonly unread: number }> {
  const words = wordsOf(query);
  // Long words are rare, so they rule out most skills first.
  const finders = [...new Set(words)].sort((a, b) => b.length - a.length).map(finderOf);
  const all = await openBodies(listed, signal);
  const unread = new Set<Skill>();
  const bodies: Bodies = async (skill) => {
    const body = await all(skill);
    if (body === undefined) unread.add(skill);
    return body;
  };
  const pace = createPacer();
  const found: Match[] = [];
  for (const one of listed) {
    await pace();
    if (signal.aborted) break;
    const rank = await rankOf(one.skill, finders, bodies);
    if (rank !== undefined) found.push({ listed: one, rank });
  }
  const hits: Hit[] = [];
  for (const { listed: one } of demoteCopies(found).sort(byRank).slice(0, limit)) {
    await pace();
    const excerpt = visible(await excerptOf(one.skill, finders, bodies));
    hits.push({ listed: one, score: words.length, excerpt });
  }
  return { total: found.length, hits, unread: unread.size };
}

/** The words of a query, in composed form. */
export function wordsOf(query: string): readonly string[] {
  return composed(query)
    .split(WHITE_SPACE)
    .filter((word) => word !== '');
}

/** Finds a word of a query; case does not matter. */
export function patternOf(word: string): RegExp {
  return new RegExp(word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu');
}

/** The directory a skill was installed into. */
export function installName({ directory }: Skill): string {
  return basename(directory);
}

/** Whether one of the short fields contains the text; case and white space do not matter. */
export function mentions(skill: Skill, text: string): boolean {
  const pattern = patternOf(wordsOf(text).join(' '));
  return [installName(skill), skill.name, skill.description].some((field) => pattern.test(wordsOf(field).join(' ')));
}

/** About 160 characters around a position, also near an end of the text, cut between characters. */
export function windowAround(text: string, at: number): string {
  const last = text.trimEnd().length - WINDOW;
  const from = Math.max(0, Math.min(at - LEAD, last));
  const start = atBoundary(text, from);
  const end = atBoundary(text, Math.min(text.length, from + WINDOW));
  return text.slice(start, end).trim();
}

// --- internal ---

interface Match {
  readonly listed: ListedSkill;
  /** The lower, the better. */
  readonly rank: number;
}

// U+0085 (next line) is white space in Unicode but not in JavaScript.
const WHITE_SPACE = /[\s\u0085]+/;

/** What finds a word, and what finds it only where no letter or digit stands before or after it. */
interface Finder {
  readonly part: RegExp;
  readonly whole: RegExp;
}

function finderOf(word: string): Finder {
  const part = patternOf(word);
  return { part, whole: new RegExp(`(?<!${LETTER})${part.source}(?!${LETTER})`, part.flags) };
}

const LETTER = '[\\p{L}\\p{M}\\p{N}]';

// What finding a word costs: by its place when it is a whole word, and more than all words of a query can cost together
// when it is a part of one.
const [IN_NAME, IN_DESCRIPTION, IN_BODY, AS_PART] = [0, 1, 2, 1000];
const MISSING = Number.POSITIVE_INFINITY;

function costIn(text: string, { part, whole }: Finder, place: number): number {
  if (!part.test(text)) return MISSING;
  return whole.test(text) ? place : AS_PART + place;
}

/** The cost of all words; undefined when one is missing. The body is read only when it can lower the cost. */
async function rankOf(skill: Skill, finders: readonly Finder[], bodies: Bodies): Promise<number | undefined> {
  let rank = 0;
  let body: string | undefined;
  const names = [installName(skill), skill.name].map(composed);
  const description = composed(skill.description);
  for (const finder of finders) {
    const costs = names.map((name) => costIn(name, finder, IN_NAME));
    let cost = Math.min(...costs, costIn(description, finder, IN_DESCRIPTION));
    if (cost >= AS_PART) {
      body ??= composed((await bodies(skill)) ?? '');
      cost = Math.min(cost, costIn(body, finder, IN_BODY));
    }
    if (cost === MISSING) return undefined;
    rank += cost;
  }
  return rank;
}

/** A skill whose bare name loads another one comes after that one. */
function demoteCopies(found: readonly Match[]): Match[] {
  const loaded = found.filter(({ listed: { id, skill } }) => id === skill.name);
  const ranks = new Map(loaded.map(({ listed: { skill }, rank }) => [skill.key, rank]));
  return found.map((match) => {
    const { id, skill } = match.listed;
    const first = id === skill.name ? undefined : ranks.get(skill.key);
    return first === undefined ? match : { ...match, rank: Math.max(match.rank, first) + 0.5 };
  });
}

function byRank({ listed: a, rank: aRank }: Match, { listed: b, rank: bRank }: Match): number {
  const byShadow = Number(a.isShadowed ?? false) - Number(b.isShadowed ?? false);
  return aRank - bRank || byShadow || compare(a.id, b.id) || compare(a.skill.file, b.skill.file);
}

/** Around the first word in the body or, when there is none, in the description. */
async function excerptOf(skill: Skill, finders: readonly Finder[], bodies: Bodies): Promise<string> {
  const body = (await bodies(skill)) ?? '';
  // The author's own spelling is preferred to the composed form.
  for (const text of [body, composed(body), skill.description, composed(skill.description)]) {
    const at = firstOf(text, finders);
    if (at !== undefined) return windowAround(text, at);
  }
  return windowAround(skill.description, 0);
}

function firstOf(text: string, finders: readonly Finder[]): number | undefined {
  const places = finders.map(({ part }) => text.search(part)).filter((at) => at !== -1);
  return places.length === 0 ? undefined : Math.min(...places);
}

const WINDOW = 160;
const LEAD = 60;
// Longer than any emoji sequence; a text may be nothing but combining marks.
const LONGEST_CHARACTER = 32;

/** The next position from `at` on that is not inside a character. */
function atBoundary(text: string, at: number): number {
  const from = Math.max(0, at - LONGEST_CHARACTER);
  const near = new Intl.Segmenter('en').segment(text.slice(from, at + LONGEST_CHARACTER));
  const { index, segment } = near.containing(at - from) ?? { index: at - from, segment: '' };
  return from + index === at ? at : from + index + segment.length;
}
