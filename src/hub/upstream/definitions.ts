/**
 * Definitions of tools, resources and templates of upstream servers, made valid for every client.
 * Owns: which fields are required, which are dropped, and that texts contain no invisible characters. Leaves alone: the
 * schemas of tools (schemas.ts), URIs as clients see them (resources.ts), requesting the lists (listing.ts).
 * Always true:
 * - a definition that is kept is valid in every protocol version and for the SDK clients, which refuse a whole list over
 *   one bad field;
 * - a bad optional field is dropped and named; fields that the protocol does not define are passed on unchanged.
 */
import { isObject, type Params } from '../../protocol/index.ts';
import { shorten, visible, visibleLine } from '../../text.ts';
import { MAX_DESCRIPTION, MAX_NAME, MAX_TITLE, MAX_URI } from './limits.ts';
import { inputSchemaOf, outputSchemaOf } from './schemas.ts';
import { templateFault } from './uri-templates.ts';

/** `dropped`: names of the fields that were bad. */
export type Checked<T> =
  | { readonly kind: 'kept'; readonly item: T; readonly dropped: readonly string[] }
  | { readonly kind: 'unusable'; readonly why: string };

export interface CheckedTool {
  readonly definition: Params;
  readonly inputSchema: Params;
}

export function checkTool(raw: Params): Checked<CheckedTool> {
  const { name } = raw;
  if (typeof name !== 'string' || name.trim() === '') return unusable('it has no name');
  const fault = nameFault(visibleLine(name));
  if (fault !== undefined) return unusable(fault);
  // Calls through us are never tasks. `execution` is dropped, because clients follow it and would not call the tool.
  const { execution, ...rest } = raw;
  if (isObject(execution) && execution.taskSupport === 'required') return unusable('it can only be run as a task');
  const inputSchema = inputSchemaOf(raw.inputSchema);
  if (!inputSchema) return unusable('its inputSchema is not the schema of an object');
  const { item: definition, dropped } = keep({ ...rest, inputSchema }, TOOL_FIELDS);
  return { kind: 'kept', item: { definition, inputSchema }, dropped };
}

export function checkResource(raw: Params): Checked<Params> {
  const { uri, name } = raw;
  if (typeof uri !== 'string' || uri === '') return unusable('it has no uri');
  if (typeof name !== 'string') return unusable('it has no name');
  if (uri.length > MAX_URI) return unusable(`its URI is over ${MAX_URI} characters`);
  if (!uri.isWellFormed()) return unusable('its URI is not Unicode');
  return keep({ ...raw, name: nameOf(name, uri) }, RESOURCE_FIELDS);
}

export function checkTemplate(raw: Params): Checked<Params> {
  const fault = templateFault(raw);
  if (fault !== undefined) return unusable(fault);
  return keep({ ...raw, name: nameOf(String(raw.name), String(raw.uriTemplate)) }, TEMPLATE_FIELDS);
}

/** Why a name, without its invisible characters, cannot be listed; undefined when it can. */
export function nameFault(name: string): string | undefined {
  if (name === '') return 'its name has no visible characters';
  if (name.length > MAX_NAME) return `its name is over ${MAX_NAME} characters`;
  // Joiners are in this class too, but scripts and emoji need them.
  if (/[\p{C}\u2028\u2029]/u.test(name.replace(/[\u200c\u200d]/g, ''))) return 'its name has control characters';
  return undefined;
}

/** Whether clients can parse it: some refuse a whole list over a URI without a scheme or with an impossible host. */
export function isUri(text: string): boolean {
  return URL.canParse(text) && !/\s/.test(text) && visible(text) === text;
}

// --- internal ---

/** The value as it can be listed; undefined when it is bad. */
type Field = (value: unknown) => unknown;
type Fields = ReadonlyMap<string, Field>;

/** The form of dates that SDK clients accept. */
const DATE =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

const when =
  (test: (value: unknown) => boolean): Field =>
  (value) =>
    test(value) ? value : undefined;
const line: Field = (value) => (typeof value === 'string' ? shorten(visibleLine(value), MAX_TITLE) : undefined);
const text: Field = (value) => (typeof value === 'string' ? shorten(visible(value), MAX_DESCRIPTION) : undefined);
const boolean = when((value) => typeof value === 'boolean');
const object = when(isObject);
const oneOf = (...words: readonly unknown[]) => when((value) => words.includes(value));
const listOf = (test: (value: unknown) => boolean) => when((value) => Array.isArray(value) && value.every(test));

/** An object of which only the valid fields are kept. */
const objectOf =
  (fields: Fields): Field =>
  (value) =>
    isObject(value) ? keep(value, fields).item : undefined;

const ICON_FIELDS: Fields = new Map([
  ['mimeType', line],
  ['sizes', listOf((one) => typeof one === 'string')],
  ['theme', oneOf('light', 'dark')],
]);
const isIcon = (one: unknown) => isObject(one) && typeof one.src === 'string' && isUri(one.src);

/** A bad icon is left out alone. */
const icons: Field = (value) =>
  Array.isArray(value) ? value.filter(isIcon).map((icon: Params) => keep(icon, ICON_FIELDS).item) : undefined;

const SHARED: readonly (readonly [string, Field])[] = [
  ['title', line],
  ['description', text],
  ['icons', icons],
  ['_meta', object],
];

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

const TOOL_FIELDS: Fields = new Map([
  ...SHARED,
  ['outputSchema', outputSchemaOf],
  ['annotations', objectOf(new Map([['title', line], ...HINTS.map((hint): [string, Field] => [hint, boolean])]))],
]);

const RESOURCE_ANNOTATIONS: Fields = new Map([
  ['audience', listOf((one) => one === 'user' || one === 'assistant')],
  ['priority', when((value) => typeof value === 'number' && value >= 0 && value <= 1)],
  ['lastModified', when((value) => typeof value === 'string' && DATE.test(value) && isDay(value))],
]);

const TEMPLATE_FIELDS: Fields = new Map([
  ...SHARED,
  ['mimeType', line],
  ['annotations', objectOf(RESOURCE_ANNOTATIONS)],
]);

const RESOURCE_FIELDS: Fields = new Map([...TEMPLATE_FIELDS, ['size', when((value) => Number.isSafeInteger(value))]]);

const unusable = (why: string) => ({ kind: 'unusable', why }) as const;

function keep(raw: Params, fields: Fields) {
  const dropped: string[] = [];
  const kept = Object.entries(raw).flatMap(([key, value]) => {
    const field = fields.get(key);
    const next = field ? field(value) : value;
    if (next === undefined) dropped.push(key);
    return next === undefined ? [] : [[key, next] as const];
  });
  return { kind: 'kept', item: Object.fromEntries(kept), dropped } as const;
}

/** A resource whose name has no visible characters gets its URI as its name. */
function nameOf(name: string, uri: string): string {
  return shorten(visibleLine(name) || visibleLine(uri), MAX_TITLE);
}

/** False for the 31st of February, which has the form of a date. */
function isDay(date: string): boolean {
  const [year = 0, month = 0, day = 0] = date.slice(0, 10).split('-').map(Number);
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}
