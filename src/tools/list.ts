/**
 * The `skills.list` tool: all skills as data.
 * Owns: its schemas and its text. Leaves alone: which skills there are (catalog).
 */
import * as v from 'valibot';
import type { ListedSkill, Skill, Tool } from '../model.ts';
import { createBodies } from '../skills/bodies.ts';
import { mentions } from '../skills/search.ts';
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
      description: `List every skill with its name, description and place, as structured data. Reads the directories anew.${view.shows('skills.search') ? ` To look for something in the texts of skills, ${view.spell('skills.search')} is better.` : ''}`,
      inputSchema: LIST_INPUT_SCHEMA,
      outputSchema: LIST_OUTPUT_SCHEMA,
      annotations: { title: 'List Skills', ...READ_ONLY },
    }),
    async run(args, snapshot, { signal }) {
      const { query = '', includeBody = false } = checkedArguments(ListInput, args, ['query', 'includeBody']);
      const wanted = query.trim();
      const listed = snapshot.names.listed.filter(({ skill }) => wanted === '' || mentions(skill, wanted));
      const summaryOf = createSummariser(cwd);
      const texts = includeBody ? await readBodies(listed, signal) : NO_TEXTS;
      if (texts === undefined)
        return failure(`The bodies of ${countOf(listed.length)} are too long for one answer. Give a query.`);
      const skills = listed.map((one) => {
        const body = texts.get(one.skill);
        return { ...summaryOf(one), ...(body === undefined ? {} : { body }) };
      });
      const lacking = includeBody ? listed.length - texts.size : 0;
      const which = wanted === '' ? '' : ` matching "${shorten(oneLine(wanted), 100)}"`;
      const lines = listed.slice(0, MOST_LINES).map(lineFor);
      const rest = listed.length - lines.length;
      const text = [
        `${countOf(listed.length)}${which}`,
        ...lines,
        ...(rest > 0 ? [`… and ${rest} more`] : []),
        ...(lacking > 0 ? [`${countOf(lacking)} without a body: it could not be read, or not in time`] : []),
      ].join('\n');
      return { content: [{ type: 'text', text }], structuredContent: { skills } };
    },
  };
}

// --- internal ---

const NO_TEXTS: ReadonlyMap<Skill, string> = new Map();

/** The bodies that can be had; undefined when they are too long for one answer. */
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
