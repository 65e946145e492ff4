/**
 * The `skills.list` tool: all skills as structured data. Also the summary of a skill, which `skills.search` gives too.
 * Owns: schemas and texts. Leaves alone: which skills there are (catalog/).
 */
import { relative } from 'node:path';
import * as v from 'valibot';
import type { Settings } from '../config.ts';
import { createPacer } from '../files/pace.ts';
import { isBelow } from '../files/stat.ts';
import { MAX_BODIES, MAX_QUERY } from '../limits.ts';
import type { ListedSkill, Tool } from '../model.ts';
import { bodyOf } from '../skills/front-matter.ts';
import { installName, mentions } from '../skills/search.ts';
import { counted, echo, printable, visibleLine } from '../text.ts';
import { failure, linesFor, objectSchema, ownTool, skillLine, structured, TEXT } from './tool.ts';

export const LONG_QUERY = `query must have at most ${MAX_QUERY} characters`;
export const ListInput = v.strictObject({
  query: v.optional(v.pipe(v.string('query must be text'), v.maxLength(MAX_QUERY, LONG_QUERY), v.trim()), ''),
  includeBody: v.optional(v.boolean('includeBody must be true or false'), false),
});
const ABOUT_QUERY = 'Only skills whose directory, name or description contains this text. Case does not matter.';
const ABOUT_BODY = 'Include the text of each SKILL.md, without its front matter.';
const QUERY = { ...TEXT, maxLength: MAX_QUERY, description: ABOUT_QUERY };
const INPUT = objectSchema({ query: QUERY, includeBody: { type: 'boolean', description: ABOUT_BODY } }, []);

const META = objectSchema({ name: TEXT, description: TEXT });
const PLACE = { provider: TEXT, location: TEXT, skillPath: TEXT, skillFile: TEXT };
/** The JSON Schema of a summary; all members are required. */
export const SUMMARY = { name: TEXT, installName: TEXT, meta: META, ...PLACE };
const ITEM = objectSchema({ ...SUMMARY, body: TEXT }, Object.keys(SUMMARY));
const OUTPUT = objectSchema({ skills: { type: 'array', items: ITEM } });

const DESCRIPTION =
  'List every skill as structured data: the name that loads it, its description, its place. Scans the directories again first.';

export function listTool({ cwd }: Settings): Tool {
  const form = { name: 'skills.list', title: 'List Skills', description: DESCRIPTION, inputSchema: INPUT };
  const tool = ownTool({ ...form, outputSchema: OUTPUT }, ListInput, async ({ query, includeBody }, { names }) => {
    const pace = createPacer();
    const found: ListedSkill[] = [];
    const skills: object[] = [];
    let room = MAX_BODIES;
    for (const listed of names.listed) {
      await pace();
      const { bytes } = listed.skill;
      if (query !== '' && !mentions(listed.skill, query)) continue;
      const body = includeBody && bytes ? bodyOf(bytes) : undefined;
      room -= body?.length ?? 0;
      if (room < 0) return failure('The texts of these skills are too long for one result. Give a query.');
      found.push(listed);
      skills.push({ ...summaryOf(listed, cwd), body });
    }
    const head = `${counted(found.length, 'skill')}${query === '' ? '' : ` matching "${echo(query)}"`}`;
    return structured([head, ...linesFor(found, skillLine)], { skills });
  });
  return { ...tool, isFresh: true };
}

/** Paths are relative to `cwd` where they are below it. */
export function summaryOf({ id, skill }: ListedSkill, cwd: string) {
  const shown = (path: string) => printable(isBelow(path, cwd) ? relative(cwd, path) || '.' : path);
  return {
    name: id,
    installName: visibleLine(installName(skill)),
    meta: { name: skill.name, description: skill.description },
    provider: skill.provider,
    location: skill.location,
    skillPath: shown(skill.directory),
    skillFile: shown(skill.file),
  };
}
