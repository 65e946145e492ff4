/**
 * Everything that an upstream server lists: which lists are requested, and what replaces one that fails.
 * Leaves alone: one list (lists.ts), what a valid item is (definitions.ts, skill-entries.ts), when to list (session.ts).
 * Always true: an item that cannot be passed on is left out alone and reported; a list that cannot be requested is
 * replaced by the previous one.
 */
import { sameItems } from '../../compare.ts';
import { messageOf } from '../../log.ts';
import type { Problem, PromptDefinition, ResourceDefinition, TemplateDefinition } from '../../model.ts';
import { CODE, RpcError } from '../../protocol/index.ts';
import { createFilter } from '../../skills/filter.ts';
import { printable } from '../../text.ts';
import { backgroundDelay } from '../../wait.ts';
import type { UpstreamConfig } from '../config/entries.ts';
import { HttpError, UpstreamError } from '../connection/connection.ts';
import type { McpClient } from '../connection/mcp-client.ts';
import { type ListedTool, promptFrom, resourceFrom, templateFrom, toolFrom } from './definitions.ts';
import { MAX_FAULT, MAX_FAULTS, MAX_TEMPLATES, MIN_TTL_MS, OTHER_LISTS_MS } from './limits.ts';
import { type List, type ListKind, type Quote, requestList } from './lists.ts';
import { parseSkillEntry, skillFileTest, type UpstreamSkill } from './skill-entries.ts';

/** What is served of a server. */
export interface Listing {
  readonly tools: readonly ListedTool[];
  /** Without the files of its skills. */
  readonly resources: readonly ResourceDefinition[];
  readonly templates: readonly TemplateDefinition[];
  readonly prompts: readonly PromptDefinition[];
  readonly skills: readonly UpstreamSkill[];
  readonly problems: readonly Problem[];
}

type Name = Exclude<keyof Listing, 'problems'>;
type Lists = { readonly [N in Name]: List<Listing[N][number]> };

/** Every list that is requested. */
const KINDS: { readonly [N in Name]: ListKind<Listing[N][number]> } = {
  tools: { method: 'tools/list', key: 'tools', what: 'tool', name: 'name', need: 'must', check: toolFrom },
  resources: { method: 'resources/list', key: 'resources', what: 'resource', name: 'uri', check: resourceFrom },
  templates: {
    method: 'resources/templates/list',
    key: 'resourceTemplates',
    what: 'resource template',
    name: 'uriTemplate',
    need: 'may',
    maxItems: MAX_TEMPLATES,
    check: templateFrom,
  },
  prompts: { method: 'prompts/list', key: 'prompts', what: 'prompt', name: 'name', check: promptFrom },
  skills: { method: 'skills/list', key: 'skills', what: 'skill', name: 'uri', check: parseSkillEntry },
};

export interface ListRequest {
  readonly mcp: McpClient;
  readonly config: UpstreamConfig;
  readonly last: Listing;
  /** The server has not listed anything yet in this session. */
  readonly isFirst: boolean;
  readonly quote: Quote;
}

export interface Listed {
  readonly listing: Listing;
  /** The same with the lists that did not come in time. */
  readonly later: Promise<Listed> | undefined;
  /** Milliseconds until the lists are requested again without an announced change; 0: one of them failed. */
  readonly ttlMs: number;
}

/**
 * Rejects when a list that the server must have fails; but one that it had before may fail for a while. The other lists
 * get less time, so that one that hangs does not withhold the tools.
 */
export async function listEverything(request: ListRequest): Promise<Listed> {
  // Each is the last list until it is replaced.
  const lists = new Map<Name, List<unknown>>(NAMES.map((name) => [name, { ...NO_LIST, items: request.last[name] }]));
  const list = (names: readonly Name[]) =>
    Promise.all(names.map(async (name) => lists.set(name, await listOne(name, request))));
  const others = list(NAMES.filter((name) => KINDS[name].need !== 'must'));
  await list(NAMES.filter((name) => KINDS[name].need === 'must'));
  const inTime = await Promise.race([others, backgroundDelay(OTHER_LISTS_MS)]);
  const listed = (later: Listed['later']): Listed => ({
    listing: listingOf(Object.fromEntries(lists) as unknown as Lists, request),
    later,
    ttlMs: Math.min(...[...lists.values()].map(({ ttlMs }) => ttlMs)),
  });
  return listed(inTime ? undefined : others.then(() => listed(undefined)));
}

/**
 * `after`, with the objects of `before` where they are equal, so that an unchanged skill keeps what is cached for it;
 * `before` itself where everything is equal.
 */
export function mergeListings(before: Listing, after: Listing): Listing {
  const names = [...NAMES, 'problems' as const];
  const merged = names.map((name) => [name, merge<unknown>(before[name], after[name])] as const);
  const isSame = merged.every(([name, items]) => items === before[name]);
  return isSame ? before : (Object.fromEntries(merged) as unknown as Listing);
}

// --- internal ---

const NAMES = Object.keys(KINDS) as readonly Name[];
const NO_LIST: List<never> = { items: [], faults: [], ttlMs: Number.POSITIVE_INFINITY };

/** The list, or what is used instead when the request fails. A server that does not know the method has an empty list. */
async function listOne(name: Name, request: ListRequest): Promise<List<unknown>> {
  const { mcp, config, last, isFirst, quote } = request;
  const kind: ListKind<unknown> = KINDS[name];
  const { method, need } = kind;
  const { capabilities } = mcp;
  const capability = method.slice(0, method.indexOf('/'));
  const isAnnounced = capabilities.has(capability);
  // A server that announces no capabilities at all may have tools nevertheless; it gets less time for them.
  if (!isAnnounced && (need !== 'must' || capabilities.has('anything'))) return NO_LIST;
  const timeout = isAnnounced ? config.connectTimeout : Math.min(config.connectTimeout, OTHER_LISTS_MS);
  try {
    const list = await requestList(kind, mcp, quote, timeout);
    // Changes of skills are announced as changes of resources.
    const isAnnouncing = mcp.announces(capability === 'skills' ? 'resources' : capability);
    return { ...list, ttlMs: isAnnouncing ? NO_LIST.ttlMs : Math.max(list.ttlMs, MIN_TTL_MS) };
  } catch (error) {
    // One that is slow to list its tools for the first time is asked again.
    if (!isAnnounced) return error instanceof RpcError ? NO_LIST : { ...NO_LIST, ttlMs: 0 };
    if (need === 'may' && last[name].length === 0) return NO_LIST;
    // The server was reached, so it may list its tools later. A timeout is among these, because many servers do not
    // respond during a call; whether the server is alive is for the health check to find out.
    const isPassing = error instanceof RpcError || error instanceof HttpError || error instanceof UpstreamError;
    if (need === 'must' && (isFirst || !isPassing)) throw error;
    const isUnknown = error instanceof RpcError && error.code === CODE.method;
    const kept = isUnknown || last[name].length === 0 ? '' : ', the last list is kept';
    const faults = [`${method} failed${kept}: ${messageOf(error)}`];
    return isUnknown ? { ...NO_LIST, faults } : { items: last[name], faults, ttlMs: 0 };
  }
}

function listingOf(lists: Lists, { config: { name, filter }, quote }: ListRequest): Listing {
  const { tools, resources, templates, prompts, skills } = lists;
  const named = [
    ...tools.items.map((item) => ({ item, own: item.definition.name })),
    ...prompts.items.map((item) => ({ item, own: item.name })),
  ];
  const { kept, problems } = createFilter(filter)(named, ({ own }) => ({ name: own, group: name }), []);
  const chosen = new Set<ListedTool | PromptDefinition>(kept.map(({ item }) => item));
  const isSkillFile = skillFileTest(skills.items);
  const where = `server ${name}`;
  const faults = Object.values(lists).flatMap((list) => shownOf(list.faults));
  return {
    tools: tools.items.filter((tool) => chosen.has(tool)),
    resources: resources.items.filter(({ uri }) => !isSkillFile(uri)),
    templates: templates.items,
    prompts: prompts.items.filter((prompt) => chosen.has(prompt)),
    skills: skills.items,
    problems: [
      ...faults.map((fault) => ({ where, what: printable(quote(fault, MAX_FAULT)) })),
      ...problems.map((problem) => ({ where: `${where}: ${asWritten(problem.where)}`, what: problem.what })),
    ],
  };
}

/** Fields such as `includeTools` have the names of tools, and formats.ts puts this prefix before them. */
const asWritten = (filter: string) => filter.replace(/^filter "\*:/, 'filter "');

function shownOf(faults: readonly string[]): readonly string[] {
  const left = faults.length - MAX_FAULTS;
  return left > 0 ? [...faults.slice(0, MAX_FAULTS), `and ${left} more like these`] : faults;
}

function merge<T>(before: readonly T[], after: readonly T[]): readonly T[] {
  const known = new Map(before.map((one) => [JSON.stringify(one), one]));
  const merged = after.map((one) => known.get(JSON.stringify(one)) ?? one);
  return sameItems(merged, before) ? before : merged;
}
