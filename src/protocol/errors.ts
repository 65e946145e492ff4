/**
 * Every JSON-RPC error this program can answer, behind a name.
 * Owns: codes and wording. Leaves alone: who throws (anyone), who catches (dispatch.ts, once).
 */

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

/** About what surrounds a message, so that HTTP refuses the whole of it, wherever it was found. */
export class EnvelopeError extends RpcError {}

export const parseError = (why: string) => new RpcError(-32700, `parse error: ${why}`);
export const invalidRequest = (why: string) => new RpcError(-32600, `invalid request: ${why}`);
export const methodNotFound = (method: string) => new RpcError(-32601, `unknown method "${clip(method)}"`);
export const invalidParams = (why: string, data?: unknown) => new RpcError(-32602, `invalid params: ${why}`, data);
export const internalError = (why: string) => new RpcError(-32603, `internal error: ${why}`);

/** An upstream server answered with something that the client's protocol version has no word for. */
export const laterClientNeeded = (what: string) =>
  internalError(`"${clip(what)}" takes a client of a later protocol version`);

/** What the transport's envelope says (HTTP headers) differs from what the body says. */
export const headerMismatch = (why: string) => new EnvelopeError(-32020, `header mismatch: ${why}`);

/** A request needs something of its client that the client did not declare. */
export const missingCapability = (required: Readonly<Record<string, object>>) =>
  new EnvelopeError(-32021, `the client lacks a required capability: ${Object.keys(required).join(', ')}`, {
    requiredCapabilities: required,
  });

export const unsupportedVersion = (requested: string, supported: readonly string[]) =>
  new EnvelopeError(-32022, `protocol version "${clip(requested)}" is not served here`, {
    supported,
    requested: clip(requested),
  });

// --- internal ---

// Enough to recognise what was sent; an error must not echo megabytes.
const CLIP = 200;

const clip = (text: string) => (text.length > CLIP ? `${text.slice(0, CLIP)}…` : text);
