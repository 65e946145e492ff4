/**
 * Completion of arguments by upstream servers.
 * Always true: a result is valid in every protocol version; a server that has no completion is not asked.
 */
import { isObject } from '../../protocol/index.ts';
import { type ClientCall, failed, passOn } from './calls.ts';
import { MAX_VALUES } from './limits.ts';
import type { Upstream } from './upstream.ts';

/** `ref`: the prompt or template as its server calls it. */
export async function complete(upstream: Upstream, ref: object, call: ClientCall): Promise<object> {
  if (upstream.capabilities()?.has('completions') === false) return { completion: { values: [] } };
  const { argument, context } = call.params;
  const { completion, ...rest } = await passOn(upstream, call, 'completion/complete', {
    ref,
    argument,
    context,
  }).catch(failed(`${upstream.config.name} could not be asked`));
  const { values, total, hasMore } = isObject(completion) ? completion : {};
  const texts = Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
  const isCut = texts.length > MAX_VALUES;
  return {
    ...rest,
    completion: {
      values: texts.slice(0, MAX_VALUES),
      ...(Number.isSafeInteger(total) ? { total } : {}),
      ...(isCut || typeof hasMore === 'boolean' ? { hasMore: isCut || hasMore } : {}),
    },
  };
}
