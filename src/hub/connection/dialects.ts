/**
 * The two generations of MCP, seen from the client's side, as two values of one type.
 * Owns: which of them a server speaks, what requests carry and results are freed of, how changes are subscribed to.
 * Leaves alone: the same two seen from the server's side (protocol/eras.ts), what is requested (upstream/).
 * Always true: nothing outside this file asks which of the two a server speaks.
 */
import { asError } from '../../log.ts';
import {
  encodeHeader,
  HEADERS,
  isObject,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSIONS,
  NAME_PARAMS,
  type Params,
  RpcError,
} from '../../protocol/index.ts';
import { cut, visibleLine } from '../../text.ts';
import { backgroundDelay } from '../../wait.ts';
import { type HeaderFields, HttpError, UpstreamError } from './connection.ts';
import { REFUSALS } from './http-client.ts';
import { MAX_CAPABILITIES, MAX_NAME, PROBE_MS } from './limits.ts';
import { limited } from './open-requests.ts';
import { type ParamHeader, paramHeaders } from './param-headers.ts';
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

export interface NegotiationOptions {
  readonly client: Implementation;
  /** For each request of the handshake. */
  readonly timeout: number;
  /** What this server spoke last time. */
  readonly known: DialectName | undefined;
  readonly signal: AbortSignal;
}

export interface Negotiated {
  readonly dialect: DialectName;
  readonly mcp: McpClient;
}

/** Finds out which dialect the server speaks, and completes the handshake. */
export async function negotiate(rpc: RpcClient, options: NegotiationOptions): Promise<Negotiated> {
  const handshake = await findDialect(rpc, options);
  const { dialect } = handshake;
  rpc.connection.setVersion(dialect.version);
  dialect.confirm(rpc);
  return { dialect: dialect.name, mcp: createMcpClient(rpc, handshake) };
}

// --- internal ---

const UNSUPPORTED_VERSION = -32022;
const METHOD_NOT_FOUND = -32601;
const TOO_MANY_REQUESTS = 429;
const INPUT_REQUIRED = 'input_required';

interface Handshake {
  readonly dialect: Dialect;
  readonly server: unknown;
  readonly capabilities: unknown;
}

interface Dialect {
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

function modernDialect(version: string, client: Implementation): Dialect {
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

function legacyDialect(version: string): Dialect {
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

/** The lists that we follow: name of the capability, key in a subscription. */
const LISTS = [
  ['tools', 'toolsListChanged'],
  ['resources', 'resourcesListChanged'],
] as const;

function announces({ capabilities }: McpClient, name: string): boolean {
  const one = capabilities[name];
  return isObject(one) && one.listChanged === true;
}

async function findDialect(rpc: RpcClient, options: NegotiationOptions): Promise<Handshake> {
  // The handshake that is not chosen is cancelled: its response could start a session.
  const attempt = limited(options.signal);
  try {
    return await firstHandshake(rpc, { ...options, signal: attempt.signal });
  } finally {
    attempt.abort();
    attempt.release();
  }
}

async function firstHandshake(rpc: RpcClient, options: NegotiationOptions): Promise<Handshake> {
  if (options.known === 'legacy') return initialize(rpc, options);
  const discovered = discover(rpc, options);
  const outcome = await Promise.race([discovered.catch((error: unknown) => asError(error)), backgroundDelay(PROBE_MS)]);
  if (outcome === undefined) {
    // The server is slow to start or ignores the unknown method. Its first response shows which.
    return Promise.any([discovered, initialize(rpc, options)]).catch((error: AggregateError) => {
      throw error.errors.at(-1);
    });
  }
  if (!(outcome instanceof Error)) return outcome;
  if (rpc.ended.aborted || isFinal(outcome)) throw outcome;
  return initialize(rpc, options);
}

async function discover(rpc: RpcClient, { client, timeout, signal }: NegotiationOptions): Promise<Handshake> {
  const ask = async (version: string) => {
    const dialect = modernDialect(version, client);
    const headers = { ...dialect.headers('server/discover', {}), [HEADERS.version]: version };
    return {
      dialect,
      result: await rpc.request('server/discover', dialect.seal({}), { headers, timeout, signal }),
    };
  };
  const [newest = ''] = MODERN_VERSIONS;
  const { dialect, result } = await ask(newest).catch((error: unknown) => {
    const { code, data } = rpcErrorIn(error) ?? {};
    const supported: unknown = code === UNSUPPORTED_VERSION && isObject(data) ? data.supported : undefined;
    const common = MODERN_VERSIONS.find((one) => Array.isArray(supported) && supported.includes(one));
    if (common === undefined) throw error;
    return ask(common);
  });
  // An old server that sends a result to any method has not understood this one.
  if (!Array.isArray(result.supportedVersions))
    throw new UpstreamError('the answer to server/discover names no versions');
  return { dialect, server: metaOf(result)[META.server], capabilities: result.capabilities };
}

async function initialize(rpc: RpcClient, { client, timeout, signal }: NegotiationOptions): Promise<Handshake> {
  const [newest = ''] = LEGACY_VERSIONS;
  const params = { protocolVersion: newest, capabilities: {}, clientInfo: client };
  const result = await rpc.request('initialize', params, { timeout, signal, startsSession: true });
  const { protocolVersion: version, serverInfo, capabilities } = result;
  if (typeof version !== 'string' || !LEGACY_VERSIONS.includes(version)) {
    const named = typeof version === 'string' ? `"${cut(version, MAX_NAME)}"` : 'without a name';
    throw new UpstreamError(`the server speaks protocol version ${named}, which we do not`);
  }
  return { dialect: legacyDialect(version), server: serverInfo, capabilities };
}

function createMcpClient(rpc: RpcClient, { dialect, server, capabilities }: Handshake): McpClient {
  const mirrors = dialect.usesStreams && rpc.connection.streamPerRequest;
  const send = (method: string, params: Params, { paramHeaders: mirrored = [], ...options }: McpRequestOptions) => {
    const args = mirrors && isObject(params.arguments) ? params.arguments : {};
    const headers = { ...dialect.headers(method, params), ...paramHeaders(mirrored, args) };
    return rpc.request(method, dialect.seal(params), { ...options, headers, notifyOnCancel: !mirrors });
  };
  const mcp: McpClient = {
    version: dialect.version,
    server: identityOf(server),
    capabilities: capabilitiesOf(capabilities),
    paramHeaders: mirrors,
    async request(method, params, options) {
      try {
        return dialect.unseal(await send(method, params, options));
      } catch (error) {
        throw rpcErrorIn(error) ?? error;
      }
    },
    async ping(timeout) {
      await send(dialect.pingMethod, {}, { timeout }).catch((error: unknown) => {
        if (!isResponse(error)) throw error;
      });
    },
    subscribe: (lost) => void dialect.subscribe(mcp, rpc).catch(lost),
  };
  return mcp;
}

/** An HTTP error may come from a proxy, unless it shows that the request was read or that the server counts requests. */
function isResponse(error: unknown): boolean {
  if (error instanceof HttpError) return error.status === TOO_MANY_REQUESTS || error.rpc?.code === METHOD_NOT_FOUND;
  return error instanceof RpcError;
}

/** The server refuses this client, or was not reached: another handshake would fail too. */
function isFinal(error: Error): boolean {
  if (error instanceof RpcError) return false;
  if (error instanceof HttpError) return REFUSALS.includes(error.status);
  return !(error instanceof UpstreamError);
}

function rpcErrorIn(error: unknown): RpcError | undefined {
  if (error instanceof HttpError) return error.rpc;
  return error instanceof RpcError ? error : undefined;
}

function identityOf(info: unknown): Implementation {
  const { name, version } = isObject(info) ? info : {};
  const brief = (text: unknown) => (typeof text === 'string' ? visibleLine(cut(text, MAX_NAME)) : '');
  return { name: brief(name), version: brief(version) };
}

/** Only the parts that we use: a server may send megabytes here, and this is kept while it is connected. */
function capabilitiesOf(theirs: unknown): Params {
  const entriesOf = (value: unknown) => (isObject(value) ? Object.entries(value).slice(0, MAX_CAPABILITIES) : []);
  const entries = entriesOf(theirs).map(([name, value]): [string, unknown] => {
    if (name !== 'extensions')
      return [cut(name, MAX_NAME), isObject(value) ? { listChanged: value.listChanged === true } : {}];
    const extensions = entriesOf(value).filter(([, settings]) => isObject(settings));
    return [name, Object.fromEntries(extensions.map(([extension]) => [cut(extension, MAX_NAME), {}]))];
  });
  return Object.fromEntries(entries);
}
