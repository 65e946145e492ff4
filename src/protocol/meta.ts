/**
 * The names that MCP puts on the wire, for the server side and for clients of other servers.
 * Owns: `_meta` keys, HTTP header names and how a header carries any text, the Skills extension's name.
 * Leaves alone: protocol dates (eras.ts).
 */
import { isObject, type Params } from './json-rpc.ts';

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

export const metaOf = ({ _meta }: { readonly _meta?: unknown }): Params => (isObject(_meta) ? _meta : {});

/** Names of HTTP headers, in lower case as Node gives them. */
export const HEADERS = {
  session: 'mcp-session-id',
  version: 'mcp-protocol-version',
  method: 'mcp-method',
  name: 'mcp-name',
} as const;

/** The parameter that the header `mcp-name` repeats, for the methods that have one. */
export const NAME_PARAMS: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

export const SKILLS_EXTENSION = `${PREFIX}skills`;

const MARKED = /^=\?base64\?(.*)\?=$/;

/** A header carries printable ASCII without spaces at its ends; any other text goes as base64 between two marks. */
export function encodeHeader(text: string): string {
  const isPlain = /^[\x20-\x7e]*$/.test(text) && text.trim() === text && !MARKED.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** The text that the sender of a header meant; undefined when the base64 in it is malformed. */
export function decodeHeader(value: string | undefined): string | undefined {
  const encoded = MARKED.exec(value ?? '')?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  // Node decodes anything. A value that is not the same when encoded again was not base64.
  return bytes.toString('base64') === encoded ? bytes.toString() : undefined;
}
