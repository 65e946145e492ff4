/**
 * JSON Schemas of upstream tools, made fit for every client.
 * Owns: which schemas can be passed on, and small repairs that do not change what they mean. Leaves alone: the rest of
 * a tool (definitions.ts).
 * Always true:
 * - an input schema that is passed on is an object schema as every revision of the protocol defines it;
 * - a validator can be compiled from an output schema that is passed on: SDK clients compile them while they read the
 *   list, and one that cannot be compiled loses them the whole list;
 * - the work is linear in the size of the schema.
 */
import { isObject, type Params } from '../../protocol/index.ts';
import { visible } from '../../text.ts';

/** The schema as it can be listed; undefined when it does not describe an object, and arguments are always one. */
export function inputSchemaOf(raw: unknown): Params | undefined {
  if (!isObject(raw)) return undefined;
  // A missing type is the most frequent fault, and what is meant is certain: arguments are always an object.
  if (raw.type !== undefined && raw.type !== 'object') return undefined;
  return readable(asObjectSchema({ ...raw, type: 'object' })) as Params;
}

/** The schema as it can be listed; undefined when no validator can be compiled from it. */
export function outputSchemaOf(raw: unknown): Params | undefined {
  if (!isObject(raw)) return undefined;
  // Two tools with one $id would share the validator of the first in SDK clients. References within it need none.
  const { $id, ...rest } = raw;
  const schema = raw.type === 'object' ? asObjectSchema(rest) : rest;
  return isCompilable(schema) ? (readable(schema) as Params) : undefined;
}

/** Whether clients of the handshake revisions know such an output schema. */
export const isObjectSchema = (schema: unknown): boolean => isObject(schema) && schema.type === 'object';

// --- internal ---

// Real schemas have some ten levels. Compilers are recursive, and so are we.
const DEEPEST_SCHEMA = 64;

/** Repairs the members that every revision of the protocol types: they must have that type or be absent. */
function asObjectSchema({ $schema, properties, required, ...rest }: Params): Params {
  const names = Array.isArray(required) && required.every((name) => typeof name === 'string') ? { required } : {};
  return {
    ...(typeof $schema === 'string' ? { $schema } : {}),
    ...rest,
    ...(isObject(properties) ? { properties: mapValues(properties, asObject) } : {}),
    ...names,
  };
}

/** The handshake revisions know no schemas that are `true` or `false`. What is no schema at all forbids nothing. */
function asObject(schema: unknown): unknown {
  if (schema === false) return { not: {} };
  return isObject(schema) ? schema : {};
}

/** Models read titles and descriptions: see `visible`. Values such as `default` and `enum` stay as they are. */
function readable(schema: unknown, depth = 0): unknown {
  if (depth > DEEPEST_SCHEMA) return schema;
  if (Array.isArray(schema)) return schema.map((one) => readable(one, depth + 1));
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (VALUES.has(key)) return [key, value];
      return [key, TEXTS.has(key) && typeof value === 'string' ? visible(value) : readable(value, depth + 1)];
    }),
  );
}

const TEXTS: ReadonlySet<string> = new Set(['title', 'description']);
const VALUES: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples']);

/** A test of what stands at a keyword: the schema that it stands in, and the whole of which that is a part. */
type Rule = (value: unknown, inside: Params, place: Place) => boolean;

interface Place {
  readonly root: Params;
  readonly depth: number;
}

function isCompilable(schema: unknown, place?: Place): boolean {
  if (typeof schema === 'boolean') return place !== undefined;
  if (!isObject(schema)) return false;
  const { root, depth } = place ?? { root: schema, depth: 0 };
  if (depth > DEEPEST_SCHEMA) return false;
  const inner = { root, depth: depth + 1 };
  return Object.entries(schema).every(([keyword, value]) => RULES.get(keyword)?.(value, schema, inner) ?? true);
}

const isSchema: Rule = (value, _inside, place) => isCompilable(value, place);
const areSchemas: Rule = (value, _inside, place) =>
  Array.isArray(value) && value.every((one) => isCompilable(one, place));
const isSchemaMap: Rule = (value, _inside, place) =>
  isObject(value) && Object.values(value).every((one) => isCompilable(one, place));
const isText: Rule = (value) => typeof value === 'string';
const areTexts: Rule = (value) => Array.isArray(value) && value.every((one) => typeof one === 'string');
const isNumber: Rule = (value) => typeof value === 'number';
const isTruth: Rule = (value) => typeof value === 'boolean';
/** Keywords that compilers understand differently, or that reach outside the schema. */
const isUncertain: Rule = () => false;

const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);

const RULES: ReadonlyMap<string, Rule> = new Map([
  ['type', (value) => (Array.isArray(value) ? value : [value]).every((one) => TYPES.has(one))],
  ['$ref', (value, _inside, { root }) => typeof value === 'string' && isResolvable(root, value)],
  ['enum', (value) => Array.isArray(value) && value.length > 0],
  ['items', (value, inside, place) => (Array.isArray(value) ? areSchemas : isSchema)(value, inside, place)],
  ['pattern', (value) => isPattern(value)],
  [
    'patternProperties',
    (value, inside, place) => isSchemaMap(value, inside, place) && Object.keys(value as object).every(isPattern),
  ],
  ['nullable', (value, inside) => typeof value === 'boolean' && inside.type !== undefined],
  ['dependentRequired', (value) => isObject(value) && Object.values(value).every((one) => Array.isArray(one))],
  ...every(isSchema, 'not if then else contains propertyNames additionalItems additionalProperties'),
  ...every(isSchema, 'unevaluatedItems unevaluatedProperties'),
  ...every(areSchemas, 'allOf anyOf oneOf prefixItems'),
  ...every(isSchemaMap, 'properties $defs definitions dependentSchemas'),
  ...every(isText, '$schema $comment title description format'),
  ...every(areTexts, 'required'),
  ...every(isNumber, 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength'),
  ...every(isNumber, 'minItems maxItems minContains maxContains minProperties maxProperties'),
  ...every(isTruth, 'uniqueItems deprecated readOnly writeOnly'),
  ...every(isUncertain, '$id id $anchor $dynamicAnchor $dynamicRef $recursiveRef $recursiveAnchor $async $vocabulary'),
  ...every(isUncertain, 'dependencies discriminator formatMinimum formatMaximum'),
  ...every(isUncertain, 'formatExclusiveMinimum formatExclusiveMaximum'),
] satisfies [string, Rule][]);

function every(rule: Rule, keywords: string): [string, Rule][] {
  return keywords.split(' ').map((keyword) => [keyword, rule]);
}

function isPattern(value: unknown): boolean {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') !== undefined;
  } catch {
    return false; // Not a regular expression, or one of another language.
  }
}

/** Whether a reference leads to a schema inside the whole. */
function isResolvable(root: Params, reference: string): boolean {
  if (reference === '#') return true;
  if (!reference.startsWith('#/')) return false;
  try {
    const path = decodeURIComponent(reference.slice(2)).split('/');
    let place: unknown = root;
    for (const part of path) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) return false;
      place = (place as Params)[key];
    }
    return isObject(place) || typeof place === 'boolean';
  } catch {
    return false; // The percent-encoding is broken.
  }
}

function mapValues(object: Params, change: (value: unknown) => unknown): Params {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
