/**
 * The two eras of MCP as two values of one type. No other file of the server side knows a protocol date.
 * Legacy: a handshake fixes the version for the connection. Modern: every request names its version and stands alone.
 * Owns: which era a message belongs to, its envelope, the members an era adds to results. Leaves alone: the methods.
 * Always true: a method that an era lacks is missing from its table, so no other code asks which era it is in.
 */
import { type EncodedReply, EncodedResult, encode, encodeReply, errorReply } from './encode.ts';
import {
  CODE,
  headerMismatch,
  invalidEnvelope,
  laterClientNeeded,
  MessageError,
  type RpcError,
  UnknownMethodError,
  unsupportedVersion,
} from './errors.ts';
import { type Id, isObject, type Params, type Request } from './json-rpc.ts';
import { decodeHeader, HEADERS, isLogLevel, META, metaOf, NAME_PARAMS } from './meta.ts';
import type { Cancellation, Client, Peer, ReadHeader, Session } from './session.ts';

/** Some of its members are getters: hand the call itself on, not a copy of it. */
export interface Call {
  readonly id: Id;
  readonly params: Params;
  readonly peer: Peer;
  readonly session: Session;
  /** Fires when the client no longer wants the answer. Made when it is first read. */
  readonly signal: AbortSignal;
  /** The same without a real signal, which takes as long to make as a small call to run. */
  readonly cancellation: Cancellation;
  /** Sends a notification that belongs to this call, before its answer. */
  notify(method: string, params: object): void;
}

/** How long a modern client may keep a result, and whether for this user alone. */
interface CacheHint {
  readonly ttlMs: number;
  readonly cacheScope: 'public' | 'private';
}

type Result = object | EncodedResult;

export interface Method {
  readonly name: string;
  readonly cache?: CacheHint | undefined;
  /** The answer comes only when the call is over; before it come notifications, for which HTTP needs a stream. */
  readonly streams?: boolean;
  run(params: Params, call: Call): Result | Promise<Result>;
}

export interface NotificationHandler {
  readonly name: string;
  run(params: Params, session: Session): void;
}

export interface Era {
  readonly methods: ReadonlyMap<string, Method>;
  readonly notifications: ReadonlyMap<string, NotificationHandler>;
  /** The method that opens a session; undefined in an era without sessions. */
  readonly sessionOpener: string | undefined;
  speaks(method: string, params: Params, readHeader: ReadHeader | undefined): boolean;
  acceptsBatches(session: Session): boolean;
  /** Checks the envelope of a request and gives its client. */
  open(request: Request, session: Session, readHeader: ReadHeader | undefined): Peer;
  /** The answer to a request, with the members that this era adds to its result. */
  seal(id: Id, result: Result, method: Method): EncodedReply;
  /** The answer to a request that failed. Upstream servers of the other era have codes that this one lacks. */
  sealError(id: Id, error: RpcError): EncodedReply;
}

export interface MethodTable {
  readonly methods: readonly Method[];
  readonly notifications: readonly NotificationHandler[];
}

export const MODERN_VERSIONS: readonly string[] = ['2026-07-28'];
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** The version that answers a legacy handshake: the one asked for, or the newest. */
export const negotiate = (asked: string) => (LEGACY_VERSIONS.includes(asked) ? asked : NEWEST_LEGACY);

export function legacyEra({ methods, notifications }: MethodTable): Era {
  return {
    methods: byName(methods),
    notifications: byName(notifications),
    sessionOpener: 'initialize',
    // Takes every message, so it must be the last of the eras.
    speaks: () => true,
    acceptsBatches: (session) => BATCHED.includes(session.handshake?.version ?? ''),
    open(_request, { handshake = UNKNOWN_CLIENT, logLevel }) {
      return logLevel === undefined ? handshake : { ...handshake, logLevel };
    },
    seal(id, result) {
      if (!('resultType' in result)) return encodeReply(id, result);
      // Comes from an upstream server. Legacy clients do not know it and would take any result for a complete one.
      const { resultType = COMPLETE } = result;
      if (resultType !== COMPLETE) throw laterClientNeeded(String(resultType));
      return encodeReply(id, { ...result, resultType: undefined });
    },
    sealError: (id, error) => errorReply(id, error, statusOf(error)),
  };
}

/** `onPeer`: called with the client of every request. */
export function modernEra(
  { methods, notifications }: MethodTable,
  server: Client,
  onPeer: (peer: Peer) => void = () => {},
): Era {
  const stamp = { [META.server]: server };
  /** By cache hint: what is appended to an encoded result. */
  const ends = new Map<CacheHint | undefined, Uint8Array>();
  const endWith = (cache: CacheHint | undefined) => {
    const end =
      ends.get(cache) ?? Buffer.from(`,${encode({ resultType: COMPLETE, ...cache, _meta: stamp }).slice(1)}}`);
    ends.set(cache, end);
    return end;
  };
  return {
    methods: byName(methods),
    notifications: byName(notifications),
    sessionOpener: undefined,
    speaks: isModern,
    acceptsBatches: () => false,
    open({ method, params }, _session, readHeader) {
      const meta = metaOf(params);
      const version = meta[META.version];
      const capabilities = meta[META.capabilities];
      if (typeof version !== 'string') throw wrongMeta(META.version, version, 'text');
      if (!isObject(capabilities)) throw wrongMeta(META.capabilities, capabilities, 'an object');
      // Before the version: when header and body differ, either of them may be wrong.
      if (readHeader) checkHeaders(readHeader, version, method, params);
      // Before the method: a client with a wrong version needs the list of right ones, not "unknown method".
      if (!MODERN_VERSIONS.includes(version)) throw unsupportedVersion(version, MODERN_VERSIONS);
      const logLevel = meta[META.logLevel];
      if (logLevel !== undefined && !isLogLevel(logLevel))
        throw invalidEnvelope(`_meta["${META.logLevel}"] is not a log level`);
      const client = clientOf(meta[META.client]);
      const peer: Peer = { client, version, ...declaredIn(capabilities), readHeader, anyStructure: true, logLevel };
      onPeer(peer);
      return peer;
    },
    seal(id, result, { cache }) {
      if (result instanceof EncodedResult) return encodeReply(id, result, endWith(cache));
      const { resultType = COMPLETE, _meta }: Params = { ...result };
      return encodeReply(id, { ...result, resultType, ...cache, _meta: { ...metaOf({ _meta }), ...stamp } });
    },
    sealError(id, error) {
      const { code, message, data } = error;
      const status = error instanceof UnknownMethodError ? 404 : statusOf(error);
      return errorReply(id, { code: RETIRED_CODES.get(code) ?? code, message, data }, status);
    },
  };
}

/** Names and versions are a few words. A session keeps them as long as it lives. */
export const MAX_CLIENT_TEXT = 256;
/** A dozen capabilities and a handful of extensions are known in all. */
const MAX_DECLARED = 64;

/** The client's name and version; undefined when they are malformed or over MAX_CLIENT_TEXT. */
export function clientOf(info: unknown): Client | undefined {
  if (!isObject(info) || !isShort(info.name)) return undefined;
  return { name: info.name, version: isShort(info.version) ? info.version : '' };
}

/** The names of what a client declares. */
export function declaredIn(capabilities: unknown): Pick<Peer, 'capabilities' | 'extensions'> {
  const namesIn = (value: unknown) =>
    new Set(isObject(value) ? Object.keys(value).filter(isShort).slice(0, MAX_DECLARED) : []);
  return {
    capabilities: namesIn(capabilities),
    extensions: namesIn(isObject(capabilities) ? capabilities.extensions : undefined),
  };
}

// --- internal ---

const [NEWEST_LEGACY = ''] = LEGACY_VERSIONS;
// Only 2025-03-26 has them; 2024-11-05 does not mention them, and JSON-RPC itself allows them.
const BATCHED: readonly string[] = ['2025-03-26', '2024-11-05'];
const MODERN_ONLY: readonly string[] = ['server/discover', 'subscriptions/listen'];

const COMPLETE = 'complete';
/**
 * Codes of legacy servers that the modern era forbids, and their replacements: a missing resource is a wrong
 * parameter; a URL that a person must open first is something that a modern client cannot be asked for here.
 */
const RETIRED_CODES: ReadonlyMap<number, number> = new Map([
  [-32002, CODE.params],
  [-32042, CODE.internal],
]);

/** A legacy client that has not shaken hands. */
const UNKNOWN_CLIENT: Peer = { client: undefined, capabilities: new Set(), extensions: new Set() };

const isShort = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_CLIENT_TEXT;

const statusOf = (error: RpcError) => (error instanceof MessageError ? 400 : 200);

function isModern(method: string, params: Params, readHeader: ReadHeader | undefined): boolean {
  if (metaOf(params)[META.version] !== undefined || MODERN_ONLY.includes(method)) return true;
  const version = readHeader?.(HEADERS.version);
  return version !== undefined && !LEGACY_VERSIONS.includes(version);
}

function wrongMeta(key: string, value: unknown, wanted: string): RpcError {
  return invalidEnvelope(`_meta["${key}"] ${value === undefined ? 'is missing' : `must be ${wanted}`}`);
}

function checkHeaders(readHeader: ReadHeader, version: string, method: string, params: Params): void {
  if (readHeader(HEADERS.version) !== version) throw headerMismatch(`MCP-Protocol-Version is not "${version}"`);
  if (readHeader(HEADERS.method) !== method) throw headerMismatch('Mcp-Method is not the method of the body');
  const named = NAME_PARAMS.get(method);
  if (named !== undefined && decodeHeader(readHeader(HEADERS.name)) !== params[named]) {
    throw headerMismatch(`Mcp-Name is not params.${named} of the body`);
  }
}

function byName<T extends { readonly name: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.name, item]));
}
