/**
 * `tools/list` and `tools/call`.
 * Owns: the order of tools, their spelling for each client, finding the tool that is called.
 * Always true: a call of a known tool waits for no server; every spelling of a tool can be called.
 */
import type { FirstLists } from '../catalog/first-lists.ts';
import type { Registry } from '../catalog/registry.ts';
import type { Snapshot, Tool, ToolDefinition, ToolView } from '../model.ts';
import { invalidParams, isObject, type Method, type Peer, SKILLS_EXTENSION } from '../protocol/index.ts';
import { oneLine, shorten } from '../text.ts';
import { failure } from '../tools/result.ts';
import { CACHE_BRIEFLY } from './cache-hints.ts';
import { type HostOptions, type HostProfile, profileOf } from './host-profiles.ts';
import { LONGEST_ECHO, LONGEST_NAME } from './limits.ts';
import { EncodedList, type ListShape, perSnapshot } from './pagination.ts';
import { ambiguityOf, createNameTable, type Finding } from './spelling.ts';

export interface ToolTable {
  /** The tools as this client is shown them. */
  list(snapshot: Snapshot, peer: Peer): EncodedList<ToolDefinition>;
  /** The tool that this client means by a name. */
  find(snapshot: Snapshot, name: string, peer: Peer): Finding<Tool>;
  /** The same among the server's own tools, which every snapshot has. */
  findOwn(name: string, peer: Peer): Finding<Tool>;
  size(snapshot: Snapshot): number;
  /** The own tools that this client is shown: the plain name of each, and the client's spelling. */
  ownFor(peer: Peer): ReadonlyMap<string, string>;
}

export interface ToolTableOptions extends HostOptions {
  /** Leave out the tools that a client with the Skills extension does not need. */
  readonly omitForExtension: boolean;
}

/** `own`: the server's own tools, in the order in which they are listed. */
export function createToolTable(own: readonly Tool[], options: ToolTableOptions): ToolTable {
  const toolsOf = perSnapshot((snapshot) => {
    const byName = firstOfEachName([...own, ...snapshot.tools]);
    const lists = new Map<string, EncodedList<ToolDefinition>>();
    return { byName, table: createNameTable(byName, snapshot.servers), lists };
  });
  const ownTable = createNameTable(firstOfEachName(own), []);
  const omittedFor = (peer: Peer) =>
    options.omitForExtension && peer.extensions.has(SKILLS_EXTENSION) ? DONE_BY_EXTENSION : NONE;

  function makeList(snapshot: Snapshot, host: HostProfile, omitted: ReadonlySet<string>, anyStructure: boolean) {
    const { byName, table } = toolsOf(snapshot);
    const shows = (name: string) => byName.has(name) && !omitted.has(name);
    const view: ToolView = {
      describe: host.describe,
      budget: host.budget,
      anyStructure,
      spell: (name) => (host.names === 'safe' ? table.spell(name, host.longestName) : name),
      shows,
    };
    const shown = [...byName.values()].filter(({ name }) => shows(name));
    return new EncodedList(
      TOOLS,
      shown.map((tool) => definitionOf(tool, snapshot, view)),
    );
  }

  return {
    list(snapshot, peer) {
      const host = profileOf(peer.client, options);
      const omitted = omittedFor(peer);
      const { anyStructure = false } = peer;
      const { lists } = toolsOf(snapshot);
      const key = JSON.stringify([host, omitted.size, anyStructure]);
      const list = lists.get(key) ?? makeList(snapshot, host, omitted, anyStructure);
      lists.set(key, list);
      return list;
    },
    find: (snapshot, name, peer) => toolsOf(snapshot).table.find(name, profileOf(peer.client, options).names),
    findOwn: (name, peer) => ownTable.find(name, profileOf(peer.client, options).names),
    size: (snapshot) => toolsOf(snapshot).byName.size,
    ownFor(peer) {
      const host = profileOf(peer.client, options);
      const spell = (name: string) => (host.names === 'safe' ? ownTable.spell(name, host.longestName) : name);
      const shown = own.filter(({ name }) => !omittedFor(peer).has(name));
      return new Map(shown.map(({ name }) => [name, spell(name)]));
    },
  };
}

export function toolMethods(registry: Registry, lists: FirstLists, table: ToolTable): readonly Method[] {
  function find(snapshot: Snapshot, name: string, peer: Peer): Tool | undefined {
    const finding = table.find(snapshot, name, peer);
    if (finding.kind === 'ambiguous') throw invalidParams(`tool ${ambiguityOf(name, finding.spellings)}`);
    return finding.kind === 'found' ? finding.item : undefined;
  }

  return [
    {
      name: 'tools/list',
      cache: CACHE_BRIEFLY,
      async run({ cursor }, { peer }) {
        if (cursor !== undefined) throw invalidParams('cursor is not one of ours: the list has one page');
        return table.list(await lists.complete(), peer).page(undefined);
      },
    },
    {
      name: 'tools/call',
      async run(params, call) {
        const { name } = params;
        const args = params.arguments ?? {};
        if (typeof name !== 'string') throw invalidParams('name must be the name of a tool');
        if (name.length > LONGEST_NAME) throw invalidParams(`no tool has a name of over ${LONGEST_NAME} characters`);
        if (!isObject(args)) throw invalidParams('arguments must be an object');
        const own = table.findOwn(name, call.peer);
        const isFresh = own.kind === 'found' && own.item.fresh;
        const snapshot = await (isFresh ? registry.refresh('call') : registry.ready());
        const tool = find(snapshot, name, call.peer);
        if (tool) return tool.run(args, snapshot, call);
        const late = await lists.lookAgain(name);
        const lateTool = late && find(late.snapshot, name, call.peer);
        if (lateTool) return lateTool.run(args, late.snapshot, call);
        const shown = shorten(oneLine(name), LONGEST_ECHO);
        if (late?.offline === undefined) throw invalidParams(`unknown tool "${shown}"`);
        return failure(`${shown} could not be called: the server is not connected (${late.offline})`);
      },
    },
  ];
}

// --- internal ---

// Clients that ignore cursors would miss tools, so there is one page.
const TOOLS: ListShape<ToolDefinition> = {
  name: 'tools',
  member: 'tools',
  pageSize: Number.POSITIVE_INFINITY,
  keyOf: ({ name }) => name,
};

const NONE: ReadonlySet<string> = new Set();
// Searching is not part of the extension.
const DONE_BY_EXTENSION: ReadonlySet<string> = new Set(['skill', 'skills.list', 'skills.read']);

/** Only an embedder's sources can have two tools of one name, or one of ours. The first is served. */
function firstOfEachName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const firsts = new Map<string, Tool>();
  for (const tool of tools) if (!firsts.has(tool.name)) firsts.set(tool.name, tool);
  return firsts;
}

function definitionOf(tool: Tool, snapshot: Snapshot, view: ToolView): ToolDefinition {
  const { title, description, inputSchema, outputSchema, annotations } = tool;
  const fixed = { title, description, inputSchema, outputSchema, annotations };
  return { ...fixed, ...tool.define?.(snapshot, view), name: view.spell(tool.name) };
}
