/**
 * Tools of upstream servers as tools of the catalogue.
 * Owns: their public names, and passing arguments, progress and results on. Leaves alone: filters and other spellings of
 * names, which are the same for all tools (catalog/snapshot.ts, methods/).
 * Always true: a result is passed on whole, except for structure that the client's protocol version does not define.
 */
import { messageOf } from '../../log.ts';
import type { Tool, ToolCall, ToolOutcome, ToolView } from '../../model.ts';
import { isId, isObject, type Params, type Peer, RpcError } from '../../protocol/index.ts';
import { visibleLine } from '../../text.ts';
import { UpstreamError } from '../connection/connection.ts';
import { checkParamHeaders } from '../connection/param-headers.ts';
import type { RequestOptions } from '../connection/rpc-client.ts';
import type { ListedTool } from './listing.ts';
import { limitProgress, type Progress } from './progress.ts';
import { isObjectSchema } from './schemas.ts';
import type { Upstream } from './upstream.ts';

/** Server names contain no colon, so this names one tool of one server. */
export const publicName = (server: string, tool: ListedTool) => `${server}:${visibleLine(tool.name)}`;

export function toolsOf(upstreams: readonly Upstream[]): readonly Tool[] {
  return upstreams.flatMap((upstream) => upstream.listing().tools.map((tool) => toolOf(upstream, tool)));
}

/** `params` of `tools/call` without the name. The result as the server sent it. */
export function callTool(upstream: Upstream, tool: ListedTool, params: Params, options: RequestOptions) {
  const { name, paramHeaders } = tool;
  return upstream.request('tools/call', { ...params, name }, { ...options, paramHeaders });
}

/** The members of a client's request, besides its subject, that its server gets. Progress has a token per connection. */
export function passedOn({ inputResponses, requestState, _meta }: Params): Params {
  const { progressToken: _token, ...meta } = isObject(_meta) ? _meta : {};
  return { inputResponses, requestState, _meta: meta };
}

/** An error of a server as our client gets it. A client takes the codes for a connection to be about its own with us. */
export function errorFor(error: RpcError): RpcError {
  return CONNECTION_CODES.has(error.code) ? new RpcError(-32603, error.message, error.data) : error;
}

// --- internal ---

// Invalid JSON, invalid request, header mismatch, missing client capability, unsupported protocol version.
const CONNECTION_CODES: ReadonlySet<number> = new Set([-32700, -32600, -32020, -32021, -32022]);

function toolOf(upstream: Upstream, tool: ListedTool): Tool {
  const server = upstream.config.name;
  const { definition, inputSchema } = tool;
  const name = publicName(server, tool);
  return {
    name,
    server,
    short: visibleLine(tool.name),
    inputSchema,
    define: (_snapshot, view) => ({ ...definitionFor(definition, view), inputSchema }),
    async run(args, _snapshot, call) {
      checkParamHeaders(inputSchema, isObject(args) ? args : {}, call.peer.claims);
      const { params, signal, peer } = call;
      const progress = progressFor(call);
      try {
        const sent = { ...passedOn(params), arguments: args };
        return resultFor(await callTool(upstream, tool, sent, { signal, onProgress: progress?.report }), peer);
      } catch (error) {
        if (error instanceof RpcError) throw errorFor(error);
        return { content: [{ type: 'text', text: `${name} could not be called: ${messageOf(error)}` }], isError: true };
      } finally {
        progress?.finish();
      }
    },
  };
}

function progressFor({ params, notify }: ToolCall): Progress | undefined {
  const { progressToken } = isObject(params._meta) ? params._meta : {};
  if (!isId(progressToken)) return undefined;
  return limitProgress((report) => notify('notifications/progress', { ...report, progressToken }));
}

/** Protocol versions with a handshake allow only objects as structured content; their clients refuse anything else. */
function definitionFor({ outputSchema, ...definition }: Params, { anyStructure }: ToolView): Params {
  return anyStructure || isObjectSchema(outputSchema) ? { ...definition, outputSchema } : definition;
}

function resultFor(result: Params, { anyStructure }: Peer): ToolOutcome {
  const { resultType, content, structuredContent, ...rest } = result;
  // Not a result but a request for input: the era passes it on whole or refuses it (protocol/eras.ts).
  if (typeof resultType === 'string') return { ...result, resultType };
  if (content !== undefined && !isContent(content)) throw new UpstreamError('the content of its result is not a list');
  if (structuredContent === undefined) return { ...rest, content: content ?? [] };
  const isAllowed = anyStructure || isObject(structuredContent);
  // A client that does not get the structure gets it as text, unless the server sent a text too.
  const asText = [{ type: 'text', text: JSON.stringify(structuredContent) }];
  const shown = isAllowed || (content && content.length > 0) ? (content ?? []) : asText;
  return isAllowed ? { ...rest, content: shown, structuredContent } : { ...rest, content: shown };
}

const isContent = (content: unknown): content is readonly Params[] => Array.isArray(content) && content.every(isObject);
