/**
 * `x-mcp-header`: arguments of a tool that an HTTP request repeats in headers.
 * Owns: which annotations are valid, and the headers of a call. Leaves alone: dropping a tool with invalid ones (listing.ts).
 * Always true: a schema is only read: no `$ref` is resolved and nothing is fetched.
 */
import {
  encodeHeader,
  type HeaderClaims,
  headerMismatch,
  isObject,
  PARAM_HEADER_PREFIX,
  type Params,
} from '../../protocol/index.ts';
import type { HeaderFields } from './connection.ts';
import { MAX_SCHEMA_NODES } from './limits.ts';

export interface ParamHeader {
  readonly header: string;
  readonly path: readonly string[];
}

export type ParamHeaders =
  | { readonly kind: 'sound'; readonly headers: readonly ParamHeader[] }
  | { readonly kind: 'unsound'; readonly why: string };

export function findParamHeaders(inputSchema: unknown): ParamHeaders {
  const headers = new Map<string, ParamHeader>();
  let fault: string | undefined;
  let nodes = 0;

  /** `path` is undefined below any keyword other than `properties`. */
  function visit(schema: unknown, path: readonly string[] | undefined): void {
    nodes += 1;
    if (nodes > MAX_SCHEMA_NODES) return;
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
    const found = checkAnnotation(name, type, path);
    if ('why' in found) fault ??= found.why;
    else if (headers.has(found.header.toLowerCase())) fault ??= `names "${name}" twice`;
    else headers.set(found.header.toLowerCase(), found);
  }

  visit(inputSchema, []);
  if (nodes > MAX_SCHEMA_NODES) fault ??= `is in a schema of over ${MAX_SCHEMA_NODES} parts`;
  if (fault !== undefined) return { kind: 'unsound', why: `${ANNOTATION} ${fault}` };
  return { kind: 'sound', headers: [...headers.values()] };
}

/** The headers of one call. Absent and null arguments have none. */
export function paramHeaders(headers: readonly ParamHeader[], args: Params): HeaderFields {
  return Object.fromEntries(repeated(headers, args).map(([header, value]) => [header, encodeHeader(String(value))]));
}

/** Throws when an HTTP call does not repeat in its headers the arguments that the tool asks for. */
export function checkParamHeaders(inputSchema: object, args: Params, claims: HeaderClaims | undefined): void {
  if (!claims) return;
  const found = known.get(inputSchema) ?? findParamHeaders(inputSchema);
  known.set(inputSchema, found);
  // Clients drop a tool with invalid annotations, so a call to it need not have headers.
  if (found.kind === 'unsound') return;
  for (const [header, value] of repeated(found.headers, args)) {
    const given = claims.param(header);
    const same = typeof value === 'number' ? given !== undefined && Number(given) === value : given === String(value);
    if (!same) throw headerMismatch(`${header} is not what the arguments say`);
  }
}

// --- internal ---

const known = new WeakMap<object, ParamHeaders>();
const ANNOTATION = 'x-mcp-header';
// The values of these keywords are data, not schemas.
const LITERALS: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'example']);
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];

type Repeated = readonly [header: string, value: string | number | boolean];

function repeated(headers: readonly ParamHeader[], args: Params): readonly Repeated[] {
  return headers.flatMap(({ header, path }): readonly Repeated[] => {
    const value = path.reduce<unknown>(
      (at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined),
      args,
    );
    if (typeof value === 'string' || typeof value === 'boolean') return [[header, value]];
    return typeof value === 'number' && Number.isSafeInteger(value) ? [[header, value]] : [];
  });
}

function checkAnnotation(
  name: unknown,
  type: unknown,
  path: readonly string[] | undefined,
): ParamHeader | { readonly why: string } {
  if (typeof name !== 'string' || name === '') return { why: 'is empty or not text' };
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)) return { why: 'is not usable as the name of a header' };
  if (!path || path.length === 0) return { why: `"${name}" is not on a plain property` };
  if (!TYPES.includes(type)) return { why: `"${name}" is on a property that is not text, integer or boolean` };
  return { header: `${PARAM_HEADER_PREFIX}${name}`, path };
}
