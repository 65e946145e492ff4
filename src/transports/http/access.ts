/**
 * Who has access: Host, Origin, token.
 * Owns: the refusal of a request by its headers, and what a browser is told. Leaves alone: what the request is for.
 * Always true:
 * - a web page whose name was made to point at this machine (DNS rebinding) is refused: names are compared whole;
 * - a token is compared in constant time, and no response says how close a guess was.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { HEADERS } from '../../protocol/index.ts';
import { Refusal } from './request.ts';

export interface AccessOptions {
  /** The name or address to listen on, without brackets. */
  readonly host: string;
  /** Further names by which clients address this server. */
  readonly allowHosts: readonly string[];
  /** Web origins whose pages may use this server. */
  readonly allowOrigins: readonly string[];
  /** The token that `Authorization: Bearer` must carry; undefined requires none. */
  readonly token?: string | undefined;
  /** Listen beyond loopback without a token. */
  readonly noAuth: boolean;
}

/** Throws an Error when the options would let others in by mistake. */
export function createAccess({ host, allowHosts, allowOrigins, token, noAuth }: AccessOptions) {
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw new Error('the token must be one or more visible ASCII characters');
  if (token === undefined && !noAuth && !isLoopback(host))
    throw new Error(`listening on ${host} lets others in: set SKILLWIRE_TOKEN, or say --no-auth`);
  const names = new Set([...LOOPBACK, host, ...allowHosts].map(nameOf));
  const origins = new Set(allowOrigins.map((origin) => origin.toLowerCase().replace(/(?<!:\/)\/$/, '')));
  // Rebinding needs a name, so an address is safe; a server on loopback is addressed by loopback addresses alone.
  const allowsAddresses = !isLoopback(host);
  const secret = token === undefined ? undefined : digest(token);
  return {
    /** Refuses a request by its Host or Origin. Gives the headers for a page of an allowed origin, and for no other. */
    checkNames(headers: IncomingHttpHeaders): ReadonlyMap<string, string> | undefined {
      const { host: addressed = '', origin } = headers;
      const name = HOST.exec(addressed)?.[1]?.toLowerCase() ?? '';
      if (!names.has(name) && !(allowsAddresses && isIP(unbracket(name)) !== 0))
        throw new Refusal(403, 'this Host is not served here');
      if (origin === undefined) return undefined;
      if (origins.has(origin.toLowerCase())) return corsHeaders(origin, headers);
      const page = ORIGIN.exec(origin)?.[1]?.toLowerCase() ?? '';
      if (!names.has(page)) throw new Refusal(403, 'this Origin is not allowed here');
      return undefined;
    },
    checkToken({ authorization = '' }: IncomingHttpHeaders): void {
      if (secret === undefined) return;
      const given = BEARER.exec(authorization)?.[1];
      // Digests have one length, so neither the time nor an exception reveals that of the token.
      if (given !== undefined && timingSafeEqual(digest(given), secret)) return;
      const challenge = `Bearer realm="skillwire"${given === undefined ? '' : ', error="invalid_token"'}`;
      throw new Refusal(401, 'a valid token is required', { 'www-authenticate': challenge });
    },
  };
}

// --- internal ---

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;
const ORIGIN = /^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;
const BEARER = /^bearer +([\x21-\x7e]+) *$/i;

const digest = (text: string) => createHash('sha256').update(text).digest();
const unbracket = (name: string) => name.replace(/^\[(.*)\]$/, '$1');

function isLoopback(host: string): boolean {
  return /^localhost$/i.test(host) || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** The form that a Host header has: lower case, an IPv6 address in brackets. */
function nameOf(host: string): string {
  const bare = unbracket(host.toLowerCase());
  return isIP(bare) === 6 ? `[${bare}]` : bare;
}

/** Lets a page read the response, and send any header: a tool may ask for some of its own. */
const corsHeaders = (origin: string, headers: IncomingHttpHeaders) =>
  new Map([
    ['access-control-allow-origin', origin],
    ['access-control-allow-methods', 'GET, POST, DELETE'],
    ['access-control-allow-headers', headers['access-control-request-headers'] ?? ''],
    ['access-control-expose-headers', `${HEADERS.session}, www-authenticate`],
    ['access-control-max-age', '600'],
  ]);
