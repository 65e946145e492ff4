/**
 * Tools of upstream servers as tools of the catalogue.
 * Owns: their public names, and passing arguments and results on. Leaves alone: what all requests share (calls.ts), filters
 * and other spellings of names, which are the same for all tools (catalog/snapshot.ts, methods/).
 * Always true: a result is passed on whole, except for structure that the client's protocol version does not define.
 */
import { messageOf } from '../../log.ts';
import type { Tool, ToolOutcome, ToolView } from '../../model.ts';
import { isObject, type Params, type Peer, RpcError } from '../../protocol/index.ts';
import { visibleLine } from '../../text.ts';
import { UpstreamError } from '../connection/connection.ts';
import type { McpRequestOptions } from '../connection/mcp-client.ts';
import { checkParamHeaders } from '../connection/param-headers.ts';
import { passOn } from './calls.ts';
import type { ListedTool, ToolDefinition } from './definitions.ts';
import { isObjectSchema } from './schemas.ts';
import type { Upstream } from './upstream.ts';

/** Server names contain no colon, so this names one tool of one server. */
export const publicName = (server: string, { definition }: ListedTool) => `${server}:${visibleLine(definition.name)}`;

export function toolsOf(upstreams: readonly Upstream[]): readonly Tool[] {
  return upstreams.flatMap((upstream) => upstream.listing().tools.map((tool) => toolOf(upstream, tool)));
}

/** `params` of `tools/call` without the name. The result as the server sent it. */
export function callTool(upstream: Upstream, tool: ListedTool, params: Params, options: McpRequestOptions) {
  const { paramHeaders } = tool;
  return upstream.request('tools/call', { ...params, name: tool.definition.name }, { ...options, paramHeaders });
}

// --- internal ---

function toolOf(upstream: Upstream, tool: ListedTool): Tool {
  const server = upstream.config.name;
  const { definition, paramHeaders } = tool;
  const name = publicName(server, tool);
  return {
    name,
    server,
    inputSchema: definition.inputSchema,
    define: (_snapshot, view) => definitionFor(definition, view),
    async run(args, _snapshot, call) {
      const { peer } = call;
      checkParamHeaders(paramHeaders, isObject(args) ? args : {}, peer.readHeader);
      try {
        const result = await passOn(upstream, call, (params, options) =>
          callTool(upstream, tool, { ...params, arguments: args }, options),
        );
        return resultFor(result, peer);
      } catch (error) {
        if (error instanceof RpcError) throw error;
        return { content: [{ type: 'text', text: `${name} could not be called: ${messageOf(error)}` }], isError: true };
      }
    },
  };
}

/** Protocol versions with a handshake allow only objects as structured content; their clients refuse anything else. */
function definitionFor({ outputSchema, ...definition }: ToolDefinition, { anyStructure }: ToolView): ToolDefinition {
  return anyStructure || isObjectSchema(outputSchema) ? { ...definition, outputSchema } : definition;
}

function resultFor(result: Params, { anyStructure }: Peer): ToolOutcome {
  const { resultType, content = [], structuredContent, ...rest } = result;
  // Not a result but a request for input: the era passes it on whole or refuses it (protocol/eras.ts).
  if (typeof resultType === 'string') return { ...result, resultType };
  if (!Array.isArray(content) || !content.every(isObject))
    throw new UpstreamError('the content of its result is not a list');
  if (structuredContent === undefined) return { ...rest, content };
  if (anyStructure || isObject(structuredContent)) return { ...rest, content, structuredContent };
  // A client that does not get the structure gets it as text, unless the server sent a text too.
  const asText = [{ type: 'text', text: JSON.stringify(structuredContent) }];
  return { ...rest, content: content.length > 0 ? content : asText };
}
