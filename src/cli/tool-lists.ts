/**
 * What the model of a host is given by this server, and what it costs in every conversation.
 * Owns: measuring. Leaves alone: what each host is sent (methods/host-profiles.ts, tools/description.ts).
 */
import type { Handle } from '../index.ts';
import { createProfiles, type HostOptions, knownHosts } from '../methods/host-profiles.ts';
import { connectAs, type LocalClient, type ShownTool } from './client.ts';
import { counted, roughTokens } from './output.ts';

export interface ToolList {
  readonly tools: readonly ShownTool[];
  /** Of the whole list as JSON. */
  readonly characters: number;
  readonly tokens: number;
  /** Of the `skill` tool. */
  readonly description: string;
  /** How many skills have less than their description in it, and how many are not even named. */
  readonly shortened: number;
  readonly unnamed: number;
}

export async function toolListOf(client: LocalClient): Promise<ToolList> {
  const tools = await client.listTools();
  const json = JSON.stringify(tools);
  const { description = '' } = tools.find(({ name }) => name === 'skill') ?? {};
  return { tools, characters: json.length, tokens: roughTokens(json), description, ...cutsIn(description) };
}

/** What the description lacks, in words. */
export function lackOf({ shortened, unnamed }: Pick<ToolList, 'shortened' | 'unnamed'>): readonly string[] {
  return [
    ...(shortened > 0 ? [`${counted(shortened, 'description')} cut`] : []),
    ...(unnamed > 0 ? [`${counted(unnamed, 'skill')} not named`] : []),
  ];
}

/** The lists that the known hosts and any other client get. Hosts that get the same are one entry. */
export async function toolListsOf(handle: Handle, options: HostOptions) {
  const groups = new Map<string, string[]>();
  const profileOf = createProfiles(options);
  for (const host of [OTHERS, ...knownHosts()]) {
    const { key } = profileOf({ name: host, version: '' });
    groups.set(key, [...(groups.get(key) ?? []), host]);
  }
  const lists = [];
  for (const hosts of groups.values()) {
    const { tools, description, ...sizes } = await toolListOf(await connectAs(hosts[0] ?? OTHERS, handle));
    lists.push({ hosts, tools: tools.length, description: description.length, ...sizes });
  }
  return lists;
}

// --- internal ---

/** Stands for every client that is not in the table. */
const OTHERS = 'any other';

/** In a compact list: `- pdf: About...` is shortened, a name alone has lost its description, the last line counts the rest. */
function cutsIn(description: string): Pick<ToolList, 'shortened' | 'unnamed'> {
  const [, block = ''] = /<available_skills>\n([\s\S]*)\n<\/available_skills>/.exec(description) ?? [];
  const lines = block.split('\n').filter((line) => line !== '' && !line.startsWith('<'));
  const unnamed = Number(/^\u2026 and (\d+) more/.exec(lines.at(-1) ?? '')?.[1] ?? 0);
  const named = unnamed > 0 ? lines.slice(0, -1) : lines;
  return { shortened: named.filter((line) => !line.startsWith('- ') || line.endsWith('…')).length, unnamed };
}
