/**
 * `prompts/*`: every skill as a prompt, because hosts offer prompts as slash commands and a person can then load one.
 * Owns: the list and its spelling for each client. Leaves alone: the text of a skill (tools/skill.ts).
 */
import type { Registry } from '../catalog/registry.ts';
import { messageOf } from '../log.ts';
import type { Listed, Snapshot } from '../model.ts';
import { invalidParams, type Method, type Peer } from '../protocol/index.ts';
import { compare } from '../skills/address.ts';
import { codeOf, isMissing } from '../skills/files.ts';
import { type HostOptions, hostOf } from './hosts.ts';
import { pageOf } from './pages.ts';
import { everySpelling, safeSpellings } from './spelling.ts';
import { BRIEFLY } from './tools.ts';

export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

export interface PromptShelf {
  list(snapshot: Snapshot, peer: Peer): readonly Prompt[];
  digest(snapshot: Snapshot, peer: Peer): string;
  find(snapshot: Snapshot, name: string): Listed | undefined;
}

export function createPromptShelf(options: HostOptions): PromptShelf {
  const tables = new WeakMap<Snapshot, ReadonlyMap<string, Listed>>();

  function list({ names }: Snapshot, { client }: Peer): readonly Prompt[] {
    const host = hostOf(client, options);
    const ids = names.listed.map(({ id }) => id);
    const spellings = host.names === 'safe' ? safeSpellings(ids, host.longestName) : undefined;
    return names.listed
      .map(({ id, skill }) => ({ name: spellings?.get(id) ?? id, title: id, description: skill.description }))
      .sort((a, b) => compare(a.name, b.name));
  }

  return {
    list,
    digest: (snapshot, client) => JSON.stringify(list(snapshot, client)),
    find(snapshot, name) {
      const table = tables.get(snapshot) ?? everySpelling(new Map(snapshot.names.listed.map((one) => [one.id, one])));
      tables.set(snapshot, table);
      return table.get(name);
    },
  };
}

/** `textOf`: what loading the skill shows; throws when it cannot be read. */
export function promptMethods(
  registry: Registry,
  shelf: PromptShelf,
  textOf: (listed: Listed) => Promise<string>,
): readonly Method[] {
  return [
    {
      name: 'prompts/list',
      cache: BRIEFLY,
      async run({ cursor }, { peer }) {
        const prompts = shelf.list(await registry.whole(), peer);
        const { items, more } = pageOf('prompts', prompts, ({ name }) => name, cursor, PAGE);
        return { prompts: items, ...more };
      },
    },
    {
      name: 'prompts/get',
      async run({ name }) {
        if (typeof name !== 'string') throw invalidParams('name must be the name of a prompt');
        const snapshot = await registry.having((now) => shelf.find(now, name) !== undefined);
        const listed = shelf.find(snapshot, name);
        if (!listed) throw invalidParams(`unknown prompt "${name.slice(0, 100)}"`);
        const text = await textOf(listed).catch((error: unknown) => {
          throw invalidParams(`prompt "${listed.id}" ${whyNot(error)}`);
        });
        return { description: listed.skill.description, messages: [{ role: 'user', content: { type: 'text', text } }] };
      },
    },
  ];
}

// --- internal ---

// SDK clients stop after 64 pages: this many give them 32,000 prompts.
const PAGE = 500;

/** The list is of the last refresh; the file is read now. */
function whyNot(error: unknown): string {
  return isMissing(error) ? 'is no longer there' : `cannot be read (${codeOf(error) || messageOf(error)})`;
}
