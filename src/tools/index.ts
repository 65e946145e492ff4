/**
 * Our own tools, in the order in which they are listed, and what the model of a client is told of them.
 * Leaves alone: what each does (one file each), how a client spells their names (methods/spelling.ts).
 */
import { type Settings, TOOLS } from '../config.ts';
import type { Tool } from '../model.ts';
import { listTool } from './list.ts';
import { readTool } from './read.ts';
import { searchTool } from './search.ts';
import { skillTool } from './skill.ts';

export function createOwnTools(settings: Settings): readonly Tool[] {
  const all = { list: listTool, skill: skillTool, search: searchTool, read: readTool };
  return TOOLS.filter((name) => settings.tools.includes(name)).map((name) => all[name](settings));
}

/** The text that a client gives to its model. `spell`: the client's spelling; undefined for a tool that is not served. */
export function instructionsFor(spell: (name: string) => string | undefined): string {
  const [skill, list, search, read] = ['skill', 'skills.list', 'skills.search', 'skills.read'].map(spell);
  return [
    'Skills are instructions for particular kinds of tasks.',
    skill &&
      `Before you start a task, see whether one of the skills in the description of the ${skill} tool fits; if so, load it by name and follow it.`,
    list && `Prefer ${list} for exhaustive metadata about all skills.`,
    search && `Prefer ${search} for a targeted look-up: it finds a skill by words in its text.`,
    read && `${read} gives the files a skill refers to.`,
  ]
    .filter(Boolean)
    .join(' ');
}
