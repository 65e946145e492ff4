/**
 * The `skills.list` tool: all skills as structured data.
 * Owns: its schemas and its text. Leaves alone: which skills there are (catalog/).
 */
import * as v from 'valibot';
import { createPacer } from '../files/pace.ts';
import type { ListedSkill, Skill, Tool } from '../model.ts';
import { openBodies } from '../skills/bodies.ts';
import { mentions } from '../skills/search.ts';
import { echo } from '../text.ts';
import { LONGEST_QUERY, MAX_BODIES } from './limits.ts';
import { countOf, createSummariser, linesFor, NOTE, SUMMARY_MEMBERS, skillLine } from './summary.ts';
import { checkedArguments, failure, inputOf, objectSchema, READ_ONLY } from './tool.ts';

export const LIST_INPUT = inputOf(
  {},
  {
    query: {
      check: () =>
        v.pipe(
          v.string('query must be text'),
          v.maxLength(LONGEST_QUERY, `query must have at most ${LONGEST_QUERY} characters`),
        ),
      schema: {
        type: 'string',
        maxLength: LONGEST_QUERY,
        description: 'Only skills whose directory, name or description contains this text. Case does not matter.',
      },
    },
    includeBody: {
      check: () => v.boolean('includeBody must be true or false'),
      schema: { type: 'boolean', description: 'Include the text of each SKILL.md, without its front matter.' },
    },
  },
);

const ITEMS = objectSchema({ ...SUMMARY_MEMBERS, body: { type: 'string' } }, Object.keys(SUMMARY_MEMBERS));
const OUTPUT_SCHEMA = objectSchema({ skills: { type: 'array', items: ITEMS }, note: NOTE }, ['skills']);

export function listTool(cwd: string): Tool {
  return {
    name: 'skills.list',
    title: 'List Skills',
    inputSchema: LIST_INPUT.schema,
    outputSchema: OUTPUT_SCHEMA,
    annotations: { title: 'List Skills', ...READ_ONLY },
    fresh: true,
    define: (_snapshot, view) => ({
      description: `List every skill with its name, description and place, as structured data. Scans the directories again first.${view.shows('skills.search') ? ` To search the texts of skills, use ${view.spell('skills.search')}.` : ''}`,
    }),
    async run(args, { names }, { signal }) {
      const { query = '', includeBody = false } = checkedArguments(LIST_INPUT, args);
      const wanted = query.trim();
      const listed = names.listed.filter(({ skill }) => wanted === '' || mentions(skill, wanted));
      const bodies = includeBody ? await readBodies(listed, signal) : new Map<Skill, string>();
      if (bodies === undefined)
        return failure(`The bodies of ${countOf(listed.length)} are too long for one result. Give a query.`);
      const summaryOf = createSummariser(cwd);
      const skills = listed.map((one) => ({ ...summaryOf(one), body: bodies.get(one.skill) }));
      const unread = includeBody ? listed.length - bodies.size : 0;
      const matching = wanted === '' ? '' : ` matching "${echo(wanted)}"`;
      const note = unread > 0 ? `${countOf(unread)} without a body: it could not be read, or not in time` : undefined;
      const lines = [`${countOf(listed.length)}${matching}`, ...linesFor(listed, skillLine), ...(note ? [note] : [])];
      return { content: [{ type: 'text', text: lines.join('\n') }], structuredContent: { skills, note } };
    },
  };
}

// --- internal ---

/** The bodies that can be read; undefined when they are too long for one result. */
async function readBodies(listed: readonly ListedSkill[], signal: AbortSignal) {
  const texts = new Map<Skill, string>();
  let room = MAX_BODIES;
  const bodies = await openBodies(listed, signal);
  const pace = createPacer();
  for (const { skill } of listed) {
    await pace();
    const body = room < 0 || signal.aborted ? undefined : await bodies(skill);
    if (body === undefined) continue;
    room -= body.length;
    texts.set(skill, body);
  }
  return room < 0 ? undefined : texts;
}
