/**
 * The `skills.search` tool: finds the skills that contain all words of a query.
 * Owns: its schemas and its text. Leaves alone: how skills are searched (skills/search.ts).
 */
import * as v from 'valibot';
import type { Tool } from '../model.ts';
import { searchSkills, wordsOf } from '../skills/search.ts';
import { echo, oneLine } from '../text.ts';
import { DEFAULT_LIMIT, LONGEST_QUERY, LONGEST_WORD, MOST_RESULTS, MOST_WORDS } from './limits.ts';
import { countOf, createSummariser, NOTE, SUMMARY_MEMBERS, skillLine } from './summary.ts';
import { checkedArguments, inputOf, objectSchema, READ_ONLY, requiredText } from './tool.ts';

const LIMIT = `limit must be a whole number from 1 to ${MOST_RESULTS}`;
const TEXT = `query must be text of 1 to ${LONGEST_QUERY} characters, the words to look for`;
const QUERY = requiredText(
  LONGEST_QUERY,
  `query is required: ${TEXT}`,
  'Words to look for, separated by spaces. A skill must contain all of them. Case does not matter.',
  TEXT,
);
export const SEARCH_INPUT = inputOf(
  {
    query: {
      ...QUERY,
      check: () =>
        v.pipe(
          QUERY.check(),
          v.check((query) => {
            const words = wordsOf(query);
            return words.length <= MOST_WORDS && words.every((word) => word.length <= LONGEST_WORD);
          }, `query must have at most ${MOST_WORDS} words of at most ${LONGEST_WORD} characters`),
        ),
    },
  },
  {
    limit: {
      check: () => v.pipe(v.number(LIMIT), v.integer(LIMIT), v.minValue(1, LIMIT), v.maxValue(MOST_RESULTS, LIMIT)),
      schema: {
        type: 'integer',
        minimum: 1,
        maximum: MOST_RESULTS,
        default: DEFAULT_LIMIT,
        description: 'Maximum number of skills in the result.',
      },
    },
  },
);

const MEMBERS = {
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
    items: objectSchema({
      ...SUMMARY_MEMBERS,
      score: { type: 'integer', minimum: 1, description: 'How many words were found.' },
      excerpt: { type: 'string', description: 'The text around the first word found.' },
    }),
  },
};
const OUTPUT_SCHEMA = objectSchema({ ...MEMBERS, note: NOTE }, Object.keys(MEMBERS));

export function searchTool(cwd: string): Tool {
  return {
    name: 'skills.search',
    title: 'Search Skills',
    inputSchema: SEARCH_INPUT.schema,
    outputSchema: OUTPUT_SCHEMA,
    annotations: { title: 'Search Skills', ...READ_ONLY },
    fresh: true,
    define: (_snapshot, view) => ({
      description: `Find skills by words in their names, descriptions and instructions. All words must occur. Scans the directories again first.${view.shows('skill') ? ` Load what you find with the ${view.spell('skill')} tool.` : ''}`,
    }),
    async run(args, { names }, { signal }) {
      const { query, limit = DEFAULT_LIMIT } = checkedArguments(SEARCH_INPUT, args);
      const { total, hits, unread } = await searchSkills(names.listed, query, limit, signal);
      const summaryOf = createSummariser(cwd);
      const results = hits.map(({ listed, score, excerpt }) => ({ ...summaryOf(listed), score, excerpt }));
      const shown = hits.length < total ? `; the best ${hits.length}` : '';
      const head = `${countOf(total)} for "${echo(query)}"${shown}`;
      const lines = hits.map(({ listed, excerpt }) => `${skillLine(listed)}\n  … ${oneLine(excerpt)} …`);
      const note =
        unread > 0
          ? `${countOf(unread)} searched by name and description only: the text could not be read, or not in time`
          : undefined;
      return {
        content: [{ type: 'text', text: [head, ...lines, ...(note ? [note] : [])].join('\n') }],
        structuredContent: { query, limit, total, results, note },
      };
    },
  };
}
