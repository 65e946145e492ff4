/**
 * `x-mcp-header`: tool arguments that HTTP repeats in a header, and how any value is written into one.
 * Owns: which annotations are sound. Leaves alone: dropping a tool whose are not (inventory.ts).
 * Always true: schemas are only read, never followed: no `$ref` is resolved and nothing is fetched.
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

export interface ParamHeader {
  readonly header: string;
  readonly path: readonly string[];
}

export type ParamHeaders =
  | { readonly kind: 'sound'; readonly headers: readonly ParamHeader[] }
  | { readonly kind: 'unsound'; readonly why: string };

export function findParamHeaders(inputSchema: unknown): ParamHeaders {
  const headers = new Map<string, ParamHeader>();
  const problems: string[] = [];
  let budget = MOST_NODES;

  /** `path` is undefined once something other than `properties` was passed. */
  function visit(schema: unknown, path: readonly string[] | undefined): void {
    budget -= 1;
    if (budget < 0 || typeof schema !== 'object' || schema === null) return;
    if (Array.isArray(schema)) {
      for (const one of schema) visit(one, undefined);
      return;
    }
    const fields = schema as Params;
    if (Object.hasOwn(fields, ANNOTATION)) note(fields, path);
    for (const [key, value] of Object.entries(fields)) {
      if (key !== 'properties' || !isObject(value)) {
        if (!LITERALS.has(key)) visit(value, undefined);
        continue;
      }
      for (const [name, inner] of Object.entries(value)) visit(inner, path && [...path, name]);
    }
  }

  function note(schema: Params, path: readonly string[] | undefined): void {
    const name = schema[ANNOTATION];
    const fault = faultOf(name, schema.type, path);
    if (fault !== undefined || typeof name !== 'string' || !path) return void problems.push(fault ?? 'is misplaced');
    if (headers.has(name.toLowerCase())) return void problems.push(`names "${name}" twice`);
    headers.set(name.toLowerCase(), { header: `${PARAM_HEADER_PREFIX}${name}`, path });
  }

  visit(inputSchema, []);
  if (budget < 0) problems.push(`lies in a schema of over ${MOST_NODES} parts`);
  const [first] = problems;
  return first === undefined
    ? { kind: 'sound', headers: [...headers.values()] }
    : { kind: 'unsound', why: `${ANNOTATION} ${first}` };
}

/** The headers for one call: absent and null values have none. */
export function paramHeaders(headers: readonly ParamHeader[], args: Params): HeaderFields {
  return Object.fromEntries(mirrored(headers, args).map(([header, value]) => [header, encodeHeader(String(value))]));
}

/** Throws when a call that came by HTTP does not repeat in its headers what the tool asks to have there. */
export function checkParamHeaders(inputSchema: object, args: Params, claims: HeaderClaims | undefined): void {
  if (!claims) return;
  const found = known.get(inputSchema) ?? findParamHeaders(inputSchema);
  known.set(inputSchema, found);
  // A client drops a tool whose annotations are unsound, so nothing can be expected of a call to it.
  if (found.kind === 'unsound') return;
  for (const [header, value] of mirrored(found.headers, args)) {
    const given = claims.param(header);
    const same = typeof value === 'number' ? given !== undefined && Number(given) === value : given === String(value);
    if (!same) throw headerMismatch(`${header} is not what the arguments say`);
  }
}

// --- internal ---

const known = new WeakMap<object, ParamHeaders>();

type Mirrored = readonly [header: string, value: string | number | boolean];

/** Every annotated argument of a call that a header can hold. */
function mirrored(headers: readonly ParamHeader[], args: Params): readonly Mirrored[] {
  return headers.flatMap(({ header, path }): readonly Mirrored[] => {
    const value = path.reduce<unknown>(
      (at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined),
      args,
    );
    if (typeof value === 'string' || typeof value === 'boolean') return [[header, value]];
    return typeof value === 'number' && Number.isSafeInteger(value) ? [[header, value]] : [];
  });
}

const ANNOTATION = 'x-mcp-header';
// What stands under these is data, not a schema.
const LITERALS: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'example']);
const PLAIN_TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];
// A schema with more parts than this is no schema anyone wrote.
const MOST_NODES = 20_000;

function faultOf(name: unknown, type: unknown, path: readonly string[] | undefined): string | undefined {
  if (typeof name !== 'string' || name === '') return 'is empty or not text';
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)) return 'is not usable as the name of a header';
  if (!path || path.length === 0) return `"${name}" is not on a plain property`;
  if (!PLAIN_TYPES.includes(type)) return `"${name}" is on a property that is no text, integer or boolean`;
  return undefined;
}
