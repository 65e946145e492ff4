/**
 * Finds out which dialect a server speaks, and completes the handshake.
 * Owns: the order in which dialects are tried. Leaves alone: what they are (dialects.ts), what is requested (upstream/).
 * Always true: of two handshakes under way only the chosen one has an effect.
 */
import { codeOf } from '../../files/stats.ts';
import { asError } from '../../log.ts';
import {
  type Client,
  HEADERS,
  isObject,
  LEGACY_VERSIONS,
  MCP_CODE,
  META,
  MODERN_VERSIONS,
  metaOf,
  type Params,
  RpcError,
  SKILLS_EXTENSION,
} from '../../protocol/index.ts';
import { cut, visibleLine } from '../../text.ts';
import { afterAnswers, pause } from '../../wait.ts';
import { HttpError, REFUSALS, UpstreamError } from './connection.ts';
import { type Dialect, legacyDialect, modernDialect } from './dialects.ts';
import { MAX_NAME, PROBE_MS, SILENCE_MS } from './limits.ts';
import type { RequestOptions } from './pending.ts';
import type { RpcClient } from './rpc-client.ts';

export interface Negotiated {
  readonly dialect: Dialect;
  readonly server: Client;
  readonly capabilities: Capabilities;
}

/** What we use of the server's capabilities: `anything`, `tools`, `tools.listChanged`, `skills` and so on. */
export type Capabilities = ReadonlySet<string>;

/** `timeout`: for each request. `isLegacy`: the server is known to speak the legacy dialect. */
export async function shakeHands(
  rpc: RpcClient,
  client: Client,
  timeout: number,
  isLegacy: boolean,
): Promise<Negotiated> {
  // The handshake that is not chosen is cancelled: its response could start a session.
  const chosen = new AbortController();
  const options = { timeout, signal: chosen.signal };
  try {
    if (isLegacy) return await initialize(rpc, client, options);
    const discovered = discover(rpc, client, options);
    const first = await Promise.race([discovered.catch(asError), whenIgnored(rpc, client, chosen.signal)]);
    if (first instanceof Error && (rpc.ended.aborted || isFinal(first))) throw first;
    if (first && !(first instanceof Error)) return first;
    // A server that was only slow answers both requests. Then the later one counts: servers of the official SDK speak the
    // dialect of the last handshake, and answer requests of the other one in part.
    const initialized = initialize(rpc, client, options);
    const withoutIt = pause(PROBE_MS, chosen.signal);
    const late = discovered.then((found) =>
      Promise.race([initialized, withoutIt.then(() => found)]).catch(() => found),
    );
    return await Promise.any([initialized, late]);
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error;
  } finally {
    chosen.abort();
  }
}

export function rpcErrorIn(error: unknown): RpcError | undefined {
  if (error instanceof HttpError) return error.body.rpc;
  return error instanceof RpcError ? error : undefined;
}

// --- internal ---

const [newest = ''] = MODERN_VERSIONS;

/** A request before the handshake is done. */
function ask(rpc: RpcClient, dialect: Dialect, method: string, options: RequestOptions): Promise<Params> {
  const headers = { ...dialect.headers(method, {}), [HEADERS.version]: dialect.version };
  return rpc.request(method, dialect.seal({}), options, { headers, notifyOnCancel: false });
}

/**
 * Settles when a server ignores `server/discover`, as old ones may: it answers a later ping, or nothing for long. One that
 * is still starting answers `server/discover` first. The ping is modern, so that it does not count as a legacy handshake.
 */
async function whenIgnored(rpc: RpcClient, client: Client, signal: AbortSignal): Promise<void> {
  await pause(PROBE_MS, signal);
  const dialect = modernDialect(newest, client);
  await ask(rpc, dialect, 'ping', { timeout: SILENCE_MS, signal }).catch(() => {});
  // Both responses may have arrived together.
  await afterAnswers();
}

async function discover(rpc: RpcClient, client: Client, options: RequestOptions): Promise<Negotiated> {
  const askIn = async (version: string) => {
    const dialect = modernDialect(version, client);
    return { dialect, result: await ask(rpc, dialect, 'server/discover', options) };
  };
  const { dialect, result } = await askIn(newest).catch((error: unknown) => {
    const { code, data } = rpcErrorIn(error) ?? {};
    const supported: unknown = code === MCP_CODE.version && isObject(data) ? data.supported : undefined;
    // Perhaps the one that it has just refused: then the server had a passing reason.
    const common = MODERN_VERSIONS.find((one) => Array.isArray(supported) && supported.includes(one));
    if (common === undefined) throw error;
    return askIn(common);
  });
  // An old server that sends a result to any method has not understood this one.
  if (!Array.isArray(result.supportedVersions))
    throw new UpstreamError('the answer to server/discover names no versions');
  if (!result.supportedVersions.includes(dialect.version))
    throw new UpstreamError('the answer to server/discover names no version that we speak');
  return negotiated(dialect, metaOf(result)[META.server], result.capabilities);
}

async function initialize(rpc: RpcClient, client: Client, options: RequestOptions): Promise<Negotiated> {
  const [newestLegacy = ''] = LEGACY_VERSIONS;
  const params = { protocolVersion: newestLegacy, capabilities: {}, clientInfo: client };
  const { protocolVersion: version, serverInfo, capabilities } = await rpc.request('initialize', params, options);
  if (typeof version === 'string' && LEGACY_VERSIONS.includes(version))
    return negotiated(legacyDialect(version), serverInfo, capabilities);
  const named = typeof version === 'string' ? `"${cut(version, MAX_NAME)}"` : 'without a name';
  throw new UpstreamError(`the server speaks protocol version ${named}, which we do not`);
}

/** The server refuses this client, or was not reached: another handshake would fail too. */
function isFinal(error: Error): boolean {
  if (error instanceof HttpError) return REFUSALS.includes(error.status);
  // Some servers drop the connection at a request that they do not know.
  return !(error instanceof RpcError || error instanceof UpstreamError || codeOf(error) === 'ECONNRESET');
}

/** Nothing else is kept: a server may send megabytes here. */
function negotiated(dialect: Dialect, info: unknown, capabilities: unknown): Negotiated {
  const { name, version } = isObject(info) ? info : {};
  const brief = (text: unknown) => (typeof text === 'string' ? visibleLine(cut(text, MAX_NAME)) : '');
  const server = { name: brief(name), version: brief(version) };
  return { dialect, server, capabilities: new Set(capabilityNames(isObject(capabilities) ? capabilities : {})) };
}

function capabilityNames(capabilities: Params): readonly string[] {
  const { tools, resources, prompts, completions, logging, extensions } = capabilities;
  const found = Object.entries({ tools, resources, prompts, completions, logging }).flatMap(([name, one]) => {
    if (one === undefined) return [];
    const settings = ['listChanged', 'subscribe'].filter((setting) => isObject(one) && one[setting] === true);
    return [name, ...settings.map((setting) => `${name}.${setting}`)];
  });
  const hasSkills = isObject(extensions) && isObject(extensions[SKILLS_EXTENSION]);
  const isEmpty = Object.keys(capabilities).length === 0;
  return [...found, ...(hasSkills ? ['skills'] : []), ...(isEmpty ? [] : ['anything'])];
}
