/**
 * JSON-RPC 2.0 messages: from text to a typed message (encode.ts has the way back).
 * Owns: which messages are well-formed. Leaves alone: what a method means (dispatch.ts), the protocol revision (eras.ts).
 * Always true:
 * - `decode` never throws: a text that is not a message comes back as an `invalid` message that says why;
 * - a decoded message can be encoded again: it is nested no deeper than MAX_NESTING.
 */
import { CODE, invalidEnvelope, invalidRequest, type MessageError, parseError } from './errors.ts';

export type Id = string | number;
export type Params = Readonly<Record<string, unknown>>;

export interface Request {
  readonly kind: 'request';
  readonly id: Id;
  readonly method: string;
  readonly params: Params;
}
export interface Notification {
  readonly kind: 'notification';
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
interface Invalid {
  readonly kind: 'invalid';
  readonly id: Id | null;
  readonly error: MessageError;
}
export type Message = Request | Notification | Response | Invalid;

/** One message, or the messages of a batch in their order. */
export type Decoded = Message | Message[];

/** JSON.parse takes any depth; JSON.stringify overflows the stack at about 4,000 levels. Real messages have a few dozen. */
export const MAX_NESTING = 500;

/** A call with a picture is one long text, not millions of values, which take fifty times the memory of their JSON. */
export const MAX_VALUES = 500_000;

/** Later revisions of the protocol have no batches; clients of the earlier ones send a handful of messages at once. */
export const MAX_BATCH = 100;

/** An id is a number or a UUID. It is kept while its call runs, and repeated in every message about the call. */
export const MAX_ID = 1024;

/** At either end of a message that is not parsed, its id is looked for in so much: it is among the first or last members. */
export const ID_SEARCH = 2048;

/** `maxValues`: for a peer whose messages are longer than those of clients. */
export function decode(text: string, maxValues = MAX_VALUES): Decoded {
  if (hasMoreValues(text, maxValues)) {
    const id = idIn(text.slice(0, ID_SEARCH), text.slice(-ID_SEARCH));
    return invalid(id, `a message has more than ${maxValues} values`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: 'invalid', id: null, error: parseError(error instanceof Error ? error.message : 'not JSON') };
  }
  // Each level takes two characters, so most messages are known to be shallow by their length.
  const isShallow = text.length < 2 * MAX_NESTING;
  if (!Array.isArray(value)) return classify(value, isShallow);
  if (value.length > MAX_BATCH) return invalid(null, `a batch has at most ${MAX_BATCH} messages`);
  return value.map((one) => classify(one, isShallow));
}

/** The id of a message of which only the start and the end are left; null when neither has it. */
export function idIn(start: string, end: string): Id | null {
  const found = idAtStart(start) ?? ID_AT_END.exec(end)?.[1];
  try {
    const id: unknown = JSON.parse(found ?? 'null');
    return isId(id) ? id : null;
  } catch {
    return null; // Digits that JSON does not take for a number, such as 007.
  }
}

/**
 * A number beyond 2^53 is refused, because it would be echoed as another number. So is a fraction, which JSON-RPC
 * allows and every revision of MCP forbids. Progress tokens have the same form.
 */
export const isId = (value: unknown): value is Id =>
  typeof value === 'string' ? value.length <= MAX_ID : Number.isSafeInteger(value);

export const isObject = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// --- internal ---

const NO_PARAMS: Params = Object.freeze({});

function classify(value: unknown, isShallow: boolean): Message {
  if (!isObject(value)) return invalid(null, 'a message is an object');
  const message = read(value);
  return isShallow || !isNestedDeeper(value, MAX_NESTING) ? message : withoutDepth(message);
}

function read(value: Params): Message {
  const id = isId(value.id) ? value.id : null;
  if (value.jsonrpc !== '2.0') return invalid(id, 'jsonrpc must be "2.0"');
  if (value.method === undefined && (value.result !== undefined || value.error !== undefined))
    return { kind: 'response', id, outcome: outcomeOf(value) };
  if (typeof value.method !== 'string') return invalid(id, 'method must be text');
  if (typeof value.id === 'string' && id === null) return invalid(null, `id is over ${MAX_ID} characters`);
  if (value.id !== undefined && id === null) return invalid(null, 'id must be text or a whole number');
  const { method, params = NO_PARAMS } = value;
  if (id === null) return { kind: 'notification', method, params: isObject(params) ? params : NO_PARAMS };
  if (!isObject(params)) return { kind: 'invalid', id, error: invalidEnvelope('params must be an object') };
  return { kind: 'request', id, method, params };
}

function outcomeOf({ result, error }: Params): Response['outcome'] {
  if (error === undefined) return { result };
  const { code, message, data } = isObject(error) ? error : {};
  return {
    error: {
      code: typeof code === 'number' ? code : CODE.internal,
      message: typeof message === 'string' ? message : 'an error without a message',
      data,
    },
  };
}

/** Counts the characters outside of texts that begin a value or a member. Linear, and much cheaper than to parse. */
function hasMoreValues(text: string, limit: number): boolean {
  // Each value takes two characters, so most messages need no count.
  if (text.length < 2 * limit) return false;
  let values = 0;
  let isInText = false;
  for (let at = 0; at < text.length && values <= limit; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isInText = !isInText;
    else if (isInText) at += code === BACKSLASH ? 1 : 0;
    else if (code === COMMA || code === COLON || code === BRACKET || code === BRACE) values++;
  }
  return values > limit;
}

const [QUOTE, COMMA, COLON, BRACKET, BACKSLASH, BRACE] = [0x22, 0x2c, 0x3a, 0x5b, 0x5c, 0x7b];

/** Recurses no deeper than `levels`. */
function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((one) => isNestedDeeper(one, levels - 1));
}

/** A response becomes an error response, so that its request fails at once; a notification keeps only its method. */
function withoutDepth(message: Message): Message {
  const why = `a message is nested deeper than ${MAX_NESTING} levels`;
  switch (message.kind) {
    case 'request':
      return { kind: 'invalid', id: message.id, error: invalidEnvelope(why) };
    case 'response':
      return { ...message, outcome: { error: { code: CODE.internal, message: why } } };
    case 'notification':
      return { ...message, params: NO_PARAMS };
    case 'invalid':
      return message;
  }
}

const TEXT = '"(?:[^"\\\\]|\\\\.)*"';
const ID = `"id"\\s*:\\s*(${TEXT}|-?\\d+)\\s*`;
const ID_OR_TOKEN = new RegExp(`${ID}(?=[,}])|${TEXT}|[{}[\\]]`, 'g');
// A member before the last brace of a message belongs to the message itself.
const ID_AT_END = new RegExp(`[{,]\\s*${ID}\\}\\s*$`);

/** The id as a member of the message itself, not one among its arguments. */
function idAtStart(text: string): string | undefined {
  let depth = 0;
  for (const [token, id] of text.matchAll(ID_OR_TOKEN)) {
    if (id !== undefined && depth === 1) return id;
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
  }
  return undefined;
}

const invalid = (id: Id | null, why: string): Invalid => ({ kind: 'invalid', id, error: invalidRequest(why) });
