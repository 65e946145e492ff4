/**
 * The names that MCP puts on the wire, for the server side and for the hub's client side.
 * Owns: `_meta` keys, HTTP header names and how a header carries any text, log levels, the Skills extension's names.
 * Leaves alone: protocol dates (eras.ts, hub/connection/dialects.ts).
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

/** What the name of a header that repeats a tool's argument begins with; the tool's schema has the rest. */
export const PARAM_HEADER_PREFIX = 'Mcp-Param-';

/** The parameter that the header `mcp-name` repeats, for the methods that have one. */
export const NAME_PARAMS: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

/** The levels of log messages, the most verbose first. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const isLogLevel = (value: unknown): value is LogLevel => LOG_LEVELS.some((level) => level === value);

/** Whether one who asked for messages from a level on, or for none, gets a message of that level. */
export function isLogged(level: unknown, asked: LogLevel | undefined): level is LogLevel {
  return asked !== undefined && isLogLevel(level) && LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(asked);
}

export const SKILLS_EXTENSION = `${PREFIX}skills`;

/** What a digest of the Skills extension begins with; 64 hexadecimal digits follow. */
export const SHA256 = 'sha256:';

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

// --- internal ---

const MARKED = /^=\?base64\?(.*)\?=$/;
