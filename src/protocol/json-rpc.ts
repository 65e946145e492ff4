/**
 * JSON-RPC 2.0 messages: text to typed message and back.
 * Owns: what is well-formed. Leaves alone: what a method means (dispatch.ts), which revision it belongs to (eras.ts).
 * Always true:
 * - `decode` never throws; whatever is wrong with a text comes back as an `invalid` message;
 * - what `decode` gives can be encoded again: it is nested no deeper than MAX_NESTING.
 */
import { invalidParams, invalidRequest, parseError, type RpcError } from './errors.ts';

export type Id = string | number;
export type Params = Readonly<Record<string, unknown>>;

export interface Request {
  readonly kind: 'request';
  readonly id: Id;
  readonly method: string;
  readonly params: Params;
}
export interface Notification {
  readonly kind: 'notice';
  readonly method: string;
  readonly params: Params;
}
export interface Response {
  readonly kind: 'response';
  readonly id: Id | null;
  readonly outcome: { readonly result: unknown } | { readonly error: ErrorObject };
}
export interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}
export interface Invalid {
  readonly kind: 'invalid';
  readonly id: Id | null;
  readonly error: RpcError;
}
export type Message = Request | Notification | Response | Invalid;

/** One message, or the messages of a batch in their order. */
export type Decoded = Message | Message[];

/** JSON.parse takes any depth; JSON.stringify overflows the stack at about 4,000 levels. Real messages have a few dozen. */
export const MAX_NESTING = 500;

/** Later revisions of the protocol have no batches; nobody is known to have sent more than a handful at once. */
export const MAX_BATCH = 100;

/** An id is a number or a UUID. It is held while its call runs, and repeated in every message about it. */
export const MAX_ID = 1024;

export function decode(text: string): Decoded {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: 'invalid', id: null, error: parseError(error instanceof Error ? error.message : 'not JSON') };
  }
  // Each level takes two characters, so nearly every message is known to be shallow by its length.
  const isShallow = text.length < 2 * MAX_NESTING;
  if (!Array.isArray(value)) return classify(value, isShallow);
  if (value.length > MAX_BATCH) return invalid(null, `a batch has at most ${MAX_BATCH} messages`);
  return value.map((one) => classify(one, isShallow));
}

/** The id of a message of which only the beginning and the end are left; null when it is in neither. */
export function idIn(start: string, end: string): Id | null {
  const found = idAtStart(start) ?? ID_AT_END.exec(end)?.[1];
  try {
    const id: unknown = JSON.parse(found ?? 'null');
    return isId(id) ? id : null;
  } catch {
    return null; // Digits that are no number in JSON, such as 007.
  }
}

/**
 * JSON for the wire. Throws what JSON.stringify throws (a circle, a text too long for a string).
 * U+2028 and U+2029 are escaped: JSON does not ask for it, but readers that split lines there lose the message
 * (`readline` from Node 24 on).
 */
export function encode(value: unknown): string {
  const text = JSON.stringify(value);
  return /[\u2028\u2029]/.test(text) ? text.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029') : text;
}

export const encodeResult = (id: Id, result: unknown) => encode({ jsonrpc: '2.0', id, result });

export const encodeError = (id: Id | null, { code, message, data }: ErrorObject) =>
  encode({ jsonrpc: '2.0', id, error: { code, message, data } });

export const encodeNotification = (method: string, params?: object) => encode({ jsonrpc: '2.0', method, params });

export const encodeRequest = (id: Id, method: string, params?: object) =>
  encode({ jsonrpc: '2.0', id, method, params });

/** Ids compare by type and value: 1 and "1" are two ids. */
export const idKey = (id: Id) => (typeof id === 'string' ? `"${id}` : `${id}`);

/**
 * A number beyond 2^53 would be echoed as another number, so it is no id.
 * Fractions are allowed by JSON-RPC in theory and by no revision of MCP.
 */
export const isId = (value: unknown): value is Id =>
  typeof value === 'string' ? value.length <= MAX_ID : Number.isSafeInteger(value);

/** What a client may ask its progress to be reported under: the same as an id. Anything else asks for no progress. */
export const isProgressToken = isId;

export const isObject = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// --- internal ---

const NO_PARAMS: Params = Object.freeze({});

function classify(value: unknown, isShallow: boolean): Message {
  if (!isObject(value)) return invalid(null, 'a message is an object');
  const id = isId(value.id) ? value.id : null;
  if (!isShallow && isNestedDeeper(value, MAX_NESTING)) return tooDeep(value, id);
  if (value.jsonrpc !== '2.0') return invalid(id, 'jsonrpc must be "2.0"');
  if (value.method === undefined && (value.result !== undefined || value.error !== undefined)) return response(value);
  if (typeof value.method !== 'string') return invalid(id, 'method must be text');
  if (value.id !== undefined && id === null) return invalid(null, whyNoId(value.id));
  const { method, params = NO_PARAMS } = value;
  if (id === null) return { kind: 'notice', method, params: isObject(params) ? params : NO_PARAMS };
  if (!isObject(params)) return { kind: 'invalid', id, error: invalidParams('params must be an object') };
  return { kind: 'request', id, method, params };
}

function response(value: Params): Message {
  const id = isId(value.id) ? value.id : null;
  const { error } = value;
  if (error === undefined) return { kind: 'response', id, outcome: { result: value.result } };
  const { code, message, data } = isObject(error) ? error : {};
  const wire = {
    code: typeof code === 'number' ? code : -32603,
    message: typeof message === 'string' ? message : 'an error without a message',
    ...(data === undefined ? {} : { data }),
  };
  return { kind: 'response', id, outcome: { error: wire } };
}

const whyNoId = (value: unknown) =>
  typeof value === 'string' ? `id is over ${MAX_ID} characters` : 'id must be text or a whole number';

/** Goes no deeper than `levels` itself. */
function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((one) => isNestedDeeper(one, levels - 1));
}

/** An answer becomes an error, so that whoever waits for it learns of it; a notice is never answered. */
function tooDeep({ id: given, method }: Params, id: Id | null): Message {
  const why = `a message is nested deeper than ${MAX_NESTING} levels`;
  if (method === undefined && id !== null) {
    return { kind: 'response', id, outcome: { error: { code: -32603, message: why } } };
  }
  if (typeof method === 'string' && given === undefined) return { kind: 'notice', method, params: NO_PARAMS };
  return id === null ? invalid(id, why) : { kind: 'invalid', id, error: invalidParams(why) };
}

const ID_VALUE = '("(?:[^"\\\\]|\\\\.)*"|-?\\d+)';
const ID_AT_START = new RegExp(`^\\s*:\\s*${ID_VALUE}\\s*[,}]`);
// What stands before the last brace of a whole message is a member of the message itself.
const ID_AT_END = new RegExp(`[{,]\\s*"id"\\s*:\\s*${ID_VALUE}\\s*\\}\\s*$`);

/** Only a member of the message itself counts, not an id among its arguments. */
function idAtStart(text: string): string | undefined {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    const value = depth === 1 && token === '"id"' && ID_AT_START.exec(text.slice(index + token.length))?.[1];
    if (value) return value;
  }
  return undefined;
}

const invalid = (id: Id | null, why: string): Invalid => ({ kind: 'invalid', id, error: invalidRequest(why) });
