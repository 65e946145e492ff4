/**
 * What upstream servers offer, in the catalogue's terms.
 * Owns: passing calls, answers and progress on whole; the URIs that resources have here. Leaves alone: names of skills
 * and filters, which are the same for everything (skills/resolve.ts, catalog/snapshot.ts).
 * Always true: no resource of one server can stand in the place of another's, or of a skill's file.
 */

import { compare } from '../../compare.ts';
import { messageOf } from '../../log.ts';
import type { Resource, Skill, Template, ToolCall, ToolResult, ToolView, UpstreamTool } from '../../model.ts';
import { internalError, isObject, isProgressToken, type Params, RpcError } from '../../protocol/index.ts';
import { visibleLine } from '../../text.ts';
import { checkParamHeaders } from '../connection/param-headers.ts';
import { publicName, type RoutedTool } from '../upstreams.ts';
import { isUri } from './definitions.ts';
import { skillFileTest } from './listing.ts';
import { isObjectSchema } from './schemas.ts';
import { skillOf, type UpstreamSkill } from './skills.ts';
import type { Upstream } from './upstream.ts';
import { matcherOf, OURS } from './uri-templates.ts';

export function toolFor(one: RoutedTool): UpstreamTool {
  const { server, tool } = one;
  const name = publicName(one);
  const inputSchema = tool.definition.inputSchema as object;
  return {
    name,
    server,
    short: visibleLine(tool.name),
    fresh: false,
    define: (_snapshot, view) => ({ ...definitionFor(tool.definition, view), inputSchema, name: view.spell(name) }),
    run(args, _snapshot, call) {
      checkParamHeaders(inputSchema, isObject(args) ? args : {}, call.peer.claims);
      return pass(one, name, args, call);
    },
  };
}

/** An entry that has not changed is the same skill. */
export function skillsOf(upstreams: readonly Upstream[]): readonly Skill[] {
  return upstreams.flatMap((upstream) =>
    upstream.listing().skills.map((entry) => {
      const known = skills.get(entry) ?? skillOf(upstream.config.name, entry, upstream);
      skills.set(entry, known);
      return known;
    }),
  );
}

export interface UpstreamResource extends Resource {
  /** What `read` gives, for those who have no call of their own. */
  fetch(signal: AbortSignal | undefined): Promise<object>;
}

/** Under their own URIs where only one server has them and they are such; `skill:` and `mcp:` are ours. */
export function resourcesOf(upstreams: readonly Upstream[]): readonly UpstreamResource[] {
  const counts = new Map<string, number>();
  const all = upstreams.flatMap((upstream) =>
    upstream.listing().resources.map((definition) => ({ upstream, definition })),
  );
  for (const { definition } of all) counts.set(uriIn(definition), (counts.get(uriIn(definition)) ?? 0) + 1);
  return all.map(({ upstream, definition }) => {
    const uri = uriIn(definition);
    const clear = counts.get(uri) === 1 && !OURS.test(uri) && isUri(uri);
    return foreignResource(upstream, definition, clear ? uri : namespaced(upstream.config.name, uri));
  });
}

export interface UpstreamTemplate extends Template {
  /** What `read` gives, for those who have no call of their own. */
  fetch(uri: string, signal: AbortSignal | undefined): Promise<object>;
}

/** Sorted, which puts the more particular first, as a brace comes after every letter; equal ones in the servers' order. */
export function templatesOf(upstreams: readonly Upstream[]): readonly UpstreamTemplate[] {
  const all = upstreams.flatMap((upstream) => {
    const { templates, resources, skills } = upstream.listing();
    const listed = new Set(templates.length === 0 ? [] : resources.map(uriIn));
    // What a server lists is had under the URI and the filters that it is listed with here, not around them.
    const isOfSkill = skillFileTest(skills);
    const isListed = (uri: string) => listed.has(uri) || isOfSkill(uri);
    return templates.map((definition) => foreignTemplate(upstream, definition, isListed));
  });
  return all.sort((a, b) => compare(a.definition.uriTemplate, b.definition.uriTemplate));
}

// --- internal ---

const skills = new WeakMap<UpstreamSkill, Skill>();
const resources = new WeakMap<Params, UpstreamResource>();

const uriIn = ({ uri }: Params) => String(uri);

function namespaced(server: string, uri: string): string {
  return `mcp://${encodeURIComponent(server.toWellFormed())}/${encodeURIComponent(uri)}`;
}

function foreignResource(upstream: Upstream, definition: Params, uri: string): UpstreamResource {
  const known = resources.get(definition);
  if (known?.definition.uri === uri) return known;
  const { name } = definition;
  const made: UpstreamResource = {
    server: upstream.config.name,
    definition: { ...definition, uri, name: String(name) },
    read: (call) => fetchFrom(upstream, uriIn(definition), uri, call.signal, besidesUri(call.params)),
    fetch: (signal) => fetchFrom(upstream, uriIn(definition), uri, signal),
  };
  resources.set(definition, made);
  return made;
}

function foreignTemplate(upstream: Upstream, definition: Params, isListed: (uri: string) => boolean): UpstreamTemplate {
  const [uriTemplate, name] = [String(definition.uriTemplate), String(definition.name)];
  const fits = matcherOf(uriTemplate);
  const fetch = (uri: string, signal: AbortSignal | undefined) => fetchFrom(upstream, uri, uri, signal);
  return {
    server: upstream.config.name,
    definition: { ...definition, uriTemplate, name },
    matches: (uri) => fits(uri) && !isListed(uri),
    read: (uri, call) => fetchFrom(upstream, uri, uri, call.signal, besidesUri(call.params)),
    fetch,
  };
}

/** What a client says in `resources/read` besides the URI: of itself, and what its server had asked for. */
function besidesUri({ inputResponses, requestState, _meta }: Params): Params {
  const { progressToken: _token, ...meta } = isObject(_meta) ? _meta : {};
  return {
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(requestState === undefined ? {} : { requestState }),
    ...(Object.keys(meta).length > 0 ? { _meta: meta } : {}),
  };
}

/** `shown`: the URI that it has here. */
async function fetchFrom(
  upstream: Upstream,
  uri: string,
  shown: string,
  signal: AbortSignal | undefined,
  besides: Params = {},
): Promise<object> {
  const result = await readFrom(upstream, uri, signal, besides);
  const { contents, _meta, resultType } = result;
  // A question instead of the content: whoever can answer it gets it whole, whoever cannot gets an error (eras.ts).
  if (resultType !== undefined) return result;
  const all = Array.isArray(contents) ? contents.filter(isObject) : [];
  const named = all.map((one) => (one.uri === uri ? { ...one, uri: shown } : one));
  return { contents: named, ...(_meta === undefined ? {} : { _meta }) };
}

async function readFrom(
  upstream: Upstream,
  uri: string,
  signal: AbortSignal | undefined,
  besides: Params,
): Promise<Params> {
  try {
    return await upstream.read(uri, signal, besides);
  } catch (error) {
    if (error instanceof RpcError) throw error;
    throw internalError(`${uri} could not be read from ${upstream.config.name}: ${messageOf(error)}`);
  }
}

/** In the handshake revisions structured content is always an object, and their clients refuse a list or a result with any other. */
function definitionFor({ outputSchema, ...definition }: Params, { anyStructure }: ToolView): Params {
  return anyStructure || isObjectSchema(outputSchema) ? { ...definition, outputSchema } : definition;
}

/** What such a client cannot be given as structure it gets as text, where the server has not done that already. */
function withPlainStructure(result: Params): Params {
  const { structuredContent, ...rest } = result;
  if (structuredContent === undefined || isObject(structuredContent)) return result;
  const isSaid = Array.isArray(rest.content) && rest.content.length > 0;
  return isSaid ? rest : { ...rest, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
}

async function pass(one: RoutedTool, name: string, args: unknown, call: ToolCall): Promise<ToolResult> {
  const { params, signal, notify } = call;
  const { progressToken, ...meta } = isObject(params._meta) ? params._meta : {};
  const { inputResponses, requestState } = params;
  const onProgress = isProgressToken(progressToken)
    ? (report: Params) => notify('notifications/progress', { ...report, progressToken })
    : undefined;
  const passed = {
    arguments: args,
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(requestState === undefined ? {} : { requestState }),
    ...(Object.keys(meta).length > 0 ? { _meta: meta } : {}),
  };
  try {
    const result = await one.call({ params: passed, signal, onProgress });
    return (call.peer.anyStructure ? result : withPlainStructure(result)) as ToolResult;
  } catch (error) {
    if (error instanceof RpcError) throw error;
    return { content: [{ type: 'text', text: `${name} could not be called: ${messageOf(error)}` }], isError: true };
  }
}
