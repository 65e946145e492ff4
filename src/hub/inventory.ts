/**
 * What an upstream server offers, asked for page by page and looked at closely.
 * Owns: which of it can be passed on. Leaves alone: filters and public names (fleet.ts), when to ask (upstream.ts).
 * Always true: a definition that is kept is kept whole; a bad one is dropped alone, and said so.
 */
import { messageOf } from '../log.ts';
import type { Problem } from '../model.ts';
import { isObject, type Params } from '../protocol/index.ts';
import { createFilter } from '../skills/filter.ts';
import type { Plan } from './config.ts';
import type { Conversation } from './dialects.ts';
import type { Asking } from './link.ts';
import { type Inventory, listAll, NOTHING, nothingBut } from './listing.ts';
import { findParamHeaders, type ParamHeader } from './param-headers.ts';
import type { Redact } from './redact.ts';
import { SKILLS_EXTENSION, type UpstreamSkill, understandEntry } from './skills.ts';
import { MOST_TEMPLATES, templateFault } from './templates.ts';
import { pause } from './time.ts';

export interface UpstreamTool {
  /** As the server calls it. */
  readonly name: string;
  /** All that the server says of it. */
  readonly definition: Params;
  readonly paramHeaders: readonly ParamHeader[];
}

/** What a server has to offer at the moment. */
export interface Offer {
  readonly tools: readonly UpstreamTool[];
  /** As the server defines them; those that are files of its skills are not among them. */
  readonly resources: readonly Params[];
  /** As the server defines them. */
  readonly templates: readonly Params[];
  readonly skills: readonly UpstreamSkill[];
  readonly problems: readonly Problem[];
}

export const NO_OFFER: Offer = { tools: [], resources: [], templates: [], skills: [], problems: [] };

/** Asks for everything; rejects when the tools cannot be had. Without its resources or skills a server is still of use. */
export async function takeStock(
  conversation: Conversation,
  { name, filter, connectTimeout: timeout }: Plan,
  redact: Redact,
  signal: AbortSignal,
): Promise<Offer> {
  const asking = { timeout, signal };
  const optional = listTemplates(conversation, asking, redact).catch(() => NOTHING);
  const [tools, skills, resources] = await Promise.all([
    listTools(conversation, asking, redact),
    listSkills(conversation, asking, redact).catch(nothingBut('skills/list')),
    listResources(conversation, asking).catch(nothingBut('resources/list')),
  ]);
  // Few servers have any, and some leave a question that they do not know without an answer.
  const templates = await Promise.race([optional, pause(UNANNOUNCED_MS, signal).then(() => NOTHING)]);
  const { kept, problems } = createFilter(filter)(tools.items, (tool) => ({ name: tool.name, group: name }), []);
  const where = `server ${name}`;
  const said = [tools, skills, resources, templates].flatMap(({ faults }) =>
    faults.map((fault) => ({ where, what: redact(fault) })),
  );
  const idle = problems.map((problem) => ({ where: `${where}: ${problem.where}`, what: problem.what }));
  return {
    tools: kept,
    resources: resources.items.filter(({ uri }) => !isOfSkill(skills.items, String(uri))),
    templates: templates.items,
    skills: skills.items,
    problems: [...said, ...idle],
  };
}

/** Whether a URI, as the server writes it, is that of a file of one of its skills. */
export function isOfSkill(skills: readonly UpstreamSkill[], uri: string): boolean {
  return skills.some(({ base }) => uri.startsWith(`${base}/`));
}

// --- internal ---

async function listTools(conversation: Conversation, asking: Asking, redact: Redact): Promise<Inventory<UpstreamTool>> {
  const listed = await listAllTools(conversation, asking);
  const items = new Map<string, UpstreamTool>();
  const faults = [...listed.faults];
  for (const definition of listed.items) {
    const { name } = definition;
    const headers = conversation.paramHeaders ? findParamHeaders(definition.inputSchema) : NO_HEADERS;
    const fault = toolFault(definition) ?? (headers.kind === 'unsound' ? headers.why : undefined);
    if (fault !== undefined || headers.kind === 'unsound')
      faults.push(`tool ${echo(name, redact)} is left out: ${fault}`);
    else if (items.has(String(name))) faults.push(`tool ${echo(name, redact)} is listed twice; the first is served`);
    else items.set(String(name), { name: String(name), definition, paramHeaders: headers.headers });
  }
  return { items: [...items.values()], faults };
}

/** A server that announces nothing at all may have tools all the same; it is asked, but not waited for. */
async function listAllTools(conversation: Conversation, asking: Asking): Promise<Inventory<Params>> {
  const { capabilities } = conversation;
  if (capabilities.tools !== undefined) return listAll(conversation, 'tools/list', 'tools', asking);
  if (Object.keys(capabilities).length > 0) return NOTHING;
  const timeout = Math.min(asking.timeout ?? UNANNOUNCED_MS, UNANNOUNCED_MS);
  return listAll(conversation, 'tools/list', 'tools', { ...asking, timeout }).catch(() => NOTHING);
}

async function listSkills(
  conversation: Conversation,
  asking: Asking,
  redact: Redact,
): Promise<Inventory<UpstreamSkill>> {
  if (!hasSkills(conversation)) return NOTHING;
  const listed = await listAll(conversation, 'skills/list', 'skills', asking);
  const items = new Map<string, UpstreamSkill>();
  const faults = [...listed.faults];
  for (const raw of listed.items) {
    try {
      const skill = understandEntry(raw);
      if (!items.has(skill.base)) items.set(skill.base, skill);
    } catch (error) {
      faults.push(`skill ${echo(raw.uri, redact)} is left out: ${messageOf(error)}`);
    }
  }
  return { items: [...items.values()], faults };
}

async function listResources(conversation: Conversation, asking: Asking): Promise<Inventory<Params>> {
  if (conversation.capabilities.resources === undefined) return NOTHING;
  const { items, faults } = await listAll(conversation, 'resources/list', 'resources', asking);
  const usable = items.filter(({ uri, name }) => typeof uri === 'string' && typeof name === 'string');
  const rest = items.length - usable.length;
  // Backwards, so that of those with one URI the first is kept.
  const byUri = new Map(usable.toReversed().map((one) => [one.uri, one]));
  const kept = usable.filter((one) => byUri.get(one.uri) === one);
  const repeated = usable.length - kept.length;
  return {
    items: kept,
    faults: [
      ...faults,
      ...(rest === 0 ? [] : [`${rest} resources without a uri or name are left out`]),
      ...(repeated === 0 ? [] : [`${repeated} resources are left out: others before them have their URIs`]),
    ],
  };
}

async function listTemplates(conversation: Conversation, asking: Asking, redact: Redact): Promise<Inventory<Params>> {
  if (conversation.capabilities.resources === undefined) return NOTHING;
  const listed = await listAll(conversation, 'resources/templates/list', 'resourceTemplates', asking, MOST_TEMPLATES);
  // What they stand for are files of its skills, which come in their own way.
  const isOfSkills = ({ uriTemplate }: Params) => hasSkills(conversation) && /^skill:/i.test(String(uriTemplate));
  const items = new Map<unknown, Params>();
  const faults = [...listed.faults];
  for (const one of listed.items.filter((one) => !isOfSkills(one))) {
    const fault = items.has(one.uriTemplate) ? 'it is listed twice' : templateFault(one);
    if (fault === undefined) items.set(one.uriTemplate, one);
    else faults.push(`resource template ${echo(one.uriTemplate, redact)} is left out: ${fault}`);
  }
  return { items: [...items.values()], faults };
}

function hasSkills({ capabilities: { extensions } }: Conversation): boolean {
  return isObject(extensions) && isObject(extensions[SKILLS_EXTENSION]);
}

const UNANNOUNCED_MS = 3000;
const NO_HEADERS = { kind: 'sound', headers: [] } as const;
// The protocol says names should stay below this; no model API takes half of it.
const LONGEST_NAME = 128;

function toolFault({ name, inputSchema }: Params): string | undefined {
  if (typeof name !== 'string' || name.trim() === '') return 'it has no name';
  if (name.length > LONGEST_NAME) return `its name is over ${LONGEST_NAME} characters`;
  if (/[\p{C}\u2028\u2029]/u.test(name)) return 'its name holds control characters';
  if (!isObject(inputSchema)) return 'its inputSchema is not an object';
  return undefined;
}

/** Redacted before it is cut: half a secret is no longer found. */
function echo(name: unknown, redact: Redact): string {
  return typeof name === 'string' ? `"${redact(name).slice(0, 60)}"` : 'without a name';
}
