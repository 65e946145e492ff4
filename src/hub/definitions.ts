/**
 * Definitions of tools, resources, templates and prompts of upstream servers, made valid for every client.
 * Owns: which fields are required or dropped, and that texts have no invisible characters. Leaves alone: names and calls
 * (items.ts), entries of skills (skills.ts).
 * Always true: a definition that is kept is valid in every protocol version and for SDK clients, which refuse a whole list
 * over one bad field; fields that the protocol does not define are passed on unchanged.
 */
import * as v from 'valibot';
import { MAX_DESCRIPTION, MAX_ITEM_NAME, MAX_ITEM_URI } from '../limits.ts';
import type * as model from '../model.ts';
import { isObject, type Params } from '../protocol/index.ts';
import { shorten, visible, visibleLine } from '../text.ts';
import { type ParamHeader, paramHeadersOf } from './param-headers.ts';

export type PromptDefinition = model.Prompt['definition'];
export type ResourceDefinition = model.Resource['definition'];
export type TemplateDefinition = model.Template['definition'];

export interface ListedTool {
  /** Under the server's own name. */
  readonly definition: model.Tool['definition'];
  /** The arguments that calls over HTTP repeat in headers. */
  readonly paramHeaders: readonly ParamHeader[];
}

/** These throw an Error that says why it cannot be listed; undefined: it is left out, and that is no fault. */
export function toolFrom(raw: Params): ListedTool | undefined {
  // Calls through us are never tasks. `execution` is dropped, because clients follow it and would not call the tool.
  const { execution, ...rest } = raw;
  if (isObject(execution) && execution.taskSupport === 'required') return undefined;
  return { definition: parse(Tool, rest), paramHeaders: paramHeadersOf(rest.inputSchema) };
}

export function resourceFrom(raw: Params): ResourceDefinition | undefined {
  const definition = parse(Resource, raw);
  return isOurs(definition.uri) ? undefined : definition;
}

export function templateFrom(raw: Params): TemplateDefinition | undefined {
  const definition = parse(Template, raw);
  return isOurs(definition.uriTemplate) ? undefined : definition;
}

export function promptFrom(raw: Params): PromptDefinition {
  return parse(PromptSchema, raw);
}

/** Of a tool, prompt or skill, as the server knows it. It is shown without invisible characters. */
export const ItemName = v.pipe(
  v.string('its name is not text'),
  v.check((name) => visibleLine(name) !== '', 'its name has no visible characters'),
  v.check((name) => visibleLine(name).length <= MAX_ITEM_NAME, `its name is over ${MAX_ITEM_NAME} characters`),
);

/** The output of the schema; throws an Error with the first message otherwise. */
export function parse<S extends v.GenericSchema>(schema: S, raw: unknown): v.InferOutput<S> {
  const parsed = v.safeParse(schema, raw, { abortEarly: true });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw new Error(issue.received === 'undefined' ? `it has no ${v.getDotPath(issue)}` : issue.message);
}

// --- internal ---

/** Files of skills are listed and read as such, under URIs of ours; nothing else may have that scheme. */
const isOurs = (uri: string) => /^skill:/i.test(uri);

/** A bad value is dropped; JSON has no undefined. */
const maybe = <S extends v.GenericSchema>(schema: S) => v.fallback(v.optional(schema), undefined);
const cleaned = (clean: (text: string) => string, limit: number) =>
  v.transform((text: string) => shorten(clean(text), limit));

const flag = maybe(v.boolean());
const record = v.custom<Params>(isObject);
const line = v.pipe(v.string(), cleaned(visibleLine, MAX_ITEM_NAME));
const text = v.pipe(v.string(), cleaned(visible, MAX_DESCRIPTION));
const uriText = v.pipe(
  v.string('its URI is not text'),
  v.check((uri) => uri.length <= MAX_ITEM_URI, `its URI is over ${MAX_ITEM_URI} characters`),
  v.check((uri) => !/\s/.test(uri) && visible(uri) === uri, 'its URI has spaces or invisible characters'),
);
/** Clients refuse a list with a URI that has no scheme or an impossible host. */
const uri = v.pipe(
  uriText,
  v.check((whole) => URL.canParse(whole), 'its URI is not valid'),
);
const uriTemplate = v.pipe(
  uriText,
  v.regex(/^[a-z][a-z0-9+.-]*:(?:[^{}]|\{[^{}]+\})*$/i, 'its URI has no scheme, or braces that do not match'),
);
const time = v.pipe(
  v.string(),
  v.check((written) => /^\d{4}-\d\d-\d\dT/.test(written) && !Number.isNaN(Date.parse(written))),
  // The one form that all SDK clients accept.
  v.transform((written) => new Date(written).toISOString()),
);

const Icon = v.looseObject({
  src: uri,
  mimeType: v.optional(v.string()),
  sizes: v.optional(v.array(v.string())),
  theme: v.optional(v.picklist(['light', 'dark'])),
});
const common = { title: maybe(line), description: maybe(text), icons: maybe(v.array(Icon)), _meta: maybe(record) };
const described = {
  ...common,
  name: v.pipe(v.string('its name is not text'), line),
  mimeType: maybe(line),
  annotations: maybe(
    v.looseObject({
      audience: maybe(v.array(v.picklist(['user', 'assistant']))),
      priority: maybe(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
      lastModified: maybe(time),
    }),
  ),
};
const Resource = v.looseObject({ ...described, uri, size: maybe(v.pipe(v.number(), v.safeInteger())) });
const Template = v.looseObject({ ...described, uriTemplate });

const Argument = v.looseObject({
  // Passed on as it is, because the server compares it.
  name: v.pipe(
    v.string(),
    v.check((name) => visible(name) === name),
  ),
  title: maybe(line),
  description: maybe(text),
  required: flag,
});
const PromptSchema = v.looseObject({ ...common, name: ItemName, arguments: maybe(v.array(Argument)) });

const NO_INPUT = 'its inputSchema is not the schema of an object';
const inputSchema = v.pipe(
  v.looseObject(
    {
      $schema: maybe(v.string()),
      // A missing type is the most frequent fault. The meaning is certain: arguments are always an object.
      type: v.optional(v.literal('object', NO_INPUT), 'object'),
      properties: maybe(v.pipe(record, v.transform(asObjects))),
      required: maybe(v.array(v.string())),
    },
    NO_INPUT,
  ),
  v.transform(readable),
);

const several = (one: v.GenericSchema) => v.optional(v.pipe(v.array(one), v.minLength(1)));
const [number, string, anything] = [v.optional(v.number()), v.optional(v.string()), v.optional(v.unknown())];
const typeName = v.picklist(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
// Not v.record, which passes over some names.
const isSchemaMap = (value: unknown) => isObject(value) && Object.values(value).every((one) => v.is(plainSchema, one));

/**
 * SDK clients compile output schemas while they read the list, and fail on all of it when one cannot be compiled. So only
 * keywords that every compiler takes in one way are let through: no references, identities and patterns.
 */
const plainSchema: v.GenericSchema<Params> = v.lazy(() =>
  v.strictObject({
    type: v.optional(v.union([typeName, v.array(typeName)])),
    properties: v.optional(v.custom<Params>(isSchemaMap)),
    required: v.optional(v.array(v.string())),
    additionalProperties: v.optional(v.union([v.boolean(), plainSchema])),
    items: v.optional(plainSchema),
    ...{ anyOf: several(plainSchema), oneOf: several(plainSchema), allOf: several(plainSchema) },
    ...{ enum: several(v.unknown()), const: anything, default: anything, examples: anything },
    ...{ $schema: string, $comment: string, title: string, description: string, format: string },
    ...{ minimum: number, maximum: number, exclusiveMinimum: number, exclusiveMaximum: number, multipleOf: number },
    ...{ minLength: number, maxLength: number, minItems: number, maxItems: number },
    ...{ uniqueItems: flag, deprecated: flag, readOnly: flag, writeOnly: flag },
  }),
);
const outputSchema = v.pipe(
  v.custom<Params>((raw) => isObject(raw) && raw.type === 'object'),
  plainSchema,
  v.transform(readable),
);

const Tool = v.looseObject({
  ...common,
  name: ItemName,
  inputSchema,
  outputSchema: maybe(outputSchema),
  annotations: maybe(
    v.looseObject({
      title: maybe(line),
      ...{ readOnlyHint: flag, destructiveHint: flag, idempotentHint: flag, openWorldHint: flag },
    }),
  ),
});

/**
 * The schema without invisible characters in titles and descriptions, which models read, and without annotations for
 * headers: our own clients need not send any.
 */
function readable<T>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
    if (typeof value !== 'string') return value;
    if (key === 'x-mcp-header') return undefined;
    return key === 'title' || key === 'description' ? visible(value) : value;
  });
}

/** Versions with a handshake have no boolean schemas. A value that is not a schema restricts nothing. */
function asObjects(properties: Params): Params {
  const asObject = (schema: unknown) => (isObject(schema) ? schema : schema === false ? { not: {} } : {});
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, asObject(schema)]));
}
