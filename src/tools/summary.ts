/** A skill as `skills.list` and `skills.search` show it. */
import { isAbsolute, relative } from 'node:path';
import type { Listed } from '../model.ts';
import { installName } from '../skills/search.ts';
import { oneLine, shorten } from './text.ts';

export interface Summary {
  readonly installName: string;
  readonly meta: { readonly name: string; readonly description: string };
  readonly skillPath: string;
  readonly skillFile: string;
}

/** The properties of a Summary in JSON Schema; all of them are always there. */
export const SUMMARY_PROPERTIES = {
  installName: { type: 'string', description: 'Name of the directory the skill lies in.' },
  meta: {
    type: 'object',
    properties: { name: { type: 'string' }, description: { type: 'string' } },
    required: ['name', 'description'],
    additionalProperties: false,
  },
  skillPath: { type: 'string', description: 'The directory; relative when it is under the working directory.' },
  skillFile: { type: 'string', description: 'Its SKILL.md, likewise.' },
} as const;

export function summaryOf({ skill }: Listed, cwd: string): Summary {
  return {
    installName: installName(skill),
    meta: { name: skill.name, description: skill.description },
    skillPath: shortPath(skill.directory, cwd),
    skillFile: shortPath(skill.file, cwd),
  };
}

/** One line for people: the name that loads the skill, and what it is about. */
export function lineFor({ id, skill }: Listed): string {
  return `- ${oneLine(id)}: ${shorten(oneLine(skill.description), LONGEST_ABOUT)}`;
}

/** "1 skill", "3 skills". */
export function countOf(number: number): string {
  return `${number} ${number === 1 ? 'skill' : 'skills'}`;
}

// --- internal ---

const LONGEST_ABOUT = 160;

function shortPath(path: string, cwd: string): string {
  if (!isAbsolute(path)) return path;
  const short = relative(cwd, path);
  return short === '' || isAbsolute(short) || /^\.\.(?:[/\\]|$)/.test(short) ? path : short;
}
