/**
 * The server's own tools.
 * Owns: which there are, their order, and the instructions about them. Leaves alone: what each does.
 */
import type { FirstLists } from '../catalog/first-lists.ts';
import type { Log } from '../log.ts';
import type { Tool } from '../model.ts';
import { listTool } from './list.ts';
import { readTool } from './read.ts';
import { searchTool } from './search.ts';
import { skillTool } from './skill.ts';

export type ToolName = 'skill' | 'list' | 'search' | 'read';

/** First a tool without required arguments: some clients call the first tool to see whether the server works. */
export function createOwnTools(wanted: readonly ToolName[], lists: FirstLists, cwd: string, log: Log): readonly Tool[] {
  const table: readonly (readonly [ToolName, Tool])[] = [
    ['list', listTool(cwd)],
    ['skill', skillTool(lists, log)],
    ['search', searchTool(cwd)],
    ['read', readTool(lists)],
  ];
  return table.filter(([name]) => wanted.includes(name)).map(([, tool]) => tool);
}

/** The text that a client gives to its model. `shown`: the own tools that the client is shown, with its spelling. */
export function instructionsFor(shown: ReadonlyMap<string, string>): string {
  const advice = ADVICE.flatMap(([name, textFor]) => {
    const spelled = shown.get(name);
    return spelled === undefined ? [] : [textFor(spelled)];
  });
  return ['Skills are instructions for particular kinds of tasks.', ...advice].join(' ');
}

// --- internal ---

const ADVICE: readonly (readonly [name: string, textFor: (spelled: string) => string])[] = [
  [
    'skill',
    (name) =>
      `Before you start a task, see whether one of the skills in the description of the ${name} tool fits; if so, load it by name and follow it.`,
  ],
  ['skills.list', (name) => `Prefer ${name} for exhaustive metadata about all skills.`],
  ['skills.search', (name) => `Prefer ${name} to find a skill by words in its text.`],
  ['skills.read', (name) => `${name} gives the files a skill refers to.`],
];
