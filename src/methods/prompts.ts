/**
 * `prompts/*`: every visible skill as a prompt, because hosts show prompts as slash commands, and the prompts of sources.
 * Owns: the list and its spelling for each client. Leaves alone: the text of a skill (tools/skill.ts).
 */
import type { Registry } from '../catalog/registry.ts';
import { codeOf, isMissing } from '../files/stats.ts';
import { messageOf } from '../log.ts';
import type { ListedSkill, Prompt, Snapshot } from '../model.ts';
import { internalError, invalidParams, isObject, type Method, type Peer } from '../protocol/index.ts';
import { echo } from '../text.ts';
import { loadText } from '../tools/skill.ts';
import type { HostProfile } from './host-profiles.ts';
import { CACHE_BRIEFLY } from './limits.ts';
import { listMethod, perSnapshot, sortedList } from './lists.ts';
import type { ShowTo } from './own-skills.ts';
import { ambiguous, createNameTable, type NameLimit, nameParam } from './spelling.ts';
import type { Views } from './views.ts';

export function createPrompts(registry: Registry, showTo: ShowTo, { profileOf }: Pick<Views, 'profileOf'>) {
  const tables = perSnapshot(({ names: { visible }, prompts, servers }) => {
    const all = [...visible.map(promptOf), ...prompts];
    return createNameTable('prompt', new Map(all.map((one) => [one.definition.name, one])), servers);
  });
  const lists = perSnapshot(
    (snapshot, { nameLimit, agent }: HostProfile) => {
      const { spell } = tables(snapshot);
      const shown = [...showTo(snapshot, agent).names.visible.map(promptOf), ...snapshot.prompts];
      const definitions = shown.map(({ definition }) => ({ ...definition, name: spell(definition.name, nameLimit) }));
      return sortedList('prompts', definitions, ({ name }) => name);
    },
    ({ key }: HostProfile) => key,
  );
  const listFor = (snapshot: Snapshot, { client }: Peer) => lists(snapshot, profileOf(client));

  function findIn(snapshot: Snapshot, name: string, limit: NameLimit): Prompt | undefined {
    const found = tables(snapshot).find(name, limit);
    if (found) return found;
    // A skill that is not listed has a full name all the same, and a person may type what the skill tool accepts.
    const resolution = snapshot.names.resolve(name);
    if (resolution.kind === 'ambiguous') throw ambiguous('prompt', name, resolution.ids);
    return resolution.kind === 'found' ? promptOf(resolution) : undefined;
  }

  /** The prompt of that name, in any spelling; throws when there is none. */
  async function find(asked: unknown, peer: Peer): Promise<Prompt> {
    const name = nameParam('prompt', asked);
    const limit = profileOf(peer.client).nameLimit;
    const found = await registry.find(name, (snapshot) => findIn(snapshot, name, limit));
    if (found.kind === 'found') return found.item;
    if (found.kind === 'missing') throw invalidParams(`unknown prompt "${echo(name)}"`);
    throw internalError(`the server of "${echo(name)}" is not connected (${found.state})`);
  }

  const getPrompt: Method = {
    name: 'prompts/get',
    async run(params, call) {
      if (!isObject(params.arguments ?? {})) throw invalidParams('arguments must be an object');
      return (await find(params.name, call.peer)).get(call);
    },
  };
  return {
    name: 'prompts' as const,
    methods: [listMethod({ name: 'prompts/list', cache: CACHE_BRIEFLY }, registry, listFor), getPrompt],
    lists: (snapshot: Snapshot, peer: Peer) => [listFor(snapshot, peer)],
    find,
  };
}

// --- internal ---

function promptOf(listed: ListedSkill): Prompt {
  const { id, skill } = listed;
  const { description } = skill;
  return {
    definition: { name: id, title: id, description },
    async get() {
      const text = await loadText(listed).catch((error: unknown) => {
        // The list is of the last refresh, but the file is read now.
        const why = isMissing(error) ? 'is no longer there' : `cannot be read (${codeOf(error) || messageOf(error)})`;
        throw invalidParams(`prompt "${echo(id)}" ${why}`);
      });
      return { description, messages: [{ role: 'user', content: { type: 'text', text } }] };
    },
  };
}
