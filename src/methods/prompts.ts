/**
 * `prompts/*`: every visible skill as a prompt, because hosts show prompts as slash commands, and the prompts of sources.
 * Owns: the list and its spelling for each client. Leaves alone: the text of a skill (tools/skill.ts).
 */
import type { Registry } from '../catalog/registry.ts';
import type { ListedSkill, Prompt, Snapshot } from '../model.ts';
import { invalidParams, isObject, type Method } from '../protocol/index.ts';
import { echo } from '../text.ts';
import { skillText } from '../tools/skill.ts';
import type { ProfileOf } from './hosts.ts';
import { createList, type Feature, perSnapshot, readMethod } from './lists.ts';
import { createNameTable, type NameLimit } from './spelling.ts';

export function createPrompts(registry: Registry, profileOf: ProfileOf): Feature {
  const tables = perSnapshot(({ names, prompts }) =>
    createNameTable('prompt', [...names.visible.map(promptOf), ...prompts]),
  );
  const lists = perSnapshot((snapshot, limit: NameLimit) => {
    const definitions = Array.from(tables(snapshot).shown(limit), ([name, { definition }]) => ({
      ...definition,
      name,
    }));
    return createList('prompts', definitions, ({ name }) => name);
  });

  function find(snapshot: Snapshot, name: unknown, limit: NameLimit): Prompt {
    const known = tables(snapshot).find(name, limit);
    if (known) return known;
    // A shadowed skill is not listed, and can be reached by its full name.
    const resolution = snapshot.names.resolve(String(name));
    if (resolution.kind === 'found') return promptOf(resolution.listed);
    throw invalidParams(`unknown prompt "${echo(String(name))}"`);
  }

  const list = readMethod(registry, 'prompts/list', (snapshot, { cursor }, { peer }) =>
    lists(snapshot, profileOf(peer.client).nameLimit)(cursor),
  );
  const get: Method = {
    name: 'prompts/get',
    async run({ name, arguments: args }, call) {
      if (!isObject(args ?? {})) throw invalidParams('arguments must be an object');
      return find(await registry.ready(), name, profileOf(call.peer.client).nameLimit).get(call);
    },
  };
  return {
    name: 'prompts',
    methods: [list, get],
    contents: ({ names, prompts }) => [
      ...names.visible.map(({ id, skill }) => `${id}\n${skill.description}`),
      ...prompts.map(({ definition }) => definition),
    ],
  };
}

// --- internal ---

function promptOf(listed: ListedSkill): Prompt {
  const { description } = listed.skill;
  return {
    definition: { name: listed.id, title: listed.id, description },
    get: async (call) => ({
      description,
      messages: [{ role: 'user', content: { type: 'text', text: await skillText(listed, call) } }],
    }),
  };
}
