/**
 * `completion/complete`: values that a client can offer for an argument of a prompt or a resource template.
 * Owns: which prompt or template is meant. Leaves alone: the values, which only a source knows.
 */
import type { Registry } from '../catalog/registry.ts';
import type { Prompt } from '../model.ts';
import { invalidParams, isObject, type Method, type Peer } from '../protocol/index.ts';
import { completableAt, nothingAt, uriParam } from './resources.ts';

/** `findPrompt` throws when there is none of that name; undefined where prompts are not served. */
export function completeMethod(
  registry: Registry,
  findPrompt: ((name: unknown, peer: Peer) => Promise<Prompt>) | undefined,
): Method {
  async function find(ref: unknown, peer: Peer) {
    const { type, name, uri: asked } = isObject(ref) ? ref : {};
    if (type === 'ref/prompt' && findPrompt) return findPrompt(name, peer);
    if (type !== 'ref/resource') throw invalidParams('ref must be a ref/prompt or a ref/resource that is served here');
    const uri = uriParam(asked);
    const found = await registry.lookUp((snapshot) => completableAt(snapshot, uri));
    if (!found) throw nothingAt(uri);
    return found;
  }
  return {
    name: 'completion/complete',
    async run({ ref, argument }, call) {
      const { name, value } = isObject(argument) ? argument : {};
      if (typeof name !== 'string' || typeof value !== 'string')
        throw invalidParams('argument must have a name and a value, both text');
      const found = await find(ref, call.peer);
      return found.complete?.(call) ?? NO_VALUES;
    },
  };
}

// --- internal ---

const NO_VALUES = { completion: { values: [], total: 0, hasMore: false } };
