/**
 * The server's own tools, in the order in which they are listed.
 * Leaves alone: what each does, and what a client is told of them (instructions.ts).
 */
import type { Registry } from '../catalog/registry.ts';
import type { Log } from '../log.ts';
import type { Tool } from '../model.ts';
import { ownToolNames, type ToolName } from './instructions.ts';
import { listTool } from './list.ts';
import { readTool } from './read.ts';
import { searchTool } from './search.ts';
import { skillTool } from './skill.ts';

/** First a tool without required arguments: some clients call the first tool to see whether the server works. */
export function createOwnTools(
  wanted: 'auto' | readonly ToolName[],
  registry: Registry,
  cwd: string,
  log: Log,
): readonly Tool[] {
  const names = ownToolNames(wanted);
  const all = [listTool(cwd), skillTool(registry, log), searchTool(cwd), readTool(registry)];
  return all.filter(({ name }) => names.includes(name));
}
