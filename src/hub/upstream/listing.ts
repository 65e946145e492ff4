/**
 * Everything that an upstream server lists, requested and checked.
 * Owns: which items can be passed on. Leaves alone: public names and URIs (tools.ts, resources.ts), when to list (relist.ts).
 * Always true: an item that cannot be passed on is left out alone and reported; a list that cannot be requested is
 * replaced by the previous one.
 */
import { messageOf } from '../../log.ts';
import type { Problem } from '../../model.ts';
import { isObject, type Params, RpcError, SKILLS_EXTENSION } from '../../protocol/index.ts';
import { createFilter } from '../../skills/filter.ts';
import { visibleLine } from '../../text.ts';
import { pause } from '../../wait.ts';
import type { UpstreamConfig } from '../config/entries.ts';
import type { Redact } from '../config/redact.ts';
import { HttpError, UpstreamError } from '../connection/connection.ts';
import type { McpClient } from '../connection/dialects.ts';
import { findParamHeaders, type ParamHeader } from '../connection/param-headers.ts';
import { type Checked, checkResource, checkTemplate, checkTool } from './definitions.ts';
import { MAX_TEMPLATES, OPTIONAL_LIST_MS } from './limits.ts';
import { checkItems, EMPTY_LIST, faultTexts, type List, requestList } from './lists.ts';
import type { ListingOutcome } from './relist.ts';
import { parseSkillEntry, skillFileTest, type UpstreamSkill } from './skill-entries.ts';

export interface ListedTool {
  /** The server's own name for it. */
  readonly name: string;
  /** The server's definition, as far as it can be listed. */
  readonly definition: Params;
  readonly inputSchema: Params;
  readonly paramHeaders: readonly ParamHeader[];
}

export interface Listing {
  readonly tools: readonly ListedTool[];
  /** Without the files of its skills. */
  readonly resources: readonly Params[];
  readonly templates: readonly Params[];
  readonly skills: readonly UpstreamSkill[];
  readonly problems: readonly Problem[];
}

export const EMPTY_LISTING: Listing = { tools: [], resources: [], templates: [], skills: [], problems: [] };

export interface ListRequest {
  readonly mcp: McpClient;
  readonly config: UpstreamConfig;
  /** The listing before this one. */
  readonly last: Listing;
  /** The server has not listed anything yet in this session. */
  readonly isFirst: boolean;
  readonly redact: Redact;
  readonly signal: AbortSignal;
}

export interface ListEverything extends ListingOutcome {
  readonly listing: Listing;
  /** The same listing with the templates, when they did not come in time. */
  readonly later: Promise<Listing> | undefined;
}

/**
 * Rejects when the tools cannot be listed; but a server that has listed its tools before may fail to for a while.
 * Without resources, templates or skills a server is still useful.
 */
export async function listEverything(request: ListRequest): Promise<ListEverything> {
  const { mcp, last, isFirst, signal } = request;
  const withoutTools = (error: unknown) => {
    if (isFirst || !isPassing(error)) throw error;
    return insteadOf('tools/list', last.tools)(error);
  };
  // Few servers have templates. Those that do not know the method answer in many ways, or not at all.
  const withoutTemplates = (error: unknown) =>
    last.templates.length === 0 ? EMPTY_LIST : insteadOf('resources/templates/list', last.templates)(error);
  const optional = listTemplates(request).catch(withoutTemplates);
  const [tools, skills, resources] = await Promise.all([
    listTools(request).catch(withoutTools),
    listSkills(request).catch(insteadOf('skills/list', last.skills)),
    listResources(request).catch(insteadOf('resources/list', last.resources)),
  ]);
  const inTime = await Promise.race([optional, pause(OPTIONAL_LIST_MS, signal)]);
  const templates: List<Params> = inTime ?? { items: last.templates, faults: [] };
  const listingWith = (templates: List<Params>) => listingOf(request, { tools, skills, resources, templates });
  return {
    listing: listingWith(templates),
    later: inTime ? undefined : optional.then(listingWith),
    isOutdated: [tools, skills, resources, templates].some(({ isOutdated }) => isOutdated),
    ttlMs: shortestTtl(mcp, tools, [resources, templates, skills]),
  };
}

/**
 * `after`, with the objects of `before` where they are equal, so that an unchanged skill keeps what is cached for it;
 * `before` itself where everything is equal.
 */
export function mergeListings(before: Listing, after: Listing): Listing {
  const merged = {
    tools: merge(before.tools, after.tools),
    resources: merge(before.resources, after.resources),
    templates: merge(before.templates, after.templates),
    skills: merge(before.skills, after.skills),
    problems: merge(before.problems, after.problems),
  };
  const isSame = LISTS.every((list) => merged[list] === before[list]);
  return isSame ? before : merged;
}

// --- internal ---

const LISTS = ['tools', 'resources', 'templates', 'skills', 'problems'] as const;
const METHOD_NOT_FOUND = -32601;

function merge<T>(before: readonly T[], after: readonly T[]): readonly T[] {
  const known = new Map(before.map((one) => [JSON.stringify(one), one]));
  const merged = after.map((one) => known.get(JSON.stringify(one)) ?? one);
  return merged.length === before.length && merged.every((one, at) => one === before[at]) ? before : merged;
}

/** The list to use when the request failed. A server that does not know the method has an empty list. */
const insteadOf =
  <T>(method: string, last: readonly T[]) =>
  (error: unknown): List<T> => {
    const isUnknown = error instanceof RpcError && error.code === METHOD_NOT_FOUND;
    const items = isUnknown ? [] : last;
    const kept = items.length > 0 ? ', the last list is kept' : '';
    return { items, faults: [`${method} failed${kept}: ${messageOf(error)}`], isOutdated: !isUnknown };
  };

/**
 * Whether the server was reached: it may list its tools later. A timeout is among these, because many servers do not
 * respond during a call; whether the server is alive is for the health check to find out.
 */
function isPassing(error: unknown): boolean {
  return error instanceof RpcError || error instanceof HttpError || error instanceof UpstreamError;
}

interface Lists {
  readonly tools: List<ListedTool>;
  readonly skills: List<UpstreamSkill>;
  readonly resources: List<Params>;
  readonly templates: List<Params>;
}

function listingOf({ config, redact }: ListRequest, { tools, skills, resources, templates }: Lists): Listing {
  const { name, filter } = config;
  const { kept, problems } = createFilter(filter)(tools.items, (tool) => ({ name: tool.name, group: name }), []);
  const where = `server ${name}`;
  const faults = [tools, skills, resources, templates].flatMap((list) => faultTexts(list, redact));
  const isSkillFile = skillFileTest(skills.items);
  return {
    tools: kept,
    resources: resources.items.filter(({ uri }) => !isSkillFile(String(uri))),
    templates: templates.items,
    skills: skills.items,
    problems: [
      ...faults.map((what) => ({ where, what })),
      ...problems.map((problem) => ({ where: `${where}: ${problem.where}`, what: problem.what })),
    ],
  };
}

const optionsOf = ({ config, signal }: ListRequest) => ({ timeout: config.connectTimeout, signal });

async function listTools(request: ListRequest): Promise<List<ListedTool>> {
  const { mcp, redact } = request;
  const check = (raw: Params): Checked<ListedTool> => {
    const checked = checkTool(raw);
    if (checked.kind === 'unusable') return checked;
    const { definition, inputSchema } = checked.item;
    const found = mcp.paramHeaders ? findParamHeaders(inputSchema) : NO_HEADERS;
    if (found.kind === 'unsound') return { kind: 'unusable', why: found.why };
    const item = { name: String(definition.name), definition, inputSchema, paramHeaders: found.headers };
    return { ...checked, item };
  };
  const what = { what: 'tool', key: 'name', redact };
  return checkItems(await requestTools(request), what, check, ({ name }) => visibleLine(String(name)));
}

const NO_HEADERS = { kind: 'sound', headers: [] } as const;

/** A server that announces no capabilities at all may have tools nevertheless; it gets less time for them. */
async function requestTools(request: ListRequest): Promise<List<Params>> {
  const { mcp } = request;
  const options = optionsOf(request);
  if (mcp.capabilities.tools !== undefined) return requestList(mcp, 'tools/list', 'tools', options);
  if (Object.keys(mcp.capabilities).length > 0) return EMPTY_LIST;
  const timeout = Math.min(options.timeout, OPTIONAL_LIST_MS);
  return requestList(mcp, 'tools/list', 'tools', { ...options, timeout }).catch(() => EMPTY_LIST);
}

async function listSkills(request: ListRequest): Promise<List<UpstreamSkill>> {
  const { mcp, redact } = request;
  if (!hasSkills(mcp)) return EMPTY_LIST;
  const list = await requestList(mcp, 'skills/list', 'skills', optionsOf(request));
  return checkItems(list, { what: 'skill', key: 'uri', redact }, (raw) => {
    try {
      return { kind: 'kept', item: parseSkillEntry(raw), dropped: [] };
    } catch (error) {
      return { kind: 'unusable', why: messageOf(error) };
    }
  });
}

async function listResources(request: ListRequest): Promise<List<Params>> {
  const { mcp, redact } = request;
  if (mcp.capabilities.resources === undefined) return EMPTY_LIST;
  const list = await requestList(mcp, 'resources/list', 'resources', optionsOf(request));
  return checkItems(list, { what: 'resource', key: 'uri', redact }, checkResource);
}

async function listTemplates(request: ListRequest): Promise<List<Params>> {
  const { mcp, redact } = request;
  if (mcp.capabilities.resources === undefined) return EMPTY_LIST;
  const options = optionsOf(request);
  const list = await requestList(mcp, 'resources/templates/list', 'resourceTemplates', options, MAX_TEMPLATES);
  // Templates for files of its skills are not needed: the files are read by the skill.
  const isOfSkills = ({ uriTemplate }: Params) => hasSkills(mcp) && /^skill:/i.test(String(uriTemplate));
  const items = list.items.filter((one) => !isOfSkills(one));
  return checkItems({ ...list, items }, { what: 'resource template', key: 'uriTemplate', redact }, checkTemplate);
}

function hasSkills({ capabilities: { extensions } }: McpClient): boolean {
  return isObject(extensions) && isObject(extensions[SKILLS_EXTENSION]);
}

/** The shortest `ttlMs` of the lists whose changes the server does not announce. */
function shortestTtl(
  { capabilities }: McpClient,
  tools: List<unknown>,
  others: readonly List<unknown>[],
): number | undefined {
  const announces = (kind: unknown) => isObject(kind) && kind.listChanged === true;
  const lists = [
    ...(announces(capabilities.tools) ? [] : [tools]),
    ...(announces(capabilities.resources) ? [] : others),
  ];
  const times = lists.flatMap(({ ttlMs }) => ttlMs ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}
