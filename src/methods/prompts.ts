/**
 * `prompts/*`: every visible skill as a prompt, because hosts show prompts as slash commands.
 * Owns: the list and its spelling for each client. Leaves alone: the text of a skill (tools/skill.ts).
 */
import type { FirstLists } from '../catalog/first-lists.ts';
import { compare } from '../compare.ts';
import { codeOf, isMissing } from '../files/stats.ts';
import { messageOf } from '../log.ts';
import type { ListedSkill, Snapshot } from '../model.ts';
import { invalidParams, type Method, type Peer } from '../protocol/index.ts';
import { oneLine, shorten } from '../text.ts';
import { CACHE_BRIEFLY } from './cache-hints.ts';
import { type HostOptions, type HostProfile, profileOf } from './host-profiles.ts';
import { LONGEST_ECHO, LONGEST_NAME, PAGE } from './limits.ts';
import { EncodedList, type ListShape, perSnapshot } from './pagination.ts';
import { ambiguityOf, createNameTable, type Finding } from './spelling.ts';

export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

export interface PromptTable {
  /** The prompts as this client is shown them. */
  list(snapshot: Snapshot, peer: Peer): EncodedList<Prompt>;
  /** The skill that this client means by a name. */
  find(snapshot: Snapshot, name: string, peer: Peer): Finding<ListedSkill>;
}

export function createPromptTable(options: HostOptions): PromptTable {
  const promptsOf = perSnapshot(({ names: { visible }, servers }) => ({
    table: createNameTable(new Map(visible.map((one) => [one.id, one])), servers),
    lists: new Map<string, EncodedList<Prompt>>(),
  }));

  function makeList(snapshot: Snapshot, { names, longestName }: HostProfile): EncodedList<Prompt> {
    const { table } = promptsOf(snapshot);
    const spell = (id: string) => (names === 'safe' ? table.spell(id, longestName) : id);
    const prompts = snapshot.names.visible.map(({ id, skill }) => ({
      name: spell(id),
      title: id,
      description: skill.description,
    }));
    return new EncodedList(
      PROMPTS,
      prompts.sort((a, b) => compare(a.name, b.name)),
    );
  }

  return {
    list(snapshot, { client }) {
      const host = profileOf(client, options);
      const { lists } = promptsOf(snapshot);
      const key = `${host.names} ${host.longestName}`;
      const list = lists.get(key) ?? makeList(snapshot, host);
      lists.set(key, list);
      return list;
    },
    find(snapshot, name, { client }) {
      const finding = promptsOf(snapshot).table.find(name, profileOf(client, options).names);
      if (finding.kind !== 'missing') return finding;
      // A skill that is not listed has a full name all the same, and a person may type what the skill tool accepts.
      const resolution = snapshot.names.resolve(name);
      if (resolution.kind === 'found') return { kind: 'found', item: resolution };
      return resolution.kind === 'ambiguous' ? { kind: 'ambiguous', spellings: resolution.ids } : finding;
    },
  };
}

/** `textOf`: the text that loading the skill gives; throws when the skill cannot be read. */
export function promptMethods(
  lists: FirstLists,
  table: PromptTable,
  textOf: (listed: ListedSkill) => Promise<string>,
): readonly Method[] {
  return [
    {
      name: 'prompts/list',
      cache: CACHE_BRIEFLY,
      run: async ({ cursor }, { peer }) => table.list(await lists.complete(), peer).page(cursor),
    },
    {
      name: 'prompts/get',
      async run({ name }, { peer }) {
        if (typeof name !== 'string') throw invalidParams('name must be the name of a prompt');
        if (name.length > LONGEST_NAME) throw invalidParams(`no prompt has a name of over ${LONGEST_NAME} characters`);
        const finding = await lists.lookUp((snapshot) => {
          const found = table.find(snapshot, name, peer);
          return found.kind === 'missing' ? undefined : found;
        });
        if (!finding) throw invalidParams(`unknown prompt "${shorten(oneLine(name), LONGEST_ECHO)}"`);
        if (finding.kind === 'ambiguous') throw invalidParams(`prompt ${ambiguityOf(name, finding.spellings)}`);
        const { id, skill } = finding.item;
        const text = await textOf(finding.item).catch((error: unknown) => {
          throw invalidParams(`prompt "${oneLine(id)}" ${whyUnreadable(error)}`);
        });
        return { description: skill.description, messages: [{ role: 'user', content: { type: 'text', text } }] };
      },
    },
  ];
}

// --- internal ---

const PROMPTS: ListShape<Prompt> = { name: 'prompts', member: 'prompts', pageSize: PAGE, keyOf: ({ name }) => name };

/** The list is of the last refresh, but the file is read now. */
function whyUnreadable(error: unknown): string {
  return isMissing(error) ? 'is no longer there' : `cannot be read (${codeOf(error) || messageOf(error)})`;
}
