/**
 * Finding skills by words: every word of the query must occur in a skill's names, description or body.
 * Owns: how a query is split into words, the order of hits, excerpts. Leaves alone: reading the texts (bodies.ts).
 * Always true: equal skills and queries give equal hits in equal order; an unchanged file is not read again unless memory
 * for texts was full when it was scanned.
 * Texts are searched without a lower-cased copy (measured: a third of the time, and no second 64 MiB).
 */
import { basename } from 'node:path';
import { compare } from '../compare.ts';
import { createPacer } from '../files/pace.ts';
import type { ListedSkill, Skill } from '../model.ts';
import { composed, visible } from '../text.ts';
import { type Bodies, createBodies } from './bodies.ts';

export interface Hit {
  readonly listed: ListedSkill;
  /** The number of words of the query; a hit contains all of them. */
  readonly score: number;
  readonly excerpt: string;
}

export interface Search {
  /** The number of all hits. */
  readonly total: number;
  /** The best ones, up to the limit. */
  readonly hits: readonly Hit[];
}

export async function searchSkills(
  listed: readonly ListedSkill[],
  query: string,
  limit: number,
  signal: AbortSignal,
): Promise<Search> {
  const words = wordsOf(query);
  // Long words are rare, so they rule out most skills first.
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

/** The words of a query, in composed form. */
export function wordsOf(query: string): readonly string[] {
  return composed(query)
    .split(WHITE_SPACE)
    .filter((word) => word !== '');
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
  readonly rank: number;
}

// U+0085 (next line) is white space in Unicode but not in JavaScript.
const WHITE_SPACE = /[\s\u0085]+/;

function patternOf(word: string): RegExp {
  return new RegExp(word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu');
}

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
  // The author's own spelling is preferred to the composed form.
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
// Longer than any emoji sequence; a text may be nothing but combining marks.
const LONGEST_CHARACTER = 32;
// These patterns are made when called: compiling them takes longer than loading most modules.
/** Combining marks, joiners, variation selectors and skin tones belong to the character before them. */
const continues = (text: string) => /^(?:[\p{M}\p{Emoji_Modifier}]|\u200d)/u.test(text);
const isFlagLetter = (text: string) => /^\p{Regional_Indicator}/u.test(text);

/** The next position from `at` on that is not inside a character. */
function atBoundary(text: string, at: number): number {
  for (let place = at; place < Math.min(text.length, at + LONGEST_CHARACTER); place++) {
    const inPair = /[\ud800-\udbff]/.test(text[place - 1] ?? '') && /[\udc00-\udfff]/.test(text[place] ?? '');
    const joined = text[place - 1] === '\u200d' || continues(text.slice(place, place + 2));
    const inFlag = isFlagLetter(text.slice(place, place + 2)) && isFlagLetter(text.slice(place - 2, place));
    if (place === 0 || !(inPair || joined || inFlag)) return place;
  }
  return Math.min(text.length, at + LONGEST_CHARACTER);
}
