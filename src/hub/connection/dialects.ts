/**
 * The two ways MCP has been spoken, seen from the side that asks: as two values of one type.
 * Owns: which of them a server speaks, the envelope of requests, the stamp on results, how changes are subscribed to.
 * Leaves alone: the same two from the side that answers (protocol/eras.ts), what is asked for (upstream.ts).
 * Always true: nothing outside this file asks which of the two it is.
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
import { type HeaderFields, HttpError, UpstreamError } from './connection.ts';
import { REFUSALS } from './http-client.ts';
import { metaOf, type RequestOptions, type RpcClient } from './rpc-client.ts';

export interface Implementation {
  readonly name: string;
  readonly version: string;
}

/** A link on which both sides know how the other speaks. */
export interface McpClient {
  readonly version: string;
  readonly server: Implementation;
  readonly capabilities: Params;
  /** Repeats arguments in headers (see param-headers.ts). */
  readonly paramHeaders: boolean;
  ask(method: string, params: Params, options: RequestOptions): Promise<Params>;
  /** The cheapest sign of life that this server gives; any answer is one. */
  pulse(timeout: number): Promise<void>;
  /** From now on the server tells when its lists change; `lost` is called when it no longer does. */
  subscribe(lost: (error: unknown) => void): void;
}

export interface NegotiationOptions {
  readonly client: Implementation;
  /** For all of it together. */
  readonly timeout: number;
  /** How long silence may last until a server is taken for one that does not know our first question. */
  readonly probe: number;
  /** What this server turned out to speak last time. */
  readonly known: DialectName | undefined;
  readonly signal: AbortSignal;
}

export type DialectName = 'modern' | 'legacy';

export interface Negotiated {
  readonly dialect: DialectName;
  readonly mcp: McpClient;
}

/** Finds out what the server speaks and begins to speak it. */
export async function negotiate(rpc: RpcClient, options: NegotiationOptions): Promise<Negotiated> {
  if (options.known === 'legacy') return initialize(rpc, options);
  const discovered = discover(rpc, options);
  const outcome = await Promise.race([discovered.catch((error: unknown) => asError(error)), silence(options.probe)]);
  if (outcome === SILENT) {
    // It may be slow to start or not know the question. Whatever it answers first shows which.
    return Promise.any([discovered, initialize(rpc, options)]).catch((error: AggregateError) => {
      throw error.errors.at(-1);
    });
  }
  if (!(outcome instanceof Error)) return outcome;
  if (rpc.ended.aborted || isFinal(outcome)) throw outcome;
  return initialize(rpc, options);
}

// --- internal ---

const UNSUPPORTED_VERSION = -32022;
const METHOD_NOT_FOUND = -32601;
const INPUT_REQUIRED = 'input_required';

/** What one way of speaking adds to questions and takes from answers. */
interface Dialect {
  readonly version: string;
  readonly pulse: string;
  /** Closing the stream of an answer cancels the request. */
  readonly closingCancels: boolean;
  readonly paramHeaders: boolean;
  seal(params: Params): Params;
  open(result: Params): Params;
  headers(method: string, params: Params): HeaderFields;
  subscribe(ask: McpClient['ask'], rpc: RpcClient, capabilities: Params): Promise<void>;
}

function modernDialect(version: string, client: Implementation): Dialect {
  return {
    version,
    pulse: 'server/discover',
    closingCancels: true,
    paramHeaders: true,
    seal(params) {
      const { [META.capabilities]: theirs, ...meta } = metaOf(params);
      // What the client in front of us can do is what can be asked of it through us.
      const capabilities = isObject(theirs) ? theirs : {};
      const own = { [META.version]: version, [META.client]: client, [META.capabilities]: capabilities };
      return { ...params, _meta: { ...meta, ...own } };
    },
    open({ resultType, ...result }) {
      const { [META.server]: _server, ...meta } = metaOf(result);
      const { _meta, ...rest } = result;
      const kept = Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest;
      return resultType === undefined || resultType === 'complete' ? kept : { resultType, ...kept };
    },
    headers(method, params) {
      const name = NAME_PARAMS.get(method);
      const value = name === undefined ? undefined : params[name];
      return {
        [HEADERS.version]: version,
        [HEADERS.method]: method,
        ...(typeof value === 'string' ? { [HEADERS.name]: encodeHeader(value) } : {}),
      };
    },
    async subscribe(ask, _link, capabilities) {
      const wanted = LISTS.flatMap(([name, key]) => (announces(capabilities, name) ? [[key, true]] : []));
      if (wanted.length === 0) return;
      await ask('subscriptions/listen', { notifications: Object.fromEntries(wanted) }, {});
      throw new UpstreamError('the server ended the subscription');
    },
  };
}

function legacyDialect(version: string): Dialect {
  const headers = { [HEADERS.version]: version };
  return {
    version,
    pulse: 'ping',
    closingCancels: false,
    paramHeaders: false,
    seal(params) {
      if (params._meta === undefined) return params;
      const modern: readonly string[] = Object.values(META);
      const meta = Object.entries(metaOf(params)).filter(([key]) => !modern.includes(key));
      const { _meta, ...rest } = params;
      return meta.length > 0 ? { ...rest, _meta: Object.fromEntries(meta) } : rest;
    },
    // There is no such word here; but some servers say it all the same, and mean what a later one means.
    open({ resultType, ...result }) {
      return resultType === INPUT_REQUIRED ? { resultType, ...result } : result;
    },
    headers: () => headers,
    async subscribe(_ask, rpc, capabilities) {
      if (LISTS.some(([name]) => announces(capabilities, name))) rpc.connection.listen(headers);
    },
  };
}

/** The lists we follow: their capability, and their key in a subscription. */
const LISTS = [
  ['tools', 'toolsListChanged'],
  ['resources', 'resourcesListChanged'],
] as const;

function announces(capabilities: Params, name: string): boolean {
  const one = capabilities[name];
  return isObject(one) && one.listChanged === true;
}

async function discover(rpc: RpcClient, options: NegotiationOptions): Promise<Negotiated> {
  const [newest = ''] = MODERN_VERSIONS;
  const ask = (dialect: Dialect) =>
    rpc.request('server/discover', dialect.seal({}), {
      headers: dialect.headers('server/discover', {}),
      timeout: options.timeout,
      signal: options.signal,
    });
  let dialect = modernDialect(newest, options.client);
  const answer = await ask(dialect).catch((error: unknown) => {
    const rpc = rpcOf(error);
    if (rpc?.code !== UNSUPPORTED_VERSION) throw error;
    const { supported } = isObject(rpc.data) ? rpc.data : {};
    const common = MODERN_VERSIONS.find((one) => Array.isArray(supported) && supported.includes(one));
    if (common === undefined) throw error;
    dialect = modernDialect(common, options.client);
    return ask(dialect);
  });
  const { supportedVersions } = answer;
  // An old server that answers anything to anything has not understood the question.
  if (!Array.isArray(supportedVersions)) throw new UpstreamError('the answer to server/discover names no versions');
  const server = identityOf(metaOf(answer)[META.server]);
  rpc.setEnvelope({ [HEADERS.version]: dialect.version });
  return { dialect: 'modern', mcp: converse(rpc, dialect, server, answer.capabilities) };
}

async function initialize(rpc: RpcClient, { client, timeout, signal }: NegotiationOptions): Promise<Negotiated> {
  const [newest = ''] = LEGACY_VERSIONS;
  const opening = { protocolVersion: newest, capabilities: {}, clientInfo: client };
  const answer = await rpc.request('initialize', opening, { timeout, signal, opens: true });
  const { protocolVersion: version, serverInfo, capabilities } = answer;
  if (typeof version !== 'string' || !LEGACY_VERSIONS.includes(version)) {
    const named = typeof version === 'string' ? `"${cut(version, LONGEST_NAME)}"` : 'without a name';
    throw new UpstreamError(`the server speaks protocol version ${named}, which we do not`);
  }
  const dialect = legacyDialect(version);
  rpc.setEnvelope(dialect.headers('', {}));
  rpc.notify('notifications/initialized', undefined, dialect.headers('', {}));
  return { dialect: 'legacy', mcp: converse(rpc, dialect, identityOf(serverInfo), capabilities) };
}

function converse(rpc: RpcClient, dialect: Dialect, server: Implementation, theirs: unknown): McpClient {
  const capabilities = capabilitiesOf(theirs);
  const { closingCancels } = dialect;

  async function ask(method: string, params: Params, { headers, ...options }: RequestOptions): Promise<Params> {
    const full = { ...dialect.headers(method, params), ...headers };
    try {
      return dialect.open(
        await rpc.request(method, dialect.seal(params), { ...options, headers: full, closingCancels }),
      );
    } catch (error) {
      throw rpcOf(error) ?? error;
    }
  }

  return {
    version: dialect.version,
    server,
    capabilities,
    paramHeaders: dialect.paramHeaders && rpc.connection.ownStreams,
    ask,
    async pulse(timeout) {
      const headers = dialect.headers(dialect.pulse, {});
      await rpc.request(dialect.pulse, dialect.seal({}), { timeout, headers }).catch((error) => {
        if (!isSignOfLife(error)) throw error;
      });
    },
    subscribe: (lost) => void dialect.subscribe(ask, rpc, capabilities).catch(lost),
  };
}

const SILENT = Symbol('silent');

function silence(milliseconds: number): Promise<typeof SILENT> {
  return new Promise((done) => void setTimeout(() => done(SILENT), milliseconds).unref());
}

const TOO_MANY_REQUESTS = 429;

/**
 * Who refuses is alive; but an HTTP error may come from anybody on the way, unless it shows that the question was read.
 * Who counts our requests is alive too.
 */
function isSignOfLife(error: unknown): boolean {
  if (error instanceof HttpError) return error.status === TOO_MANY_REQUESTS || error.rpc?.code === METHOD_NOT_FOUND;
  return error instanceof RpcError;
}

/** Refused for who we are, or never reached: another first word changes nothing. */
function isFinal(error: Error): boolean {
  if (error instanceof RpcError) return false;
  if (error instanceof HttpError) return REFUSALS.includes(error.status);
  return !(error instanceof UpstreamError);
}

function rpcOf(error: unknown): RpcError | undefined {
  if (error instanceof HttpError) return error.rpc;
  return error instanceof RpcError ? error : undefined;
}

function identityOf(info: unknown): Implementation {
  const { name, version } = isObject(info) ? info : {};
  const brief = (text: unknown) => (typeof text === 'string' ? visibleLine(cut(text, LONGEST_NAME)) : '');
  return { name: brief(name), version: brief(version) };
}

/** Only what is looked at: a server may say megabytes here, and they would be held for as long as it is connected. */
function capabilitiesOf(theirs: unknown): Params {
  const entriesOf = (value: unknown) => (isObject(value) ? Object.entries(value).slice(0, MOST_CAPABILITIES) : []);
  const entries = entriesOf(theirs).map(([name, value]): [string, unknown] => {
    if (name !== 'extensions')
      return [cut(name, LONGEST_NAME), isObject(value) ? { listChanged: value.listChanged === true } : {}];
    const named = entriesOf(value).filter(([, settings]) => isObject(settings));
    return [name, Object.fromEntries(named.map(([extension]) => [cut(extension, LONGEST_NAME), {}]))];
  });
  return Object.fromEntries(entries);
}

// Names and versions are shown to people. Longer ones are no names.
const LONGEST_NAME = 200;
const MOST_CAPABILITIES = 100;
