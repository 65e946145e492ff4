/** Skills in the results of tools: as structured data, and as lines of text. */
import { realpathSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import type { ListedSkill } from '../model.ts';
import { installName } from '../skills/search.ts';
import { oneLine, printable, shorten, visibleLine } from '../text.ts';
import { MOST_LINES } from './limits.ts';

export interface Summary {
  readonly installName: string;
  readonly meta: { readonly name: string; readonly description: string };
  readonly skillPath: string;
  readonly skillFile: string;
}

/** The properties of a Summary in JSON Schema; all are required. */
export const SUMMARY_PROPERTIES = {
  installName: { type: 'string', description: 'Name of the directory that the skill is in.' },
  meta: {
    type: 'object',
    properties: { name: { type: 'string' }, description: { type: 'string' } },
    required: ['name', 'description'],
    additionalProperties: false,
  },
  skillPath: { type: 'string', description: 'The directory; relative when it is under the working directory.' },
  skillFile: { type: 'string', description: 'Its SKILL.md, likewise.' },
} as const;

/** For one result: the real path of each root is looked up once. */
export function createSummariser(cwd: string): (listed: ListedSkill) => Summary {
  const shorten = createShortener(cwd);
  return ({ skill }) => ({
    installName: visibleLine(installName(skill)),
    meta: { name: skill.name, description: skill.description },
    skillPath: printable(shorten(skill.directory, skill.root)),
    skillFile: printable(shorten(skill.file, skill.root)),
  });
}

/** One line per item, up to MOST_LINES, and how many more there are. */
export function linesFor<T>(items: readonly T[], lineFor: (item: T) => string): readonly string[] {
  const rest = items.length - MOST_LINES;
  return [...items.slice(0, MOST_LINES).map(lineFor), ...(rest > 0 ? [`… and ${rest} more`] : [])];
}

/** The name that loads the skill, and its description. */
export function skillLine({ id, skill }: ListedSkill): string {
  return `- ${oneLine(id)}: ${shorten(oneLine(skill.description), LONGEST_ABOUT)}`;
}

/** "1 skill", "3 skills". */
export function countOf(number: number): string {
  return `${number} ${number === 1 ? 'skill' : 'skills'}`;
}

// --- internal ---

// As much of a description as tells what the skill is for.
const LONGEST_ABOUT = 160;

/** The path of the working directory or of the root may contain symbolic links. */
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

/** The path relative to a directory that contains it; undefined for any other directory. */
function below(directory: string, path: string): string | undefined {
  const inside = relative(directory, path);
  return inside === '' || isAbsolute(inside) || /^\.\.(?:[/\\]|$)/.test(inside) ? undefined : inside;
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path; // It may have been deleted since the scan.
  }
}
