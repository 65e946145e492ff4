/**
 * The `skills.list` tool: all skills as structured data.
 * Owns: its schemas and its text. Leaves alone: which skills there are (catalog/).
 */
import * as v from 'valibot';
import type { ListedSkill, Skill, Tool } from '../model.ts';
import { createBodies } from '../skills/bodies.ts';
import { mentions } from '../skills/search.ts';
import { oneLine, shorten } from '../text.ts';
import { checkedArguments } from './arguments.ts';
import { LONGEST_QUERY, MAX_BODIES } from './limits.ts';
import { failure, READ_ONLY } from './result.ts';
import { countOf, createSummariser, linesFor, SUMMARY_PROPERTIES, skillLine } from './summary.ts';

export const ListInput = v.strictObject({
  query: v.optional(
    v.pipe(
      v.string('query must be text'),
      v.maxLength(LONGEST_QUERY, `query must have at most ${LONGEST_QUERY} characters`),
    ),
  ),
  includeBody: v.optional(v.boolean('includeBody must be true or false')),
});

export const LIST_INPUT_SCHEMA = {
  type: 'object',
  properties: {
    query: {
      type: 'string',
      maxLength: LONGEST_QUERY,
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

export function listTool(cwd: string): Tool {
  return {
    name: 'skills.list',
    title: 'List Skills',
    inputSchema: LIST_INPUT_SCHEMA,
    outputSchema: LIST_OUTPUT_SCHEMA,
    annotations: { title: 'List Skills', ...READ_ONLY },
    fresh: true,
    define: (_snapshot, view) => ({
      description: `List every skill with its name, description and place, as structured data. Scans the directories again first.${view.shows('skills.search') ? ` To search the texts of skills, use ${view.spell('skills.search')}.` : ''}`,
    }),
    async run(args, { names }, { signal }) {
      const { query = '', includeBody = false } = checkedArguments(ListInput, args, ARGUMENTS);
      const wanted = query.trim();
      const listed = names.listed.filter(({ skill }) => wanted === '' || mentions(skill, wanted));
      const bodies = includeBody ? await readBodies(listed, signal) : NO_BODIES;
      if (bodies === undefined)
        return failure(`The bodies of ${countOf(listed.length)} are too long for one result. Give a query.`);
      const summaryOf = createSummariser(cwd);
      const skills = listed.map((one) => ({ ...summaryOf(one), body: bodies.get(one.skill) }));
      const unread = includeBody ? listed.length - bodies.size : 0;
      const matching = wanted === '' ? '' : ` matching "${shorten(oneLine(wanted), 100)}"`;
      const text = [
        `${countOf(listed.length)}${matching}`,
        ...linesFor(listed, skillLine),
        ...(unread > 0 ? [`${countOf(unread)} without a body: it could not be read, or not in time`] : []),
      ].join('\n');
      return { content: [{ type: 'text', text }], structuredContent: { skills } };
    },
  };
}

// --- internal ---

const ARGUMENTS = { query: 'a text to look for', includeBody: 'true or false' };
const NO_BODIES: ReadonlyMap<Skill, string> = new Map();

/** The bodies that can be read; undefined when they are too long for one result. */
async function readBodies(
  listed: readonly ListedSkill[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Skill, string> | undefined> {
  const bodies = createBodies(signal);
  const texts = new Map<Skill, string>();
  let room = MAX_BODIES;
  try {
    await bodies.visit(listed, async ({ skill }) => {
      const body = room < 0 ? undefined : await bodies.of(skill);
      if (body === undefined) return;
      room -= body.length;
      texts.set(skill, body);
    });
  } finally {
    bodies.close();
  }
  return room < 0 ? undefined : texts;
}
