/**
 * The two generations of MCP, seen from the client's side, as two values of one type: what requests carry, and what
 * results are freed of. The server's side is in protocol/eras.ts; handshake.ts finds out which one a server speaks.
 */
import {
  type Client,
  encodeHeader,
  HEADERS,
  isObject,
  META,
  metaOf,
  NAME_PARAMS,
  type Params,
} from '../../protocol/index.ts';
import type { HeaderFields } from './connection.ts';

export type DialectName = 'modern' | 'legacy';

export interface Dialect {
  readonly name: DialectName;
  readonly version: string;
  /** The cheapest request that every server answers. */
  readonly pingMethod: string;
  /** The request whose stream brings notifications; undefined where they come by themselves, or after `resources/subscribe`. */
  readonly listenMethod: string | undefined;
  readonly confirmation: string | undefined;
  /** The request that sets one log level for all others; undefined where each request has its own, in `_meta`. */
  readonly logLevelMethod: string | undefined;
  /** On connections with a stream per request: closing the stream cancels, and arguments are repeated in headers. */
  readonly usesStreams: boolean;
  seal(params: Params): Params;
  unseal(result: Params): Params;
  headers(method: string, params: Params): HeaderFields;
}

export function modernDialect(version: string, client: Client): Dialect {
  return {
    name: 'modern',
    version,
    pingMethod: 'server/discover',
    listenMethod: 'subscriptions/listen',
    confirmation: undefined,
    logLevelMethod: undefined,
    usesStreams: true,
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
      return typeof resultType !== 'string' || resultType === 'complete' ? kept : { resultType, ...kept };
    },
    headers(method, params) {
      const value = params[NAME_PARAMS.get(method) ?? ''];
      const named = typeof value === 'string' ? { [HEADERS.name]: encodeHeader(value) } : {};
      return { [HEADERS.method]: method, ...named };
    },
  };
}

export function legacyDialect(version: string): Dialect {
  return {
    name: 'legacy',
    version,
    pingMethod: 'ping',
    listenMethod: undefined,
    confirmation: 'notifications/initialized',
    logLevelMethod: 'logging/setLevel',
    usesStreams: false,
    seal(params) {
      if (params._meta === undefined) return params;
      const { _meta, ...rest } = params;
      const modern: readonly string[] = Object.values(META);
      const meta = Object.entries(metaOf({ _meta })).filter(([key]) => !modern.includes(key));
      return meta.length > 0 ? { ...rest, _meta: Object.fromEntries(meta) } : rest;
    },
    // These versions have no result types, but some servers of theirs ask for input as later ones do.
    unseal(result) {
      if (result.resultType === undefined || result.resultType === 'input_required') return result;
      const { resultType: _other, ...rest } = result;
      return rest;
    },
    headers: () => ({}),
  };
}
