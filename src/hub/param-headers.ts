/**
 * `x-mcp-header`: arguments of a tool that a modern HTTP request repeats in headers.
 * Owns: which annotations are valid, and the headers of a call. Leaves alone: dropping a tool with an invalid one
 * (definitions.ts).
 * Always true: a schema is only read: no `$ref` is resolved and nothing is fetched.
 */
import { encodeHeader, isObject, type Params } from '../protocol/index.ts';
import type { HeaderFields } from './connection.ts';

/** An argument, by the names that lead to it, and its header. */
export interface ParamHeader {
  readonly header: string;
  readonly path: readonly string[];
}

/** Throws an Error that says which annotation is invalid. The levels of the schema must have been counted. */
export function paramHeadersOf(inputSchema: unknown): readonly ParamHeader[] {
  const found = new Map<string, ParamHeader>();
  /** `path`: undefined below any keyword other than `properties`, where no annotation is allowed. */
  function visit(schema: unknown, path: readonly string[] | undefined): void {
    if (Array.isArray(schema)) for (const one of schema) visit(one, undefined);
    if (!isObject(schema)) return;
    if (Object.hasOwn(schema, ANNOTATION)) {
      const header = `Mcp-Param-${nameIn(schema, path)}`;
      if (found.has(header.toLowerCase())) throw new Error(`${ANNOTATION}: ${header} is named twice`);
      found.set(header.toLowerCase(), { header, path: path ?? [] });
    }
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'properties' && isObject(value))
        for (const [name, inner] of Object.entries(value)) visit(inner, path && [...path, name]);
      else if (!LITERALS.has(key)) visit(value, undefined);
    }
  }
  visit(inputSchema, []);
  return [...found.values()];
}

/** The headers of one call. An argument that is absent or null has none. */
export function headersFor(params: readonly ParamHeader[], args: unknown): HeaderFields {
  const inner = (at: unknown, name: string) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined);
  const values = params.map(({ header, path }) => [header, path.reduce<unknown>(inner, args)] as const);
  const isSent = (value: unknown) => typeof value === 'string' || typeof value === 'boolean' || Number.isInteger(value);
  return Object.fromEntries(
    values.filter(([, value]) => isSent(value)).map(([header, value]) => [header, encodeHeader(String(value))]),
  );
}

// --- internal ---

const ANNOTATION = 'x-mcp-header';
// The values of these keywords are data, not schemas.
const LITERALS: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'example']);

function nameIn({ [ANNOTATION]: name, type }: Params, path: readonly string[] | undefined): string {
  if (typeof name !== 'string' || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name))
    throw new Error(`${ANNOTATION} is not usable as the name of a header`);
  if (!path || path.length === 0) throw new Error(`${ANNOTATION} "${name}" is not on a plain property`);
  if (type === 'string' || type === 'integer' || type === 'boolean') return name;
  throw new Error(`${ANNOTATION} "${name}" is on a property that is not text, integer or boolean`);
}
