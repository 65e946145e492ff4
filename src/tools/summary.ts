/** Skills in the results of tools: as structured data, and as lines of text. */
import { isAbsolute, join, relative } from 'node:path';
import { realPathOf } from '../files/stats.ts';
import type { ListedSkill } from '../model.ts';
import { installName } from '../skills/search.ts';
import { counted, oneLine, printable, shorten, visibleLine } from '../text.ts';
import { MOST_LINES } from './limits.ts';
import { objectSchema } from './tool.ts';

/** The members of a summary in JSON Schema; all are required. */
export const SUMMARY_MEMBERS = {
  name: { type: 'string', description: 'The name that loads it.' },
  installName: { type: 'string', description: 'Name of the directory that the skill is in.' },
  meta: objectSchema({ name: { type: 'string' }, description: { type: 'string' } }),
  provider: { type: 'string', description: 'The agent, or the MCP server, that it belongs to.' },
  location: { type: 'string', description: 'project, global, plugin, custom, or mcp for one on an MCP server.' },
  skillPath: { type: 'string', description: 'The directory; relative when it is under the working directory.' },
  skillFile: { type: 'string', description: 'Its SKILL.md, likewise.' },
} as const;

/** For one result: the real path of each root is looked up once. */
export function createSummariser(cwd: string) {
  const known = new Map<string, string>();
  const real = (path: string) => {
    const answer = known.get(path) ?? realPath(path);
    known.set(path, answer);
    return answer;
  };
  const shown = (path: string, root: string) => {
    // The address of an upstream skill.
    if (!isAbsolute(path)) return printable(path);
    // The path of the working directory or of the root may contain symbolic links.
    return printable(below(cwd, path) ?? below(real(cwd), join(real(root), relative(root, path))) ?? path);
  };
  return ({ id, skill }: ListedSkill) => ({
    name: id,
    installName: visibleLine(installName(skill)),
    meta: { name: skill.name, description: skill.description },
    provider: skill.provider,
    location: skill.location,
    skillPath: shown(skill.directory, skill.root),
    skillFile: shown(skill.file, skill.root),
  });
}

/** A member of a structured result beside the skills: some hosts show their models nothing of the text. */
export const NOTE = { type: 'string', description: 'What is missing from this result, and why.' } as const;

/** One line per item, up to MOST_LINES, and how many more there are. */
export function linesFor<T>(items: readonly T[], lineFor: (item: T) => string): readonly string[] {
  const rest = items.length - MOST_LINES;
  return [...items.slice(0, MOST_LINES).map(lineFor), ...(rest > 0 ? [`… and ${rest} more`] : [])];
}

/** The name that loads the skill, and its description. */
export function skillLine({ id, skill }: ListedSkill): string {
  return `- ${oneLine(id)}: ${shorten(oneLine(skill.description), LONGEST_ABOUT)}`;
}

export const countOf = (count: number) => counted(count, 'skill');

// --- internal ---

// As much of a description as tells what the skill is for.
const LONGEST_ABOUT = 160;

/** The path relative to a directory that contains it; undefined for any other directory. */
function below(directory: string, path: string): string | undefined {
  const inside = relative(directory, path);
  return inside === '' || isAbsolute(inside) || /^\.\.(?:[/\\]|$)/.test(inside) ? undefined : inside;
}

function realPath(path: string): string {
  try {
    return realPathOf(path);
  } catch {
    return path; // It may have been deleted since the scan.
  }
}
