/**
 * Finds out which dialect a server speaks, completes the handshake, and makes the client for it.
 * Owns: the order in which dialects are tried. Leaves alone: what they are (dialects.ts), what is requested (upstream/).
 * Always true: of two handshakes under way only the chosen one has an effect.
 */
import { asError } from '../../log.ts';
import {
  HEADERS,
  isObject,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSIONS,
  type Params,
  RpcError,
} from '../../protocol/index.ts';
import { cut, visibleLine } from '../../text.ts';
import { backgroundDelay } from '../../wait.ts';
import { HttpError, UpstreamError } from './connection.ts';
import {
  type Dialect,
  type DialectName,
  type Implementation,
  legacyDialect,
  type McpClient,
  type McpRequestOptions,
  modernDialect,
} from './dialects.ts';
import { REFUSALS } from './http-client.ts';
import { MAX_CAPABILITIES, MAX_NAME, PROBE_MS } from './limits.ts';
import { limited } from './open-requests.ts';
import { paramHeaders } from './param-headers.ts';
import { metaOf, type RpcClient } from './rpc-client.ts';

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

interface Handshake {
  readonly dialect: Dialect;
  readonly server: unknown;
  readonly capabilities: unknown;
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
