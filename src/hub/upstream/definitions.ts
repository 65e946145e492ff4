/**
 * What an upstream server says of one tool, resource or template, made fit to be listed.
 * Owns: which fields must be there, which are dropped, and that texts hold no invisible characters. Leaves alone: the
 * schemas of tools (schemas.ts), URIs as clients see them (foreign.ts), which items are asked for (inventory.ts).
 * Always true:
 * - what is kept is valid in every revision of the protocol and for the SDK clients, which refuse a whole list over one
 *   bad field;
 * - a bad optional field is dropped and named; fields that the protocol does not know are passed on as they are.
 */
import { isObject, type Params } from '../../protocol/index.ts';
import { shorten, visible, visibleLine } from '../../text.ts';
import { inputSchemaOf, outputSchemaOf } from './schemas.ts';
import { templateFault } from './uri-templates.ts';

// The protocol says names of tools should stay below this; no model API takes half of it.
export const LONGEST_NAME = 128;
// One line in a list for people.
export const LONGEST_TITLE = 256;
// The longest descriptions of real tools have some ten thousand characters; every conversation pays for each.
export const LONGEST_DESCRIPTION = 32_768;
// Browsers and servers stop at 2 to 8 thousand characters.
export const LONGEST_URI = 4096;

/** `dropped`: the fields that could not be passed on. */
export type Cleaned =
  | { readonly kind: 'kept'; readonly definition: Params; readonly dropped: readonly string[] }
  | { readonly kind: 'unusable'; readonly why: string };

export function cleanTool(raw: Params): Cleaned {
  const { name } = raw;
  if (typeof name !== 'string' || name.trim() === '') return unusable('it has no name');
  const fault = nameFault(visibleLine(name));
  if (fault !== undefined) return unusable(fault);
  // Clients believe what it says of tasks, and would not call it; calls through us are never tasks.
  const { execution, ...rest } = raw;
  if (isObject(execution) && execution.taskSupport === 'required') return unusable('it can only be run as a task');
  const inputSchema = inputSchemaOf(raw.inputSchema);
  if (!inputSchema) return unusable('its inputSchema is not the schema of an object');
  return keep({ ...rest, inputSchema }, TOOL_FIELDS);
}

export function cleanResource(raw: Params): Cleaned {
  const { uri, name } = raw;
  if (typeof uri !== 'string' || uri === '') return unusable('it has no uri');
  if (typeof name !== 'string') return unusable('it has no name');
  if (uri.length > LONGEST_URI) return unusable(`its URI is over ${LONGEST_URI} characters`);
  if (!uri.isWellFormed()) return unusable('its URI is not Unicode');
  return keep({ ...raw, name: nameOf(name, uri) }, RESOURCE_FIELDS);
}

export function cleanTemplate(raw: Params): Cleaned {
  const fault = templateFault(raw);
  if (fault !== undefined) return unusable(fault);
  return keep({ ...raw, name: nameOf(String(raw.name), String(raw.uriTemplate)) }, TEMPLATE_FIELDS);
}

/** Why a name cannot be shown, without what nobody sees in it; undefined: it can. */
export function nameFault(name: string): string | undefined {
  if (name === '') return 'its name holds nothing that can be seen';
  if (name.length > LONGEST_NAME) return `its name is over ${LONGEST_NAME} characters`;
  // Joiners, which scripts and emoji need, are in the first class too.
  if (/[\p{C}\u2028\u2029]/u.test(name.replace(/[\u200c\u200d]/g, ''))) return 'its name holds control characters';
  return undefined;
}

/** Whether clients can read it as a URI: some refuse a whole list over one that has no scheme, or an impossible host. */
export function isUri(text: string): boolean {
  return URL.canParse(text) && !/\s/.test(text) && visible(text) === text;
}

// --- internal ---

/** The value as it can be listed; undefined when it cannot. */
type Field = (value: unknown) => unknown;
type Fields = ReadonlyMap<string, Field>;

/** The form of dates that SDK clients take. */
const DATE =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

const when =
  (test: (value: unknown) => boolean): Field =>
  (value) =>
    test(value) ? value : undefined;
const line: Field = (value) => (typeof value === 'string' ? shorten(visibleLine(value), LONGEST_TITLE) : undefined);
const prose: Field = (value) => (typeof value === 'string' ? shorten(visible(value), LONGEST_DESCRIPTION) : undefined);
const truth = when((value) => typeof value === 'boolean');
const object = when(isObject);
const oneOf = (...words: readonly unknown[]) => when((value) => words.includes(value));
const listOf = (test: (value: unknown) => boolean) => when((value) => Array.isArray(value) && value.every(test));

/** An object of which only the members that are right are kept. */
const members =
  (fields: Fields): Field =>
  (value) =>
    isObject(value) ? clean(value, fields).definition : undefined;

const ICON_FIELDS: Fields = new Map([
  ['mimeType', line],
  ['sizes', listOf((one) => typeof one === 'string')],
  ['theme', oneOf('light', 'dark')],
]);
const isIcon = (one: unknown) => isObject(one) && typeof one.src === 'string' && isUri(one.src);

/** Icons stand alone: a bad one is left out of the list. */
const icons: Field = (value) =>
  Array.isArray(value) ? value.filter(isIcon).map((icon: Params) => clean(icon, ICON_FIELDS).definition) : undefined;

const SHARED: readonly (readonly [string, Field])[] = [
  ['title', line],
  ['description', prose],
  ['icons', icons],
  ['_meta', object],
];

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

const TOOL_FIELDS: Fields = new Map([
  ...SHARED,
  ['outputSchema', outputSchemaOf],
  ['annotations', members(new Map([['title', line], ...HINTS.map((hint): [string, Field] => [hint, truth])]))],
]);

const TEMPLATE_FIELDS: Fields = new Map([
  ...SHARED,
  ['mimeType', line],
  [
    'annotations',
    members(
      new Map([
        ['audience', listOf((one) => one === 'user' || one === 'assistant')],
        ['priority', when((value) => typeof value === 'number' && value >= 0 && value <= 1)],
        ['lastModified', when((value) => typeof value === 'string' && DATE.test(value) && isDay(value))],
      ]),
    ),
  ],
]);

const RESOURCE_FIELDS: Fields = new Map([...TEMPLATE_FIELDS, ['size', when((value) => Number.isSafeInteger(value))]]);

const unusable = (why: string): Cleaned => ({ kind: 'unusable', why });

function keep(raw: Params, fields: Fields): Cleaned {
  return { kind: 'kept', ...clean(raw, fields) };
}

function clean(raw: Params, fields: Fields): { readonly definition: Params; readonly dropped: readonly string[] } {
  const dropped: string[] = [];
  const kept = Object.entries(raw).flatMap(([key, value]) => {
    const field = fields.get(key);
    const next = field ? field(value) : value;
    if (next === undefined) dropped.push(key);
    return next === undefined ? [] : [[key, next] as const];
  });
  return { definition: Object.fromEntries(kept), dropped };
}

/** A resource without a name that can be seen goes by its address. */
function nameOf(name: string, address: string): string {
  return shorten(visibleLine(name) || visibleLine(address), LONGEST_TITLE);
}

/** The 31st of February has the form of a date. */
function isDay(date: string): boolean {
  const [year = 0, month = 0, day = 0] = date.slice(0, 10).split('-').map(Number);
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}
