/**
 * The two generations of MCP, seen from the client's side, as two values of one type.
 * Owns: what requests carry, what results are freed of, how changes are subscribed to.
 * Leaves alone: the same two seen from the server's side (protocol/eras.ts), which one a server speaks (handshake.ts).
 * Always true: only this file and handshake.ts ask which of the two a server speaks.
 */
import { encodeHeader, HEADERS, isObject, META, NAME_PARAMS, type Params } from '../../protocol/index.ts';
import { type HeaderFields, UpstreamError } from './connection.ts';
import type { ParamHeader } from './param-headers.ts';
import { metaOf, type RequestOptions, type RpcClient } from './rpc-client.ts';

export interface Implementation {
  readonly name: string;
  readonly version: string;
}

export interface McpRequestOptions extends RequestOptions {
  /** The arguments of a tool call that are repeated in headers. */
  readonly paramHeaders?: readonly ParamHeader[];
}

/** An MCP client that has finished its handshake with one server. */
export interface McpClient {
  readonly version: string;
  readonly server: Implementation;
  readonly capabilities: Params;
  /** Whether tool calls repeat annotated arguments in headers (see param-headers.ts). */
  readonly paramHeaders: boolean;
  /** Rejects with the server's RpcError where there is one. */
  request(method: string, params: Params, options: McpRequestOptions): Promise<Params>;
  /** Rejects when the server does not respond. An error response is a response. */
  ping(timeout: number): Promise<void>;
  /** Asks for notifications when lists change; `lost` is called when they no longer come. */
  subscribe(lost: (error: unknown) => void): void;
}

export type DialectName = 'modern' | 'legacy';

export interface Dialect {
  readonly name: DialectName;
  readonly version: string;
  /** The cheapest request that every server answers. */
  readonly pingMethod: string;
  /** On connections with a stream per request: closing the stream cancels, and arguments are repeated in headers. */
  readonly usesStreams: boolean;
  /** Ends the handshake. */
  confirm(rpc: RpcClient): void;
  seal(params: Params): Params;
  unseal(result: Params): Params;
  headers(method: string, params: Params): HeaderFields;
  /** Settles when notifications no longer come. */
  subscribe(mcp: McpClient, rpc: RpcClient): Promise<void>;
}

export function modernDialect(version: string, client: Implementation): Dialect {
  return {
    name: 'modern',
    version,
    pingMethod: 'server/discover',
    usesStreams: true,
    confirm() {},
    seal(params) {
      const { [META.capabilities]: theirs, ...meta } = metaOf(params);
      // Our client's capabilities: the server's requests for input reach it through us.
      const capabilities = isObject(theirs) ? theirs : {};
      const own = { [META.version]: version, [META.client]: client, [META.capabilities]: capabilities };
      return { ...params, _meta: { ...meta, ...own } };
    },
    unseal({ resultType, _meta, ...result }) {
      const { [META.server]: _server, ...meta } = metaOf({ _meta });
      const kept = Object.keys(meta).length > 0 ? { ...result, _meta: meta } : result;
      return resultType === undefined || resultType === 'complete' ? kept : { resultType, ...kept };
    },
    headers(method, params) {
      const name = NAME_PARAMS.get(method);
      const value = name === undefined ? undefined : params[name];
      const named = typeof value === 'string' ? { [HEADERS.name]: encodeHeader(value) } : {};
      return { [HEADERS.method]: method, ...named };
    },
    async subscribe(mcp) {
      const wanted = LISTS.filter(([name]) => announces(mcp, name)).map(([, key]) => [key, true]);
      if (wanted.length === 0) return;
      await mcp.request('subscriptions/listen', { notifications: Object.fromEntries(wanted) }, {});
      throw new UpstreamError('the server ended the subscription');
    },
  };
}

export function legacyDialect(version: string): Dialect {
  return {
    name: 'legacy',
    version,
    pingMethod: 'ping',
    usesStreams: false,
    confirm: (rpc) => rpc.notify('notifications/initialized'),
    seal({ _meta, ...params }) {
      const modern: readonly string[] = Object.values(META);
      const meta = Object.entries(metaOf({ _meta })).filter(([key]) => !modern.includes(key));
      return meta.length > 0 ? { ...params, _meta: Object.fromEntries(meta) } : params;
    },
    // These versions have no result types, but some servers of theirs ask for input as later ones do.
    unseal: ({ resultType, ...result }) => (resultType === INPUT_REQUIRED ? { resultType, ...result } : result),
    headers: () => ({}),
    async subscribe(mcp, rpc) {
      if (LISTS.some(([name]) => announces(mcp, name))) rpc.connection.listen();
    },
  };
}

// --- internal ---

const INPUT_REQUIRED = 'input_required';

/** The lists that we follow: name of the capability, key in a subscription. */
const LISTS = [
  ['tools', 'toolsListChanged'],
  ['resources', 'resourcesListChanged'],
] as const;

function announces({ capabilities }: McpClient, name: string): boolean {
  const one = capabilities[name];
  return isObject(one) && one.listChanged === true;
}
