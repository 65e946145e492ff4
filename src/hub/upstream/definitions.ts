/**
 * Definitions of tools, resources, templates and prompts of upstream servers, made valid for every client.
 * Owns: which fields are required or dropped, and that texts have no invisible characters. Leaves alone: schemas
 * (schemas.ts), URIs as clients see them (resources.ts).
 * Always true: a definition that is kept is valid in every protocol version and for SDK clients, which refuse a whole list
 * over one bad field; fields that the protocol does not define are passed on unchanged.
 */
import * as v from 'valibot';
import type { PromptDefinition, ResourceDefinition, TemplateDefinition } from '../../model.ts';
import { isObject, type Params } from '../../protocol/index.ts';
import { shorten, visible, visibleLine } from '../../text.ts';
import type { McpClient } from '../connection/mcp-client.ts';
import { findParamHeaders, type ParamHeader } from '../connection/param-headers.ts';
import { MAX_DESCRIPTION, MAX_NAME, MAX_TITLE, MAX_URI } from './limits.ts';
import { inputSchemaOf, outputSchemaOf } from './schemas.ts';
import { templateFault } from './uri-templates.ts';

/** A tool as its server lists it. */
export interface ToolDefinition {
  readonly name: string;
  readonly inputSchema: object;
  readonly outputSchema?: unknown;
  readonly [extra: string]: unknown;
}

export interface ListedTool {
  /** The server's definition, under its own name, as far as it can be listed. */
  readonly definition: ToolDefinition;
  readonly paramHeaders: readonly ParamHeader[];
}

/**
 * Each gives the definition as it is served; undefined when it is left out in silence. Throws an Error that says why it
 * cannot be served. `dropped` takes the names of its bad fields.
 */
export function toolFrom(raw: Params, dropped: string[], { usesHeaders }: McpClient): ListedTool {
  const { name, execution, ...rest } = raw;
  checkName(name);
  // Calls through us are never tasks. `execution` is dropped, because clients follow it and would not call the tool.
  if (isObject(execution) && execution.taskSupport === 'required') throw new Error('it can only be run as a task');
  const inputSchema = inputSchemaOf(raw.inputSchema);
  if (!inputSchema) throw new Error('its inputSchema is not the schema of an object');
  const definition = { name, ...keep(rest, TOOL_FIELDS, dropped), inputSchema };
  return { definition, paramHeaders: paramHeadersOf(inputSchema, usesHeaders) };
}

export function resourceFrom(raw: Params, dropped: string[]): ResourceDefinition {
  const { uri, name } = raw;
  if (typeof uri !== 'string' || uri === '') throw new Error('it has no uri');
  if (typeof name !== 'string') throw new Error('it has no name');
  if (uri.length > MAX_URI) throw new Error(`its URI is over ${MAX_URI} characters`);
  if (!uri.isWellFormed()) throw new Error('its URI is not Unicode');
  return { ...keep(raw, RESOURCE_FIELDS, dropped), uri, name: titleOf(name, uri) };
}

export function templateFrom(raw: Params, dropped: string[], mcp: McpClient): TemplateDefinition | undefined {
  const uriTemplate = String(raw.uriTemplate);
  // Templates for files of its skills are not needed: the files are read by the skill.
  if (mcp.capabilities.has('skills') && /^skill:/i.test(uriTemplate)) return undefined;
  const fault = templateFault(raw);
  if (fault !== undefined) throw new Error(fault);
  return { ...keep(raw, TEMPLATE_FIELDS, dropped), uriTemplate, name: titleOf(String(raw.name), uriTemplate) };
}

export function promptFrom(raw: Params, dropped: string[]): PromptDefinition {
  const { name } = raw;
  checkName(name);
  return { ...keep(raw, PROMPT_FIELDS, dropped), name };
}

/** Throws when a tool, prompt or skill of that name cannot be listed. */
export function checkName(raw: unknown): asserts raw is string {
  if (typeof raw !== 'string') throw new Error('it has no name');
  const name = visibleLine(raw);
  if (name === '') throw new Error('its name has no visible characters');
  if (name.length > MAX_NAME) throw new Error(`its name is over ${MAX_NAME} characters`);
}

/** Whether clients can parse it: some refuse a whole list over a URI without a scheme or with an impossible host. */
export function isUri(text: string): boolean {
  return URL.canParse(text) && !/\s/.test(text) && visible(text) === text;
}

// --- internal ---

/** Clients drop a tool with invalid annotations where headers are used; elsewhere annotations have no effect. */
function paramHeadersOf(inputSchema: unknown, areUsed: boolean): readonly ParamHeader[] {
  try {
    return findParamHeaders(inputSchema);
  } catch (error) {
    if (areUsed) throw error;
    return [];
  }
}

/** The value as it can be listed; undefined when it is bad. */
type Field = (value: unknown) => unknown;
type Fields = Readonly<Record<string, Field>>;

const line: Field = (value) => (typeof value === 'string' ? shorten(visibleLine(value), MAX_TITLE) : undefined);
const text: Field = (value) => (typeof value === 'string' ? shorten(visible(value), MAX_DESCRIPTION) : undefined);

function valid(schema: v.GenericSchema): Field {
  return (value) => (v.is(schema, value) ? value : undefined);
}

function objectOf(fields: Fields): Field {
  return (value) => (isObject(value) ? keep(value, fields) : undefined);
}

/** The fields that are good. Fields that the protocol does not define are passed on. */
function keep(raw: Params, fields: Fields, dropped: string[] = []): Params {
  const kept = Object.entries(raw).flatMap(([key, value]) => {
    const next = Object.hasOwn(fields, key) ? fields[key]?.(value) : value;
    if (next === undefined) dropped.push(key);
    return next === undefined ? [] : [[key, next] as const];
  });
  return Object.fromEntries(kept);
}

const boolean = valid(v.boolean());
const isIcon = (one: unknown) => isObject(one) && typeof one.src === 'string' && isUri(one.src);
const icon = objectOf({
  mimeType: line,
  sizes: valid(v.array(v.string())),
  theme: valid(v.picklist(['light', 'dark'])),
});

const SHARED: Fields = {
  title: line,
  description: text,
  // A bad icon is left out alone.
  icons: (value) => (Array.isArray(value) ? value.filter(isIcon).map(icon) : undefined),
  _meta: valid(v.custom(isObject)),
};

const TOOL_FIELDS: Fields = {
  ...SHARED,
  outputSchema: outputSchemaOf,
  annotations: objectOf({
    title: line,
    readOnlyHint: boolean,
    destructiveHint: boolean,
    idempotentHint: boolean,
    openWorldHint: boolean,
  }),
};

/** The name is passed on as it is, because the server compares it. */
const isArgument = (one: unknown) => isObject(one) && typeof one.name === 'string' && visible(one.name) === one.name;
const argument = objectOf({ title: line, description: text, required: boolean });

const PROMPT_FIELDS: Fields = {
  ...SHARED,
  arguments: (value) => (Array.isArray(value) && value.every(isArgument) ? value.map(argument) : undefined),
};

const TEMPLATE_FIELDS: Fields = {
  ...SHARED,
  mimeType: line,
  annotations: objectOf({
    audience: valid(v.array(v.picklist(['user', 'assistant']))),
    priority: valid(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
    lastModified: valid(v.pipe(v.string(), v.check(isDate))),
  }),
};

const RESOURCE_FIELDS: Fields = { ...TEMPLATE_FIELDS, size: valid(v.pipe(v.number(), v.safeInteger())) };

/** A resource whose name has no visible characters gets its URI as its name. */
const titleOf = (name: string, uri: string) => shorten(visibleLine(name) || visibleLine(uri), MAX_TITLE);

/** The form of dates that SDK clients accept, without the 31st of February. */
function isDate(text: string): boolean {
  const form = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
  const day = text.slice(0, 10);
  return form.test(text) && new Date(day).toJSON()?.startsWith(day) === true;
}
