/**
 * The `skills.list` tool: all skills as data.
 * Owns: its schemas and its text. Leaves alone: which skills there are (catalog).
 */
import * as v from 'valibot';
import type { Tool } from '../model.ts';
import { bodyOf, mentions } from '../skills/search.ts';
import { oneLine, shorten } from '../text.ts';
import { checkedArguments } from './arguments.ts';
import { failure } from './result.ts';
import { READ_ONLY } from './skill.ts';
import { countOf, createSummariser, lineFor, SUMMARY_PROPERTIES } from './summary.ts';

export const ListInput = v.strictObject({
  query: v.optional(v.pipe(v.string('query must be text'), v.maxLength(500, 'query must have at most 500 characters'))),
  includeBody: v.optional(v.boolean('includeBody must be true or false')),
});

export const LIST_INPUT_SCHEMA = {
  type: 'object',
  properties: {
    query: {
      type: 'string',
      maxLength: 500,
      description: 'Only skills whose directory, name or description contains this text. Case does not matter.',
    },
    includeBody: { type: 'boolean', description: 'Include the text of each SKILL.md, without its front matter.' },
  },
  additionalProperties: false,
} as const;

export const LIST_OUTPUT_SCHEMA = {
  type: 'object',
  properties: {
    skills: {
      type: 'array',
      items: {
        type: 'object',
        properties: { ...SUMMARY_PROPERTIES, body: { type: 'string' } },
        required: Object.keys(SUMMARY_PROPERTIES),
        additionalProperties: false,
      },
    },
  },
  required: ['skills'],
  additionalProperties: false,
} as const;

// One answer is one message; a client that wants more than this asks in parts.
export const MAX_BODIES = 16 * 1024 * 1024;
const MOST_LINES = 50;

export function listTool(cwd: string): Tool {
  return {
    name: 'skills.list',
    fresh: true,
    define: (_snapshot, view) => ({
      name: view.spell('skills.list'),
      title: 'List Skills',
      description:
        'List every skill with its name, description and place, as structured data. Reads the directories anew. To look for something in the texts of skills, search is better.',
      inputSchema: LIST_INPUT_SCHEMA,
      outputSchema: LIST_OUTPUT_SCHEMA,
      annotations: { title: 'List Skills', ...READ_ONLY },
    }),
    async run(args, snapshot) {
      const { query = '', includeBody = false } = checkedArguments(ListInput, args, ['query', 'includeBody']);
      const wanted = query.trim();
      const listed = snapshot.names.listed.filter(({ skill }) => wanted === '' || mentions(skill, wanted));
      const summaryOf = createSummariser(cwd);
      let room = MAX_BODIES;
      const skills: object[] = [];
      for (const one of listed) {
        const summary = summaryOf(one);
        const body = includeBody ? await bodyOf(one.skill) : '';
        room -= body.length;
        if (room < 0)
          return failure(`The bodies of ${countOf(listed.length)} are too long for one answer. Give a query.`);
        skills.push(includeBody ? { ...summary, body } : summary);
      }
      const which = wanted === '' ? '' : ` matching "${shorten(oneLine(wanted), 100)}"`;
      const lines = listed.slice(0, MOST_LINES).map(lineFor);
      const rest = listed.length - lines.length;
      const text = [`${countOf(listed.length)}${which}`, ...lines, ...(rest > 0 ? [`… and ${rest} more`] : [])].join(
        '\n',
      );
      return { content: [{ type: 'text', text }], structuredContent: { skills } };
    },
  };
}
