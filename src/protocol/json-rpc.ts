/**
 * JSON-RPC 2.0 messages: from text to a typed message (encode.ts has the way back).
 * Owns: which messages are well-formed. Leaves alone: what a method means (dispatch.ts), the protocol revision (eras.ts).
 * Always true: `decode` never throws; a text that is not a message comes back as an `invalid` message that says why.
 */
import { CODE, invalidEnvelope, invalidRequest, parseError, type RpcError } from './errors.ts';

/** 1 and "1" are two ids. */
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
  /** Null: the other side could not tell which request it answers. */
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
  readonly error: RpcError;
}
export type Message = Request | Notification | Response | Invalid;

/** Later revisions of the protocol have no batches; clients of the earlier ones send a handful of messages at once. */
export const MAX_BATCH = 64;

/** One message, or the messages of a batch in their order. */
export function decode(text: string): Message | Message[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: 'invalid', id: null, error: parseError(error instanceof Error ? error.message : 'not JSON') };
  }
  if (!Array.isArray(value)) return classify(value);
  return value.length > MAX_BATCH ? invalid(null, `a batch has at most ${MAX_BATCH} messages`) : value.map(classify);
}

/**
 * A number beyond 2^53 is refused, because it would be echoed as another number. So is a fraction, which JSON-RPC
 * allows and every revision of MCP forbids. Progress tokens have the same form.
 */
export const isId = (value: unknown): value is Id => typeof value === 'string' || Number.isSafeInteger(value);

export const isObject = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// --- internal ---

function classify(value: unknown): Message {
  if (!isObject(value)) return invalid(null, 'a message is an object');
  const id = isId(value.id) ? value.id : null;
  // First, because a response is never answered, whatever is wrong with it.
  if (value.method === undefined && (value.result !== undefined || value.error !== undefined))
    return { kind: 'response', id, outcome: outcomeOf(value) };
  if (value.jsonrpc !== '2.0') return invalid(id, 'jsonrpc must be "2.0"');
  if (typeof value.method !== 'string') return invalid(id, 'method must be text');
  if (value.id !== undefined && id === null) return invalid(null, 'id must be text or a whole number');
  const { method, params = {} } = value;
  // A notification is never answered, so one with malformed params can only be taken as one without.
  if (id === null) return { kind: 'notification', method, params: isObject(params) ? params : {} };
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

const invalid = (id: Id | null, why: string): Invalid => ({ kind: 'invalid', id, error: invalidRequest(why) });
