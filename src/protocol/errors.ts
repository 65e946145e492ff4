/**
 * Every JSON-RPC error that this program answers with, behind a name.
 * Owns: codes and wording. Leaves alone: where they are thrown (anywhere) and caught (dispatch.ts, around the method).
 * Always true: an error that refuses a message as a whole (its form, its envelope, its headers) has HTTP status 400.
 */

/** The codes of JSON-RPC and those of MCP, by what they are about. */
export const CODE = { parse: -32700, request: -32600, method: -32601, params: -32602, internal: -32603 } as const;
export const MCP_CODE = { header: -32020, capability: -32021, version: -32022 } as const;

export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;
  /** Of the answer to a modern request; a legacy request that was understood is always answered with 200. */
  readonly httpStatus: number;

  constructor(code: number, message: string, data?: unknown, httpStatus = 200) {
    super(message);
    this.code = code;
    this.data = data;
    this.httpStatus = httpStatus;
  }
}

export const parseError = (why: string) => refusal(CODE.parse, `parse error: ${why}`);
export const invalidRequest = (why: string) => refusal(CODE.request, `invalid request: ${why}`);
/** The part of `params` that every request has is malformed. */
export const invalidEnvelope = (why: string) => refusal(CODE.params, `invalid params: ${why}`);
/** The HTTP headers say something else than the body. */
export const headerMismatch = (why: string) => refusal(MCP_CODE.header, `header mismatch: ${why}`);
export const unsupportedVersion = (asked: string, supported: readonly string[]) =>
  refusal(MCP_CODE.version, `protocol version "${clip(asked)}" is not served here`, {
    supported,
    requested: clip(asked),
  });
export const methodNotFound = (method: string) =>
  new RpcError(CODE.method, `unknown method "${clip(method)}"`, undefined, 404);
export const invalidParams = (why: string, data?: unknown) => new RpcError(CODE.params, `invalid params: ${why}`, data);
export const internalError = (why: string) => new RpcError(CODE.internal, `internal error: ${why}`);

// --- internal ---

// Enough to recognise what was sent; an error must not echo megabytes.
const CLIP = 200;

const clip = (text: string) => (text.length > CLIP ? `${text.slice(0, CLIP)}…` : text);

const refusal = (code: number, message: string, data?: unknown) => new RpcError(code, message, data, 400);
