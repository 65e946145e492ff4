/**
 * `x-mcp-header`: arguments of a tool that an HTTP request repeats in headers.
 * Owns: which annotations are valid, and the headers of a call. Leaves alone: dropping a tool with invalid ones
 * (upstream/definitions.ts).
 * Always true: a schema is only read: no `$ref` is resolved and nothing is fetched.
 */
import {
  decodeHeader,
  encodeHeader,
  headerMismatch,
  isObject,
  PARAM_HEADER_PREFIX,
  type Params,
  type ReadHeader,
} from '../../protocol/index.ts';
import type { HeaderFields } from './connection.ts';
import { MAX_SCHEMA_NODES } from './limits.ts';

export interface ParamHeader {
  readonly header: string;
  readonly path: readonly string[];
}

/** Throws an Error that says which annotation is invalid. */
export function findParamHeaders(inputSchema: unknown): readonly ParamHeader[] {
  const headers = new Map<string, ParamHeader>();
  let nodes = 0;

  /** `path` is undefined below any keyword other than `properties`. */
  function visit(schema: unknown, path: readonly string[] | undefined): void {
    nodes += 1;
    if (nodes > MAX_SCHEMA_NODES) throw new Error(`${ANNOTATION} is in a schema of over ${MAX_SCHEMA_NODES} parts`);
    if (Array.isArray(schema)) for (const one of schema) visit(one, undefined);
    if (!isObject(schema)) return;
    if (Object.hasOwn(schema, ANNOTATION)) add(schema, path);
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'properties' && isObject(value))
        for (const [name, inner] of Object.entries(value)) visit(inner, path && [...path, name]);
      else if (!LITERALS.has(key)) visit(value, undefined);
    }
  }

  function add({ [ANNOTATION]: name, type }: Params, path: readonly string[] | undefined): void {
    const fault = faultOf(name, type, path);
    if (fault !== undefined) throw new Error(`${ANNOTATION} ${fault}`);
    const header = `${PARAM_HEADER_PREFIX}${name}`;
    if (headers.has(header.toLowerCase())) throw new Error(`${ANNOTATION} names "${name}" twice`);
    headers.set(header.toLowerCase(), { header, path: path ?? [] });
  }

  visit(inputSchema, []);
  return [...headers.values()];
}

/** The headers of one call. Absent and null arguments have none. */
export function paramHeaders(headers: readonly ParamHeader[], args: Params): HeaderFields {
  return Object.fromEntries(repeated(headers, args).map(([header, value]) => [header, encodeHeader(String(value))]));
}

/** Throws when an HTTP call does not repeat in its headers the arguments that the tool asks for. */
export function checkParamHeaders(headers: readonly ParamHeader[], args: Params, readHeader: ReadHeader | undefined) {
  if (!readHeader) return;
  for (const [header, value] of repeated(headers, args)) {
    const given = decodeHeader(readHeader(header));
    const isSame = typeof value === 'number' ? Number(given) === value : given === String(value);
    if (!isSame) throw headerMismatch(`${header} is not what the arguments say`);
  }
}

// --- internal ---

const ANNOTATION = 'x-mcp-header';
// The values of these keywords are data, not schemas.
const LITERALS: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'example']);
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];

/** The headers of a call, each with the value of its argument. */
function repeated(headers: readonly ParamHeader[], args: Params): readonly (readonly [string, unknown])[] {
  const inner = (at: unknown, name: string) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined);
  return headers
    .map(({ header, path }) => [header, path.reduce<unknown>(inner, args)] as const)
    .filter(([, value]) => ['string', 'boolean'].includes(typeof value) || Number.isSafeInteger(value));
}

function faultOf(name: unknown, type: unknown, path: readonly string[] | undefined): string | undefined {
  if (typeof name !== 'string' || name === '') return 'is empty or not text';
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)) return 'is not usable as the name of a header';
  if (!path || path.length === 0) return `"${name}" is not on a plain property`;
  return TYPES.includes(type) ? undefined : `"${name}" is on a property that is not text, integer or boolean`;
}
