/**
 * What upstream servers list, as items of the catalogue: tools, prompts, resources, templates and skills.
 * Owns: their public names, and passing requests and results on. Leaves alone: waiting for a server (upstream.ts), filters
 * and other spellings of names, which are the same for all items (catalog/snapshot.ts, methods/).
 * Always true: a result is passed on whole, except for structure that the client's protocol version does not define.
 */
import { messageOf } from '../log.ts';
import type { Contribution, Prompt, Resource, Template, Tool, ToolResult } from '../model.ts';
import * as protocol from '../protocol/index.ts';
import { type Call, isObject, type Params, RpcError } from '../protocol/index.ts';
import { visibleLine } from '../text.ts';
import { type HeaderFields, UpstreamError } from './connection.ts';
import type { ListedTool, PromptDefinition } from './definitions.ts';
import { headersFor } from './param-headers.ts';
import { skillOf } from './skills.ts';
import type { Upstream } from './upstream.ts';

export function contributionOf(upstreams: readonly Upstream[]): Contribution {
  const each = <T, U>(itemsOf: (upstream: Upstream) => readonly T[], make: (upstream: Upstream, item: T) => U) =>
    upstreams.flatMap((upstream) => itemsOf(upstream).map((item) => make(upstream, item)));
  const templates = upstreams.flatMap((upstream) => {
    const listed = new Set(upstream.listing.resources.map(({ uri }) => uri));
    const kept = upstream.listing.templates.filter(({ name }) => upstream.keeps(name));
    return kept.map((definition) => templateOf(upstream, definition, listed));
  });
  return {
    tools: each(({ listing }) => listing.tools, toolOf),
    prompts: each(({ listing }) => listing.prompts, promptOf),
    resources: each((one) => one.listing.resources.filter(({ name }) => one.keeps(name)), resourceOf),
    // The first that fits reads a URI, so the most specific comes first.
    templates: templates.sort((a, b) => startOf(b.definition).length - startOf(a.definition).length),
    skills: each((one) => one.listing.skills.filter(({ head }) => one.keeps(head.name)), skillOf),
    awaited: upstreams.filter(({ isAwaited }) => isAwaited).map(({ config }) => config.name),
    problems: upstreams.flatMap(({ problems }) => problems),
  };
}

/** Server names have no colon, so this names one item of one server. */
export const publicName = ({ config }: Upstream, name: string) => `${config.name}:${visibleLine(name)}`;

// --- internal ---

/**
 * Passes a client's request on, with its `_meta`, its cancellation and the progress that comes back. `subject`: the params
 * that say what is asked for. Rejects with the server's RpcError, or with an UpstreamError.
 */
function passOn(
  upstream: Upstream,
  call: Call,
  method: string,
  subject: Params,
  headers?: HeaderFields,
): Promise<Params> {
  // Progress has a token for each connection, and log messages are not passed.
  const { progressToken, [protocol.META.logLevel]: _level, ...meta } = protocol.metaOf(call.params);
  const onProgress = (report: Params) => call.notify('notifications/progress', { ...report, progressToken });
  const options = {
    timeout: upstream.config.timeout,
    cancellation: call.cancellation(),
    onProgress: protocol.isId(progressToken) ? onProgress : undefined,
    headers,
  };
  const params = Object.keys(meta).length > 0 ? { ...subject, _meta: meta } : subject;
  return upstream.request(method, params, options).catch((error: unknown) => {
    const code = error instanceof RpcError && OTHER_CODES.get(error.code);
    throw code ? new RpcError(code, error.message, error.data) : error;
  });
}

/** Codes of servers for which a client gets another. */
const OTHER_CODES: ReadonlyMap<number, number> = new Map([
  // The modern era forbids them: a resource is missing; a person must open a URL first, which nobody is asked for here.
  [-32002, protocol.CODE.params],
  [-32042, protocol.CODE.internal],
  // A client would take these to be about its own connection with us.
  ...Object.values(protocol.MCP_CODE).map((code) => [code, protocol.CODE.internal] as const),
]);

function toolOf(upstream: Upstream, { definition, paramHeaders }: ListedTool): Tool {
  const name = publicName(upstream, definition.name);
  return {
    server: upstream.config.name,
    definition: { ...definition, name },
    async run(args, _snapshot, call) {
      try {
        const subject = { name: definition.name, arguments: args };
        return resultFor(await passOn(upstream, call, 'tools/call', subject, headersFor(paramHeaders, args)), call);
      } catch (error) {
        if (error instanceof RpcError) throw error;
        return { content: [{ type: 'text', text: `${name} could not be called: ${messageOf(error)}` }], isError: true };
      }
    },
  };
}

function resultFor(result: Params, { peer }: Call): ToolResult {
  const { content = [], structuredContent } = result;
  if (!areObjects(content)) throw new UpstreamError('the content of its result is not a list');
  const whole = { ...result, content };
  if (structuredContent === undefined || isObject(structuredContent) || peer.anyStructure) return whole;
  // Protocol versions with a handshake allow objects only. Their clients get the structure as text, where there is none.
  const text = { type: 'text', text: JSON.stringify(structuredContent) };
  const hasText = content.some(({ type }) => type === 'text');
  return { ...whole, content: hasText ? content : [...content, text], structuredContent: undefined };
}

function promptOf(upstream: Upstream, definition: PromptDefinition): Prompt {
  const name = publicName(upstream, definition.name);
  return {
    server: upstream.config.name,
    definition: { ...definition, name },
    async get(call) {
      const subject = { name: definition.name, arguments: call.params.arguments };
      const result = await orInternal(name, passOn(upstream, call, 'prompts/get', subject));
      if (!areObjects(result.messages)) throw protocol.internalError(`${name}: its messages are not a list`);
      return result;
    },
  };
}

function resourceOf(upstream: Upstream, definition: Resource['definition']): Resource {
  return { server: upstream.config.name, definition, read: (call) => read(upstream, definition.uri, call) };
}

function templateOf(upstream: Upstream, definition: Template['definition'], listed: ReadonlySet<string>): Template {
  const start = startOf(definition);
  return {
    server: upstream.config.name,
    definition,
    // A resource that is listed is read as such or, where a filter hides it, not at all.
    matches: (uri) => uri.startsWith(start) && !listed.has(uri),
    read: (uri, call) => read(upstream, uri, call),
  };
}

/** What stands before the first expression. Whether there is such a resource is the server's answer. */
const startOf = ({ uriTemplate }: Template['definition']) => uriTemplate.split('{', 1)[0] ?? '';

async function read(upstream: Upstream, uri: string, call: Call): Promise<object> {
  const result = await orInternal(uri, passOn(upstream, call, 'resources/read', { uri }));
  if (!areObjects(result.contents)) throw protocol.internalError(`${uri}: its contents are not a list`);
  return result;
}

/** Outside of tools there is no failure that a model reads: what went wrong becomes an error. */
async function orInternal<T>(what: string, promise: Promise<T>): Promise<T> {
  return promise.catch((error: unknown) => {
    throw error instanceof RpcError ? error : protocol.internalError(`${what}: ${messageOf(error)}`);
  });
}

const areObjects = (value: unknown): value is readonly Params[] => Array.isArray(value) && value.every(isObject);
