/**
 * The two ways MCP has been spoken, as two values of one type. No other file here knows a protocol date.
 * Legacy: a handshake fixes the version for the connection. Modern: every request names its version and stands alone.
 * Owns: which era a message belongs to, its envelope, the stamp on its results. Leaves alone: what the methods do.
 * Always true: a method that an era lacks is missing from its table; nothing asks which era it is in.
 */
import { headerMismatch, invalidParams, laterClientNeeded, RpcError, unsupportedVersion } from './errors.ts';
import { type Decoded, type Id, isObject, type Notification, type Params, type Request } from './json-rpc.ts';
import type { Client, Session, Stop } from './session.ts';

/** What the envelope around a message says of it (HTTP headers); absent where there is no envelope. */
export interface HeaderClaims {
  readonly version: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
  /** What it repeats of a tool's arguments. */
  param(header: string): string | undefined;
}

/** Who asks. */
export interface Peer {
  readonly client: Client | undefined;
  /** What the client declared, by name; the settings below each name are not kept. */
  readonly capabilities: ReadonlySet<string>;
  readonly extensions: ReadonlySet<string>;
  /** The envelope, where it is bound to say what the message says. */
  readonly claims?: HeaderClaims | undefined;
  /** It knows structured content that is not an object. */
  readonly anyStructure?: boolean;
}

export interface Call {
  readonly id: Id;
  readonly params: Params;
  readonly peer: Peer;
  readonly session: Session;
  /** Fires when the caller no longer wants the answer. */
  readonly signal: AbortSignal;
  /** The same for those who only listen, and cheaper. */
  readonly stop: Stop;
  /** Sends a notice that belongs to this call, before its answer. */
  notify(method: string, params: object): void;
}

/** How long a modern client may keep a result. The files behind ours change and are this user's own. */
export interface CacheHint {
  readonly ttlMs: number;
  readonly cacheScope: 'public' | 'private';
}

export interface Method {
  readonly name: string;
  readonly cache?: CacheHint;
  run(params: Params, call: Call): object | Promise<object>;
}

export interface NotificationHandler {
  readonly name: string;
  hear(params: Params, session: Session): void;
}

export interface Era {
  readonly methods: ReadonlyMap<string, Method>;
  readonly notices: ReadonlyMap<string, NotificationHandler>;
  /** What HTTP calls an unknown method in this era. */
  readonly unknownStatus: number;
  speaks(method: string, params: Params, claims: HeaderClaims | undefined): boolean;
  takesBatches(session: Session): boolean;
  /** Checks the envelope and says who asks. */
  open(request: Request, session: Session, claims: HeaderClaims | undefined): Peer;
  seal(result: object, method: Method): object;
  /** An error as this era may say it: those of upstream servers come from either. */
  sealError(error: RpcError): RpcError;
}

export interface MethodTable {
  readonly methods: readonly Method[];
  readonly notices: readonly NotificationHandler[];
}

export const MODERN_VERSIONS: readonly string[] = ['2026-07-28'];
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** The version we answer a legacy handshake with: the one asked for, or the newest we have. */
export const negotiate = (asked: string) => (LEGACY_VERSIONS.includes(asked) ? asked : NEWEST_LEGACY);

export function legacyEra({ methods, notices }: MethodTable): Era {
  return {
    methods: byName(methods),
    notices: byName(notices),
    unknownStatus: 200,
    // Speaks to everyone, so it stands last.
    speaks: () => true,
    takesBatches: (session) => BATCHED.includes(session.handshake?.version ?? ''),
    open: (_request, session) => session.handshake ?? STRANGER,
    seal(result) {
      // Said by a server behind us; there is no such word here, and a client would take it for an answer.
      if (!('resultType' in result)) return result;
      const { resultType, ...rest } = result;
      if (resultType === COMPLETE) return rest;
      throw laterClientNeeded(String(resultType));
    },
    sealError: (error) => error,
  };
}

export function modernEra({ methods, notices }: MethodTable, server: Client): Era {
  return {
    methods: byName(methods),
    notices: byName(notices),
    unknownStatus: 404,
    speaks: isModern,
    takesBatches: () => false,
    open({ method, params }, _session, claims) {
      const meta = envelopeOf(params);
      const version = meta[VERSION];
      const capabilities = meta[CAPABILITIES];
      if (typeof version !== 'string') throw invalidParams(`_meta["${VERSION}"] must be text`);
      if (!isObject(capabilities)) throw invalidParams(`_meta["${CAPABILITIES}"] must be an object`);
      // Before the version: a header that says something else than the body makes either of them doubtful.
      if (claims) checkClaims(claims, version, method, params);
      // Before the method: a client with a wrong version needs the list of right ones, not "unknown method".
      if (!MODERN_VERSIONS.includes(version)) throw unsupportedVersion(version, MODERN_VERSIONS);
      return { client: clientOf(meta[CLIENT]), ...declaredIn(capabilities), claims, anyStructure: true };
    },
    seal: (result, method) => ({
      resultType: COMPLETE,
      ...result,
      ...method.cache,
      _meta: { ...('_meta' in result && isObject(result._meta) ? result._meta : undefined), [SERVER]: server },
    }),
    sealError(error) {
      const code = RETIRED_CODES.get(error.code);
      return code === undefined ? error : new RpcError(code, error.message, error.data);
    },
  };
}

/** What a message is to a carrier with many clients: complete in itself, the first of a session, or part of one. */
export type MessageScope = 'alone' | 'opening' | 'member';

export function scopeOf(decoded: Decoded, claims: HeaderClaims | undefined): MessageScope {
  const messages = Array.isArray(decoded) ? decoded : [decoded];
  // What cannot be read is answered as such, whoever sent it; so is an empty batch.
  if (messages.every(({ kind }) => kind === 'invalid')) return 'alone';
  const calls = messages.filter((one): one is Request | Notification => 'method' in one);
  if (calls.some(({ method, params }) => isModern(method, params, claims))) return 'alone';
  return !Array.isArray(decoded) && decoded.kind === 'request' && decoded.method === OPENING ? 'opening' : 'member';
}

/** Names and versions are a few words. A session keeps them as long as it lives. */
export const MAX_CLIENT_TEXT = 256;
/** A dozen capabilities and a handful of extensions are known in all. */
export const MAX_DECLARED = 64;

/** Reads a client's account of itself; a malformed one, or one that goes on too long, is as good as none. */
export function clientOf(info: unknown): Client | undefined {
  if (!isObject(info) || !isShort(info.name)) return undefined;
  return { name: info.name, version: isShort(info.version) ? info.version : '' };
}

/** What a client declares, by name. */
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
// Only 2025-03-26 has them; 2024-11-05 predates the question and base JSON-RPC allows them.
const BATCHED: readonly string[] = ['2025-03-26', '2024-11-05'];

const COMPLETE = 'complete';
/**
 * Codes of legacy servers that must not be said in the modern era, and what is said instead: a resource that is not
 * there is a wrong parameter; a person who should first open a URL is beyond what we can ask for.
 */
const RETIRED_CODES: ReadonlyMap<number, number> = new Map([
  [-32002, -32602],
  [-32042, -32603],
]);

const PREFIX = 'io.modelcontextprotocol/';
const VERSION = `${PREFIX}protocolVersion`;
const CAPABILITIES = `${PREFIX}clientCapabilities`;
const CLIENT = `${PREFIX}clientInfo`;
const SERVER = `${PREFIX}serverInfo`;
const MODERN_ONLY: readonly string[] = ['server/discover', 'subscriptions/listen'];

/** The parameter that `Mcp-Name` repeats, for the methods that have one. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

/** The first message of every legacy connection. */
const OPENING = 'initialize';

const STRANGER: Peer = { client: undefined, capabilities: new Set(), extensions: new Set() };

const isShort = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_CLIENT_TEXT;

function isModern(method: string, params: Params, claims: HeaderClaims | undefined): boolean {
  return (
    envelopeOf(params)[VERSION] !== undefined ||
    MODERN_ONLY.includes(method) ||
    (claims?.version !== undefined && !LEGACY_VERSIONS.includes(claims.version))
  );
}

const envelopeOf = ({ _meta }: Params): Params => (isObject(_meta) ? _meta : {});

function checkClaims(claims: HeaderClaims, version: string, method: string, params: Params): void {
  if (claims.version !== version) throw headerMismatch(`MCP-Protocol-Version is not "${version}"`);
  if (claims.method !== method) throw headerMismatch('Mcp-Method is not the method of the body');
  const named = NAMED.get(method);
  if (named !== undefined && claims.name !== params[named]) {
    throw headerMismatch(`Mcp-Name is not params.${named} of the body`);
  }
}

function byName<T extends { readonly name: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.name, item]));
}
