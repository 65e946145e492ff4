/**
 * Who may come in at all: Host, Origin, token.
 * Owns: the verdict on one request's headers. Leaves alone: what is behind the door.
 * Always true:
 * - a web page whose name was made to point at this machine (DNS rebinding) stays outside: names are compared whole;
 * - a token is compared in constant time, and no answer says how close a guess was.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

export interface AccessOptions {
  /** What we bind to: a name or an address, without brackets. */
  readonly host: string;
  /** Further names by which clients reach us. */
  readonly allowHosts: readonly string[];
  /** Web origins whose pages may use us. */
  readonly allowOrigins: readonly string[];
  /** What `Authorization: Bearer` must carry; undefined asks for nothing. */
  readonly token: string | undefined;
}

export type Verdict =
  /** `origin`: the web page that asks, when its origin was allowed by name and it may therefore read the answers. */
  | { readonly kind: 'welcome'; readonly origin: string | undefined }
  | { readonly kind: 'stranger'; readonly why: string };

export interface Access {
  /** Judges where a request comes from and whom it is addressed to. */
  admit(headers: IncomingHttpHeaders): Verdict;
  /** What is missing of the proof that a request may be served, as the challenge to answer with. */
  challenge(headers: IncomingHttpHeaders): string | undefined;
  /** Whether whoever asks may see more than states and counts: has the token, or is on this machine where none is set. */
  isOperator(headers: IncomingHttpHeaders): boolean;
}

export function createAccess({ host, allowHosts, allowOrigins, token }: AccessOptions): Access {
  const names = new Set([...LOOPBACK, host, ...allowHosts].map(nameOf));
  const origins = new Set(allowOrigins.map((origin) => origin.toLowerCase()));
  // Rebinding needs a name. Who addresses us by number has not been led here by one; on loopback only loopback is right.
  const numbersPass = !isLoopback(host);
  const secret = token === undefined ? undefined : digest(token);

  function challenge(headers: IncomingHttpHeaders): string | undefined {
    if (secret === undefined) return undefined;
    const given = BEARER.exec(headers.authorization ?? '')?.[1];
    if (given === undefined) return CHALLENGE;
    // Digests have one length, so neither the time nor an exception tells that of the token.
    return timingSafeEqual(digest(given), secret) ? undefined : `${CHALLENGE}, error="invalid_token"`;
  }

  return {
    challenge,
    isOperator: (headers) => (secret === undefined ? isLoopback(host) : challenge(headers) === undefined),
    admit(headers) {
      const addressed = HOST.exec(headers.host ?? '')?.[1]?.toLowerCase();
      if (addressed === undefined || !(names.has(addressed) || (numbersPass && isNumber(addressed))))
        return stranger('this Host is not served here');
      const origin = headers.origin?.toLowerCase();
      if (origin === undefined) return WELCOME;
      if (origins.has(origin)) return { kind: 'welcome', origin: headers.origin };
      const page = ORIGIN.exec(origin)?.[1];
      return page !== undefined && names.has(page) ? WELCOME : stranger('this Origin is not allowed here');
    },
  };
}

/** Why nobody should listen like this, if so: an open port without a lock. */
export function findAccessFault(options: {
  readonly host: string;
  readonly token: string | undefined;
  readonly noAuth: boolean;
}): string | undefined {
  const { host, token, noAuth } = options;
  if (token !== undefined && noAuth) return 'a token and "no auth" contradict each other';
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    return 'the token must be one or more visible ASCII characters';
  if (token !== undefined || noAuth || isLoopback(host)) return undefined;
  return `listening on ${host} lets others in: set SKILLWIRE_TOKEN, or say --no-auth`;
}

export function isLoopback(host: string): boolean {
  return /^localhost$/i.test(host) || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

// --- internal ---

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];
const WELCOME: Verdict = { kind: 'welcome', origin: undefined };
const CHALLENGE = 'Bearer realm="skillwire"';

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;
const ORIGIN = /^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;
const BEARER = /^bearer +([\x21-\x7e]+) *$/i;

const stranger = (why: string): Verdict => ({ kind: 'stranger', why });
const digest = (text: string) => createHash('sha256').update(text).digest();
const isNumber = (name: string) => isIP(unbracket(name)) !== 0;
const unbracket = (name: string) => name.replace(/^\[(.*)\]$/, '$1');

/** As it stands in a Host header: lower case, a v6 address in brackets. */
function nameOf(host: string): string {
  const bare = unbracket(host.toLowerCase());
  return isIP(bare) === 6 ? `[${bare}]` : bare;
}
