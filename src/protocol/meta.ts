/**
 * The names that MCP puts on the wire, for the server side and for the hub's client side.
 * Owns: `_meta` keys, HTTP header names and how a header carries any text, the Skills extension's names.
 * Leaves alone: protocol dates (eras.ts, hub/connection/dialects.ts).
 */

const PREFIX = 'io.modelcontextprotocol/';

/** Keys of `_meta`. */
export const META = {
  version: `${PREFIX}protocolVersion`,
  capabilities: `${PREFIX}clientCapabilities`,
  client: `${PREFIX}clientInfo`,
  server: `${PREFIX}serverInfo`,
  logLevel: `${PREFIX}logLevel`,
  subscription: `${PREFIX}subscriptionId`,
} as const;

/** Names of HTTP headers, in lower case as Node gives them. */
export const HEADERS = {
  session: 'mcp-session-id',
  version: 'mcp-protocol-version',
  method: 'mcp-method',
  name: 'mcp-name',
} as const;

/** What the name of a header that repeats a tool's argument begins with; the tool's schema has the rest. */
export const PARAM_HEADER_PREFIX = 'Mcp-Param-';

/** The parameter that the header `mcp-name` repeats, for the methods that have one. */
export const NAME_PARAMS: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

export const SKILLS_EXTENSION = `${PREFIX}skills`;

/** What a digest of the Skills extension begins with; 64 hexadecimal digits follow. */
export const SHA256 = 'sha256:';

/** A header carries printable ASCII without spaces at its ends; any other text goes as base64 between two marks. */
export function encodeHeader(text: string): string {
  const isPlain = /^[\x20-\x7e]*$/.test(text) && text.trim() === text && !MARKED.test(text);
  return isPlain ? text : `=?base64?${base64(text)}?=`;
}

/** The text that the sender of a header meant; undefined when the base64 in it is malformed. */
export function decodeHeader(value: string | undefined): string | undefined {
  const encoded = MARKED.exec(value ?? '')?.[1];
  if (encoded === undefined) return value;
  try {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
    // atob takes spaces and missing padding. A value that is not the same when encoded again was not base64.
    return btoa(binary(bytes)) === encoded ? UTF8.decode(bytes) : undefined;
  } catch {
    return undefined; // A character that base64 does not have.
  }
}

// --- internal ---

const MARKED = /^=\?base64\?(.*)\?=$/;
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

const base64 = (text: string) => btoa(binary(new TextEncoder().encode(text)));
const binary = (bytes: Uint8Array) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
