/**
 * Every JSON-RPC error that this program answers with, behind a name.
 * Owns: codes and wording. Leaves alone: where they are thrown (anywhere) and caught (dispatch.ts, in one place).
 * Always true: the HTTP status of an error follows from its class (eras.ts).
 */

/** The codes of JSON-RPC and those of MCP, by what they are about. */
export const CODE = { parse: -32700, request: -32600, method: -32601, params: -32602, internal: -32603 } as const;
export const MCP_CODE = { header: -32020, capability: -32021, version: -32022 } as const;

export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The message as a whole is refused: its form, its envelope, or what its headers say about it. */
export class MessageError extends RpcError {}

export class UnknownMethodError extends RpcError {}

export const parseError = (why: string) => new MessageError(CODE.parse, `parse error: ${why}`);
export const invalidRequest = (why: string) => new MessageError(CODE.request, `invalid request: ${why}`);
/** The part of `params` that every request has is malformed. */
export const invalidEnvelope = (why: string) => new MessageError(CODE.params, `invalid params: ${why}`);
export const methodNotFound = (method: string) =>
  new UnknownMethodError(CODE.method, `unknown method "${clip(method)}"`);
export const invalidParams = (why: string, data?: unknown) => new RpcError(CODE.params, `invalid params: ${why}`, data);
export const internalError = (why: string) => new RpcError(CODE.internal, `internal error: ${why}`);

/** An upstream server answered with a kind of result that the client's protocol version does not have. */
export const laterClientNeeded = (what: string) =>
  internalError(`"${clip(what)}" takes a client of a later protocol version`);

/** The HTTP headers say something else than the body. */
export const headerMismatch = (why: string) => new MessageError(MCP_CODE.header, `header mismatch: ${why}`);

/** A request needs something of its client that the client did not declare. */
export const missingCapability = (required: Readonly<Record<string, object>>) =>
  new MessageError(MCP_CODE.capability, `the client lacks a required capability: ${Object.keys(required).join(', ')}`, {
    requiredCapabilities: required,
  });

export const unsupportedVersion = (requested: string, supported: readonly string[]) =>
  new MessageError(MCP_CODE.version, `protocol version "${clip(requested)}" is not served here`, {
    supported,
    requested: clip(requested),
  });

// --- internal ---

// Enough to recognise what was sent; an error must not echo megabytes.
const CLIP = 200;

const clip = (text: string) => (text.length > CLIP ? `${text.slice(0, CLIP)}…` : text);
