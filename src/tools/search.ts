/**
 * The `skills.search` tool: words in, the skills that hold them all out.
 * Owns: its schemas and its text. Leaves alone: how skills are searched (skills/search.ts).
 */
import * as v from 'valibot';
import type { Tool } from '../model.ts';
import { searchSkills, wordsOf } from '../skills/search.ts';
import { oneLine, shorten } from '../text.ts';
import { checkedArguments } from './arguments.ts';
import { READ_ONLY } from './skill.ts';
import { countOf, createSummariser, lineFor, SUMMARY_PROPERTIES } from './summary.ts';

const QUERY = 'query must be text of 1 to 500 characters: the words to look for';
/** Comparing takes time that grows with the length of a word as well as of a text. */
export const LONGEST_WORD = 100;
/** Each of them is looked for in every text. */
export const MOST_WORDS = 50;
const WORDS = `query must have at most ${MOST_WORDS} words of at most ${LONGEST_WORD} characters`;
const LIMIT = 'limit must be a whole number from 1 to 25';
const DEFAULT_LIMIT = 10;

export const SearchInput = v.strictObject({
  query: v.pipe(
    v.string(QUERY),
    v.maxLength(500, QUERY),
    v.regex(/\S/, QUERY),
    v.check((query) => {
      const words = wordsOf(query);
      return words.length <= MOST_WORDS && words.every((word) => word.length <= LONGEST_WORD);
    }, WORDS),
  ),
  limit: v.optional(v.pipe(v.number(LIMIT), v.integer(LIMIT), v.minValue(1, LIMIT), v.maxValue(25, LIMIT))),
});

export const SEARCH_INPUT_SCHEMA = {
  type: 'object',
  properties: {
    query: {
      type: 'string',
      minLength: 1,
      maxLength: 500,
      pattern: '\\S',
      description: 'Words to look for, parted by blanks. A skill must hold all of them. Case does not matter.',
    },
    limit: { type: 'integer', minimum: 1, maximum: 25, default: DEFAULT_LIMIT, description: 'Most skills to give.' },
  },
  required: ['query'],
  additionalProperties: false,
} as const;

export const SEARCH_OUTPUT_SCHEMA = {
  type: 'object',
  properties: {
    query: { type: 'string' },
    limit: { type: 'integer', minimum: 1, maximum: 25 },
    total: { type: 'integer', minimum: 0, description: 'How many skills were found, of which `limit` are given.' },
    results: {
      type: 'array',
      maxItems: 25,
      items: {
        type: 'object',
        properties: {
          ...SUMMARY_PROPERTIES,
          score: { type: 'integer', minimum: 1, description: 'How many words were found.' },
          excerpt: { type: 'string', description: 'The text around the first of them.' },
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
    fresh: true,
    define: (_snapshot, view) => ({
      name: view.spell('skills.search'),
      title: 'Search Skills',
      description: `Find skills by words in their names, descriptions and instructions. All words must occur. Reads the directories anew.${view.shows('skill') ? ` Load what you find with the ${view.spell('skill')} tool.` : ''}`,
      inputSchema: SEARCH_INPUT_SCHEMA,
      outputSchema: SEARCH_OUTPUT_SCHEMA,
      annotations: { title: 'Search Skills', ...READ_ONLY },
    }),
    async run(args, { names }, { signal }) {
      const { query, limit = DEFAULT_LIMIT } = checkedArguments(SearchInput, args, ['query', 'limit']);
      const { total, hits } = await searchSkills(names.listed, query, limit, signal);
      const summaryOf = createSummariser(cwd);
      const results = hits.map(({ listed, score, excerpt }) => ({ ...summaryOf(listed), score, excerpt }));
      const shown = hits.length < total ? `; the best ${hits.length}` : '';
      const head = `${countOf(total)} for "${shorten(oneLine(query), 100)}"${shown}`;
      const lines = hits.map(({ listed, excerpt }) => `${lineFor(listed)}\n  … ${oneLine(excerpt)} …`);
      return {
        content: [{ type: 'text', text: [head, ...lines].join('\n') }],
        structuredContent: { query, limit, total, results },
      };
    },
  };
}
