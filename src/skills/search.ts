/**
 * Finding skills by words: every word of the query must occur in a skill's names, description or body.
 * Owns: what a word is, the order of hits, excerpts. Leaves alone: where the texts come from (bodies.ts).
 * Always true: equal skills and queries give equal hits in equal order; a file that has not changed is not read again
 * unless memory was full when it was scanned.
 * Memory: none of its own. Texts are searched as they are held, without a lower-cased copy (measured: a third of the
 * time that folding every text would take, and no second 64 MiB).
 */
import { basename } from 'node:path';
import { compare } from '../compare.ts';
import { createPacer } from '../files/pace.ts';
import type { ListedSkill, Skill } from '../model.ts';
import { composed, visible } from '../text.ts';
import { type Bodies, createBodies } from './bodies.ts';

export interface Hit {
  readonly listed: ListedSkill;
  /** How many words of the query were found; all of them, or it would be no hit. */
  readonly score: number;
  readonly excerpt: string;
}

export interface Search {
  /** Of all hits. */
  readonly total: number;
  /** The best of them, at most as many as asked for. */
  readonly hits: readonly Hit[];
}

export async function searchSkills(
  listed: readonly ListedSkill[],
  query: string,
  limit: number,
  signal: AbortSignal,
): Promise<Search> {
  const words = wordsOf(query);
  // The longest are the rarest: they rule a skill out soonest.
  const patterns = [...new Set(words)].sort((a, b) => b.length - a.length).map(patternOf);
  const bodies = createBodies(signal);
  try {
    const found: Match[] = [];
    await bodies.visit(listed, async (one) => {
      const rank = await rankOf(one.skill, patterns, bodies);
      if (rank !== undefined) found.push({ listed: one, rank });
    });
    const best = found.sort(byRank).slice(0, limit);
    const hits: Hit[] = [];
    const pace = createPacer();
    for (const { listed: one } of best) {
      await pace();
      const excerpt = visible(await excerptOf(one.skill, patterns, bodies));
      hits.push({ listed: one, score: words.length, excerpt });
    }
    return { total: found.length, hits };
  } finally {
    bodies.close();
  }
}

/** The words of a query, as they are compared. */
export function wordsOf(query: string): readonly string[] {
  return composed(query)
    .split(WHITE_SPACE)
    .filter((word) => word !== '');
}

/** The directory a skill was installed into. */
export function installName({ directory }: Skill): string {
  return basename(directory);
}

/** Whether any of the short fields contains the text, whatever its case and its white space. */
export function mentions(skill: Skill, text: string): boolean {
  const pattern = patternOf(wordsOf(text).join(' '));
  return [installName(skill), skill.name, skill.description].some((field) => pattern.test(wordsOf(field).join(' ')));
}

/** About 160 characters around a place, near an end of the text as well, cut between characters. */
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
  readonly rank: number;
}

// To JavaScript "next line" is no white space; to Unicode it is.
const WHITE_SPACE = /[\s\u0085]+/;

function patternOf(word: string): RegExp {
  return new RegExp(word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu');
}

// Where a word is found weighs more than how often.
const IN_NAME = 0;
const IN_DESCRIPTION = 1;
const IN_BODY = 2;

/** Lower is better; undefined when a word is missing. */
async function rankOf(skill: Skill, patterns: readonly RegExp[], bodies: Bodies): Promise<number | undefined> {
  let rank = 0;
  let body: string | undefined;
  const names = [installName(skill), skill.name].map(composed);
  const description = composed(skill.description);
  for (const pattern of patterns) {
    if (names.some((name) => pattern.test(name))) rank += IN_NAME;
    else if (pattern.test(description)) rank += IN_DESCRIPTION;
    else {
      body ??= composed((await bodies.of(skill)) ?? '');
      if (!pattern.test(body)) return undefined;
      rank += IN_BODY;
    }
  }
  return rank;
}

function byRank(a: Match, b: Match): number {
  return a.rank - b.rank || compare(a.listed.id, b.listed.id) || compare(a.listed.skill.file, b.listed.skill.file);
}

/** Around the first word in the body or, when there is none, in the description. */
async function excerptOf(skill: Skill, patterns: readonly RegExp[], bodies: Bodies): Promise<string> {
  const body = (await bodies.of(skill)) ?? '';
  // As its author wrote it, unless the words are only found in the composed form.
  for (const text of [body, composed(body), skill.description, composed(skill.description)]) {
    const at = firstOf(text, patterns);
    if (at !== undefined) return windowAround(text, at);
  }
  return windowAround(skill.description, 0);
}

function firstOf(text: string, patterns: readonly RegExp[]): number | undefined {
  const places = patterns.map((pattern) => text.search(pattern)).filter((at) => at !== -1);
  return places.length === 0 ? undefined : Math.min(...places);
}

const WINDOW = 160;
const LEAD = 60;
const LONGEST_CHARACTER = 32;
// Made when called: such patterns take longer to read in than most of this program's modules.
/** Combining marks, joiners, variation selectors and skin tones belong to the character before them. */
const continues = (text: string) => /^(?:[\p{M}\p{Emoji_Modifier}]|\u200d)/u.test(text);
const isFlagLetter = (text: string) => /^\p{Regional_Indicator}/u.test(text);

/** The next place at or after this one that is not inside a character. */
function atBoundary(text: string, at: number): number {
  for (let place = at; place < Math.min(text.length, at + LONGEST_CHARACTER); place++) {
    const inPair = /[\ud800-\udbff]/.test(text[place - 1] ?? '') && /[\udc00-\udfff]/.test(text[place] ?? '');
    const joined = text[place - 1] === '\u200d' || continues(text.slice(place, place + 2));
    const inFlag = isFlagLetter(text.slice(place, place + 2)) && isFlagLetter(text.slice(place - 2, place));
    if (place === 0 || !(inPair || joined || inFlag)) return place;
  }
  return Math.min(text.length, at + LONGEST_CHARACTER);
}
