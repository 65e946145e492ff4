/**
 * Prompts of upstream servers as prompts of the catalogue.
 * Owns: their public names. Leaves alone: which definitions are valid (definitions.ts), other spellings (methods/).
 */
import type { Prompt, PromptDefinition } from '../../model.ts';
import { internalError, isObject } from '../../protocol/index.ts';
import { visibleLine } from '../../text.ts';
import { type ClientCall, failed, passOn } from './calls.ts';
import { complete } from './completion.ts';
import { providerOf } from './skills.ts';
import type { Upstream } from './upstream.ts';

export function promptsOf(upstreams: readonly Upstream[]) {
  return upstreams.flatMap((upstream) =>
    upstream.listing().prompts.map((definition) => promptOf(upstream, definition)),
  );
}

// --- internal ---

function promptOf(upstream: Upstream, definition: PromptDefinition) {
  const server = upstream.config.name;
  // Skills are prompts too, so the names of both are made in one way.
  const name = `${providerOf(server)}:${visibleLine(definition.name)}`;
  return {
    server,
    definition: { ...definition, name },
    get: (call: ClientCall) => get(upstream, definition.name, name, call),
    complete: (call: ClientCall) => complete(upstream, { type: 'ref/prompt', name: definition.name }, call),
  } satisfies Prompt;
}

/** The result as the server sent it. `shown`: the name that the prompt has here. */
async function get(upstream: Upstream, name: string, shown: string, call: ClientCall): Promise<object> {
  const { arguments: args } = call.params;
  const result = await passOn(upstream, call, 'prompts/get', { name, arguments: args }).catch(
    failed(`${shown} could not be got`),
  );
  // With a result type it is a request for input: the era passes it on whole or refuses it (protocol/eras.ts).
  if (result.resultType !== undefined || (Array.isArray(result.messages) && result.messages.every(isObject)))
    return result;
  throw internalError(`${shown} could not be got: the messages of its result are not a list`);
}
