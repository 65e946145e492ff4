/**
 * JSON Schemas of upstream tools, made valid for every client.
 * Owns: which schemas can be passed on, and small repairs that do not change their meaning. Leaves alone: the rest of a
 * tool (definitions.ts).
 * Always true:
 * - an input schema that is passed on is an object schema as every protocol version defines it;
 * - a validator can be compiled from an output schema that is passed on: SDK clients compile them while they read the
 *   list, and fail on the whole list when one cannot be compiled;
 * - the work is linear in the size of the schema.
 */
import { isObject, type Params } from '../../protocol/index.ts';
import { visible } from '../../text.ts';
import { MAX_SCHEMA_DEPTH } from './limits.ts';

/** The schema as it can be listed; undefined when it does not describe an object. */
export function inputSchemaOf(raw: unknown): Params | undefined {
  if (!isObject(raw)) return undefined;
  // A missing type is the most frequent fault. The meaning is certain: arguments are always an object.
  if (raw.type !== undefined && raw.type !== 'object') return undefined;
  return readable(asObjectSchema({ ...raw, type: 'object' }));
}

/** The schema as it can be listed; undefined when no validator can be compiled from it. */
export function outputSchemaOf(raw: unknown): Params | undefined {
  if (!isObject(raw)) return undefined;
  // SDK clients would use one validator for two tools with the same $id. References inside the schema need no $id.
  const { $id, ...rest } = raw;
  const schema = raw.type === 'object' ? asObjectSchema(rest) : rest;
  return isCompilable(schema) ? readable(schema) : undefined;
}

/** Whether clients of the protocol versions with a handshake accept it as an output schema. */
export const isObjectSchema = (schema: unknown): boolean => isObject(schema) && schema.type === 'object';

// --- internal ---

/** Repairs the members for which every protocol version defines a type: they must have that type or be absent. */
function asObjectSchema({ $schema, properties, required, ...rest }: Params): Params {
  const isNames = Array.isArray(required) && required.every((name) => typeof name === 'string');
  return {
    ...(typeof $schema === 'string' ? { $schema } : {}),
    ...rest,
    ...(isObject(properties) ? { properties: mapValues(properties, asObject) } : {}),
    ...(isNames ? { required } : {}),
  };
}

/** Versions with a handshake have no boolean schemas. A value that is not a schema restricts nothing. */
function asObject(schema: unknown): unknown {
  if (schema === false) return { not: {} };
  return isObject(schema) ? schema : {};
}

/** The schema without invisible characters in titles and descriptions, which models read. Values such as `default` stay. */
function readable(schema: Params, depth = 0): Params {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (VALUES.has(key)) return [key, value];
      return [key, TEXTS.has(key) && typeof value === 'string' ? visible(value) : readableInside(value, depth + 1)];
    }),
  );
}

function readableInside(value: unknown, depth: number): unknown {
  if (depth > MAX_SCHEMA_DEPTH) return value;
  if (Array.isArray(value)) return value.map((one) => readableInside(one, depth + 1));
  return isObject(value) ? readable(value, depth) : value;
}

const TEXTS: ReadonlySet<string> = new Set(['title', 'description']);
const VALUES: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples']);

/** A test of the value of a keyword; `inside` is the schema that has the keyword. */
type Rule = (value: unknown, inside: Params, place: Place) => boolean;

interface Place {
  readonly root: Params;
  readonly depth: number;
}

function isCompilable(schema: unknown, place?: Place): boolean {
  if (typeof schema === 'boolean') return place !== undefined;
  if (!isObject(schema)) return false;
  const { root, depth } = place ?? { root: schema, depth: 0 };
  if (depth > MAX_SCHEMA_DEPTH) return false;
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
const isBoolean: Rule = (value) => typeof value === 'boolean';
/** For keywords that compilers treat differently, or that refer to something outside the schema. */
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
  ...every(isBoolean, 'uniqueItems deprecated readOnly writeOnly'),
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
    return false; // Not a regular expression of JavaScript.
  }
}

/** Whether a reference names a schema inside `root`. */
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
