/**
 * The lists of one upstream server: tools, resources, templates, prompts, skills.
 * Owns: when each is requested, its pages and limits, what is kept of it. Leaves alone: what a valid item is
 * (definitions.ts, skills.ts), and what a failure means for the server (upstream.ts).
 * Always true:
 * - no list waits for another; the requests of one list never overlap, and a change that is announced during one causes
 *   exactly one more;
 * - whatever the server sends, a list ends, and what is kept of it stays within the limits;
 * - an item that is equal to the one before is the same object.
 */
import { createPacer } from '../files/pace.ts';
import * as limits from '../limits.ts';
import { messageOf } from '../log.ts';
import { CODE, isObject, type Params, RpcError, SKILLS_EXTENSION } from '../protocol/index.ts';
import { echo, visibleLine } from '../text.ts';
import type { UpstreamClient } from './client.ts';
import { pause, UpstreamError } from './connection.ts';
import type { ListedTool, PromptDefinition, ResourceDefinition, TemplateDefinition } from './definitions.ts';
import { promptFrom, resourceFrom, templateFrom, toolFrom } from './definitions.ts';
import { skillFrom, type UpstreamSkill } from './skills.ts';

/** What a server lists. */
export interface Listing {
  readonly tools: readonly ListedTool[];
  readonly resources: readonly ResourceDefinition[];
  readonly templates: readonly TemplateDefinition[];
  readonly prompts: readonly PromptDefinition[];
  readonly skills: readonly UpstreamSkill[];
}

export type ListName = keyof Listing;

export const EMPTY_LISTING: Listing = { tools: [], resources: [], templates: [], prompts: [], skills: [] };

/** What requesting a list gave. */
export type ListOutcome =
  | { readonly kind: 'listed'; readonly items: readonly unknown[]; readonly faults: readonly string[] }
  | { readonly kind: 'failed'; readonly why: string };

export interface ListOwner {
  publish(name: ListName, outcome: ListOutcome): void;
  /** Whether the filter of the server's entry lets an item of that name through. */
  keeps(name: string): boolean;
}

/**
 * Requests every list: now, when a change is announced, and from time to time, until the client ends. Settles when the
 * tools are there, and the other lists too or a second later. Rejects when the tools cannot be listed.
 */
export async function keepListed(client: UpstreamClient, owner: ListOwner): Promise<void> {
  const lists = NAMES.map((name) => createList(name, client, owner));
  client.end.addEventListener('abort', () => {
    for (const list of lists) list.changed();
  });
  client.listen((method) => {
    for (const list of lists) if (list.announcement === method) list.changed();
  });
  const [tools, ...others] = lists.map((list) => list.start());
  const outcome = await tools;
  if (outcome?.kind === 'failed') throw new UpstreamError(outcome.why);
  await Promise.race([Promise.all(others), pause(limits.OTHER_LISTS_MS, client.end)]);
}

/** `after`, with the objects of `before` where they are equal; `before` itself where all are. */
export function merge<T>(before: readonly T[], after: readonly T[]): readonly T[] {
  const known = new Map(before.map((one) => [JSON.stringify(one), one]));
  const merged = after.map((one) => known.get(JSON.stringify(one)) ?? one);
  return merged.length === before.length && merged.every((one, at) => one === before[at]) ? before : merged;
}

// --- internal ---

/** `key`: the member of the result that has the items. `id`: the member of an item that tells it from others. */
interface Kind<T = unknown> {
  readonly method: string;
  readonly key: string;
  readonly id: string;
  /** The item as it is served; see definitions.ts. */
  check(raw: Params): T | undefined;
}

/** The tools stand first: without them a server is not ready. */
const KINDS: { readonly [name in ListName]: Kind<Listing[name][number]> } = {
  tools: { method: 'tools/list', key: 'tools', id: 'name', check: toolFrom },
  resources: { method: 'resources/list', key: 'resources', id: 'uri', check: resourceFrom },
  templates: { method: 'resources/templates/list', key: 'resourceTemplates', id: 'uriTemplate', check: templateFrom },
  prompts: { method: 'prompts/list', key: 'prompts', id: 'name', check: promptFrom },
  skills: { method: 'skills/list', key: 'skills', id: 'uri', check: skillFrom },
};
const NAMES = Object.keys(KINDS) as readonly ListName[];

/** One list, kept up to date from `start` on. */
function createList(name: ListName, client: UpstreamClient, owner: ListOwner) {
  const kind = KINDS[name];
  const [group = ''] = kind.method.split('/', 1);
  const isOffered = hasCapability(client, group);
  /** Fires when the list has changed, or may have, since it was last requested. */
  let change = new AbortController();

  async function request(): Promise<ListOutcome> {
    change = new AbortController();
    const outcome = await requestList(kind, client, owner).catch((error: unknown): ListOutcome => {
      // A server that does not know a method has an empty list; only tools that it has announced must be there.
      const isUnknown = error instanceof RpcError && error.code === CODE.method && name !== 'tools';
      return isUnknown || !isOffered ? NO_LIST : { kind: 'failed', why: `${kind.method} failed: ${messageOf(error)}` };
    });
    if (!client.end.aborted) owner.publish(name, outcome);
    return outcome;
  }
  async function keep(): Promise<void> {
    while (!client.end.aborted) {
      // Changes come in bursts.
      await pause(limits.DEBOUNCE_MS, client.end);
      await pause(limits.RELIST_MS, change.signal);
      if (!client.end.aborted) await request();
    }
  }
  return {
    // Changes of skills are announced as changes of resources.
    announcement: `notifications/${group === 'skills' ? 'resources' : group}/list_changed`,
    changed: () => change.abort(),
    async start(): Promise<ListOutcome> {
      // Tools are asked for in any case: some servers have them and announce nothing.
      const outcome = isOffered || name === 'tools' ? await request() : NO_LIST;
      if (outcome === NO_LIST) owner.publish(name, outcome);
      else void keep();
      return outcome;
    },
  };
}

const NO_LIST: ListOutcome = { kind: 'listed', items: [], faults: [] };

function hasCapability({ agreement: { capabilities } }: UpstreamClient, group: string): boolean {
  const { extensions } = capabilities;
  if (group === 'skills') return isObject(extensions) && isObject(extensions[SKILLS_EXTENSION]);
  return isObject(capabilities[group]);
}

/** All pages of a list: the items that can be served, each name once, and a fault for each of the others. */
async function requestList(
  { method, key, id, check }: Kind,
  client: UpstreamClient,
  { keeps }: ListOwner,
): Promise<ListOutcome> {
  const items = new Map<string, unknown>();
  const faults: string[] = [];
  const pace = createPacer();
  const deadline = performance.now() + limits.SETUP_MS;
  // Items and pages, also those that are left out: a server that sends nothing else would keep us reading.
  let received = 0;
  let length = 0;

  function take(raw: Params): void {
    try {
      if (!isShallow(raw, limits.MAX_ITEM_DEPTH)) throw new Error(`it has over ${limits.MAX_ITEM_DEPTH} levels`);
      const size = JSON.stringify(raw).length;
      length += Math.min(size, limits.MAX_ITEM_LENGTH);
      if (size > limits.MAX_ITEM_LENGTH) throw new Error(`it is over ${limits.MAX_ITEM_LENGTH} characters`);
      const item = check(raw);
      const identity = visibleLine(String(raw[id]));
      if (items.has(identity)) throw new Error(`an earlier one has the same ${id}`);
      // What has no name as its identity is filtered when it is served (items.ts).
      if (item !== undefined && (id !== 'name' || keeps(identity))) items.set(identity, item);
    } catch (error) {
      const name = typeof raw[id] === 'string' ? echo(raw[id]) : '(without a name)';
      faults.push(`${key} ${name}: left out, because ${messageOf(error)}`);
    }
  }
  let full: string | undefined;
  const cursors = new Set<unknown>();
  for (let cursor: unknown; full === undefined; ) {
    const timeout = Math.max(1, Math.ceil(deadline - performance.now()));
    const result = await client.request(method, cursor === undefined ? {} : { cursor }, { timeout });
    if (!Array.isArray(result[key])) throw new UpstreamError(`the result has no list of ${key}`);
    received += 1;
    for (const raw of result[key]) {
      await pace();
      if (received > limits.MAX_ITEMS) full = `over ${limits.MAX_ITEMS} items`;
      if (length > limits.MAX_LIST_LENGTH) full = `over ${limits.MAX_LIST_LENGTH} characters`;
      if (full !== undefined) break;
      received += 1;
      if (isObject(raw)) take(raw);
      else faults.push(`${key}: an item is not an object, and is left out`);
    }
    cursor = result.nextCursor;
    // Some servers end a list with an empty cursor.
    if (typeof cursor !== 'string' || cursor === '') break;
    if (cursors.has(cursor) || received > limits.MAX_ITEMS) full ??= 'the pages have no end';
    cursors.add(cursor);
  }
  if (full !== undefined) faults.unshift(`${method}: ${full}; ${items.size} ${key} are served`);
  const more = faults.length - limits.MAX_FAULTS;
  if (more > 0) faults.splice(limits.MAX_FAULTS, more, `and ${more} more like these`);
  return { kind: 'listed', items: [...items.values()], faults };
}

/** Items are encoded and compared by recursive functions, here and in clients. */
const isShallow = (value: unknown, levels: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((one) => isShallow(one, levels - 1)));
