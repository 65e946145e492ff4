/**
 * `prompts/*`: every visible skill as a prompt, because hosts offer prompts as slash commands and a person can then load one.
 * Owns: the list and its spelling for each client. Leaves alone: the text of a skill (tools/skill.ts).
 */
import type { FirstLists } from '../catalog/first-lists.ts';
import { compare } from '../compare.ts';
import { codeOf, isMissing } from '../files/stats.ts';
import { messageOf } from '../log.ts';
import type { ListedSkill, Snapshot } from '../model.ts';
import { invalidParams, type Method, type Peer } from '../protocol/index.ts';
import { oneLine, shorten } from '../text.ts';
import { type HostOptions, profileOf } from './host-profiles.ts';
import { pageOf } from './pagination.ts';
import { ambiguityOf, createNameTable, type Finding, type NameTable } from './spelling.ts';
import { CACHE_BRIEFLY, LONGEST_NAME, remember } from './tools.ts';

export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

export interface PromptTable {
  list(snapshot: Snapshot, peer: Peer): readonly Prompt[];
  digest(snapshot: Snapshot, peer: Peer): string;
  /** What this client means by a name. */
  find(snapshot: Snapshot, name: string, peer: Peer): Finding<ListedSkill>;
}

export function createPromptTable(options: HostOptions): PromptTable {
  const tables = new WeakMap<Snapshot, NameTable<ListedSkill>>();
  const lists = new WeakMap<Snapshot, Map<string, readonly Prompt[]>>();
  const digests = new WeakMap<readonly Prompt[], string>();
  const tableOf = (snapshot: Snapshot) =>
    remember(tables, snapshot, () =>
      createNameTable(new Map(snapshot.names.visible.map((one) => [one.id, one])), snapshot.servers),
    );

  function list(snapshot: Snapshot, { client }: Peer): readonly Prompt[] {
    const { names, longestName } = profileOf(client, options);
    const known = remember(lists, snapshot, () => new Map());
    return remember(known, `${names} ${longestName}`, () => {
      const spell = (id: string) => (names === 'safe' ? tableOf(snapshot).spell(id, longestName) : id);
      return snapshot.names.visible
        .map(({ id, skill }) => ({ name: spell(id), title: id, description: skill.description }))
        .sort((a, b) => compare(a.name, b.name));
    });
  }

  return {
    list,
    digest(snapshot, peer) {
      const prompts = list(snapshot, peer);
      return remember(digests, prompts, () => JSON.stringify(prompts));
    },
    find(snapshot, name, { client }) {
      const finding = tableOf(snapshot).find(name, profileOf(client, options).names);
      if (finding.kind !== 'missing') return finding;
      // What is not listed has a full name all the same; and a person may type what the skill tool takes.
      const resolution = snapshot.names.resolve(name);
      if (resolution.kind === 'found') return { kind: 'found', item: resolution };
      return resolution.kind === 'ambiguous' ? { kind: 'ambiguous', spellings: resolution.ids } : finding;
    },
  };
}

/** `textOf`: what loading the skill shows; throws when it cannot be read. */
export function promptMethods(
  lists: FirstLists,
  table: PromptTable,
  textOf: (listed: ListedSkill) => Promise<string>,
): readonly Method[] {
  return [
    {
      name: 'prompts/list',
      cache: CACHE_BRIEFLY,
      async run({ cursor }, { peer }) {
        const prompts = table.list(await lists.complete(), peer);
        const { items, more } = pageOf('prompts', prompts, ({ name }) => name, cursor, PAGE);
        return { prompts: items, ...more };
      },
    },
    {
      name: 'prompts/get',
      async run({ name }, { peer }) {
        if (typeof name !== 'string') throw invalidParams('name must be the name of a prompt');
        if (name.length > LONGEST_NAME) throw invalidParams(`no prompt has a name of over ${LONGEST_NAME} characters`);
        const snapshot = await lists.snapshotWith((now) => table.find(now, name, peer).kind !== 'missing');
        const finding = table.find(snapshot, name, peer);
        if (finding.kind === 'ambiguous') throw invalidParams(`prompt ${ambiguityOf(name, finding.spellings)}`);
        if (finding.kind === 'missing') throw invalidParams(`unknown prompt "${shorten(oneLine(name), 100)}"`);
        const listed = finding.item;
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
