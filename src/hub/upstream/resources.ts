/**
 * Resources and resource templates of upstream servers as those of the catalogue.
 * Owns: the URIs that their resources have here. Leaves alone: files of skills (skills.ts).
 * Always true: a resource of one server never takes the URI of another server's resource or of a skill's file.
 */
import { compare } from '../../compare.ts';
import type { Updates } from '../../model.ts';
import { isObject } from '../../protocol/index.ts';
import { type ClientCall, failed, passOn } from './calls.ts';
import { complete } from './completion.ts';
import { isUri } from './definitions.ts';
import { skillFileTest } from './skill-entries.ts';
import type { Upstream } from './upstream.ts';
import { matcherOf, OWN_SCHEMES } from './uri-templates.ts';

/** A resource keeps its URI where only one server has it, clients can parse it, and its scheme is not one of ours. */
export function resourcesOf(upstreams: readonly Upstream[]) {
  // Servers that are away count too: a URI must not change its meaning because a server goes.
  const counts = new Map<string, number>();
  for (const { uri } of upstreams.flatMap((upstream) => upstream.reservedListing().resources))
    counts.set(uri, (counts.get(uri) ?? 0) + 1);
  return upstreams.flatMap((upstream) => {
    const server = upstream.config.name;
    return upstream.listing().resources.map((definition) => {
      const { uri: own } = definition;
      const isFree = counts.get(own) === 1 && !OWN_SCHEMES.test(own) && isUri(own);
      const uri = isFree ? own : `mcp://${encodeURIComponent(server.toWellFormed())}/${encodeURIComponent(own)}`;
      return {
        server,
        definition: { ...definition, uri },
        read: (call: ClientCall) => read(upstream, own, uri, call),
        updates: updatesOf(upstream, own),
      };
    });
  });
}

/**
 * Sorted: more specific templates come first, because a brace sorts after every letter; equal ones in the order of their
 * servers. A URI that a template of an absent server comes first for is not read from another server.
 */
export function templatesOf(upstreams: readonly Upstream[]) {
  const all = upstreams.flatMap((upstream) => {
    const { templates, resources, skills } = upstream.reservedListing();
    if (templates.length === 0) return [];
    const isAbsent = upstream.listing().templates !== templates;
    // A listed resource is read under its own URI here, where filters apply, and not by a template.
    const listed = new Set(resources.map(({ uri }) => uri));
    const isSkillFile = skillFileTest(skills);
    return templates.map((definition) => {
      const fits = matcherOf(definition.uriTemplate);
      const matches = (uri: string) => fits(uri) && !listed.has(uri) && !isSkillFile(uri);
      const ref = { type: 'ref/resource', uri: definition.uriTemplate };
      return {
        isAbsent,
        server: upstream.config.name,
        definition,
        matches,
        read: (uri: string, call: ClientCall) => read(upstream, uri, uri, call),
        updatesOf: (uri: string) => updatesOf(upstream, uri),
        complete: (call: ClientCall) => complete(upstream, ref, call),
      };
    });
  });
  const textOf = ({ definition }: (typeof all)[number]) => definition.uriTemplate;
  const absent: typeof all = [];
  all.sort((a, b) => compare(textOf(a), textOf(b)));
  return all.flatMap((template) => {
    if (template.isAbsent) absent.push(template);
    const before = [...absent];
    const matches = (uri: string) => template.matches(uri) && !before.some((one) => one.matches(uri));
    return before.some((one) => textOf(one) === textOf(template)) ? [] : [{ ...template, matches }];
  });
}

// --- internal ---

function updatesOf({ updates }: Upstream, uri: string): Updates {
  return { origin: updates, follow: (changed, until) => updates.follow(uri, changed, until) };
}

/** `shown`: the URI that the resource has here. */
async function read(upstream: Upstream, uri: string, shown: string, call: ClientCall): Promise<object> {
  const result = await passOn(upstream, call, 'resources/read', { uri }).catch(
    failed(`${uri} could not be read from ${upstream.config.name}`),
  );
  const { contents, _meta, resultType } = result;
  // Not a result but a request for input: the era passes it on whole or refuses it (protocol/eras.ts).
  if (resultType !== undefined) return result;
  const all = Array.isArray(contents) ? contents.filter(isObject) : [];
  const named = all.map((one) => (one.uri === uri ? { ...one, uri: shown } : one));
  return { contents: named, ...(_meta === undefined ? {} : { _meta }) };
}
