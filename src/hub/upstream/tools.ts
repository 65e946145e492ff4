/**
 * Tools of upstream servers as tools of the catalogue.
 * Owns: their public names, and passing arguments and results on. Leaves alone: what all requests share (calls.ts), filters
 * and other spellings of names, which are the same for all tools (catalog/snapshot.ts, methods/).
 * Always true: a result is passed on whole, except for structure that the client's protocol version does not define.
 */
import { messageOf } from '../../log.ts';
import type { Tool, ToolOutcome, ToolResult, ToolView } from '../../model.ts';
import { isObject, type Params, type Peer, RpcError } from '../../protocol/index.ts';
import { visibleLine } from '../../text.ts';
import { UpstreamError } from '../connection/connection.ts';
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
        const subject = { name: definition.name, arguments: args };
        return resultFor(await passOn(upstream, call, 'tools/call', subject, paramHeaders), peer);
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
  // Not a result but a request for input: the era passes it on whole or refuses it (protocol/eras.ts).
  if (isRequestForInput(result)) return result;
  const whole = result.content === undefined ? { ...result, content: [] } : result;
  if (!hasContent(whole)) throw new UpstreamError('the content of its result is not a list');
  const { structuredContent } = whole;
  if (structuredContent === undefined || anyStructure || isObject(structuredContent)) return whole;
  // A client that does not get the structure gets it as text, unless the server sent a text too.
  const asText = [{ type: 'text', text: JSON.stringify(structuredContent) }];
  return { ...whole, content: whole.content.length > 0 ? whole.content : asText, structuredContent: undefined };
}

const isRequestForInput = (result: Params): result is Params & { readonly resultType: string } =>
  typeof result.resultType === 'string';

const hasContent = (result: Params): result is ToolResult =>
  Array.isArray(result.content) && result.content.every(isObject);
