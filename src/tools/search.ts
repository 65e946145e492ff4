/**
 * The `skills.search` tool: finds the skills that contain all words of a query.
 * Owns: its schemas and its text. Leaves alone: how skills are searched (skills/search.ts).
 */
import * as v from 'valibot';
import type { Tool } from '../model.ts';
import { searchSkills, wordsOf } from '../skills/search.ts';
import { oneLine, shorten } from '../text.ts';
import { checkedArguments } from './arguments.ts';
import { LONGEST_QUERY, LONGEST_WORD, MOST_RESULTS, MOST_WORDS } from './limits.ts';
import { READ_ONLY } from './result.ts';
import { countOf, createSummariser, SUMMARY_PROPERTIES, skillLine } from './summary.ts';

const QUERY = `query must be text of 1 to ${LONGEST_QUERY} characters: the words to look for`;
const WORDS = `query must have at most ${MOST_WORDS} words of at most ${LONGEST_WORD} characters`;
const LIMIT = `limit must be a whole number from 1 to ${MOST_RESULTS}`;
// The contract's number.
const DEFAULT_LIMIT = 10;

export const SearchInput = v.strictObject({
  query: v.pipe(
    v.string(QUERY),
    v.maxLength(LONGEST_QUERY, QUERY),
    v.regex(/\S/, QUERY),
    v.check((query) => {
      const words = wordsOf(query);
      return words.length <= MOST_WORDS && words.every((word) => word.length <= LONGEST_WORD);
    }, WORDS),
  ),
  limit: v.optional(v.pipe(v.number(LIMIT), v.integer(LIMIT), v.minValue(1, LIMIT), v.maxValue(MOST_RESULTS, LIMIT))),
});

export const SEARCH_INPUT_SCHEMA = {
  type: 'object',
  properties: {
    query: {
      type: 'string',
      minLength: 1,
      maxLength: LONGEST_QUERY,
      pattern: '\\S',
      description: 'Words to look for, separated by spaces. A skill must contain all of them. Case does not matter.',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: MOST_RESULTS,
      default: DEFAULT_LIMIT,
      description: 'Maximum number of skills in the result.',
    },
  },
  required: ['query'],
  additionalProperties: false,
} as const;

export const SEARCH_OUTPUT_SCHEMA = {
  type: 'object',
  properties: {
    query: { type: 'string' },
    limit: { type: 'integer', minimum: 1, maximum: MOST_RESULTS },
    total: {
      type: 'integer',
      minimum: 0,
      description: 'How many skills were found; `results` has at most `limit` of them.',
    },
    results: {
      type: 'array',
      maxItems: MOST_RESULTS,
      items: {
        type: 'object',
        properties: {
          ...SUMMARY_PROPERTIES,
          score: { type: 'integer', minimum: 1, description: 'How many words were found.' },
          excerpt: { type: 'string', description: 'The text around the first word found.' },
        },
        required: [...Object.keys(SUMMARY_PROPERTIES), 'score', 'excerpt'],
        additionalProperties: false,
      },
    },
  },
  required: ['query', 'limit', 'total', 'results'],
  additionalProperties: false,
} as const;

export function searchTool(cwd: string): Tool {
  return {
    name: 'skills.search',
    title: 'Search Skills',
    inputSchema: SEARCH_INPUT_SCHEMA,
    outputSchema: SEARCH_OUTPUT_SCHEMA,
    annotations: { title: 'Search Skills', ...READ_ONLY },
    fresh: true,
    define: (_snapshot, view) => ({
      description: `Find skills by words in their names, descriptions and instructions. All words must occur. Scans the directories again first.${view.shows('skill') ? ` Load what you find with the ${view.spell('skill')} tool.` : ''}`,
    }),
    async run(args, { names }, { signal }) {
      const { query, limit = DEFAULT_LIMIT } = checkedArguments(SearchInput, args, ARGUMENTS);
      const { total, hits } = await searchSkills(names.listed, query, limit, signal);
      const summaryOf = createSummariser(cwd);
      const results = hits.map(({ listed, score, excerpt }) => ({ ...summaryOf(listed), score, excerpt }));
      const shown = hits.length < total ? `; the best ${hits.length}` : '';
      const head = `${countOf(total)} for "${shorten(oneLine(query), 100)}"${shown}`;
      const lines = hits.map(({ listed, excerpt }) => `${skillLine(listed)}\n  … ${oneLine(excerpt)} …`);
      return {
        content: [{ type: 'text', text: [head, ...lines].join('\n') }],
        structuredContent: { query, limit, total, results },
      };
    },
  };
}

// --- internal ---

const ARGUMENTS = { query: 'the words to look for', limit: LIMIT };
