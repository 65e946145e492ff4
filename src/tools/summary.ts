/** A skill as `skills.list` and `skills.search` show it. */
import { realpathSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import type { ListedSkill } from '../model.ts';
import { installName } from '../skills/search.ts';
import { oneLine, printable, shorten, visibleLine } from '../text.ts';

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

/** For one answer: what a root really is is looked up once in it. */
export function createSummariser(cwd: string): (listed: ListedSkill) => Summary {
  const shorten = createShortener(cwd);
  return ({ skill }) => ({
    installName: visibleLine(installName(skill)),
    meta: { name: skill.name, description: skill.description },
    skillPath: printable(shorten(skill.directory, skill.root)),
    skillFile: printable(shorten(skill.file, skill.root)),
  });
}

/** One line for people: the name that loads the skill, and what it is about. */
export function lineFor({ id, skill }: ListedSkill): string {
  return `- ${oneLine(id)}: ${shorten(oneLine(skill.description), LONGEST_ABOUT)}`;
}

/** "1 skill", "3 skills". */
export function countOf(number: number): string {
  return `${number} ${number === 1 ? 'skill' : 'skills'}`;
}

// --- internal ---

const LONGEST_ABOUT = 160;

/** The working directory, the root, or both may have been given by way of a link. */
function createShortener(cwd: string): (path: string, root: string) => string {
  const known = new Map<string, string>();
  const real = (path: string) => {
    const answer = known.get(path) ?? realPath(path);
    known.set(path, answer);
    return answer;
  };
  return (path, root) => {
    if (!isAbsolute(path)) return path;
    return below(cwd, path) ?? below(real(cwd), join(real(root), relative(root, path))) ?? path;
  };
}

/** The way down from a directory to a path, if there is one. */
function below(directory: string, path: string): string | undefined {
  const way = relative(directory, path);
  return way === '' || isAbsolute(way) || /^\.\.(?:[/\\]|$)/.test(way) ? undefined : way;
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path; // It may have gone since the scan.
  }
}
