/**
 * The `skills.search` tool: finds the skills that contain all words of a query.
 * Owns: its schemas and its text. Leaves alone: how skills are searched (skills/search.ts).
 */
import * as v from 'valibot';
import type { Settings } from '../config.ts';
import { DEFAULT_RESULTS, MAX_QUERY, MAX_RESULTS } from '../limits.ts';
import type { Tool } from '../model.ts';
import { searchSkills } from '../skills/search.ts';
import { counted, echo } from '../text.ts';
import { LONG_QUERY, SUMMARY, summaryOf } from './list.ts';
import { objectSchema, ownTool, requiredText, requiredTextSchema, skillLine, structured, TEXT } from './tool.ts';

const NO_QUERY = 'query is required: the words to look for, as text';
const NO_LIMIT = `limit must be a whole number from 1 to ${MAX_RESULTS}`;
const Limit = v.pipe(
  v.number(NO_LIMIT),
  v.integer(NO_LIMIT),
  v.minValue(1, NO_LIMIT),
  v.maxValue(MAX_RESULTS, NO_LIMIT),
);
export const SearchInput = v.strictObject({
  query: v.pipe(requiredText(NO_QUERY), v.maxLength(MAX_QUERY, LONG_QUERY)),
  limit: v.optional(Limit, DEFAULT_RESULTS),
});
const ABOUT_QUERY = 'Words to look for, separated by spaces. A skill must contain all of them. Case does not matter.';
const INTEGER = { type: 'integer' };
const LIMITS = { minimum: 1, maximum: MAX_RESULTS, default: DEFAULT_RESULTS, description: 'Most results.' };
const QUERY = { ...requiredTextSchema(ABOUT_QUERY), maxLength: MAX_QUERY };
const INPUT = objectSchema({ query: QUERY, limit: { ...INTEGER, ...LIMITS } }, ['query']);

const HIT = objectSchema({ ...SUMMARY, score: INTEGER, excerpt: TEXT });
const OUTPUT = objectSchema({ query: TEXT, limit: INTEGER, total: INTEGER, results: { type: 'array', items: HIT } });

const DESCRIPTION =
  'Find skills by words in their names, descriptions and instructions. All words must occur. Scans the directories again first.';

export function searchTool({ cwd }: Settings): Tool {
  const form = { name: 'skills.search', title: 'Search Skills', description: DESCRIPTION, inputSchema: INPUT };
  const tool = ownTool({ ...form, outputSchema: OUTPUT }, SearchInput, async ({ query, limit }, { names }) => {
    const { total, hits } = await searchSkills(names.listed, query, limit);
    const results = hits.map(({ listed, score, excerpt }) => ({ ...summaryOf(listed, cwd), score, excerpt }));
    const best = hits.length < total ? `; the best ${hits.length}` : '';
    const head = `${counted(total, 'skill')} for "${echo(query)}"${best}`;
    const lines = hits.map(({ listed, excerpt }) => `${skillLine(listed)}\n  … ${excerpt} …`);
    return structured([head, ...lines], { query, limit, total, results });
  });
  return { ...tool, isFresh: true };
}
