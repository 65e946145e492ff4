/**
 * `tools/list` and `tools/call`.
 * Owns: the order of tools, their spelling for each client, finding the tool that is called.
 * Always true: a call runs on one snapshot; every spelling of a tool can be called; a source takes no name of our own.
 */
import type { Registry } from '../catalog/registry.ts';
import type { Settings } from '../config.ts';
import type { Tool, ToolView } from '../model.ts';
import { type Client, EncodedResult, invalidParams, isObject, type Method } from '../protocol/index.ts';
import { echo } from '../text.ts';
import { instructionsFor } from '../tools/index.ts';
import type { Profile, ProfileOf } from './hosts.ts';
import { type Feature, perSnapshot, readMethod } from './lists.ts';
import { createNameTable } from './spelling.ts';

/** `own`: the server's own tools, in their order. `instructionsFor`: what the client's model is told about them. */
export function createTools(
  registry: Registry,
  own: readonly Tool[],
  profileOf: ProfileOf,
  { describe }: Pick<Settings, 'describe'>,
): Feature & { instructionsFor(client: Client | undefined): string } {
  const listsSkills = own.some(({ define }) => define !== undefined);
  const ours = createNameTable('tool', own);
  const tables = perSnapshot(({ tools }) => createNameTable('tool', [...own, ...tools]));
  const lists = perSnapshot((snapshot, { nameLimit, budget }: Profile) => {
    const { shown, spell } = tables(snapshot);
    const view: ToolView = { describe, budget, spell: (name) => spell(name, nameLimit) };
    const definitionOf = (tool: Tool) => tool.define?.(snapshot, view) ?? tool.definition;
    return new EncodedResult({
      tools: Array.from(shown(nameLimit), ([name, tool]) => ({ ...definitionOf(tool), name })),
    });
  });

  const list = readMethod(registry, 'tools/list', (snapshot, { cursor }, { peer }) => {
    // Clients that ignore cursors would miss tools, so there is one page.
    if (cursor !== undefined) throw invalidParams('cursor is not one that this list gave out');
    return lists(snapshot, profileOf(peer.client));
  });
  const callTool: Method = {
    name: 'tools/call',
    async run({ name, arguments: given }, call) {
      const args = given ?? {};
      if (!isObject(args)) throw invalidParams('arguments must be an object');
      const { nameLimit } = profileOf(call.peer.client);
      // Before the tool is found in a snapshot, so that one snapshot is enough.
      const isFresh = ours.find(name, nameLimit)?.isFresh;
      const snapshot = await (isFresh ? registry.refresh('call') : registry.ready());
      const tool = tables(snapshot).find(name, nameLimit);
      if (!tool) throw invalidParams(`unknown tool "${echo(String(name))}"`);
      return tool.run(args, snapshot, call);
    },
  };

  return {
    name: 'tools',
    methods: [list, callTool],
    contents: ({ names, tools }) => [
      // Everything that our own definitions are made from.
      ...(listsSkills ? names.visible.map(({ id, skill }) => `${id}\n${skill.location}\n${skill.description}`) : []),
      ...tools.map(({ definition }) => definition),
    ],
    instructionsFor: (client) => instructionsFor((name) => ours.spell(name, profileOf(client).nameLimit)),
  };
}
