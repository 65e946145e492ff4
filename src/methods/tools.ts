/**
 * `tools/list` and `tools/call`.
 * Owns: the order of tools, their spelling for each client, finding the tool that is called.
 * Always true: a call of a known tool does not wait for servers that are connecting; every spelling of a tool can be called.
 */
import type { Registry } from '../catalog/registry.ts';
import type { Snapshot, Tool, ToolView } from '../model.ts';
import { invalidParams, isObject, type Method, type Peer } from '../protocol/index.ts';
import { echo } from '../text.ts';
import { failure } from '../tools/tool.ts';
import { CACHE_BRIEFLY } from './limits.ts';
import { createList, listMethod, perSnapshot } from './lists.ts';
import type { ShowTo } from './own-skills.ts';
import { createNameTable, type NameTable, nameParam } from './spelling.ts';
import type { PeerView, Views } from './views.ts';

/** `own`: the server's own tools, in the order in which they are listed. */
export function createTools(registry: Registry, own: readonly Tool[], showTo: ShowTo, views: Views) {
  const tables = perSnapshot(({ tools, servers }) => tableOf([...own, ...tools], servers));
  const lists = perSnapshot(
    (snapshot, view: PeerView) => listOf(showTo(snapshot, view.host.agent), tables(snapshot), view),
    ({ key }) => key,
  );
  const listFor = (snapshot: Snapshot, peer: Peer) => lists(snapshot, views.viewFor(peer));

  const callTool: Method = {
    name: 'tools/call',
    run(params, call) {
      const name = nameParam('tool', params.name);
      const args = params.arguments ?? {};
      if (!isObject(args)) throw invalidParams('arguments must be an object');
      const { nameLimit, agent } = views.profileOf(call.peer.client);
      const find = (snapshot: Snapshot) => tables(snapshot).find(name, nameLimit);
      const runIn = (tool: Tool, snapshot: Snapshot) => tool.run(args, showTo(snapshot, agent), call);
      const run = (tool: Tool, snapshot: Snapshot) =>
        tool.fresh ? registry.refresh('call').then((fresh) => runIn(tool, fresh)) : runIn(tool, snapshot);
      // Most tools are there: to wait for them all the same would take a tenth of the time of a call.
      const current = registry.current();
      const known = current && find(current);
      if (known) return run(known, current);
      return registry.find(name, find).then((found) => {
        if (found.kind === 'found') return run(found.item, found.snapshot);
        if (found.kind === 'missing') throw invalidParams(`unknown tool "${echo(name)}"`);
        return failure(`${echo(name)} could not be called: the server is not connected (${found.state})`);
      });
    },
  };

  return {
    name: 'tools' as const,
    methods: [listMethod({ name: 'tools/list', cache: CACHE_BRIEFLY }, registry, listFor), callTool],
    lists: (snapshot: Snapshot, peer: Peer) => [listFor(snapshot, peer)],
    size: (snapshot: Snapshot) => tables(snapshot).items.size,
  };
}

// --- internal ---

/** Only an embedder's sources can have two tools of one name, or one of ours. The first is served. */
function tableOf(tools: readonly Tool[], servers: readonly string[]): NameTable<Tool> {
  const firsts = new Map<string, Tool>();
  for (const tool of tools) if (!firsts.has(tool.name)) firsts.set(tool.name, tool);
  return createNameTable('tool', firsts, servers);
}

function listOf(snapshot: Snapshot, { items, spell }: NameTable<Tool>, { host, omitted, anyStructure }: PeerView) {
  const view: ToolView = {
    describe: host.describe,
    budget: host.budget,
    inBytes: host.inBytes,
    anyStructure,
    spell: (name) => spell(name, host.nameLimit),
    shows: (name) => items.has(name) && !omitted.includes(name),
  };
  const shown = [...items.values()].filter(({ name }) => view.shows(name));
  const nameOf = ({ name }: Tool) => view.spell(name);
  const define = (tool: Tool) => {
    const { title, description, inputSchema, outputSchema, annotations } = tool;
    const fixed = { title, description, inputSchema, outputSchema, annotations };
    return { ...fixed, ...tool.define?.(snapshot, view), name: nameOf(tool) };
  };
  // Clients that ignore cursors would miss tools, so there is one page.
  return createList('tools', shown, nameOf, Number.POSITIVE_INFINITY, 'tools', define);
}
