/**
 * The two eras of MCP as two values of one type. No other file of the server side knows a protocol date.
 * Legacy: a handshake fixes the version for the connection. Modern: every request names its version and stands alone.
 * Owns: which era a message belongs to, its envelope, the members an era adds to results. Leaves alone: the methods.
 * Always true: a method that an era lacks is missing from its table, so no other code asks which era it is in.
 */
import { type EncodedReply, EncodedResult, encode, encodeReply, errorReply } from './encode.ts';
import * as errors from './errors.ts';
import { type Id, isObject, type Params, type Request } from './json-rpc.ts';
import { decodeHeader, HEADERS, META, metaOf, NAME_PARAMS } from './meta.ts';
import type { Client, Peer, ReadHeader, Session } from './session.ts';

/** A request while it runs. */
export interface Call {
  readonly id: Id;
  readonly params: Params;
  readonly peer: Peer;
  readonly session: Session;
  /** Fires when the client no longer wants the answer. A function, as Node makes the signal at the first use, which is slow. */
  readonly cancellation: () => AbortSignal;
  /** Sends a notification that belongs to this call, before its answer; nothing once the call is cancelled. */
  readonly notify: (method: string, params: object) => void;
}

export interface Method {
  readonly name: string;
  /** How long a modern client may keep the result, and whether for this user alone. */
  readonly cache?: { readonly ttlMs: number; readonly cacheScope: 'public' | 'private' } | undefined;
  /** The answer comes only when the call is over; before it come notifications, for which HTTP needs a stream. */
  readonly streams?: boolean;
  /** Gives the result: an object, or an EncodedResult. */
  run(params: Params, call: Call): object | Promise<object>;
}

export interface NotificationHandler {
  readonly name: string;
  /** Must not throw: nobody could be told. */
  run(params: Params, session: Session): void;
}

export interface MethodTable {
  readonly methods: readonly Method[];
  readonly notifications: readonly NotificationHandler[];
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
  seal(id: Id, result: object, method: Method): EncodedReply;
  /** The answer to a request that failed. */
  sealError(id: Id, error: errors.RpcError): EncodedReply;
}

export const MODERN_VERSIONS: readonly string[] = ['2026-07-28'];
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** Names and versions are a few words. A session keeps them as long as it lives. */
export const MAX_CLIENT_TEXT = 256;

/** The version that answers a legacy handshake: the one asked for, or the newest. */
export const negotiate = (asked: string) => (LEGACY_VERSIONS.includes(asked) ? asked : NEWEST_LEGACY);

/** The client's name and version; undefined when they are malformed or over MAX_CLIENT_TEXT. */
export function clientOf(info: unknown): Client | undefined {
  if (!isObject(info) || !isShort(info.name)) return undefined;
  return { name: info.name, version: isShort(info.version) ? info.version : '' };
}

export function legacyEra(table: MethodTable): Era {
  return {
    methods: new Map(table.methods.map((one) => [one.name, one])),
    notifications: new Map(table.notifications.map((one) => [one.name, one])),
    sessionOpener: 'initialize',
    // Takes every message, so it must be the last of the eras.
    speaks: () => true,
    acceptsBatches: (session) => BATCHED.includes(session.handshake?.version ?? ''),
    open: (_request, { handshake = UNKNOWN_CLIENT }) => handshake,
    // A result type comes from an upstream server of the other era; legacy clients do not know it.
    seal: (id, result) => encodeReply(id, 'resultType' in result ? { ...result, resultType: undefined } : result),
    sealError: (id, error) => errorReply(id, error, 200),
  };
}

export function modernEra(table: MethodTable, server: Client): Era {
  const resultType = 'complete';
  const stamp = { [META.server]: server };
  const endOf = ({ cache }: Method) => Buffer.from(`,${encode({ resultType, ...cache, _meta: stamp }).slice(1)}}`);
  /** What is appended to an encoded result. */
  const ends = new Map(table.methods.map((method) => [method, endOf(method)]));
  return {
    methods: new Map(table.methods.map((one) => [one.name, one])),
    notifications: new Map(table.notifications.map((one) => [one.name, one])),
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
      if (!MODERN_VERSIONS.includes(version)) throw errors.unsupportedVersion(version, MODERN_VERSIONS);
      return { client: clientOf(meta[META.client]), version, anyStructure: true, readHeader };
    },
    seal(id, result, method) {
      if (result instanceof EncodedResult) return encodeReply(id, result, ends.get(method));
      return encodeReply(id, { resultType, ...result, ...method.cache, _meta: { ...metaOf(result), ...stamp } });
    },
    sealError: (id, error) => errorReply(id, error, error.httpStatus),
  };
}

// --- internal ---

const [NEWEST_LEGACY = ''] = LEGACY_VERSIONS;
// Only 2025-03-26 has them; 2024-11-05 does not mention them, and JSON-RPC itself allows them.
const BATCHED: readonly string[] = ['2025-03-26', '2024-11-05'];
const MODERN_ONLY: readonly string[] = ['server/discover', 'subscriptions/listen'];

/** A legacy client that has not shaken hands. */
const UNKNOWN_CLIENT: Peer = { client: undefined, version: undefined, anyStructure: false };

const isShort = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_CLIENT_TEXT;

function isModern(method: string, params: Params, readHeader: ReadHeader | undefined): boolean {
  if (metaOf(params)[META.version] !== undefined || MODERN_ONLY.includes(method)) return true;
  const version = readHeader?.(HEADERS.version);
  return version !== undefined && !LEGACY_VERSIONS.includes(version);
}

function wrongMeta(key: string, value: unknown, wanted: string): errors.RpcError {
  return errors.invalidEnvelope(`_meta["${key}"] ${value === undefined ? 'is missing' : `must be ${wanted}`}`);
}

function checkHeaders(readHeader: ReadHeader, version: string, method: string, params: Params): void {
  if (readHeader(HEADERS.version) !== version) throw errors.headerMismatch(`MCP-Protocol-Version is not "${version}"`);
  if (readHeader(HEADERS.method) !== method) throw errors.headerMismatch('Mcp-Method is not the method of the body');
  const named = NAME_PARAMS.get(method);
  if (named !== undefined && decodeHeader(readHeader(HEADERS.name)) !== params[named]) {
    throw errors.headerMismatch(`Mcp-Name is not params.${named} of the body`);
  }
}
