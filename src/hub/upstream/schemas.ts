/**
 * JSON Schemas of upstream tools, made valid for every client by small repairs that do not change their meaning.
 * Always true: an input schema that is passed on is an object schema as every protocol version defines it; from an output
 * schema that is passed on a validator can be compiled (SDK clients compile them while they read the list, and fail on the
 * whole list when one cannot be compiled); the work is linear in the size of the schema.
 */
import { isObject, type Params } from '../../protocol/index.ts';
import { visible } from '../../text.ts';
import { MAX_SCHEMA_DEPTH } from './limits.ts';

/** The schema as it can be listed; undefined when it does not describe an object. */
export function inputSchemaOf(raw: unknown): Params | undefined {
  // A missing type is the most frequent fault. The meaning is certain: arguments are always an object.
  if (!isObject(raw) || (raw.type !== undefined && raw.type !== 'object')) return undefined;
  return readable(asObjectSchema({ ...raw, type: 'object' }));
}

/** The schema as it can be listed; undefined when no validator can be compiled from it. */
export function outputSchemaOf(raw: unknown): Params | undefined {
  if (!isObject(raw)) return undefined;
  // SDK clients would use one validator for two tools with the same $id. References inside the schema need no $id.
  const { $id, ...rest } = raw;
  const schema = isObjectSchema(raw) ? asObjectSchema(rest) : rest;
  return isCompilable(schema) ? readable(schema) : undefined;
}

/** Whether clients of the protocol versions with a handshake accept it as an output schema. */
export const isObjectSchema = (schema: unknown): boolean => isObject(schema) && schema.type === 'object';

// --- internal ---

/** Repairs the members for which every protocol version defines a type: they must have that type or be absent. */
function asObjectSchema({ $schema, properties, required, ...rest }: Params): Params {
  return {
    ...(typeof $schema === 'string' ? { $schema } : {}),
    ...rest,
    ...(isObject(properties) ? { properties: mapValues(properties, (_name, schema) => asObject(schema)) } : {}),
    ...(areTexts(required) ? { required } : {}),
  };
}

/** Versions with a handshake have no boolean schemas. A value that is not a schema restricts nothing. */
function asObject(schema: unknown): unknown {
  if (schema === false) return { not: {} };
  return isObject(schema) ? schema : {};
}

/** The schema without invisible characters in titles and descriptions, which models read. Values such as `default` stay. */
function readable(schema: Params, depth = 0): Params {
  return mapValues(schema, (key, value) => {
    if (['default', 'const', 'enum', 'examples'].includes(key)) return value;
    const isText = typeof value === 'string' && (key === 'title' || key === 'description');
    return isText ? visible(value) : readableInside(value, depth + 1);
  });
}

function readableInside(value: unknown, depth: number): unknown {
  if (depth > MAX_SCHEMA_DEPTH) return value;
  if (Array.isArray(value)) return value.map((one) => readableInside(one, depth + 1));
  return isObject(value) ? readable(value, depth) : value;
}

function mapValues(object: Params, change: (key: string, value: unknown) => unknown): Params {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(key, value)]));
}

/** Where a keyword is: the whole schema, the schema that has the keyword, and the level of schemas inside it. */
interface Place {
  readonly root: unknown;
  readonly inside: Params;
  readonly depth: number;
}

type Rule = (value: unknown, place: Place) => boolean;

function isCompilable(schema: unknown, root: unknown = schema, depth = 0): boolean {
  if (typeof schema === 'boolean') return depth > 0;
  if (!isObject(schema) || depth > MAX_SCHEMA_DEPTH) return false;
  const place = { root, inside: schema, depth: depth + 1 };
  return Object.entries(schema).every(([keyword, value]) => RULES.get(keyword)?.(value, place) ?? true);
}

const isSchema: Rule = (value, { root, depth }) => isCompilable(value, root, depth);
const areSchemas: Rule = (value, place) => Array.isArray(value) && value.every((one) => isSchema(one, place));
const isSchemaMap: Rule = (value, place) => isObject(value) && areSchemas(Object.values(value), place);
const areTexts = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'string');
/** For keywords that compilers treat differently, or that refer to something outside the schema. */
const isUncertain: Rule = () => false;

function isOfType(type: string): Rule {
  return (value) => typeof value === type;
}

const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);

const RULES: ReadonlyMap<string, Rule> = new Map([
  ['type', (value) => [value].flat().every((one) => TYPES.has(one))],
  ['$ref', (value, { root }) => typeof value === 'string' && isResolvable(root, value)],
  ['enum', (value) => Array.isArray(value) && value.length > 0],
  ['items', (value, place) => (Array.isArray(value) ? areSchemas : isSchema)(value, place)],
  ['pattern', (value) => isPattern(value)],
  ['patternProperties', (value, place) => isSchemaMap(value, place) && Object.keys(Object(value)).every(isPattern)],
  ['nullable', (value, { inside }) => typeof value === 'boolean' && inside.type !== undefined],
  ['dependentRequired', (value) => isObject(value) && Object.values(value).every((one) => Array.isArray(one))],
  ...every(isSchema, 'not if then else contains propertyNames additionalItems additionalProperties'),
  ...every(isSchema, 'unevaluatedItems unevaluatedProperties'),
  ...every(areSchemas, 'allOf anyOf oneOf prefixItems'),
  ...every(isSchemaMap, 'properties $defs definitions dependentSchemas'),
  ...every(isOfType('string'), '$schema $comment title description format'),
  ...every(areTexts, 'required'),
  ...every(isOfType('number'), 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength'),
  ...every(isOfType('number'), 'minItems maxItems minContains maxContains minProperties maxProperties'),
  ...every(isOfType('boolean'), 'uniqueItems deprecated readOnly writeOnly'),
  ...every(isUncertain, '$id id $anchor $dynamicAnchor $dynamicRef $recursiveRef $recursiveAnchor $async $vocabulary'),
  ...every(isUncertain, 'dependencies discriminator'),
  ...every(isUncertain, 'formatMinimum formatMaximum formatExclusiveMinimum formatExclusiveMaximum'),
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
function isResolvable(root: unknown, reference: string): boolean {
  if (!/^#(?:\/|$)/.test(reference)) return false;
  try {
    const [, ...parts] = decodeURIComponent(reference).split('/');
    const keys = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const place = keys.reduce((at, key) => Object.getOwnPropertyDescriptor(Object(at), key)?.value, root);
    return isObject(place) || typeof place === 'boolean';
  } catch {
    return false; // The percent-encoding is broken.
  }
}
