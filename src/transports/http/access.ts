/**
 * Who has access: Host, Origin, token.
 * Owns: the verdict on one request's headers. Leaves alone: what the request is for.
 * Always true:
 * - a web page whose name was made to point at this machine (DNS rebinding) is refused: names are compared whole;
 * - a token is compared in constant time, and no response says how close a guess was.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

export interface AccessOptions {
  /** The name or address to listen on, without brackets. */
  readonly host: string;
  /** Further names by which clients address this server. */
  readonly allowHosts: readonly string[];
  /** Web origins whose pages may use this server. */
  readonly allowOrigins: readonly string[];
  /** The token that `Authorization: Bearer` must carry; undefined requires none. */
  readonly token: string | undefined;
}

export type Verdict =
  /** `origin`: set when the page's origin is in `allowOrigins`, so that the page may read the response. */
  | { readonly kind: 'allowed'; readonly origin: string | undefined }
  | { readonly kind: 'refused'; readonly why: string };

export function createAccess({ host, allowHosts, allowOrigins, token }: AccessOptions) {
  const names = new Set([...LOOPBACK, host, ...allowHosts].map(nameOf));
  const origins = new Set(allowOrigins.map((origin) => origin.toLowerCase()));
  // Rebinding needs a name, so an address is safe; a server on loopback is addressed by loopback addresses alone.
  const allowsAddresses = !isLoopback(host);
  const secret = token === undefined ? undefined : digest(token);

  /** The `WWW-Authenticate` value to refuse a request with; undefined when its token is right or none is required. */
  function challenge(headers: IncomingHttpHeaders): string | undefined {
    if (secret === undefined) return undefined;
    const given = BEARER.exec(headers.authorization ?? '')?.[1];
    if (given === undefined) return CHALLENGE;
    // Digests have one length, so neither the time nor an exception reveals that of the token.
    return timingSafeEqual(digest(given), secret) ? undefined : `${CHALLENGE}, error="invalid_token"`;
  }

  return {
    challenge,
    /** Whether the client may see reasons besides states: it has the token, or is on this machine and none is set. */
    isOperator: (headers: IncomingHttpHeaders) =>
      secret === undefined ? isLoopback(host) : challenge(headers) === undefined,
    /** Checks the Host and the Origin of a request. */
    check(headers: IncomingHttpHeaders): Verdict {
      const addressed = HOST.exec(headers.host ?? '')?.[1]?.toLowerCase();
      if (addressed === undefined || !(names.has(addressed) || (allowsAddresses && isAddress(addressed))))
        return refused('this Host is not served here');
      const origin = headers.origin?.toLowerCase();
      if (origin === undefined) return ALLOWED;
      if (origins.has(origin)) return { kind: 'allowed', origin: headers.origin };
      const page = ORIGIN.exec(origin)?.[1];
      return page !== undefined && names.has(page) ? ALLOWED : refused('this Origin is not allowed here');
    },
  };
}

/** The reason not to listen with these options, such as a port that others can reach without a token. */
export function findAccessFault({
  host,
  token,
  noAuth,
}: Pick<AccessOptions, 'host' | 'token'> & { readonly noAuth: boolean }): string | undefined {
  if (token !== undefined && noAuth) return 'a token and "no auth" contradict each other';
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    return 'the token must be one or more visible ASCII characters';
  if (token !== undefined || noAuth || isLoopback(host)) return undefined;
  return `listening on ${host} lets others in: set SKILLWIRE_TOKEN, or say --no-auth`;
}

function isLoopback(host: string): boolean {
  return /^localhost$/i.test(host) || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

// --- internal ---

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];
const ALLOWED: Verdict = { kind: 'allowed', origin: undefined };
const CHALLENGE = 'Bearer realm="skillwire"';

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;
const ORIGIN = /^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;
const BEARER = /^bearer +([\x21-\x7e]+) *$/i;

const refused = (why: string): Verdict => ({ kind: 'refused', why });
const digest = (text: string) => createHash('sha256').update(text).digest();
const isAddress = (name: string) => isIP(unbracket(name)) !== 0;
const unbracket = (name: string) => name.replace(/^\[(.*)\]$/, '$1');

/** The form that a Host header has: lower case, an IPv6 address in brackets. */
function nameOf(host: string): string {
  const bare = unbracket(host.toLowerCase());
  return isIP(bare) === 6 ? `[${bare}]` : bare;
}
