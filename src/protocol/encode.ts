/**
 * Messages to JSON. A reply is made of bytes, so that what was encoded once is sent many times without being copied.
 * Always true: encoded bytes are shared between replies and never changed.
 */
import type { ErrorObject, Id } from './json-rpc.ts';

/**
 * JSON for the wire. Throws what JSON.stringify throws: for a circular value, one that is nested some thousand levels
 * deep, a text too long for a string.
 * U+2028 and U+2029 are escaped: JSON does not require it, but readers that split lines there lose the message
 * (`readline` from Node 24 on).
 */
export function encode(value: unknown): string {
  return JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

export const encodeRequest = (id: Id, method: string, params?: object) =>
  encode({ jsonrpc: '2.0', id, method, params });

export const encodeNotification = (method: string, params?: object) => encode({ jsonrpc: '2.0', method, params });

/** A result that was encoded before, so that it can be sent many times. */
export class EncodedResult {
  /** The result's JSON without its last brace, so that an era can append members. */
  readonly body: Uint8Array;

  /** Only for results that have members, and none of the protocol's own (`_meta`, `resultType`, a cache hint). */
  constructor(result: object) {
    this.body = Buffer.from(encode(result).slice(0, -1));
  }
}

/** A message that answers another one, ready to be sent, in pieces of UTF-8. `String(reply)` is its text. */
export class EncodedReply {
  readonly pieces: readonly Uint8Array[];
  readonly httpStatus: number;
  /** Bytes. */
  readonly length: number;

  constructor(pieces: readonly Uint8Array[], httpStatus = 200) {
    this.pieces = pieces;
    this.httpStatus = httpStatus;
    let length = 0;
    for (const piece of pieces) length += piece.length;
    this.length = length;
  }

  toString(): string {
    return Buffer.concat(this.pieces).toString();
  }
}

const RESULT_END = Buffer.from('}}');

/** A result as an answer. `end`: what follows one that was encoded before, up to the last brace of the message. */
export function encodeReply(id: Id, result: object, end: Uint8Array = RESULT_END): EncodedReply {
  // JSON.stringify would take longer than the rest for a number, which nearly every id is.
  const start = `{"jsonrpc":"2.0","id":${typeof id === 'number' ? id : encode(id)},"result":`;
  if (result instanceof EncodedResult) return new EncodedReply([Buffer.from(start), result.body, end]);
  return new EncodedReply([Buffer.from(`${start}${encode(result)}}`)]);
}

/** An error as an answer. */
export function errorReply(id: Id | null, { code, message, data }: ErrorObject, httpStatus = 400): EncodedReply {
  const text = (error: ErrorObject) => encode({ jsonrpc: '2.0', id, error });
  try {
    return new EncodedReply([Buffer.from(text({ code, message, data }))], httpStatus);
  } catch {
    // The data is a value that JSON cannot hold; the error is worth more than its details.
    return new EncodedReply([Buffer.from(text({ code, message }))], httpStatus);
  }
}
