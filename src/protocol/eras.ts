/**
 * The two eras of MCP as two values of one type. No other file of the server side knows a protocol date.
 * Legacy: a handshake fixes the version for the connection. Modern: every request names its version and stands alone.
 * Owns: which era a message belongs to, its envelope, the members an era adds to results. Leaves alone: the methods.
 * Always true: a method that an era lacks is missing from its table, so no other code asks which era it is in.
 */
import {
  headerMismatch,
  invalidEnvelope,
  laterClientNeeded,
  MessageError,
  RpcError,
  UnknownMethodError,
  unsupportedVersion,
} from './errors.ts';
import { EncodedResult, encode, encodeResultBody, type Id, isObject, type Params, type Request } from './json-rpc.ts';
import { META, NAME_PARAMS } from './meta.ts';
import type { Client, Session } from './session.ts';

/** What the HTTP headers say about a message; absent on a transport without headers. */
export interface HeaderClaims {
  readonly version: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
  /** A header that repeats an argument of a tool. */
  param(header: string): string | undefined;
}

/** The client that sent a request. */
export interface Peer {
  readonly client: Client | undefined;
  /** The names of what the client declared; the settings below each name are not kept. */
  readonly capabilities: ReadonlySet<string>;
  readonly extensions: ReadonlySet<string>;
  /** The headers, in an era that requires them to repeat parts of the message. */
  readonly claims?: HeaderClaims | undefined;
  /** The client accepts structured content that is not an object. */
  readonly anyStructure?: boolean;
}

export interface Call {
  readonly id: Id;
  readonly params: Params;
  readonly peer: Peer;
  readonly session: Session;
  /** Fires when the client no longer wants the answer. Made when it is first read. */
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to this call, before its answer. */
  notify(method: string, params: object): void;
}

/** How long a modern client may keep a result, and whether for this user alone. */
export interface CacheHint {
  readonly ttlMs: number;
  readonly cacheScope: 'public' | 'private';
}

export type Result = object | EncodedResult;

export interface Method {
  readonly name: string;
  readonly cache?: CacheHint;
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
  speaks(method: string, params: Params, claims: HeaderClaims | undefined): boolean;
  acceptsBatches(session: Session): boolean;
  /** Checks the envelope of a request and gives its client. */
  open(request: Request, session: Session, claims: HeaderClaims | undefined): Peer;
  /** The JSON of a result with the members that this era adds. */
  seal(result: Result, method: Method): string;
  /** Translates an error into this era: upstream servers of the other one have codes that it lacks. */
  sealError(error: RpcError): RpcError;
  /** The HTTP status for an error. */
  statusOf(error: RpcError): number;
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
    open: (_request, session) => session.handshake ?? UNKNOWN_CLIENT,
    seal(result) {
      if (result instanceof EncodedResult) return `${result.body}}`;
      // Comes from an upstream server. Legacy clients do not know it and would take any result for a complete one.
      if (!('resultType' in result)) return encode(result);
      const { resultType, ...rest } = result;
      if (resultType === COMPLETE) return encode(rest);
      throw laterClientNeeded(String(resultType));
    },
    sealError: (error) => error,
    statusOf: (error) => (error instanceof MessageError ? 400 : 200),
  };
}

export function modernEra({ methods, notifications }: MethodTable, server: Client): Era {
  const stamp = { [META.server]: server };
  /** Appended to every result of a method, so it is encoded once. */
  const encoded = new Map<Method, string>();
  const membersFor = (method: Method) => {
    const known = encoded.get(method) ?? encode({ resultType: COMPLETE, ...method.cache, _meta: stamp }).slice(1);
    encoded.set(method, known);
    return known;
  };
  return {
    methods: byName(methods),
    notifications: byName(notifications),
    sessionOpener: undefined,
    speaks: isModern,
    acceptsBatches: () => false,
    open({ method, params }, _session, claims) {
      const meta = metaOf(params);
      const version = meta[META.version];
      const capabilities = meta[META.capabilities];
      if (typeof version !== 'string') throw invalidEnvelope(`_meta["${META.version}"] must be text`);
      if (!isObject(capabilities)) throw invalidEnvelope(`_meta["${META.capabilities}"] must be an object`);
      // Before the version: when header and body differ, either of them may be wrong.
      if (claims) checkClaims(claims, version, method, params);
      // Before the method: a client with a wrong version needs the list of right ones, not "unknown method".
      if (!MODERN_VERSIONS.includes(version)) throw unsupportedVersion(version, MODERN_VERSIONS);
      return { client: clientOf(meta[META.client]), ...declaredIn(capabilities), claims, anyStructure: true };
    },
    seal(result, method) {
      const { cache } = method;
      if (!(result instanceof EncodedResult) && OWN_MEMBERS.some((name) => name in result))
        return encode({ resultType: COMPLETE, ...result, ...cache, _meta: { ...metaOf(result), ...stamp } });
      const { body } = result instanceof EncodedResult ? result : encodeResultBody(result);
      const members = membersFor(method);
      return body === '{' ? `{${members}` : `${body},${members}`;
    },
    sealError(error) {
      const code = RETIRED_CODES.get(error.code);
      return code === undefined ? error : new RpcError(code, error.message, error.data);
    },
    statusOf(error) {
      if (error instanceof UnknownMethodError) return 404;
      return error instanceof MessageError ? 400 : 200;
    },
  };
}

/** Names and versions are a few words. A session keeps them as long as it lives. */
export const MAX_CLIENT_TEXT = 256;
/** A dozen capabilities and a handful of extensions are known in all. */
export const MAX_DECLARED = 64;

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

const NEWEST_LEGACY = '2025-11-25';
// Only 2025-03-26 has them; 2024-11-05 does not mention them, and JSON-RPC itself allows them.
const BATCHED: readonly string[] = ['2025-03-26', '2024-11-05'];
const MODERN_ONLY: readonly string[] = ['server/discover', 'subscriptions/listen'];

const COMPLETE = 'complete';
/** The members of a result that the modern era sets. A result of an upstream server may have them already. */
const OWN_MEMBERS: readonly string[] = ['resultType', '_meta', 'ttlMs', 'cacheScope'];
/**
 * Codes of legacy servers that the modern era forbids, and their replacements: a missing resource is a wrong
 * parameter; a URL that a person must open first is something that a modern client cannot be asked for here.
 */
const RETIRED_CODES: ReadonlyMap<number, number> = new Map([
  [-32002, -32602],
  [-32042, -32603],
]);

/** A legacy client that has not shaken hands. */
const UNKNOWN_CLIENT: Peer = { client: undefined, capabilities: new Set(), extensions: new Set() };

const isShort = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_CLIENT_TEXT;

function isModern(method: string, params: Params, claims: HeaderClaims | undefined): boolean {
  return (
    metaOf(params)[META.version] !== undefined ||
    MODERN_ONLY.includes(method) ||
    (claims?.version !== undefined && !LEGACY_VERSIONS.includes(claims.version))
  );
}

const metaOf = ({ _meta }: { readonly _meta?: unknown }): Params => (isObject(_meta) ? _meta : {});

function checkClaims(claims: HeaderClaims, version: string, method: string, params: Params): void {
  if (claims.version !== version) throw headerMismatch(`MCP-Protocol-Version is not "${version}"`);
  if (claims.method !== method) throw headerMismatch('Mcp-Method is not the method of the body');
  const named = NAME_PARAMS.get(method);
  if (named !== undefined && claims.name !== params[named]) {
    throw headerMismatch(`Mcp-Name is not params.${named} of the body`);
  }
}

function byName<T extends { readonly name: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.name, item]));
}
