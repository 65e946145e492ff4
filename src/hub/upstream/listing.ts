/**
 * What an upstream server offers, asked for page by page and looked at closely.
 * Owns: which of it can be passed on. Leaves alone: filters and public names (fleet.ts), when to ask (upstream.ts).
 * Always true: a definition that cannot be passed on is left out alone, and said so; a list that cannot be had is the
 * one that was had last.
 */

import { compare } from '../../compare.ts';
import { messageOf } from '../../log.ts';
import type { Problem } from '../../model.ts';
import { isObject, type Params, RpcError, SKILLS_EXTENSION } from '../../protocol/index.ts';
import { createFilter } from '../../skills/filter.ts';
import { printable, shorten, visibleLine } from '../../text.ts';
import { pause } from '../../wait.ts';
import type { UpstreamConfig } from '../config/entries.ts';
import type { Redact } from '../config/redact.ts';
import type { McpClient } from '../connection/dialects.ts';
import { findParamHeaders, type ParamHeader } from '../connection/param-headers.ts';
import type { RequestOptions } from '../connection/rpc-client.ts';
import { type Cleaned, cleanResource, cleanTemplate, cleanTool } from './definitions.ts';
import { type Inventory, insteadOf, listAll, NOTHING } from './pages.ts';
import { type UpstreamSkill, understandEntry } from './skills.ts';
import { MOST_TEMPLATES } from './uri-templates.ts';

export interface ListedTool {
  /** As the server calls it. */
  readonly name: string;
  /** What the server says of it, as far as it can be listed. */
  readonly definition: Params;
  readonly paramHeaders: readonly ParamHeader[];
}

/** What a server has to offer at the moment. */
export interface Listing {
  readonly tools: readonly ListedTool[];
  /** Those that are files of its skills are not among them. */
  readonly resources: readonly Params[];
  readonly templates: readonly Params[];
  readonly skills: readonly UpstreamSkill[];
  readonly problems: readonly Problem[];
}

export const EMPTY_LISTING: Listing = { tools: [], resources: [], templates: [], skills: [], problems: [] };

/** An offer, and when it is to be asked for again though the server says nothing. */
export interface Stock {
  readonly listing: Listing;
  /** The same with the templates, which were not there in time. */
  readonly later: Promise<Listing> | undefined;
  /** A list that could not be had this time is the last one. */
  readonly isOld: boolean;
  /** Milliseconds for which the lists hold of whose changes the server does not tell; undefined: it tells of all. */
  readonly ttlMs: number | undefined;
}

/** What is known before a server is asked. */
export interface Before {
  readonly last: Listing;
  /** It has not yet shown that it can list anything since it was connected. */
  readonly isFirst: boolean;
}

/**
 * Asks for everything; rejects when the tools cannot be had. Without its resources or skills a server is still of use,
 * and one that has listed its tools before may fail to do so for a moment.
 */
export async function listEverything(
  mcp: McpClient,
  config: UpstreamConfig,
  { last, isFirst }: Before,
  redact: Redact,
  signal: AbortSignal,
): Promise<Stock> {
  const options = { timeout: config.connectTimeout, signal };
  // Few servers have any, and those that do not know the question answer it in many ways, or not at all.
  const unless = last.templates.length === 0 ? () => NOTHING : insteadOf('resources/templates/list', last.templates);
  const toolsUnless = (error: unknown) => {
    if (isFirst || !(error instanceof RpcError)) throw error;
    return insteadOf('tools/list', last.tools)(error);
  };
  const optional = listTemplates(mcp, options, redact).catch(unless);
  const [tools, skills, resources] = await Promise.all([
    listTools(mcp, options, redact).catch(toolsUnless),
    listSkills(mcp, options, redact).catch(insteadOf('skills/list', last.skills)),
    listResources(mcp, options, redact).catch(insteadOf('resources/list', last.resources)),
  ]);
  const offerWith = (templates: Inventory<Params>) => offerOf(config, { tools, skills, resources, templates }, redact);
  const answer = await Promise.race([optional, pause(UNANNOUNCED_MS, signal)]);
  const templates: Inventory<Params> = answer ?? { items: last.templates, faults: [] };
  return {
    listing: offerWith(templates),
    later: answer ? undefined : optional.then(offerWith),
    isOld: [tools, skills, resources, templates].some(({ isOld }) => isOld),
    ttlMs: shortestUnannounced(mcp, tools, [resources, templates, skills]),
  };
}

/**
 * The later offer, made of the earlier one's objects where they say the same, so that whoever follows one of them is
 * told of its own changes only; the earlier one itself where all say the same.
 */
export function mergeOffers(before: Listing, after: Listing): Listing {
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

/** A test whether a URI, as the server writes it, is that of a file of one of its skills. */
export function skillFileTest(skills: readonly UpstreamSkill[]): (uri: string) => boolean {
  const known = tests.get(skills);
  if (known) return known;
  // Sorted, and without those inside another: the last that is not after a URI is then the only one it can begin with.
  const outer: string[] = [];
  for (const base of skills.map((skill) => `${skill.base}/`).sort(compare))
    if (!base.startsWith(outer.at(-1) ?? '/')) outer.push(base);
  const test = (uri: string) => {
    let [low, high] = [0, outer.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(outer[middle] ?? '', uri) <= 0) low = middle + 1;
      else high = middle;
    }
    const before = outer[low - 1];
    return before !== undefined && uri.startsWith(before);
  };
  tests.set(skills, test);
  return test;
}

// --- internal ---

const tests = new WeakMap<readonly UpstreamSkill[], (uri: string) => boolean>();

const LISTS = ['tools', 'resources', 'templates', 'skills', 'problems'] as const;

function merge<T>(before: readonly T[], after: readonly T[]): readonly T[] {
  const known = new Map(before.map((one) => [JSON.stringify(one), one]));
  const merged = after.map((one) => known.get(JSON.stringify(one)) ?? one);
  return merged.length === before.length && merged.every((one, at) => one === before[at]) ? before : merged;
}

const UNANNOUNCED_MS = 3000;
const NO_HEADERS = { kind: 'sound', headers: [] } as const;
// Enough to see what is wrong; a server with ten thousand bad items must not fill the log.
const MOST_FAULTS = 20;
const LONGEST_FAULT = 400;
const LONGEST_ECHO = 60;

interface Lists {
  readonly tools: Inventory<ListedTool>;
  readonly skills: Inventory<UpstreamSkill>;
  readonly resources: Inventory<Params>;
  readonly templates: Inventory<Params>;
}

function offerOf(
  { name, filter }: UpstreamConfig,
  { tools, skills, resources, templates }: Lists,
  redact: Redact,
): Listing {
  const { kept, problems } = createFilter(filter)(tools.items, (tool) => ({ name: tool.name, group: name }), []);
  const where = `server ${name}`;
  const faults = [tools, skills, resources, templates].flatMap((list) => few(list.faults));
  const isOfSkill = skillFileTest(skills.items);
  return {
    tools: kept,
    resources: resources.items.filter(({ uri }) => !isOfSkill(String(uri))),
    templates: templates.items,
    skills: skills.items,
    problems: [
      ...faults.map((fault) => ({ where, what: sayable(fault, redact) })),
      ...problems.map((problem) => ({ where: `${where}: ${problem.where}`, what: problem.what })),
    ],
  };
}

async function listTools(mcp: McpClient, options: RequestOptions, redact: Redact): Promise<Inventory<ListedTool>> {
  const listed = await listAllTools(mcp, options);
  const take = (raw: Params): Taken<ListedTool> => {
    const cleaned = cleanTool(raw);
    if (cleaned.kind === 'unusable') return cleaned;
    const { definition } = cleaned;
    const found = mcp.paramHeaders ? findParamHeaders(definition.inputSchema) : NO_HEADERS;
    if (found.kind === 'unsound') return { kind: 'unusable', why: found.why };
    const item = { name: String(definition.name), definition, paramHeaders: found.headers };
    return { ...cleaned, item };
  };
  return gather(listed, { what: 'tool', key: 'name', redact }, take, ({ name }) => visibleLine(String(name)));
}

/** A server that announces nothing at all may have tools all the same; it is asked, but not waited for. */
async function listAllTools(mcp: McpClient, options: RequestOptions): Promise<Inventory<Params>> {
  const { capabilities } = mcp;
  if (capabilities.tools !== undefined) return listAll(mcp, 'tools/list', 'tools', options);
  if (Object.keys(capabilities).length > 0) return NOTHING;
  const timeout = Math.min(options.timeout ?? UNANNOUNCED_MS, UNANNOUNCED_MS);
  return listAll(mcp, 'tools/list', 'tools', { ...options, timeout }).catch(() => NOTHING);
}

async function listSkills(mcp: McpClient, options: RequestOptions, redact: Redact): Promise<Inventory<UpstreamSkill>> {
  if (!hasSkills(mcp)) return NOTHING;
  const listed = await listAll(mcp, 'skills/list', 'skills', options);
  return gather(listed, { what: 'skill', key: 'uri', redact }, (raw) => {
    try {
      return { kind: 'kept', item: understandEntry(raw), dropped: [] };
    } catch (error) {
      return { kind: 'unusable', why: messageOf(error) };
    }
  });
}

async function listResources(mcp: McpClient, options: RequestOptions, redact: Redact): Promise<Inventory<Params>> {
  if (mcp.capabilities.resources === undefined) return NOTHING;
  const listed = await listAll(mcp, 'resources/list', 'resources', options);
  return gather(listed, { what: 'resource', key: 'uri', redact }, (raw) => itemOf(cleanResource(raw)));
}

async function listTemplates(mcp: McpClient, options: RequestOptions, redact: Redact): Promise<Inventory<Params>> {
  if (mcp.capabilities.resources === undefined) return NOTHING;
  const listed = await listAll(mcp, 'resources/templates/list', 'resourceTemplates', options, MOST_TEMPLATES);
  // What they stand for are files of its skills, which come in their own way.
  const isOfSkills = ({ uriTemplate }: Params) => hasSkills(mcp) && /^skill:/i.test(String(uriTemplate));
  const items = listed.items.filter((one) => !isOfSkills(one));
  const about = { what: 'resource template', key: 'uriTemplate', redact };
  return gather({ ...listed, items }, about, (raw) => itemOf(cleanTemplate(raw)));
}

function hasSkills({ capabilities: { extensions } }: McpClient): boolean {
  return isObject(extensions) && isObject(extensions[SKILLS_EXTENSION]);
}

type Taken<T> =
  | { readonly kind: 'kept'; readonly item: T; readonly dropped: readonly string[] }
  | { readonly kind: 'unusable'; readonly why: string };

const itemOf = (cleaned: Cleaned): Taken<Params> =>
  cleaned.kind === 'kept' ? { ...cleaned, item: cleaned.definition } : cleaned;

/** The items that can be passed on, each `key` once, and a fault for each of the others. */
function gather<T>(
  listed: Inventory<Params>,
  { what, key, redact }: { readonly what: string; readonly key: string; readonly redact: Redact },
  take: (raw: Params) => Taken<T>,
  /** What two of them must not share. */
  identityOf: (raw: Params) => unknown = (raw) => raw[key],
): Inventory<T> {
  const items = new Map<unknown, T>();
  const faults = [...listed.faults];
  for (const raw of listed.items) {
    const taken = take(raw);
    const subject = () => `${what} ${echo(raw[key], redact)}`;
    if (taken.kind === 'unusable') faults.push(`${subject()} is left out: ${taken.why}`);
    else if (items.has(identityOf(raw))) faults.push(`${subject()} is listed twice; the first is served`);
    else {
      items.set(identityOf(raw), taken.item);
      if (taken.dropped.length > 0)
        faults.push(`${subject()} is listed without what clients cannot read: ${taken.dropped.join(', ')}`);
    }
  }
  return { ...listed, items: [...items.values()], faults };
}

/** Of lists whose changes the server announces, what it says of how long they hold is of no use. */
function shortestUnannounced(
  { capabilities }: McpClient,
  tools: Inventory<unknown>,
  others: readonly Inventory<unknown>[],
): number | undefined {
  const announces = (kind: unknown) => isObject(kind) && kind.listChanged === true;
  const times = [
    ...(announces(capabilities.tools) ? [] : [tools]),
    ...(announces(capabilities.resources) ? [] : others),
  ].flatMap(({ ttlMs }) => ttlMs ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

function few(faults: readonly string[]): readonly string[] {
  if (faults.length <= MOST_FAULTS) return faults;
  return [...faults.slice(0, MOST_FAULTS), `and ${faults.length - MOST_FAULTS} more like these`];
}

/** Redacted before it is cut: half a secret is no longer found. */
function sayable(fault: string, redact: Redact): string {
  return printable(shorten(redact(fault), LONGEST_FAULT));
}

/** Short enough that what is wrong can still be read behind it. */
function echo(name: unknown, redact: Redact): string {
  return typeof name === 'string' ? `"${shorten(redact(name), LONGEST_ECHO)}"` : 'without a name';
}
