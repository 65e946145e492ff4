/**
 * JSON-RPC 2.0 messages: text to typed message and back.
 * Owns: what is well-formed. Leaves alone: what a method means (dispatch.ts), which revision it belongs to (eras.ts).
 * Always true: `decode` never throws; whatever is wrong with a text comes back as an `invalid` message.
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
export interface Notice {
  readonly kind: 'notice';
  readonly method: string;
  readonly params: Params;
}
export interface Response {
  readonly kind: 'response';
  readonly id: Id | null;
  readonly outcome: { readonly result: unknown } | { readonly error: WireError };
}
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}
export interface Invalid {
  readonly kind: 'invalid';
  readonly id: Id | null;
  readonly error: RpcError;
}
export type Message = Request | Notice | Response | Invalid;

/** One message, or the messages of a batch in their order. */
export type Decoded = Message | Message[];

export function decode(text: string): Decoded {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: 'invalid', id: null, error: parseError(error instanceof Error ? error.message : 'not JSON') };
  }
  return Array.isArray(value) ? value.map(classify) : classify(value);
}

export const encodeResult = (id: Id, result: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result });

export const encodeError = (id: Id | null, { code, message, data }: WireError) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } });

export const encodeNotice = (method: string, params?: object) => JSON.stringify({ jsonrpc: '2.0', method, params });

export const encodeRequest = (id: Id, method: string, params?: object) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

/** Ids compare by type and value: 1 and "1" are two ids. */
export const idKey = (id: Id) => (typeof id === 'string' ? `"${id}` : `${id}`);

/**
 * A number beyond 2^53 would be echoed as another number, so it is no id.
 * Fractions are allowed by JSON-RPC in theory and by no revision of MCP.
 */
export const isId = (value: unknown): value is Id => typeof value === 'string' || Number.isSafeInteger(value);

export const isObject = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// --- internal ---

const NO_PARAMS: Params = Object.freeze({});

function classify(value: unknown): Message {
  if (!isObject(value)) return invalid(null, 'a message is an object');
  const id = isId(value.id) ? value.id : null;
  if (value.jsonrpc !== '2.0') return invalid(id, 'jsonrpc must be "2.0"');
  if (value.method === undefined && (value.result !== undefined || value.error !== undefined)) return response(value);
  if (typeof value.method !== 'string') return invalid(id, 'method must be text');
  if (value.id !== undefined && id === null) return invalid(null, 'id must be text or a whole number');
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

const invalid = (id: Id | null, why: string): Invalid => ({ kind: 'invalid', id, error: invalidRequest(why) });
