/**
 * The server's own tools.
 * Owns: which there are, their order, and the instructions about them. Leaves alone: what each does.
 */
import type { Registry } from '../catalog/registry.ts';
import type { Log } from '../log.ts';
import type { Tool } from '../model.ts';
import { listTool } from './list.ts';
import { readTool } from './read.ts';
import { searchTool } from './search.ts';
import { skillTool } from './skill.ts';

export const TOOL_NAMES = ['skill', 'list', 'search', 'read'] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

/** First a tool without required arguments: some clients call the first tool to see whether the server works. */
export function createOwnTools(
  wanted: 'auto' | readonly ToolName[],
  registry: Registry,
  cwd: string,
  log: Log,
): readonly Tool[] {
  const table: readonly (readonly [ToolName, Tool])[] = [
    ['list', listTool(cwd)],
    ['skill', skillTool(registry, log)],
    ['search', searchTool(cwd)],
    ['read', readTool(registry)],
  ];
  return table.filter(([name]) => wanted === 'auto' || wanted.includes(name)).map(([, tool]) => tool);
}

/** The text that a client gives to its model. `shown`: the own tools that the client is shown, with its spelling. */
export function instructionsFor(shown: ReadonlyMap<string, string>): string {
  const advice = Object.entries(ADVICE).flatMap(([name, textFor]) => {
    const spelled = shown.get(name);
    return spelled === undefined ? [] : [textFor(spelled)];
  });
  return ['Skills are instructions for particular kinds of tasks.', ...advice].join(' ');
}

// --- internal ---

const ADVICE: Readonly<Record<string, (name: string) => string>> = {
  skill: (name) =>
    `Before you start a task, see whether one of the skills in the description of the ${name} tool fits; if so, load it by name and follow it.`,
  'skills.list': (name) => `Prefer ${name} for exhaustive metadata about all skills.`,
  'skills.search': (name) => `Prefer ${name} to find a skill by words in its text.`,
  'skills.read': (name) => `${name} gives the files a skill refers to.`,
};
