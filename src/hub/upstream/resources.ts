/**
 * Resources, resource templates and skills of upstream servers as those of the catalogue.
 * Owns: the URIs that their resources have here. Leaves alone: files of skills (skills.ts), which items are valid
 * (listing.ts).
 * Always true: a resource of one server never takes the URI of another server's resource or of a skill's file.
 */
import { compare } from '../../compare.ts';
import { messageOf } from '../../log.ts';
import type { Resource, Skill, Template } from '../../model.ts';
import { internalError, isObject, type Params, RpcError } from '../../protocol/index.ts';
import { isUri } from './definitions.ts';
import { skillFileTest, type UpstreamSkill } from './skill-entries.ts';
import { skillOf } from './skills.ts';
import { errorFor, passedOn } from './tools.ts';
import type { Upstream } from './upstream.ts';
import { matcherOf, OWN_SCHEMES } from './uri-templates.ts';

/** An unchanged entry gives the same Skill. */
export function skillsOf(upstreams: readonly Upstream[]): readonly Skill[] {
  return upstreams.flatMap((upstream) =>
    upstream.listing().skills.map((entry) => {
      const known = skills.get(entry) ?? skillOf(upstream.config.name, entry, upstream);
      skills.set(entry, known);
      return known;
    }),
  );
}

/** Part of a Call: all that reading a resource needs of one. */
export interface ReadCall {
  readonly params: Params;
  readonly signal: AbortSignal | undefined;
}

export interface UpstreamResource extends Resource {
  read(call: ReadCall): Promise<object>;
}

export interface UpstreamTemplate extends Template {
  readonly server: string;
  read(uri: string, call: ReadCall): Promise<object>;
}

/** A resource keeps its URI where only one server has it, clients can parse it, and its scheme is not one of ours. */
export function resourcesOf(upstreams: readonly Upstream[]): readonly UpstreamResource[] {
  const all = upstreams.flatMap((upstream) =>
    upstream.listing().resources.map((definition) => ({ upstream, definition, uri: uriIn(definition) })),
  );
  // Servers that are away count too: a URI must not change its meaning because a server goes.
  const counts = new Map<string, number>();
  for (const uri of upstreams.flatMap((upstream) => upstream.reservedListing().resources.map(uriIn)))
    counts.set(uri, (counts.get(uri) ?? 0) + 1);
  return all.map(({ upstream, definition, uri }) => {
    const isFree = counts.get(uri) === 1 && !OWN_SCHEMES.test(uri) && isUri(uri);
    return resourceOf(upstream, definition, isFree ? uri : namespaced(upstream.config.name, uri));
  });
}

/**
 * Sorted: more specific templates come first, because a brace sorts after every letter; equal ones in the order of their
 * servers. A URI that a template of an absent server comes first for is not read from another server.
 */
export function templatesOf(upstreams: readonly Upstream[]): readonly UpstreamTemplate[] {
  const all = upstreams.flatMap((upstream) => {
    const { templates, resources, skills } = upstream.reservedListing();
    if (templates.length === 0) return [];
    // A listed resource is read under its own URI here, where filters apply, and not by a template.
    const listed = new Set(resources.map(uriIn));
    const isSkillFile = skillFileTest(skills);
    const isListed = (uri: string) => listed.has(uri) || isSkillFile(uri);
    return templates.map((definition) => templateOf(upstream, definition, isListed));
  });
  const sorted = all.sort((a, b) => compare(a.definition.uriTemplate, b.definition.uriTemplate));
  const absent = new Set(upstreams.filter(isAbsent).map(({ config }) => config.name));
  const reserved: UpstreamTemplate[] = [];
  const served: UpstreamTemplate[] = [];
  for (const template of sorted) {
    if (reserved.at(-1)?.definition.uriTemplate === template.definition.uriTemplate) continue;
    if (absent.has(template.server)) reserved.push(template);
    else served.push(reserved.length === 0 ? template : without(reserved, reserved.length, template));
  }
  return served;
}

// --- internal ---

const skills = new WeakMap<UpstreamSkill, Skill>();

const uriIn = ({ uri }: Params) => String(uri);

/** Whether its listing was emptied because the server is away. */
const isAbsent = (upstream: Upstream) => upstream.listing().templates !== upstream.reservedListing().templates;

function namespaced(server: string, uri: string): string {
  return `mcp://${encodeURIComponent(server.toWellFormed())}/${encodeURIComponent(uri)}`;
}

function resourceOf(upstream: Upstream, definition: Params, uri: string): UpstreamResource {
  return {
    server: upstream.config.name,
    definition: { ...definition, uri, name: String(definition.name) },
    read: (call) => read(upstream, uriIn(definition), uri, call),
  };
}

function templateOf(upstream: Upstream, definition: Params, isListed: (uri: string) => boolean): UpstreamTemplate {
  const [uriTemplate, name] = [String(definition.uriTemplate), String(definition.name)];
  const matches = matcherOf(uriTemplate);
  return {
    server: upstream.config.name,
    definition: { ...definition, uriTemplate, name },
    matches: (uri) => matches(uri) && !isListed(uri),
    read: (uri, call) => read(upstream, uri, uri, call),
  };
}

/** The template, matching no URI that one of the first so many reserved templates matches. */
function without(reserved: readonly UpstreamTemplate[], count: number, template: UpstreamTemplate): UpstreamTemplate {
  const isReserved = (uri: string) => reserved.slice(0, count).some((one) => one.matches(uri));
  return { ...template, matches: (uri) => template.matches(uri) && !isReserved(uri) };
}

/** `shown`: the URI that the resource has here. */
async function read(upstream: Upstream, uri: string, shown: string, { params, signal }: ReadCall): Promise<object> {
  const result = await upstream.request('resources/read', { ...passedOn(params), uri }, { signal }).catch((error) => {
    if (error instanceof RpcError) throw errorFor(error);
    throw internalError(`${uri} could not be read from ${upstream.config.name}: ${messageOf(error)}`);
  });
  const { contents, _meta, resultType } = result;
  // Not a result but a request for input: the era passes it on whole or refuses it (protocol/eras.ts).
  if (resultType !== undefined) return result;
  const all = Array.isArray(contents) ? contents.filter(isObject) : [];
  const named = all.map((one) => (one.uri === uri ? { ...one, uri: shown } : one));
  return { contents: named, ...(_meta === undefined ? {} : { _meta }) };
}
