/**
 * The two generations of MCP, seen from the client's side: two values of one type, and how to find out which one a server
 * speaks. The server's side is in protocol/eras.ts.
 * Owns: what requests carry, what results are freed of, the handshake. Leaves alone: how messages travel (client.ts).
 * Always true: when two handshakes are under way, one answer is used, and the other has no effect.
 */
import { MAX_ITEM_NAME, SILENCE_MS } from '../limits.ts';
import {
  type Client,
  encodeHeader,
  HEADERS,
  isObject,
  LEGACY_VERSIONS,
  MCP_CODE,
  META,
  MODERN_VERSIONS,
  metaOf,
  NAME_PARAMS,
  type Params,
  RpcError,
} from '../protocol/index.ts';
import { cut, visibleLine } from '../text.ts';
import { type HeaderFields, pause, UpstreamError } from './connection.ts';

export interface Dialect {
  /** The cheapest request that every server answers. */
  readonly pingMethod: string;
  /** The request whose stream brings notifications; undefined where they come by themselves. */
  readonly listenMethod: string | undefined;
  /** The notification that completes the handshake. */
  readonly confirmation: string | undefined;
  /** Closing the response cancels a request, where it has one of its own. */
  readonly cancelsByClosing: boolean;
  seal(params: Params): Params;
  /** Throws for a result that cannot be passed on. */
  unseal(result: Params): Params;
  /** Over HTTP. `repeated`: arguments that a tool wants there. */
  headers(method: string, params: Params, repeated?: HeaderFields): HeaderFields;
}

/** What a server and we have agreed on. */
export interface Agreement {
  readonly dialect: Dialect;
  /** The protocol version. */
  readonly version: string;
  readonly server?: Client | undefined;
  readonly capabilities: Params;
  /** The lists whose changes the server announces: `tools`, `resources`, `prompts`. */
  readonly announced: readonly string[];
}

/** Sends a request of the handshake. Rejects with the server's RpcError, or with another Error. */
export type Ask = (dialect: Dialect, method: string, params: Params, cancellation: AbortSignal) => Promise<Params>;

/** `isLegacy`: the server is known to speak the legacy dialect. Rejects with the error of the last handshake. */
export async function agree(ask: Ask, us: Client, isLegacy: boolean): Promise<Agreement> {
  // The handshake that is not chosen is dropped: its answer could come at any time.
  const chosen = new AbortController();
  const { signal } = chosen;
  try {
    if (isLegacy) return await initialize(ask, us, signal);
    const discovered = discover(ask, us, signal).catch(() => undefined);
    const found = () => Promise.race([discovered, pause(SILENCE_MS, signal)]);
    const first = await found();
    if (first) return first;
    // A server that was only slow to start answers both. Those of the official SDK then speak as in the later one.
    const refused = async (error: unknown) => (await found()) ?? Promise.reject(error);
    return await initialize(ask, us, signal).catch(refused);
  } finally {
    chosen.abort();
  }
}

// --- internal ---

function modernDialect(version: string, us: Client): Dialect {
  return {
    pingMethod: 'server/discover',
    listenMethod: 'subscriptions/listen',
    confirmation: undefined,
    cancelsByClosing: true,
    // We take no requests of servers, so there are no capabilities, whatever our own client has.
    seal: (params) => ({
      ...params,
      _meta: { ...metaOf(params), [META.version]: version, [META.client]: us, [META.capabilities]: {} },
    }),
    unseal({ resultType, _meta, ...result }) {
      const { [META.server]: _server, ...meta } = metaOf({ _meta });
      if (typeof resultType === 'string' && resultType !== 'complete')
        throw new UpstreamError('the server asks for input, which is not passed on here');
      return Object.keys(meta).length > 0 ? { ...result, _meta: meta } : result;
    },
    headers(method, params, repeated) {
      const name = params[NAME_PARAMS.get(method) ?? ''];
      const named = typeof name === 'string' ? { [HEADERS.name]: encodeHeader(name) } : {};
      return { ...repeated, [HEADERS.version]: version, [HEADERS.method]: method, ...named };
    },
  };
}

const legacyDialect: Dialect = {
  pingMethod: 'ping',
  listenMethod: undefined,
  confirmation: 'notifications/initialized',
  cancelsByClosing: false,
  // By these keys a server that speaks both tells the one from the other.
  seal(params) {
    if (params._meta === undefined) return params;
    const meta = Object.entries(metaOf(params)).filter(([key]) => !MODERN_KEYS.has(key));
    return { ...params, _meta: meta.length > 0 ? Object.fromEntries(meta) : undefined };
  },
  unseal: (result) => result,
  headers: () => ({}),
};

const MODERN_KEYS: ReadonlySet<string> = new Set(Object.values(META));

async function discover(ask: Ask, us: Client, signal: AbortSignal): Promise<Agreement> {
  const askIn = async (version: string) => {
    const dialect = modernDialect(version, us);
    return { dialect, version, result: await ask(dialect, dialect.pingMethod, {}, signal) };
  };
  const [newest = ''] = MODERN_VERSIONS;
  const { dialect, version, result } = await askIn(newest).catch((error: unknown) => {
    const data = error instanceof RpcError && error.code === MCP_CODE.version ? error.data : undefined;
    const supported = isObject(data) ? data.supported : undefined;
    // Perhaps the one that was just refused: then the server had a passing reason.
    const common = MODERN_VERSIONS.find((one) => Array.isArray(supported) && supported.includes(one));
    if (common === undefined) throw error;
    return askIn(common);
  });
  // Some older servers answer any method with some result.
  if (!Array.isArray(result.supportedVersions) || !result.supportedVersions.includes(version))
    throw new UpstreamError('the answer to server/discover names no version that we speak');
  return agreement(dialect, version, metaOf(result)[META.server], result.capabilities);
}

async function initialize(ask: Ask, us: Client, signal: AbortSignal): Promise<Agreement> {
  const [newest = ''] = LEGACY_VERSIONS;
  const params = { protocolVersion: newest, capabilities: {}, clientInfo: us };
  const { protocolVersion: version, serverInfo, capabilities } = await ask(legacyDialect, 'initialize', params, signal);
  if (typeof version === 'string' && LEGACY_VERSIONS.includes(version))
    return agreement(legacyDialect, version, serverInfo, capabilities);
  const named = cut(String(version), MAX_ITEM_NAME);
  throw new UpstreamError(`the server speaks protocol version "${named}", which we do not`);
}

function agreement(dialect: Dialect, version: string, info: unknown, capabilities: unknown): Agreement {
  const brief = (text: unknown) => (typeof text === 'string' ? visibleLine(cut(text, MAX_ITEM_NAME)) : '');
  const server = isObject(info) ? { name: brief(info.name), version: brief(info.version) } : undefined;
  const known = isObject(capabilities) ? capabilities : {};
  const isAnnounced = (list: string) => isObject(known[list]) && known[list].listChanged === true;
  const announced = ['tools', 'resources', 'prompts'].filter(isAnnounced);
  return { dialect, version, server, capabilities: known, announced };
}
