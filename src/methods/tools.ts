/**
 * `tools/list` and `tools/call`.
 * Owns: the order of tools, their spelling for each client, finding the one that is called.
 * Always true: a call of what is there asks the registry once, and waits for no server; every spelling of a tool
 * answers a call.
 */
import type { FirstLists } from '../catalog/first-lists.ts';
import type { Registry } from '../catalog/registry.ts';
import type { Snapshot, Tool, ToolDefinition, ToolResult, ToolView } from '../model.ts';
import { invalidParams, isObject, type Method, type Peer, SKILLS_EXTENSION } from '../protocol/index.ts';
import { cut, oneLine, shorten } from '../text.ts';
import { type HostOptions, type HostProfile, profileOf } from './host-profiles.ts';
import { ambiguityOf, createNameTable, type Finding, type NameTable } from './spelling.ts';

/** Files change under us and are this user's own: a client may reuse a list for a moment, and for itself only. */
export const CACHE_BRIEFLY = { ttlMs: 1000, cacheScope: 'private' } as const;

export interface ToolTable {
  /** The tools as this client is shown them. */
  list(snapshot: Snapshot, peer: Peer): readonly ToolDefinition[];
  /** The list as one text, for telling whether it has changed. */
  digest(snapshot: Snapshot, peer: Peer): string;
  /** What this client means by a name. */
  find(snapshot: Snapshot, name: string, peer: Peer): Finding<Tool>;
  /** What this client means by a name, among the tools that are always there. */
  findOwn(name: string, peer: Peer): Finding<Tool>;
  size(snapshot: Snapshot): number;
  /** Of the tools that are always there those this client is shown: the plain name of each, and the client's spelling. */
  ownFor(peer: Peer): ReadonlyMap<string, string>;
}

export interface ToolTableOptions extends HostOptions {
  /** Leave out what a client can do by itself that has the Skills extension. */
  readonly sparing: boolean;
}

/** `own`: the tools that are always there, in the order they are listed. */
export function createToolTable(own: readonly Tool[], options: ToolTableOptions): ToolTable {
  const lists = new WeakMap<Snapshot, Map<string, readonly ToolDefinition[]>>();
  const digests = new WeakMap<readonly ToolDefinition[], string>();
  const tables = new WeakMap<Snapshot, NameTable<Tool>>();
  const tools = new WeakMap<Snapshot, ReadonlyMap<string, Tool>>();
  const toolsOf = (snapshot: Snapshot) => remember(tools, snapshot, () => byName([...own, ...snapshot.tools]));
  const all = (snapshot: Snapshot) => [...toolsOf(snapshot).values()];
  const tableOf = (snapshot: Snapshot) =>
    remember(tables, snapshot, () => createNameTable(toolsOf(snapshot), snapshot.servers));
  const ownTable = createNameTable(byName(own), []);
  const sparedFor = (peer: Peer) => (options.sparing && peer.extensions.has(SKILLS_EXTENSION) ? EXTENSION_DOES : NONE);

  function list(snapshot: Snapshot, peer: Peer): readonly ToolDefinition[] {
    const host = profileOf(peer.client, options);
    const { anyStructure = false } = peer;
    const spared = sparedFor(peer);
    return remember(
      remember(lists, snapshot, () => new Map()),
      `${keyOf(host)} ${spared.size} ${anyStructure}`,
      () => {
        const shown = all(snapshot).filter(({ name }) => !spared.has(name));
        const names = new Set(shown.map(({ name }) => name));
        const view: ToolView = {
          describe: host.describe,
          budget: host.budget,
          anyStructure,
          spell: (name) => (host.names === 'safe' ? tableOf(snapshot).spell(name, host.longestName) : name),
          shows: (name) => names.has(name),
        };
        return shown.map((tool) => tool.define(snapshot, view));
      },
    );
  }

  return {
    list,
    digest(snapshot, peer) {
      const definitions = list(snapshot, peer);
      return remember(digests, definitions, () => JSON.stringify(definitions));
    },
    size: (snapshot) => all(snapshot).length,
    ownFor(peer) {
      const host = profileOf(peer.client, options);
      const spell = (name: string) => (host.names === 'safe' ? ownTable.spell(name, host.longestName) : name);
      const shown = own.filter(({ name }) => !sparedFor(peer).has(name));
      return new Map(shown.map(({ name }) => [name, spell(name)]));
    },
    find: (snapshot, name, peer) => tableOf(snapshot).find(name, profileOf(peer.client, options).names),
    findOwn: (name, peer) => ownTable.find(name, profileOf(peer.client, options).names),
  };
}

export function toolMethods(registry: Registry, lists: FirstLists, table: ToolTable): readonly Method[] {
  function find(snapshot: Snapshot, name: string, peer: Peer): Tool | undefined {
    const finding = table.find(snapshot, name, peer);
    switch (finding.kind) {
      case 'found':
        return finding.item;
      case 'ambiguous':
        throw invalidParams(`tool ${ambiguityOf(name, finding.spellings)}`);
      case 'missing':
        return undefined;
    }
  }

  return [
    {
      name: 'tools/list',
      cache: CACHE_BRIEFLY,
      async run({ cursor }, { peer }) {
        if (cursor !== undefined) throw invalidParams('cursor is not one of ours: the list has one page');
        return { tools: table.list(await lists.complete(), peer) };
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
        if (late?.offline === undefined) throw invalidParams(`unknown tool "${echo(name)}"`);
        return notConnected(`${echo(name)} could not be called`, late.offline);
      },
    },
  ];
}

export interface Memory<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/** What was made for that key, or is made now. */
export function remember<K, V>(memory: Memory<K, V>, key: K, make: () => V): V {
  const known = memory.get(key);
  if (known !== undefined) return known;
  const made = make();
  memory.set(key, made);
  return made;
}

/** A server's name, a colon, and a tool's name of at most 128; nothing that is served has a longer name. */
export const LONGEST_NAME = 4096;

// --- internal ---

const echo = (name: string) => shorten(oneLine(cut(name, LONGEST_NAME)), LONGEST_ECHO);
// Enough to recognise what was asked for.
const LONGEST_ECHO = 100;

/** Of several with one name, which only sources of an embedder's can have, the first is the one. */
function byName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const firsts = new Map<string, Tool>();
  for (const tool of tools) if (!firsts.has(tool.name)) firsts.set(tool.name, tool);
  return firsts;
}

function notConnected(what: string, why: string): ToolResult {
  return { content: [{ type: 'text', text: `${what}: the server is not connected (${why})` }], isError: true };
}

const NONE: ReadonlySet<string> = new Set();
// Searching is not part of the extension.
const EXTENSION_DOES: ReadonlySet<string> = new Set(['skill', 'skills.list', 'skills.read']);

const keyOf = ({ names, longestName, describe, budget }: HostProfile) =>
  `${names} ${longestName} ${describe} ${budget}`;
